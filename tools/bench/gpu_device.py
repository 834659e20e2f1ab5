"""Loads, checks and times what gpu_pack.py made, on an NVIDIA GPU.

Needs PyTorch with cuDNN and NVIDIA's cuda-python. Times are medians of events
around CUDA graphs of one call, ours and others' alternately, after a write of
256 MiB that leaves nothing in L2. Of two rounds the lower median counts, so
that a disturbance of some milliseconds has no effect. A call is all its
launches.
"""

import base64
import ctypes
import json
import math
import pathlib
import re
import statistics
import sys
import time

# ------------------------------------------------------------ loading, timing


class Gpu:
    """PyTorch and the driver for one device."""

    def __init__(self):
        import torch
        from cuda.bindings import driver
        self.torch, self.driver = torch, driver
        torch.backends.cudnn.benchmark = True
        torch.backends.cudnn.benchmark_limit = 0
        torch.backends.cudnn.allow_tf32 = False
        self.flush = torch.empty(256 << 20, dtype=torch.int8, device="cuda")
        self.modules = []

    def describe(self):
        torch = self.torch
        return (f"{torch.cuda.get_device_name()} "
                f"cuDNN {torch.backends.cudnn.version()}")

    def measure_limits(self, is_tf32=False):
        """Operations per microsecond of an 8192^3 GEMM, and bytes per
        microsecond of a copy of 1 GiB by a kernel: PyTorch leaves so large a
        copy to the driver, which is slower."""
        torch = self.torch
        a = torch.randn(8192, 8192, device="cuda")
        a = a if is_tf32 else a.bfloat16()
        torch.backends.cuda.matmul.allow_tf32 = is_tf32
        x = torch.zeros(1 << 28, device="cuda")
        y = torch.empty_like(x)
        gemm, copy = self.time([lambda: a @ a, lambda: torch.neg(x, out=y)], 10)
        return 2 * 8192 ** 3 / gemm, 8 * x.numel() / copy

    def make_copy(self):
        """A copy of 128 MiB, to be timed beside others, and the bytes that it
        moves.
        """
        source = self.torch.empty(1 << 27, dtype=self.torch.float16,
                                  device="cuda")
        half = source.numel() // 2
        return (lambda: source[:half].copy_(source[half:]),
                source.numel() * source.element_size())

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
        types = {"f32": "FLOAT32", "tf32": "TFLOAT32", "f16": "FLOAT16",
                 "bf16": "BFLOAT16"}
        row = box[0] * (2 if fields[1].endswith("f16") else 4)
        swizzle = ("NONE" if row <= 16 or fields[2] == "plain"
                   else f"{row}B")
        common = (getattr(cu.CUtensorMapDataType,
                          "CU_TENSOR_MAP_DATA_TYPE_" + types[fields[1]]),
                  len(sizes), address, wide(sizes), wide(strides))
        rest = (narrow(steps),
                cu.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
                getattr(cu.CUtensorMapSwizzle,
                        "CU_TENSOR_MAP_SWIZZLE_" + swizzle),
                cu.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                cu.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
        if fields[2] != "im2col":
            return self.check(cu.cuTensorMapEncodeTiled(
                *common, narrow(box), *rest))
        return self.check(cu.cuTensorMapEncodeIm2col(
            *common, numbers(fields[7]), numbers(fields[8]), *box, *rest))

    def load(self, tile, tensors):
        """A function that runs the tile's launches on the current stream, and
        the tile's workspace."""
        code = base64.b64decode(tile["cubin"]) if "cubin" in tile \
            else tile["ptx"].encode() + b"\0"
        module = self.check(self.driver.cuModuleLoadData(code))
        self.modules.append(module)
        workspace = self.torch.empty(
            max(1, tile["workspace"]), dtype=self.torch.uint8, device="cuda")
        tensors = tensors | {"workspace": workspace}
        runs = [self.load_launch(module, launch, tensors)
                for launch in tile["launches"]]
        return lambda: [run() for run in runs], workspace

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

        def bind(argument):
            """Scalars that scale the old result are 0, others are 1."""
            scalars = {"f32": ctypes.c_float, "f64": ctypes.c_double}
            if argument["kind"] in scalars:
                return scalars[argument["kind"]](
                    0 if argument["name"] in ("beta", "s1") else 1)
            if argument["name"] == "s5":  # In which order tiles are walked.
                return ctypes.c_uint64(0)
            return ctypes.c_uint64(locate(argument["name"]))
        maps = [self.encode(text, locate(text.split(":")[0]))
                for text in launch["maps"]]
        values = [bind(argument) for argument in launch["arguments"]]
        pointers = (ctypes.c_void_p * (len(maps) + len(values)))(
            *[int(map.getPtr()) for map in maps],
            *[ctypes.addressof(value) for value in values])

        def run(keep=(maps, values, pointers, tensors)):
            self.launch(function, launch, ctypes.addressof(pointers))
        return run

    def launch(self, function, launch, pointers):
        """Launches a kernel on the current stream, as the engine does: one
        that waits by itself for the launch in front gets a dependent launch.
        """
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
        """Microseconds of each function, measured alternately; see the top of
        this file.
        """
        graphs = [self.capture(function) for function in functions]
        first = self.time_round(graphs, (repeats + 1) // 2)
        time.sleep(0.02)
        return list(map(min, first, self.time_round(graphs, (repeats + 1) // 2)))

    def time_round(self, graphs, repeats):
        torch = self.torch
        times = [[] for _ in graphs]
        for repeat in range(repeats + 2):
            order = range(len(graphs))
            for i in order if repeat % 2 else reversed(order):
                begin, end = (torch.cuda.Event(enable_timing=True)
                              for _ in range(2))
                self.flush.zero_()
                begin.record()
                graphs[i].replay()
                end.record()
                torch.cuda.synchronize()
                if repeat >= 2:
                    times[i].append(begin.elapsed_time(end) * 1e3)
        return [statistics.median(t) for t in times]


# ---------------------------------------------------------------- convolutions


def parse_config(config):
    """The numbers of a network config: single ones by their letters, and lists
    of the spatial dimensions, depth first if there is one."""
    def by_x(letter):
        return rf"-{letter}(\d+(?:x\d+)+)"
    pattern = (r"n(\d+)c(\d+)(?:d(\d+))?h(\d+)w(\d+)"
               r"-k(\d+)(?:z(\d+))?y(\d+)x(\d+)"
               + by_x("p") + by_x("s") + by_x("d") + r"-g(\d+)")
    match = re.fullmatch(pattern, config.split("-", 4)[4])
    if not match:
        sys.exit(f"'{config}' is no convolution with equal padding")
    (n, c, *size, k, z, y, x, pad, stride, dilation, g) = match.groups()
    present = lambda values: [int(v) for v in values if v]
    return {"n": int(n), "c": int(c), "k": int(k), "g": int(g),
            "in": present(size), "filter": present([z, y, x]),
            **{name: present(text.split("x")) for name, text in
               (("pad", pad), ("stride", stride), ("dilation", dilation))}}


class Conv:
    """A convolution of tensors in one layout, with data: `tensors` by their
    letters, the `letter` of the result, the number of operations and bytes."""

    def __init__(self, torch, config):
        p = parse_config(config)
        self.torch = torch
        self.direction, element, layouts = config.split("-")[1:4]
        self.is_tf32 = element == "tf32"
        self.is_f32 = element == "f32"
        self.is_f64 = element == "f64"
        last = (torch.channels_last if len(p["in"]) == 2
                else torch.channels_last_3d)
        order = (last if layouts.split(",")[0].endswith("c")
                 else torch.contiguous_format)
        kind = {"bf16": torch.bfloat16, "f16": torch.float16,
                "f32": torch.float32, "tf32": torch.float32,
                "f64": torch.float64}[element]
        out = [(size + 2 * pad - dilation * (taps - 1) - 1) // stride + 1
               for size, taps, pad, stride, dilation in
               zip(p["in"], p["filter"], p["pad"], p["stride"], p["dilation"])]
        reach = p["c"] // p["g"] * math.prod(p["filter"])
        pixels = p["n"] * math.prod(out)

        def draw(*shape, scale=1.0):
            values = torch.randn(*shape, device="cuda") * scale
            return values.to(kind, memory_format=order)
        # Sums must fit f16: over the filter's window, or over all pixels.
        self.tensors = {
            "x": draw(p["n"], p["c"], *p["in"]),
            "w": draw(p["k"], p["c"] // p["g"], *p["filter"],
                      scale=reach ** -0.5),
            "y": draw(p["n"], p["k"], *out, scale=pixels ** -0.5
                      if self.direction == "wrw" else 1.0)}
        self.letter = {"fwd": "y", "bwd": "x", "wrw": "w"}[self.direction]
        self.result = self.tensors[self.letter]
        self.window = p["stride"], p["pad"], p["dilation"]
        self.groups = p["g"]
        self.operations = 2 * pixels * p["k"] * reach
        self.bytes = sum(tensor.nbytes for tensor in self.tensors.values())

    def compute(self, kind=None):
        """PyTorch's result, by cuDNN where it has the operation; with tensors
        of `dtype` if it is given, and without tf32."""
        torch = self.torch
        torch.backends.cudnn.allow_tf32 = self.is_tf32 and not kind
        x, w, y = (self.tensors[name].to(kind) if kind else self.tensors[name]
                   for name in "xwy")
        if self.direction == "fwd":
            conv = (torch.nn.functional.conv2d if x.dim() == 4
                    else torch.nn.functional.conv3d)
            return conv(x, w, None, *self.window, self.groups)
        mask = [self.direction == "bwd", self.direction == "wrw", False]
        return torch.ops.aten.convolution_backward(
            y, x, w, None, *self.window, False, [0] * (x.dim() - 2),
            self.groups, mask)[mask.index(True)]


# -------------------------------------------------------------------- verdicts


def get_most_error(conv):
    """The largest error of a right result, as a fraction of the norm: tf32
    operands must be rounded, not truncated; f32 ones are neither, but sums over
    all pixels are long."""
    if conv.is_f64:
        return 1e-13
    return 6e-4 if conv.is_tf32 else 2e-5 if conv.is_f32 else 1e-2


def get_norm_error(result, wanted):
    return ((result.to(wanted.dtype) - wanted).norm() / wanted.norm()).item()


def find_fault(torch, launch, result, get_error, most, workspace=None, runs=5):
    """Says what is wrong with a kernel, or nothing: the first result has an
    error of `most` or more, or another run over memory of NaN has other bits.
    """
    first = None
    for _ in range(runs):
        result.fill_(float("nan"))
        if workspace is not None:
            workspace.fill_(255)  # This is NaN in every type.
        launch()
        torch.cuda.synchronize()
        if first is None:
            first = result.clone()
            error = get_error(first)
            if not error < most:  # The condition is also true for a NaN.
                return f"relative error {error:.2e}"
        elif not torch.equal(first, result):
            return "other bits in another run"
    return ""


def load_right(gpu, problem, tensors, letter, get_error, most):
    """The tiles of a problem whose results are right, as functions, and the
    number of wrong ones, which are printed."""
    launches, wrong = {}, 0
    for name, tile in problem["tiles"].items():
        launch, workspace = gpu.load(tile, tensors)
        fault = find_fault(gpu.torch, launch, tensors[letter], get_error, most,
                           workspace)
        if fault:
            print(f"WRONG {problem['name']} {name}: {fault}", flush=True)
            wrong += 1
        else:
            launches[name] = launch
    return launches, wrong


def run_folder(options, run_problem):
    """Calls run_problem(problem) for each file, which returns how many kernels
    are wrong; a problem that fails counts as one. Returns the exit status."""
    files = sorted(pathlib.Path(options.folder).glob("*.json"))
    wrong = 0
    for file in files:
        problem = json.loads(file.read_text())
        if not re.search(options.only, problem["name"]):
            continue
        try:
            wrong += run_problem(problem)
        except RuntimeError as error:
            print(f"FAILED {problem['name']}: {error}", flush=True)
            wrong += 1
    print(f"{wrong} kernels wrong")
    return 1 if wrong or not files else 0
