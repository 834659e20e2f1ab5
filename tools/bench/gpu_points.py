#!/usr/bin/env python3
"""Times pooling and depthwise convolutions on an NVIDIA GPU, beside PyTorch
and cuDNN, and beside the limit of the memory.

  gpu_points.py pack FOLDER [--only REGEX] [--tiles REGEX] [--dnn-opt PATH]
                            [--ptxas PATH] [--jobs N]
      on the build machine: compiles the problems with the compiler's own tile,
      some with more; to machine code where there is a ptxas, else to PTX
  gpu_points.py run FOLDER [--only REGEX] [--repeats N]
      on the machine with the GPU: checks, then times

gpu_device.py says what `run` needs and how it times; `pack` needs only Python.
A kernel counts only if its result agrees with PyTorch's in f32, or in f64 for
convolutions, in five runs with the same bits over poisoned memory. GB/s count
each tensor once: x and y forward, dy and dx backward (ours also reads the
indices of maxima). The copy that they are compared with moves 256 MiB in the
same run. cuDNN's backward pooling reads x and y, too.
"""

import ctypes
import math
import re
import sys

import gpu_device
import gpu_pack

POOLS = {
    "r50_max": ("max", "n64c64h112w112-y3x3-p1x1-s2x2"),
    "vgg_max": ("max", "n32c64h224w224-y2x2-p0x0-s2x2"),
    "incep_avg": ("avg", "n32c192h35w35-y3x3-p1x1-s1x1"),
    "global_avg": ("avg", "n64c2048h7w7-y7x7-p0x0-s1x1"),
    "dense_avg": ("avg", "n64c128h56w56-y2x2-p0x0-s2x2"),
}
DEPTHWISE = {
    "dw_3x3": "n64c384h14w14-k384y3x3-p1x1-s1x1-d1x1-g384",
    "dw_7x7": "n64c192h28w28-k192y7x7-p3x3-s1x1-d1x1-g192",
}
# Tensors of 50 MB and more in bf16, and of 100 MB and more in f32.
LARGE_DEPTHWISE = {
    "dw_large_3x3": "n64c144h56w56-k144y3x3-p1x1-s1x1-d1x1-g144",
    "dw_large_3x3s2": "n64c144h56w56-k144y3x3-p1x1-s2x2-d1x1-g144",
    "dw_large_7x7": "n64c192h56w56-k192y7x7-p3x3-s1x1-d1x1-g192",
}


def list_problems():
    """Names and network configs."""
    for name, (mode, sizes) in POOLS.items():
        for element in ("f16", "f32"):
            for layout in ("nchw", "nhwc"):
                for direction in ("fwd", "bwd"):
                    index = ("iu8mask" if mode == "max" and direction == "bwd"
                             else "inone")
                    yield (f"{name}.{element}.{layout}.{direction}",
                           f"pool-{direction}-{mode}-{element}-{layout},"
                           f"{layout}-{sizes}-{index}")
    for name, sizes in (DEPTHWISE | LARGE_DEPTHWISE).items():
        for element in ("bf16", "f32") if name in LARGE_DEPTHWISE else ("bf16",):
            for direction in ("fwd", "bwd", "wrw"):
                yield (f"{name}.{element}.nhwc.{direction}",
                       f"conv-{direction}-{element}-nhwc,nhwc,nhwc-{sizes}")


DEPTHWISE_TILES = {
    "dw_3x3": """g4p2q7t64s1 g4p1q7t128s1 g4p2q7t64s1l g2p2q7t64s1l g4p4q4t96s1l
                 g8p2q4t96s1l""",
    "dw_7x7": """g2p2q7t64s1n7 g2p2q7t128s1n7l g2p2q7t64s1n2l g2p2q7t64s1n14l
                 g2p4q4t64s1n7l g2p1q7t64s1n14l""",
    "dw_3x3.wrw": """g2p2q7t128s256n4r4 g2p2q7t256s256n4r4a g2p4q7t128s256n2r4
                     g2p2q14t128s128n4r4 g4p2q7t128s256n4r4""",
    "dw_7x7.wrw": """g2p1q4t128s448n28r4 g2p1q4t128s448n28r4a g2p1q7t128s256n28r4k2a
                     g2p2q7t64s256n14r2k2 g2p4q7t128s256n7r4k2
                     g2p2q7t128s256n14r4k4 g2p2q7t128s256n14r4k7""",
    "dw_large_3x3": "g4p2q7t128s1l g4p4q4t128s1 g4p4q8t64s1l",
    "dw_large_3x3.wrw": """g2p2q7t288s512n28r4a g4p1q7t144s1024n28r4a
                           g2p2q14t144s512n14r2""",
    "dw_large_3x3s2": """g4p2q8t128s1l g8p1q2t128s1l g4p1q1t128s1l
                         g4p2q2t128s1l""",
    "dw_large_3x3s2.wrw": "g2p1q7t288s512n14r4a g2p1q7t144s512n14r2a",
    "dw_large_7x7": "g2p2q8t64s1n4l g2p4q4t64s1n7l",
    "dw_large_7x7.wrw": "g2p1q4t128s448n56r4 g2p2q7t128s512n28r4k4",
}

TOEPLITZ_TILES = {
    "dw_7x7": "c16b4r7q4t512n3 c16b4r7q4t256 c16b4r4q4t512n12",
    "dw_7x7.wrw": "c32b1r14q2t512n3 c32b1r14q4t512n3 c64b1r8q2t512n6",
    "dw_large_7x7": "c16b2r7q7t512n12 c32b4r4q4t512n12 c16b2r7q7t256",
    "dw_large_7x7.wrw": "c32b1r14q2t512n12 c32b1r14q4t512n12",
}


def list_tiles(options, name):
    """The compiler's own tile and, if requested, more; some fit no problem."""
    return ["", *(list_more_tiles(name) if re.search(options.tiles, name)
                  else [])]


def list_more_tiles(name):
    family, *_, direction = name.split(".")
    if family in DEPTHWISE_TILES:
        key = family + (".wrw" if direction == "wrw" else "")
        return [f"{algorithm}-{tile}" for algorithm, tiles
                in (("depthwise", DEPTHWISE_TILES), ("toeplitz", TOEPLITZ_TILES))
                for tile in tiles.get(key, "").split()]
    channels = {"nchw": [1], "nhwc": [8, 4]}[name.split(".")[2]]
    return [f"pool-c{c}h{h}w{w}" for c in channels
            for h, w in ((1, 1), (1, 2), (1, 4), (2, 1), (2, 2), (2, 4), (1, 8),
                         (4, 1), (4, 2), (5, 1), (7, 1))
            if c * h * w >= 2]


# ----------------------------------------------------------------------- run


class CudnnPool:
    """cuDNN's own pooling calls, which PyTorch does not use."""

    def __init__(self, gpu, mode, window, pad, stride):
        self.gpu = gpu
        self.library = ctypes.CDLL("libcudnn.so.9")
        self.handle = ctypes.c_void_p()
        self.call("cudnnCreate", ctypes.byref(self.handle))
        self.pool = ctypes.c_void_p()
        self.call("cudnnCreatePoolingDescriptor", ctypes.byref(self.pool))
        kModes = {"max": 0, "avg": 2}  # Averages exclude padding.
        self.call("cudnnSetPooling2dDescriptor", self.pool, kModes[mode], 0,
                  *window, *pad, *stride)

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status:
            raise RuntimeError(f"{name}: status {status}")

    def describe(self, tensor, layout):
        kTypes = {self.gpu.torch.float32: 0, self.gpu.torch.float16: 2}
        descriptor = ctypes.c_void_p()
        self.call("cudnnCreateTensorDescriptor", ctypes.byref(descriptor))
        self.call("cudnnSetTensor4dDescriptor", descriptor,
                  int(layout == "nhwc"), kTypes[tensor.dtype], *tensor.shape)
        return descriptor

    def bind(self, direction, layout, x, y, dy=None, dx=None):
        """A function that runs the call on the current stream."""
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        of_x, of_y = self.describe(x, layout), self.describe(y, layout)
        at = lambda tensor: ctypes.c_void_p(tensor.data_ptr())

        def run():
            stream = self.gpu.torch.cuda.current_stream().cuda_stream
            self.call("cudnnSetStream", self.handle, ctypes.c_void_p(stream))
            if direction == "fwd":
                self.call("cudnnPoolingForward", self.handle, self.pool,
                          ctypes.byref(one), of_x, at(x), ctypes.byref(zero),
                          of_y, at(y))
            else:
                self.call("cudnnPoolingBackward", self.handle, self.pool,
                          ctypes.byref(one), of_y, at(y), of_y, at(dy), of_x,
                          at(x), ctypes.byref(zero), of_x, at(dx))
        return run


def parse_pool(config):
    """Direction, mode, type, layout, and the numbers of the network config by
    name.
    """
    _, direction, mode, element, layouts, rest = config.split("-", 5)
    numbers = list(map(int, re.findall(r"\d+", rest.rsplit("-", 1)[0])))
    n, c, h, w, *window = numbers
    return (direction, mode, element, layouts.split(",")[0], (n, c, h, w),
            window[0:2], window[2:4], window[4:6])


def get_masks(torch, x, window, pad, stride):
    """PyTorch's maxima as positions in their windows."""
    _, indices = torch.nn.functional.max_pool2d(
        x.float(), window, stride, pad, return_indices=True)
    rows, columns = indices.shape[2:]
    device = indices.device
    row = (indices // x.shape[3] + pad[0]
           - torch.arange(rows, device=device)[:, None] * stride[0])
    column = (indices % x.shape[3] + pad[1]
              - torch.arange(columns, device=device) * stride[1])
    return (row * window[1] + column).to(torch.uint8)


def make_pool(gpu, config):
    """Tensors by their names, the name of the result, its expected value in
    f32, other implementations, and the bytes that have to move."""
    torch = gpu.torch
    direction, mode, element, layout, sizes, window, pad, stride = parse_pool(
        config)
    kind = {"f16": torch.float16, "f32": torch.float32}[element]
    order = (torch.channels_last if layout == "nhwc"
             else torch.contiguous_format)
    arrange = lambda tensor: tensor.contiguous(memory_format=order)
    functional = torch.nn.functional
    if mode == "max":
        pool = lambda x: functional.max_pool2d(x, window, stride, pad)
    else:
        pool = lambda x: functional.avg_pool2d(x, window, stride, pad,
                                               count_include_pad=False)
    x = arrange(torch.randn(*sizes, device="cuda").to(kind))
    y = arrange(pool(x))
    cudnn = CudnnPool(gpu, mode, window, pad, stride)
    size = x.element_size()
    if direction == "fwd":
        out = torch.empty_like(y, memory_format=order)
        return ({"x": x, "y": out}, "y", pool(x.float()),
                {"PyTorch": lambda: pool(x),
                 "cuDNN": cudnn.bind("fwd", layout, x, y)},
                size * (x.numel() + y.numel()))
    dy = arrange(torch.randn(y.shape, device="cuda").to(kind))
    dx = arrange(torch.empty_like(x))
    wide = x.float().contiguous().requires_grad_()
    pool(wide).backward(dy.float().contiguous())
    tensors = {"x": dx, "y": dy}
    theirs = arrange(torch.empty_like(x))
    peers = {"cuDNN": cudnn.bind("bwd", layout, x, y, dy, theirs)}
    aten = torch.ops.aten
    total = size * (x.numel() + y.numel())
    if mode == "max":
        tensors["indices"] = arrange(get_masks(torch, x, window, pad, stride))
        total += y.numel()
        _, indices = functional.max_pool2d(x, window, stride, pad,
                                          return_indices=True)
        peers["PyTorch"] = lambda: aten.max_pool2d_with_indices_backward(
            dy, x, window, stride, pad, [1, 1], False, indices)
    else:
        peers["PyTorch"] = lambda: aten.avg_pool2d_backward(
            dy, x, window, stride, pad, False, False, None)
    return tensors, "x", wide.grad, peers, total


def make_conv(gpu, config):
    """The same for a depthwise convolution."""
    conv = gpu_device.Conv(gpu.torch, config)
    return (conv.tensors, conv.letter,
            conv.compute(gpu.torch.float64).float(),
            {"cuDNN": conv.compute}, conv.bytes)


def run_problem(gpu, problem, repeats, ratios):
    """Prints a line for each tile, and adds the speed of our own tile over
    cuDNN's to the ratios of its kind. Returns the number of wrong tiles."""
    torch, name = gpu.torch, problem["name"]
    make = make_pool if problem["config"].startswith("pool") else make_conv
    tensors, letter, wanted, peers, total = make(gpu, problem["config"])
    most = {torch.float32: 1e-5, torch.float16: 2e-3,
            torch.bfloat16: 1e-2}[tensors[letter].dtype]
    launches, wrong = gpu_device.load_right(
        gpu, problem, tensors, letter,
        lambda result: gpu_device.get_norm_error(result, wanted), most)
    run_copy, copied = gpu.make_copy()
    times = gpu.time([run_copy, *peers.values(), *launches.values()], repeats)
    copy = copied / times[0]
    theirs = dict(zip(peers, times[1:]))
    ours = dict(zip(launches, times[1 + len(peers):]))
    show = lambda time: f"{time:7.1f} us {total / time / 1e3:6.0f} GB/s"
    print(f"{name}: {total / 1e6:.0f} MB, copy {copy / 1e3:.0f} GB/s"
          + "".join(f", {peer} {show(time)}" for peer, time in theirs.items()))
    for tile, time in sorted(ours.items(), key=lambda item: item[1]):
        print(f"  {tile:16s} {show(time)} {total / time / copy:5.2f} of copy "
              f"{theirs['cuDNN'] / time:6.2f} of cuDNN's speed", flush=True)
    if "own" in ours:
        family = "depthwise" if name.startswith("dw_") else "pool"
        kind = f"{family} {name.rsplit('.', 1)[1]}"
        ratios.setdefault(kind, []).append(theirs["cuDNN"] / ours["own"])
    return wrong


def run(options):
    gpu = gpu_device.Gpu()
    print(gpu.describe())
    ratios = {}
    status = gpu_device.run_folder(
        options,
        lambda problem: run_problem(gpu, problem, options.repeats, ratios))
    for kind, values in sorted(ratios.items()):
        mean = math.exp(sum(map(math.log, values)) / len(values))
        print(f"{kind}: {mean:.2f} of cuDNN's speed in geometric mean, "
              f"{min(values):.2f} at least, {len(values)} problems")
    return status


def main():
    parser = gpu_pack.make_parser(__doc__)
    parser.add_argument("--tiles", default="$.", metavar="REGEX")
    options = parser.parse_args()
    if options.command == "run":
        return run(options)
    return gpu_pack.pack(options, list_problems(),
                         lambda name, config: list_tiles(options, name))


if __name__ == "__main__":
    sys.exit(main())
