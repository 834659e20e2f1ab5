#!/usr/bin/env python3
"""How fast each wgmma tile is on an NVIDIA GPU, beside cuDNN.

  gpu_tiles.py pack FOLDER [--direction fwd|bwd|wrw] [--type bf16|tf32]
               [--dnn-opt PATH] [--list FILE] [--best N] [--tiles TILE,...]
               [--target CHIP] [--ptxas PATH]
      on the build machine: every tile of every problem, or the N that the model
      likes best, or those that are named ("m128n256k32-w2x4-d4-mma16", or with
      another algorithm in front), compiled to PTX, or by ptxas to machine code;
      of backward weights always the best. For an older chip, whose kernels run
      on a newer one, too, the tiles that the model likes best: sm_80's are all
      of mma.sync
  gpu_tiles.py run FOLDER [--repeats N]
      on the machine with the GPU: checks, then times unless N is 0

The numbers are for the cost model (compiler/Algorithms/TmaTiles.cpp) and for
docs/performance.md. `run` needs PyTorch with cuDNN and NVIDIA's cuda-python,
`pack` needs neither. A kernel counts only if its result agrees with cuDNN's of
f32, in five runs with the same bits over poisoned memory: to 1e-2 of the norm,
or 6e-4 of tf32, which passes factors that are rounded, not cut off. Times are medians of
events around CUDA graphs of one call, ours and cuDNN's in turn, behind a write
of 256 MiB that leaves nothing in the second cache; the lower of two rounds'
medians, which a disturbance of some milliseconds does not reach. A call is all
its launches.
"""

import argparse
import base64
import ctypes
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

TILES = """m192n128k64-w3x1-t4 m128n256k64-w2x1-t4 m256n128k64-w2x1-t4
m128n128k64-w1x1-p5 m192n128k64-w1x1-p4 m128n128k64-w2x1-t5 m128n64k64-w1x1-p6
m256n64k64-w2x1-t4 m192n64k64-w3x1-t5 m64n256k64-w1x1-p4 m64n128k64-w1x1-t3
m128n64k64-w1x1-t3""".split()


def parse_config(config):
    """The numbers of a 2-D network config, by its letters."""
    text = config.split("-", 4)[4]
    pattern = (r"n(\d+)c(\d+)h(\d+)w(\d+)-k(\d+)y(\d+)x(\d+)"
               r"-p(\d+)x(\d+)-s(\d+)x(\d+)-d(\d+)x(\d+)-g(\d+)")
    match = re.fullmatch(pattern, text)
    if not match:
        sys.exit(f"gpu_tiles.py: '{config}' is no 2-D convolution")
    names = "n c h w k y x ph pw sh sw dh dw g".split()
    return dict(zip(names, map(int, match.groups())))


# ---------------------------------------------------------------------- pack


def read_launch(symbol, arguments, attributes):
    """What a launch of a kernel takes, from its signature."""
    def number(pattern):
        match = re.search(pattern, attributes)
        return int(match[1]) if match else 0
    maps = re.search(r"tensor_maps = \[(.*?)\]", attributes)
    return {"symbol": symbol,
            "maps": re.findall(r'"([^"]*)"', maps[1]) if maps else [],
            "args": re.findall(r'dnn\.arg = "(\w+)"', arguments),
            "shared": number(r"shared_bytes = (\d+)"),
            "threads": number(r"block_size = array<i32: (\d+)"),
            "grid": number(r"grid_size = array<i32: (\d+)"),
            "dependent": "dnn.dependent" in attributes}


def assemble(ptxas, ptx):
    """Machine code in base64; what ptxas warns of is said."""
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = pathlib.Path(folder, "k.ptx"), pathlib.Path(folder, "k")
        source.write_text(ptx)
        done = subprocess.run([ptxas, "-arch=sm_90a", source, "-o", cubin],
                              capture_output=True, text=True, check=True)
        print(done.stdout + done.stderr, end="", file=sys.stderr)
        return base64.b64encode(cubin.read_bytes()).decode()


def compile_tile(options, config, tile):
    """The launches and the PTX of a tile, or None if it does not fit."""
    def run(stage):
        command = [options.dnn_opt, "--problem", config, "--target",
                   options.target, "--tile", tile, "--stop-after", stage]
        return subprocess.run(command, capture_output=True, text=True)
    gpu = run("gpu")
    if gpu.returncode:
        return None
    kernels = re.findall(r"gpu\.func @(\w+)\((.*?)attributes \{(.*?)\} \{\n",
                         gpu.stdout, re.S)
    workspace = re.search(r"dnn\.bytes = (\d+)", gpu.stdout)
    ptx = run("isa").stdout
    code = {"cubin": assemble(options.ptxas, ptx)} if options.ptxas \
        else {"ptx": ptx}
    return {"launches": [read_launch(*kernel) for kernel in kernels], **code,
            "workspace": int(workspace[1]) if workspace else 0}


def list_tiles(options, config):
    """The tiles to try of a problem."""
    if options.tiles:
        return [tile if re.match("[a-z]{2}", tile) else f"igemm-{tile}"
                for tile in options.tiles.split(",")]
    is_hopper = options.target == "sm_90"
    if is_hopper and not options.best and options.direction != "wrw":
        return [f"igemm-{tile}-wgmma" if options.type == "bf16"
                else f"igemm-{tile.replace('k64', 'k32')}-wgmma_tf32"
                for tile in TILES]
    command = [options.dnn_opt, "--problem", config, "--target",
               options.target, "--list-tiles", str(options.best or 8)]
    ranked = subprocess.run(command, capture_output=True, text=True).stdout
    tiles = [line.split()[0] for line in ranked.splitlines()]
    return [tile for tile in tiles if "-wgmma" in tile or not is_hopper
            or tile.startswith("groups-")]


def pack(options):
    folder = pathlib.Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    lines = [line.split() for line in open(options.list)
             if line.strip() and not line.startswith("#")]
    for done, (name, config) in enumerate(lines):
        print(f"{done + 1} of {len(lines)}: {name}", file=sys.stderr)
        config = re.sub(r"^conv-\w+-\w+-",
                        f"conv-{options.direction}-{options.type}-", config)
        kernels = {}
        for tile in list_tiles(options, config):
            if kernel := compile_tile(options, config, tile):
                name_of_tile = re.sub("-wgmma(_tf32)?", "",
                                      tile.removeprefix("igemm-"))
                kernels[name_of_tile] = kernel
        if kernels:
            problem = {"name": name, "config": config, "kernels": kernels}
            (folder / f"{name}.{options.direction}.json").write_text(
                json.dumps(problem))
    return 0


# ----------------------------------------------------------------------- run


class Gpu:
    """PyTorch and the driver, of one device."""

    def __init__(self):
        import torch
        from cuda.bindings import driver
        self.torch, self.driver = torch, driver
        torch.backends.cudnn.benchmark = True
        torch.backends.cudnn.benchmark_limit = 0
        torch.backends.cudnn.allow_tf32 = False
        self.flush = torch.empty(256 << 20, dtype=torch.int8, device="cuda")
        self.modules = []

    def measure_limits(self, is_tf32=False):
        """Operations a microsecond of an 8192^3 GEMM, bytes of a copy of 1 GiB,
        by a kernel: PyTorch's own copy of so much leaves it to the driver, which
        is slower."""
        torch = self.torch
        a = torch.randn(8192, 8192, device="cuda")
        a = a if is_tf32 else a.bfloat16()
        torch.backends.cuda.matmul.allow_tf32 = is_tf32
        x = torch.zeros(1 << 28, device="cuda")
        y = torch.empty_like(x)
        gemm, copy = self.time([lambda: a @ a, lambda: torch.neg(x, out=y)], 10)
        return 2 * 8192 ** 3 / gemm, 8 * x.numel() / copy

    def check(self, answer):
        if answer[0] != self.driver.CUresult.CUDA_SUCCESS:
            raise RuntimeError(str(answer[0]))
        return answer[1] if len(answer) == 2 else answer[1:]

    def encode(self, text, address):
        """A tensor map from its text (runtime/Base/TensorMap.h)."""
        cu = self.driver
        numbers = lambda field: [int(n) for n in field.split(",") if n]
        wide = lambda values: [cu.cuuint64_t(v) for v in values]
        narrow = lambda values: [cu.cuuint32_t(v) for v in values]
        fields = text.split(":")
        sizes, strides, box, steps = map(numbers, fields[3:7])
        types = {"f32": "FLOAT32", "tf32": "TFLOAT32", "bf16": "BFLOAT16"}
        common = (getattr(cu.CUtensorMapDataType,
                          "CU_TENSOR_MAP_DATA_TYPE_" + types[fields[1]]),
                  len(sizes), address, wide(sizes), wide(strides))
        rest = (narrow(steps),
                cu.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
                cu.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_128B,
                cu.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                cu.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
        if fields[2] == "tiled":
            return self.check(cu.cuTensorMapEncodeTiled(
                *common, narrow(box), *rest))
        return self.check(cu.cuTensorMapEncodeIm2col(
            *common, numbers(fields[7]), numbers(fields[8]), *box, *rest))

    def load(self, kernel, tensors):
        """A function that runs the kernel's launches on the current stream;
        `tensors` gets its workspace."""
        code = base64.b64decode(kernel["cubin"]) if "cubin" in kernel \
            else kernel["ptx"].encode() + b"\0"
        module = self.check(self.driver.cuModuleLoadData(code))
        self.modules.append(module)
        tensors["workspace"] = self.torch.empty(
            max(1, kernel["workspace"]), dtype=self.torch.uint8, device="cuda")
        runs = [self.load_launch(module, launch, tensors)
                for launch in kernel["launches"]]
        return lambda: [run() for run in runs]

    def load_launch(self, module, launch, tensors):
        cu = self.driver
        function = self.check(cu.cuModuleGetFunction(
            module, launch["symbol"].encode()))
        self.check(cu.cuFuncSetAttribute(
            function, cu.CUfunction_attribute.
            CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, launch["shared"]))
        def locate(name):
            tensor, _, offset = name.partition("+")
            return tensors[tensor].data_ptr() + int(offset or 0)
        maps = [self.encode(text, locate(text.split(":")[0]))
                for text in launch["maps"]]
        values = [ctypes.c_uint64(tensors[name].data_ptr())
                  for name in launch["args"]]
        pointers = (ctypes.c_void_p * (len(maps) + len(values)))(
            *[int(map.getPtr()) for map in maps],
            *[ctypes.addressof(value) for value in values])

        def run(keep=(maps, values, pointers)):
            self.launch(function, launch, ctypes.addressof(pointers))
        return run

    def launch(self, function, launch, pointers):
        """Launches a kernel on the current stream; one that waits by itself for
        the launch in front need not wait."""
        cu = self.driver
        config = cu.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = launch["grid"], 1, 1
        config.blockDimX, config.blockDimY, config.blockDimZ = (
            launch["threads"], 1, 1)
        config.sharedMemBytes = launch["shared"]
        config.hStream = self.torch.cuda.current_stream().cuda_stream
        if launch["dependent"]:
            attribute = cu.CUlaunchAttribute()
            attribute.id = (cu.CUlaunchAttributeID.
                CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            attribute.value.programmaticStreamSerializationAllowed = 1
            config.attrs, config.numAttrs = [attribute], 1
        self.check(cu.cuLaunchKernelEx(config, function, pointers, 0))

    def capture(self, function):
        torch = self.torch
        stream = torch.cuda.Stream()
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            function()
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=stream):
                function()
        return graph

    def time(self, functions, repeats):
        """Microseconds of each, in turn; see the top of this file."""
        graphs = [self.capture(function) for function in functions]
        first = self.time_round(graphs, (repeats + 1) // 2)
        time.sleep(0.02)
        return list(map(min, first, self.time_round(graphs, (repeats + 1) // 2)))

    def time_round(self, graphs, repeats):
        torch = self.torch
        times = [[] for _ in graphs]
        for turn in range(repeats + 2):
            order = range(len(graphs))
            for i in order if turn % 2 else reversed(order):
                begin, end = (torch.cuda.Event(enable_timing=True)
                              for _ in range(2))
                self.flush.zero_()
                begin.record()
                graphs[i].replay()
                end.record()
                torch.cuda.synchronize()
                if turn >= 2:
                    times[i].append(begin.elapsed_time(end) * 1e3)
        return [statistics.median(t) for t in times]


def make_case(gpu, config):
    """Tensors by their letters, the letter of the result, what it should be in
    f32, and cuDNN's way to make it."""
    torch, p = gpu.torch, parse_config(config)
    last = torch.channels_last
    out = [(p[a] + 2 * p["p" + a] - p["d" + a] * (p[f] - 1) - 1) // p["s" + a]
           + 1 for a, f in (("h", "y"), ("w", "x"))]
    is_tf32 = "-tf32-" in config

    def draw(*shape, scale=1.0):
        values = torch.randn(*shape, device="cuda") * scale
        return (values if is_tf32 else values.bfloat16()).to(memory_format=last)
    tensors = {"x": draw(p["n"], p["c"], p["h"], p["w"]),
               "w": draw(p["k"], p["c"] // p["g"], p["y"], p["x"], scale=0.05),
               "y": draw(p["n"], p["k"], *out)}
    window = ([p["sh"], p["sw"]], [p["ph"], p["pw"]], [p["dh"], p["dw"]])
    if config.startswith("conv-fwd"):
        def library(x, w, y):
            return torch.nn.functional.conv2d(x, w, None, *window, p["g"])
        result = "y"
    elif config.startswith("conv-wrw"):
        def library(x, w, y):
            return torch.ops.aten.convolution_backward(
                y, x, w, None, *window, False, [0, 0], p["g"],
                [False, True, False])[1]
        result = "w"
    else:
        def library(x, w, y):
            return torch.ops.aten.convolution_backward(
                y, x, w, None, *window, False, [0, 0], p["g"],
                [True, False, False])[0]
        result = "x"
    torch.backends.cudnn.benchmark = False  # Of f32, once is enough.
    torch.backends.cudnn.allow_tf32 = False
    wanted = library(*(tensors[name].float() for name in "xwy"))
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = is_tf32
    flops = 2 * p["n"] * p["k"] * out[0] * out[1] * p["c"] // p["g"] \
        * p["y"] * p["x"]
    return (tensors, result, wanted,
            lambda: library(*(tensors[name] for name in "xwy")), flops)


def check_kernel(gpu, launch, result, workspace, wanted):
    """What is wrong with a kernel, or nothing."""
    first, most = None, 6e-4 if result.dtype == gpu.torch.float32 else 1e-2
    for _ in range(5):
        result.fill_(float("nan"))
        workspace.fill_(255)  # NaN, of any type.
        launch()
        gpu.torch.cuda.synchronize()
        if first is None:
            first = result.clone()
            error = ((first.float() - wanted).norm() / wanted.norm()).item()
            if not error < most:  # Also of a NaN.
                return f"relative error {error:.2e}"
        elif not gpu.torch.equal(first, result):
            return "other bits in another run"
    return ""


def run_problem(gpu, problem, repeats):
    tensors, letter, wanted, library, flops = make_case(gpu, problem["config"])
    result = tensors[letter]
    launches, kept, wrong = {}, [], 0
    for tile, kernel in problem["kernels"].items():
        launch = gpu.load(kernel, tensors)
        workspace = tensors.pop("workspace")
        if fault := check_kernel(gpu, launch, result, workspace, wanted):
            print(f"WRONG {problem['name']} {tile}: {fault}", flush=True)
            wrong += 1
        else:
            launches[tile] = launch
            kept.append(workspace)
    if repeats == 0:
        print(f"{problem['name']} {', '.join(launches)}: right", flush=True)
        return wrong
    times = gpu.time([library, *launches.values()], repeats)
    peer = times[0]
    print(f"{problem['name']} {problem['config']} cuDNN {peer:.1f} us",
          flush=True)
    for us, tile in sorted(zip(times[1:], launches)):
        print(f"  {tile:25s} {us:8.1f} us {flops / us / 1e6:7.1f} TFLOP/s "
              f"{peer / us:6.3f} of cuDNN's speed", flush=True)
    return wrong


def run(options):
    gpu = Gpu()
    torch = gpu.torch
    print(torch.cuda.get_device_name(), "cuDNN", torch.backends.cudnn.version())
    files = sorted(pathlib.Path(options.folder).glob("*.json"))
    wrong = sum(run_problem(gpu, json.loads(file.read_text()), options.repeats)
                for file in files)
    rate, bandwidth = gpu.measure_limits()
    print(f"GEMM 8192 {rate / 1e6:.0f} TFLOP/s, copy {bandwidth / 1e6:.2f} TB/s, "
          f"{wrong} kernels wrong")
    return 1 if wrong or not files else 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("command", choices=["pack", "run"])
    parser.add_argument("folder")
    parser.add_argument("--direction", choices=["fwd", "bwd", "wrw"],
                        default="fwd")
    parser.add_argument("--type", choices=["bf16", "tf32"], default="bf16")
    parser.add_argument("--best", type=int, default=0)
    parser.add_argument("--tiles", default="")
    parser.add_argument("--target", default="sm_90")
    parser.add_argument("--ptxas")
    parser.add_argument("--dnn-opt", default="build/dev/bin/dnn-opt")
    parser.add_argument("--list", default="tools/bench/conv-h100.txt")
    parser.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args()
    return pack(options) if options.command == "pack" else run(options)


if __name__ == "__main__":
    sys.exit(main())
