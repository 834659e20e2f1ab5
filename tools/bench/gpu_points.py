#!/usr/bin/env python3
"""How fast pooling and depthwise convolutions are on an NVIDIA GPU, beside
PyTorch and cuDNN, and beside what the memory could do.

  gpu_points.py pack FOLDER [--only REGEX] [--tiles REGEX] [--dnn-opt PATH]
                            [--ptxas PATH] [--jobs N]
      on the build machine: the problems named, compiled with the compiler's own
      tile, some with more; to cubins where there is a ptxas, else to PTX
  gpu_points.py run FOLDER [--repeats N]
      on the machine with the GPU: checks, then times

`run` needs PyTorch with cuDNN and NVIDIA's cuda-python, `pack` needs neither.
A kernel counts only if its result agrees with PyTorch's of f32, in three runs
with the same bits over poisoned memory. Times are medians as gpu_tiles.py takes
them. GB/s count each tensor once: x and y forward, dy and dx backward (ours
reads the indices of maxima besides); the copy that they are compared with moves
256 MiB in the same run. cuDNN's backward pooling reads x and y, too.
"""

import argparse
import ctypes
import json
import math
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import gpu_tiles

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


def list_tiles(name):
    """Texts of tiles; some fit no problem."""
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


# ---------------------------------------------------------------------- pack


def parse_kernels(text):
    """The launches of a module at stage gpu: what its functions say."""
    kernels = []
    pattern = r"gpu\.func @(\w+)\((.*?)\)[^\n]*? kernel[^\n]*?attributes \{(.*?)\} \{\n"
    for symbol, signature, attributes in re.findall(pattern, text, re.S):
        size = lambda what: int(re.search(
            what + r"_size = array<i32: (\d+)", attributes)[1])
        arguments = []
        for kind, attrs in re.findall(r"%\w+: ([^\s,{]+)(?: \{(.*?)\})?",
                                      signature):
            name = re.search(r'dnn\.arg = "(\w+)"', attrs)
            space = re.search(r"dnn\.bytes = (\d+)", attrs)
            arguments.append({"kind": kind, "name": name and name[1],
                              "bytes": space and int(space[1])})
        shared = re.search(r"shared_bytes = (\d+)", attributes)
        kernels.append({"symbol": symbol, "arguments": arguments,
                        "threads": size("block"), "grid": size("grid"),
                        "shared": int(shared[1]) if shared else 0,
                        "dependent": "dnn.dependent" in attributes})
    return kernels


def assemble(ptxas, ptx, path):
    """The cubin in hexadecimal digits."""
    source, binary = path.with_suffix(".ptx"), path.with_suffix(".cubin")
    source.write_text(ptx)
    subprocess.run([ptxas, "-arch=sm_90a", "-o", binary, source], check=True)
    code = binary.read_bytes().hex()
    source.unlink(), binary.unlink()
    return code


def compile_tile(options, config, tile, path):
    """The launches and the code of a tile, or None if it does not fit."""
    command = [options.dnn_opt, "--problem", config, "--target", "sm_90"]
    if tile:
        command += ["--tile", tile]
    run = lambda *more: subprocess.run([*command, *more], text=True,
                                       capture_output=True)
    gpu = run("--stop-after", "gpu")
    if gpu.returncode:
        if not tile:
            sys.exit(f"gpu_points.py: {config}: {gpu.stderr}")
        return None
    ptx = run("--stop-after", "isa").stdout
    found = {"kernels": parse_kernels(gpu.stdout)}
    if options.ptxas:
        found["cubin"] = assemble(options.ptxas, ptx, path)
    else:
        found["ptx"] = ptx
    return found


def pack_problem(options, name, config):
    folder = pathlib.Path(options.folder)
    tiles = {}
    for tile in [""] + (list_tiles(name) if re.search(options.tiles, name) else []):
        path = folder / f"{name}.{tile or 'own'}.tmp"
        if found := compile_tile(options, config, tile, path):
            tiles[tile or "own"] = found
    (folder / f"{name}.json").write_text(json.dumps(
        {"name": name, "config": config, "tiles": tiles}))
    print(f"{name}: {len(tiles)} tiles", file=sys.stderr)


def pack(options, problems, pack_problem):
    """Calls pack_problem() for those that --only asks for."""
    pathlib.Path(options.folder).mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(options.jobs) as pool:
        done = [pool.submit(pack_problem, options, name, config)
                for name, config in problems
                if re.search(options.only, name)]
        for job in done:
            job.result()
    return 0


# ----------------------------------------------------------------------- run


class Gpu(gpu_tiles.Gpu):
    """Loads point programs, whose arguments are addresses and scalars."""

    def load(self, tile, tensors):
        """A function that launches the kernels on the current stream."""
        cu = self.driver
        code = (bytes.fromhex(tile["cubin"]) if "cubin" in tile
                else tile["ptx"].encode() + b"\0")
        module = self.check(cu.cuModuleLoadData(code))
        self.modules.append(module)
        keep, calls, spaces = [], [], {}
        for kernel in tile["kernels"]:
            function = self.check(cu.cuModuleGetFunction(
                module, kernel["symbol"].encode()))
            self.check(cu.cuFuncSetAttribute(
                function, cu.CUfunction_attribute.
                CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                kernel["shared"]))
            values = [self.bind(argument, i, tensors, spaces)
                      for i, argument in enumerate(kernel["arguments"])]
            pointers = (ctypes.c_void_p * len(values))(
                *[ctypes.addressof(value) for value in values])
            keep.append((values, pointers))
            calls.append((function, kernel, ctypes.addressof(pointers)))

        def launch(keep=(keep, spaces)):
            for call in calls:
                self.launch(*call)
        return launch

    def bind(self, argument, place, tensors, spaces):
        if argument["kind"] == "f32":
            return ctypes.c_float(0 if argument["name"] == "beta" else 1)
        if argument["name"] == "workspace":
            if "workspace" not in spaces:
                spaces["workspace"] = self.torch.empty(
                    argument["bytes"], dtype=self.torch.int8, device="cuda")
            return ctypes.c_uint64(spaces["workspace"].data_ptr())
        letter = argument["name"] or "xwy"[place]
        return ctypes.c_uint64(tensors[letter].data_ptr())


class CudnnPool:
    """cuDNN's own pooling calls, of which PyTorch makes no use."""

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
        """A function that runs it on the current stream."""
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
    """Direction, mode, type, layout and the numbers by their places."""
    _, direction, mode, element, layouts, rest = config.split("-", 5)
    numbers = list(map(int, re.findall(r"\d+", rest.rsplit("-", 1)[0])))
    n, c, h, w, *window = numbers
    return (direction, mode, element, layouts.split(",")[0], (n, c, h, w),
            window[0:2], window[2:4], window[4:6])


def get_masks(torch, x, window, pad, stride):
    """PyTorch's maxima as positions in their windows."""
    _, places = torch.nn.functional.max_pool2d(
        x.float(), window, stride, pad, return_indices=True)
    rows, columns = places.shape[2:]
    device = places.device
    row = (places // x.shape[3] + pad[0]
           - torch.arange(rows, device=device)[:, None] * stride[0])
    column = (places % x.shape[3] + pad[1]
              - torch.arange(columns, device=device) * stride[1])
    return (row * window[1] + column).to(torch.uint8)


def make_pool(gpu, config):
    """Tensors by their names, the name of the result, what it should be in
    f32, others' ways to make it, and the bytes of what has to move."""
    torch = gpu.torch
    direction, mode, element, layout, sizes, window, pad, stride = parse_pool(
        config)
    kind = {"f16": torch.float16, "f32": torch.float32}[element]
    order = (torch.channels_last if layout == "nhwc"
             else torch.contiguous_format)
    place = lambda tensor: tensor.contiguous(memory_format=order)
    functional = torch.nn.functional
    if mode == "max":
        pool = lambda x: functional.max_pool2d(x, window, stride, pad)
    else:
        pool = lambda x: functional.avg_pool2d(x, window, stride, pad,
                                               count_include_pad=False)
    x = place(torch.randn(*sizes, device="cuda").to(kind))
    y = place(pool(x))
    cudnn = CudnnPool(gpu, mode, window, pad, stride)
    size = x.element_size()
    if direction == "fwd":
        out = torch.empty_like(y, memory_format=order)
        return ({"x": x, "y": out}, "y", pool(x.float()),
                {"PyTorch": lambda: pool(x),
                 "cuDNN": cudnn.bind("fwd", layout, x, y)},
                size * (x.numel() + y.numel()))
    dy = place(torch.randn(y.shape, device="cuda").to(kind))
    dx = place(torch.empty_like(x))
    wide = x.float().contiguous().requires_grad_()
    pool(wide).backward(dy.float().contiguous())
    tensors = {"x": dx, "y": dy}
    theirs = place(torch.empty_like(x))
    peers = {"cuDNN": cudnn.bind("bwd", layout, x, y, dy, theirs)}
    aten = torch.ops.aten
    total = size * (x.numel() + y.numel())
    if mode == "max":
        tensors["indices"] = place(get_masks(torch, x, window, pad, stride))
        total += y.numel()
        _, places = functional.max_pool2d(x, window, stride, pad,
                                          return_indices=True)
        peers["PyTorch"] = lambda: aten.max_pool2d_with_indices_backward(
            dy, x, window, stride, pad, [1, 1], False, places)
    else:
        peers["PyTorch"] = lambda: aten.avg_pool2d_backward(
            dy, x, window, stride, pad, False, False, None)
    return tensors, "x", wide.grad, peers, total


def make_conv(gpu, config):
    """The same of a depthwise convolution."""
    torch, p = gpu.torch, gpu_tiles.parse_config(config)
    last = torch.channels_last
    direction, element = config.split("-")[1:3]
    kind = {"bf16": torch.bfloat16, "f16": torch.float16,
            "f32": torch.float32}[element]
    draw = lambda *shape: torch.randn(*shape, device="cuda").to(
        kind, memory_format=last)
    out = [(p[a] + 2 * p["p" + a] - p[f]) // p["s" + a] + 1
           for a, f in (("h", "y"), ("w", "x"))]
    tensors = {"x": draw(p["n"], p["c"], p["h"], p["w"]),
               "w": draw(p["k"], p["c"] // p["g"], p["y"], p["x"]),
               "y": draw(p["n"], p["k"], *out)}
    window = ([p["sh"], p["sw"]], [p["ph"], p["pw"]], [p["dh"], p["dw"]])

    def library(x, w, y):
        if direction == "fwd":
            return torch.nn.functional.conv2d(x, w, None, *window, p["g"])
        mask = [direction == "bwd", direction == "wrw", False]
        return torch.ops.aten.convolution_backward(
            y, x, w, None, *window, False, [0, 0], p["g"], mask)[mask.index(
                True)]
    result = {"fwd": "y", "bwd": "x", "wrw": "w"}[direction]
    wanted = library(*(tensors[name].double() for name in "xwy")).float()
    total = sum(tensor.nbytes for tensor in tensors.values())
    return (tensors, result, wanted,
            {"cuDNN": lambda: library(*(tensors[name] for name in "xwy"))},
            total)


def check_kernel(gpu, launch, result, wanted):
    """What is wrong with a kernel, or nothing."""
    kWorst = {gpu.torch.float32: 1e-5, gpu.torch.float16: 2e-3,
              gpu.torch.bfloat16: 1e-2}[result.dtype]
    first = None
    for _ in range(3):
        result.fill_(float("nan"))
        launch()
        gpu.torch.cuda.synchronize()
        if first is None:
            first = result.clone()
            error = ((first.float() - wanted).norm() / wanted.norm()).item()
            if not error < kWorst:  # Also of a NaN.
                return f"relative error {error:.2e}"
        elif not gpu.torch.equal(first, result):
            return "other bits in another run"
    return ""


def run_problem(gpu, problem, repeats):
    """Prints a line a tile; what is wrong, ours over the best peer's speed."""
    make = make_pool if problem["config"].startswith("pool") else make_conv
    tensors, letter, wanted, peers, total = make(gpu, problem["config"])
    launches, wrong = {}, 0
    for tile, code in problem["tiles"].items():
        launch = gpu.load(code, tensors)
        if fault := check_kernel(gpu, launch, tensors[letter], wanted):
            print(f"WRONG {problem['name']} {tile}: {fault}", flush=True)
            wrong += 1
        else:
            launches[tile] = launch
    source = gpu.torch.empty(1 << 27, dtype=gpu.torch.float16, device="cuda")
    times = gpu.time([lambda: source[:1 << 26].copy_(source[1 << 26:]),
                      *peers.values(), *launches.values()], repeats)
    copy = 4 * (1 << 26) / times[0]
    theirs = dict(zip(peers, times[1:]))
    ours = dict(zip(launches, times[1 + len(peers):]))
    show = lambda time: f"{time:7.1f} us {total / time / 1e3:6.0f} GB/s"
    print(f"{problem['name']}: {total / 1e6:.0f} MB, copy {copy / 1e3:.0f} GB/s"
          + "".join(f", {peer} {show(time)}" for peer, time in theirs.items()))
    for tile, time in sorted(ours.items(), key=lambda item: item[1]):
        print(f"  {tile:16s} {show(time)} {total / time / copy:5.2f} of copy "
              f"{theirs['cuDNN'] / time:6.2f} of cuDNN's speed", flush=True)
    return wrong, theirs["cuDNN"] / ours["own"] if "own" in ours else None


def run(options):
    gpu = Gpu()
    torch = gpu.torch
    print(torch.cuda.get_device_name(), "cuDNN", torch.backends.cudnn.version())
    wrong, ratios = 0, {}
    for file in sorted(pathlib.Path(options.folder).glob("*.json")):
        problem = json.loads(file.read_text())
        try:
            faults, ratio = run_problem(gpu, problem, options.repeats)
        except RuntimeError as error:
            print(f"FAILED {problem['name']}: {error}", flush=True)
            faults, ratio = 1, None
        wrong += faults
        family = "depthwise" if problem["name"].startswith("dw_") else "pool"
        if ratio:
            direction = problem["name"].rsplit(".", 1)[1]
            ratios.setdefault(f"{family} {direction}", []).append(ratio)
    for name, values in sorted(ratios.items()):
        mean = math.exp(sum(map(math.log, values)) / len(values))
        print(f"{name}: {mean:.2f} of cuDNN's speed in geometric mean, "
              f"{min(values):.2f} at least, {len(values)} problems")
    print(f"{wrong} kernels wrong")
    return 1 if wrong or not ratios else 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("command", choices=["pack", "run"])
    parser.add_argument("folder")
    parser.add_argument("--tiles", default="$.", metavar="REGEX")
    parser.add_argument("--only", default="")
    parser.add_argument("--dnn-opt", default="build/dev/bin/dnn-opt")
    parser.add_argument("--ptxas", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args()
    if options.command == "pack":
        return pack(options, list_problems(), pack_problem)
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
