#!/usr/bin/env python3
"""A list of problems for a package of the families that networks share
(docs/guides/ahead-of-time.md):

  common_families.py [--network NAMES] [--type f16,bf16,f32]
                     [--layout nchw,nhwc] [--direction fwd,bwd,wrw] > LIST
  dnn-opt --aot LIST --families --target gfx942 -o common.db

Convolutions of resnet18 (and 34), resnet50 (101 and 152), vgg, unet, mobilenet
(version 2), detection (a pyramid of features and its heads) and vocoder (lines);
the poolings between them; and, as network `rows`, softmax, layer normalisation
and activations. A family is named by a problem of few pixels and one of many, as
it has a kernel for each.
"""

import argparse


def make_resnet18():
    yield 3, 64, 7, 2, 3
    for c in (64, 128, 256, 512):
        yield c, c, 3, 1, 1
        if c > 64:
            yield c // 2, c, 3, 2, 1
            yield c // 2, c, 1, 2, 0


def make_resnet50():
    yield 3, 64, 7, 2, 3
    for width in (64, 128, 256, 512):
        c = 64 if width == 64 else 2 * width
        stride = 1 if width == 64 else 2
        yield c, width, 1, 1, 0
        yield c, 4 * width, 1, stride, 0
        yield width, width, 3, stride, 1
        yield width, width, 3, 1, 1
        yield width, 4 * width, 1, 1, 0
        yield 4 * width, width, 1, 1, 0


def make_vgg():
    for c, k in ((3, 64), (64, 64), (64, 128), (128, 128), (128, 256),
                 (256, 256), (256, 512), (512, 512)):
        yield c, k, 3, 1, 1


def make_unet():
    for c in (64, 128, 256, 512):
        yield c, 2 * c, 3, 1, 1
        yield 2 * c, 2 * c, 3, 1, 1
        yield 2 * c, c, 3, 1, 1
        yield c, 2 * c, 2, 2, 0  # Backward data of it is the transposed one.


def make_detection():
    for c in (256, 512, 1024, 2048):
        yield c, 256, 1, 1, 0
    yield 256, 256, 3, 1, 1
    yield 256, 256, 3, 2, 1


def make_mobilenet():
    yield 3, 32, 3, 2, 1
    narrow = (16, 24, 32, 64, 96, 160, 320)
    for c, k in zip((32, *narrow), narrow):
        wide = 32 if c == 32 and k == 16 else 6 * c
        yield from ((c, wide, 1, 1, 0), (wide, k, 1, 1, 0), (wide, c, 1, 1, 0))
        for stride in (1, 2):
            yield wide, wide, 3, stride, 1, wide
    yield 320, 1280, 1, 1, 0


# Channels in and out, window, stride, pad and, if there are several, groups; of
# squares.
NETWORKS = {"resnet18": make_resnet18, "resnet50": make_resnet50,
            "vgg": make_vgg, "unet": make_unet, "mobilenet": make_mobilenet,
            "detection": make_detection}
# Channels in and out, window, stride, pad and dilation; of lines.
LINES = ([(c, c, x, 1, d * (x - 1) // 2, d) for c in (256, 128, 64, 32)
          for x, d in ((3, 1), (7, 3), (11, 5))]
         + [(256, 512, 16, 8, 4, 1), (128, 256, 16, 8, 4, 1),
            (64, 128, 4, 2, 1, 1), (32, 64, 4, 2, 1, 1)])
POOLED = (64, 128, 256, 512)
WINDOWS = ((3, 2, 1), (2, 2, 0))
ROWS = (64, 128, 256, 512, 768, 1024, 2048, 4096)


def write_images(options, kind, layout, network):
    for direction in options.direction:
        for c, k, y, stride, pad, *groups in NETWORKS[network]():
            for n, side in ((1, 8), (16, 56)):
                yield (f"conv-{direction}-{kind}-{layout},{layout},{layout}-n{n}c{c}"
                       f"h{side}w{side}-k{k}y{y}x{y}-p{pad}x{pad}-s{stride}x{stride}"
                       f"-d1x1-g{groups[0] if groups else 1}")


def write_lines(options, kind, layout):
    for direction in options.direction:
        for c, k, x, stride, pad, dilation in LINES:
            for w in (128, 16384):
                yield (f"conv-{direction}-{kind}-{layout},{layout},{layout}-n1c{c}h1w{w}"
                       f"-k{k}y1x{x}-p0x{pad}-s1x{stride}-d1x{dilation}-g1")


def write_pools(options, kind, layout):
    for direction in (d for d in options.direction if d != "wrw"):
        for c in POOLED:
            for y, stride, pad in WINDOWS:
                for mode, end in (("max", "-iu8mask"), ("avg", "-inone")):
                    yield (f"pool-{direction}-{mode}-{kind}-{layout},{layout}-n8c{c}h56w56"
                           f"-y{y}x{y}-p{pad}x{pad}-s{stride}x{stride}{end}")


def write_rows(kind):
    for length in ROWS:
        yield (f"rowwise-softmax_fwd-m2-512x{length}-r1-i:{kind}:{length}:1"
               f"-o:{kind}:{length}:1")
        yield (f"rowwise-norm_fwd-m30-512x{length}-r1-i:{kind}:{length}:1-i:{kind}:0:1"
               f"-i:{kind}:0:1-r:{kind}:1:0-r:{kind}:1:0-o:{kind}:{length}:1")


def write_activations(kind):
    # The blocks of 8, 4, 2 and 1 elements that divide a length.
    for mode in (1, 2, 3):  # Logistic, tanh, ReLU.
        for length in (8192, 8196, 8194, 8193):
            yield f"rowwise-activ_fwd-m{mode}-{length}-r-i:{kind}:1-o:{kind}:1"


def write_all(options):
    for kind in options.type:
        for layout in options.layout:
            for network in options.network:
                if network == "vocoder":
                    yield from write_lines(options, kind, layout)
                elif network in NETWORKS:
                    yield from write_images(options, kind, layout, network)
            if set(options.network) & set(NETWORKS):
                yield from write_pools(options, kind, layout)
        if "rows" in options.network:
            yield from write_rows(kind)
            yield from write_activations(kind)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for name, values in (("network", [*NETWORKS, "vocoder", "rows"]),
                         ("type", ["f16", "bf16", "f32"]),
                         ("layout", ["nchw", "nhwc"]),
                         ("direction", ["fwd", "bwd", "wrw"])):
        def split(text, values=values):
            chosen = text.split(",")
            if set(chosen) - set(values):
                raise argparse.ArgumentTypeError(f"'{text}' is not of {values}")
            return chosen
        parser.add_argument(f"--{name}", type=split, default=values)
    print("\n".join(dict.fromkeys(write_all(parser.parse_args()))))


if __name__ == "__main__":
    main()
