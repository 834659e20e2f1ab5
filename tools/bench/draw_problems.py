#!/usr/bin/env python3
"""Draws convolutions of the kinds that networks have, for a cost model.

  draw_problems.py --seed 1 --count 160      # those a model is fitted to
  draw_problems.py --seed 3 --count 80       # those it is judged by

Prints network configs, a line each. Types, layouts, directions, windows,
strides, batches and channels are drawn, images of what a network has at its
depth; floor times on an H100 are 2 to 400 us. docs/guides/cost-models.md says
which seeds stay outside of every fit.
"""

import argparse
import random

# (share, type, layout)
KINDS = [(3, "f16", "nhwc"), (3, "bf16", "nhwc"), (3, "f16", "nchw"),
         (2, "f32", "nhwc"), (2, "f32", "nchw"), (2, "tf32", "nhwc"),
         (2, "bf16", "ndhwc"), (1, "bf16", "ncdhw")]
# (share, taps, dilation): pads keep the image's size.
WINDOWS = [(6, 1, 1), (9, 3, 1), (1, 5, 1), (1, 7, 1), (1, 3, 2)]
CHANNELS = [16, 24, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384,
            480, 512, 640, 768, 960, 1024, 1280, 1536, 2048]
FLOOR_US = (2, 400)


def choose(rng, rows):
    return rng.choices(rows, [row[0] for row in rows])[0][1:]


def get_floor_us(kind, window, n, c, k, size, out, dims):
    """The larger of operations at 700 TFLOP/s (f32 and tf32: less) and bytes
    at 3 TB/s."""
    rate = {"f32": 110, "tf32": 350}.get(kind, 700)
    width = 4 if "32" in kind else 2
    pixels, results = n * size**dims, n * out**dims
    operations = 2 * results * c * k * window**dims
    moved = width * (pixels * c + results * k + k * c * window**dims)
    return max(operations / rate / 1e6, moved / 3e6)


def draw(rng):
    kind, layout = choose(rng, KINDS)
    direction = rng.choice(["fwd", "bwd", "wrw"])
    dims = 3 if "d" in layout else 2
    taps, dilation = choose(rng, WINDOWS if dims == 2 else WINDOWS[:2])
    stride = 2 if taps <= 3 and dilation == 1 and rng.random() < 0.2 else 1
    size = rng.choice([7, 8, 14, 16, 17, 28, 32, 35, 56, 64, 112, 128]
                      if dims == 2 else [4, 8, 14, 16, 28, 32, 56, 64])
    n = rng.choice([1, 2, 4, 8, 16, 32, 64] if dims == 2 else [1, 2, 4])
    c = rng.choice(CHANNELS)
    k = c if rng.random() < 0.5 else rng.choice(CHANNELS)
    pad = dilation * (taps - 1) // 2
    out = (size + 2 * pad - dilation * (taps - 1) - 1) // stride + 1
    floor = get_floor_us(kind, taps, n, c, k, size, out, dims)
    if not FLOOR_US[0] <= floor <= FLOOR_US[1]:
        return None
    depth = lambda name, value: f"{name}{value}" if dims == 3 else ""
    times = lambda value: "x".join(dims * [str(value)])
    return (f"conv-{direction}-{kind}-{','.join(3 * [layout])}-n{n}c{c}"
            f"{depth('d', size)}h{size}w{size}-k{k}{depth('z', taps)}"
            f"y{taps}x{taps}-p{times(pad)}-s{times(stride)}"
            f"-d{times(dilation)}-g1")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=100)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    drawn = {}
    while len(drawn) < options.count:
        if config := draw(rng):
            drawn[config] = None
    print("\n".join(drawn))


if __name__ == "__main__":
    main()
