#!/usr/bin/env python3
"""Lists of problems none of which comes twice, as programs have them whose
sizes never repeat, for cold-start --each.

  draw_lengths.py vocoder|detection|batches [--count 1000] [--seed 1]
                  [--layout nhwc]

vocoder: 1-D convolutions, transposed convolutions, activations and layer
normalisations of a text-to-speech model, each text with a new length.
detection: 3x3 and 1x1 convolutions, poolings and activations of images whose
sides are drawn. batches: ResNet-50's 23 kinds of convolutions, at batch 1 to 64.
Prints network configs of f16, a line each.
"""

import argparse
import pathlib
import random
import re

# Channels, kernel, dilation; channels in and out, kernel and stride of what
# doubles a length.
BLOCKS = [(256, 3, 1), (256, 7, 3), (256, 11, 5), (128, 3, 1), (128, 7, 3),
          (64, 3, 1), (64, 11, 5), (32, 3, 1), (32, 7, 3)]
UPSAMPLINGS = [(512, 256, 16, 8), (256, 128, 16, 8), (128, 64, 4, 2),
               (64, 32, 4, 2)]
# Channels in and out, kernel, stride; at 1/4 to 1/32 of the image.
LEVELS = [(64, 64, 3, 1, 4), (64, 256, 1, 1, 4), (128, 128, 3, 1, 8),
          (256, 512, 1, 2, 4), (256, 256, 3, 1, 16), (1024, 256, 1, 1, 16),
          (512, 512, 3, 1, 32), (256, 256, 3, 2, 8)]


def write_conv(layout, direction, n, c, h, w, k, y, x, pads, strides, dilations):
    return (f"conv-{direction}-f16-{layout},{layout},{layout}-n{n}c{c}h{h}w{w}"
            f"-k{k}y{y}x{x}-p{pads[0]}x{pads[1]}-s{strides[0]}x{strides[1]}"
            f"-d{dilations[0]}x{dilations[1]}-g1")


def write_activation(elements):
    return f"rowwise-activ_fwd-m3-{elements}-r-i:f16:1-o:f16:1"


def draw_vocoder(random_, layout):
    length = random_.randrange(40, 8000)
    kind = random_.randrange(4)
    if kind < 2:
        c, x, dilation = random_.choice(BLOCKS)
        return write_conv(layout, "fwd", 1, c, 1, length, c, 1, x,
                          (0, dilation * (x - 1) // 2), (1, 1), (1, dilation))
    if kind == 2:
        c, k, x, stride = random_.choice(UPSAMPLINGS)
        # The transposed convolution's input is the gradient of y.
        return write_conv(layout, "bwd", 1, k, 1, length * stride, c, 1, x,
                          (0, (x - stride) // 2), (1, stride), (1, 1))
    if random_.random() < 0.5:
        return write_activation(random_.choice([32, 64, 128]) * length)
    return (f"rowwise-norm_fwd-m30-{length}x512-r1-i:f16:512:1-i:f16:0:1"
            "-i:f16:0:1-r:f16:1:0-r:f16:1:0-o:f16:512:1")


def draw_detection(random_, layout):
    c, k, y, stride, scale = random_.choice(LEVELS)
    h, w = (random_.randrange(320, 1344) // scale for _ in "hw")
    kind = random_.randrange(6)
    if kind == 0:
        return (f"pool-fwd-max-f16-{layout},{layout}-n1c64h{h}w{w}-y3x3-p1x1-s2x2"
                "-iu8mask")
    if kind == 1:
        return write_activation(c * h * w)
    pad = y // 2
    return write_conv(layout, "fwd", 1, c, h, w, k, y, y, (pad, pad),
                      (stride, stride), (1, 1))


def read_resnet():
    """Channels, size, channels out, window, pad and stride of each kind."""
    lines = (pathlib.Path(__file__).parent / "resnet50.txt").read_text()
    for line in lines.splitlines():
        flags = dict(re.findall(r"-(\w) (\d+)", line))
        if "c" in flags:
            yield tuple(int(flags.get(name, 1 if name in "yu" else 0))
                        for name in "cHkypu")


def draw_batches(random_, layout):
    c, size, k, y, pad, stride = random_.choice(list(read_resnet()))
    n = random_.randrange(1, 65)
    return write_conv(layout, "fwd", n, c, size, size, k, y, y, (pad, pad),
                      (stride, stride), (1, 1))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("kind", choices=["vocoder", "detection", "batches"])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--layout", choices=["nhwc", "nchw"], default="nhwc")
    options = parser.parse_args()
    random_ = random.Random(options.seed)
    draw = {"vocoder": draw_vocoder, "detection": draw_detection,
            "batches": draw_batches}[options.kind]
    problems = {}
    for _ in range(100 * options.count):
        if len(problems) < options.count:
            problems[draw(random_, options.layout)] = None
    print("\n".join(problems))


if __name__ == "__main__":
    main()
