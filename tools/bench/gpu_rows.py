#!/usr/bin/env python3
"""How fast element-wise operations, softmax and reductions are on an NVIDIA GPU,
beside PyTorch, and beside what the memory could do.

  gpu_rows.py pack FOLDER [--only REGEX] [--tiles N] [--dnn-opt PATH]
                          [--ptxas PATH] [--jobs N]
      on the build machine: the problems named, compiled with the compiler's own
      tile and the next ones that its model likes
  gpu_rows.py run FOLDER [--repeats N]
      on the machine with the GPU: checks, then times

`run` needs PyTorch and NVIDIA's cuda-python. A kernel counts only if its result
agrees with PyTorch's of f32, in three runs with the same bits over poisoned
memory. GB/s count each tensor once; the copy moves 256 MiB in the same run.
"""

import argparse
import ctypes
import json
import pathlib
import re
import subprocess
import sys

import gpu_points

# Lengths and reduced dimensions, packed; what is made of them.
SPACES = {
    "softmax_rows": ("softmax_fwd-m1", (32768, 1024), (1,)),
    "softmax_vocab": ("softmax_fwd-m1", (512, 50304), (1,)),
    "softmax_channels": ("softmax_fwd-m1", (64, 256, 3136), (1,)),
    "softmax_grad": ("softmax_bwd-m1", (32768, 1024), (1,)),
    "sum_rows": ("reduce-m0", (32768, 1024), (1,)),
    "sum_all": ("reduce-m0", (1 << 25,), (0,)),
    "sum_outer": ("reduce-m0", (200704, 256), (0,)),
    "bias_grad_nchw": ("reduce-m0", (64, 256, 3136), (0, 2)),
    "max_rows": ("reduce-m11", (32768, 1024), (1,)),
    "relu": ("activ_fwd-m3", (1 << 25,), ()),
}
TYPES = ("f16", "f32")


def get_strides(lengths, reduced, role):
    """Packed; 0 where a row output is reduced."""
    strides, step = [], 1
    for dim in reversed(range(len(lengths))):
        isOne = role == "r" and dim in reduced
        strides.insert(0, 0 if isOne else step)
        step *= 1 if isOne else lengths[dim]
    return strides


def list_problems():
    """Names and network configs."""
    for name, (operation, lengths, reduced) in SPACES.items():
        roles = ("ir" if operation.startswith("reduce") else
                 "iio" if operation.startswith("softmax_bwd") else "io")
        for element in TYPES:
            tensors = "".join(
                f"-{role}:{element}:" +
                ":".join(map(str, get_strides(lengths, reduced, role)))
                for role in roles)
            yield (f"{name}.{element}",
                   f"rows-{operation}-{'x'.join(map(str, lengths))}"
                   f"-r{','.join(map(str, reduced))}{tensors}")


def pack_problem(options, name, config):
    folder = pathlib.Path(options.folder)
    listed = subprocess.run(
        [options.dnn_opt, "--problem", config, "--target", "sm_90",
         "--list-tiles", str(options.tiles)], text=True, capture_output=True)
    tiles = {}
    for line in listed.stdout.splitlines():
        tile = re.search(r"\b(map|rows|rowsplit)-\w+", line)
        path = folder / f"{name}.{len(tiles)}.tmp"
        if tile and (found := gpu_points.compile_tile(options, config,
                                                      tile.group(), path)):
            tiles[tile.group()] = found
    if not tiles:
        sys.exit(f"gpu_rows.py: {config}: {listed.stdout}{listed.stderr}")
    (folder / f"{name}.json").write_text(json.dumps(
        {"name": name, "tiles": tiles}))
    print(f"{name}: {' '.join(tiles)}", file=sys.stderr)


# ----------------------------------------------------------------------- run


class Gpu(gpu_points.Gpu):
    def bind(self, argument, place, tensors, spaces):
        if argument["kind"] in ("f32", "f64"):
            kind = {"f32": ctypes.c_float, "f64": ctypes.c_double}
            return kind[argument["kind"]](0 if argument["name"] == "s1" else 1)
        return super().bind(argument, place, tensors, spaces)


def make_problem(gpu, name):
    """Tensors by argument, the result's name, what it should be, PyTorch."""
    torch = gpu.torch
    space, element = name.split(".")
    operation, lengths, reduced = SPACES[space]
    dtype = {"f16": torch.float16, "f32": torch.float32}[element]
    torch.manual_seed(1)
    make = lambda: torch.randn(lengths, device="cuda", dtype=torch.float32).to(dtype)
    x = make()
    tensors = {"t0": x}
    if operation.startswith("softmax_fwd"):
        compute = lambda x: torch.softmax(x, reduced[0])
        peer = lambda: torch.softmax(x, reduced[0])
    elif operation.startswith("softmax_bwd"):
        x.copy_(torch.softmax(x, 1))
        dy = tensors["t1"] = make()
        compute = lambda y: y * (dy.float() - (y * dy.float()).sum(1, True))
        peer = lambda: torch._softmax_backward_data(dy, x, 1, dtype)
    elif operation.startswith("reduce-m11"):
        compute = lambda x: x.amax(reduced)
        peer = lambda: x.amax(reduced)
    elif operation.startswith("reduce"):
        compute = lambda x: x.sum(reduced)
        peer = lambda: x.sum(reduced)
    else:
        compute = lambda x: torch.relu(x)
        peer = lambda: torch.relu(x)
    wanted = compute(x.float()).float()
    result = f"t{len(tensors)}"
    tensors[result] = torch.empty(wanted.shape, device="cuda", dtype=dtype)
    total = sum(t.numel() * t.element_size() for t in tensors.values())
    return tensors, result, wanted, peer, total


def check_kernel(gpu, launch, result, wanted):
    """What is wrong with a kernel, or nothing."""
    kWorst = {gpu.torch.float32: 1e-5, gpu.torch.float16: 2e-3}[result.dtype]
    first = None
    for _ in range(3):
        result.fill_(float("nan"))
        launch()
        gpu.torch.cuda.synchronize()
        if first is None:
            first = result.clone()
            scale = wanted.abs().max().item()
            error = (first.float() - wanted).abs().max().item() / scale
            if not error < kWorst:  # Also of a NaN.
                return f"error {error:.2e} of the largest"
        elif not gpu.torch.equal(first, result):
            return "other bits in another run"
    return ""


def run_problem(gpu, problem, repeats):
    tensors, letter, wanted, peer, total = make_problem(gpu, problem["name"])
    launches, wrong = {}, 0
    for tile, code in problem["tiles"].items():
        launch = gpu.load(code, tensors)
        if fault := check_kernel(gpu, launch, tensors[letter], wanted):
            print(f"WRONG {problem['name']} {tile}: {fault}", flush=True)
            wrong += 1
        else:
            launches[tile] = launch
    source = gpu.torch.empty(1 << 27, dtype=gpu.torch.float16, device="cuda")
    times = gpu.time([lambda: source[:1 << 26].copy_(source[1 << 26:]), peer,
                      *launches.values()], repeats)
    copy = 4 * (1 << 26) / times[0]
    show = lambda time: f"{time:7.1f} us {total / time / 1e3:6.0f} GB/s"
    print(f"{problem['name']}: {total / 1e6:.0f} MB, copy {copy / 1e3:.0f} GB/s,"
          f" PyTorch {show(times[1])}")
    own = next(iter(launches), None)
    for tile, time in sorted(zip(launches, times[2:]), key=lambda pair: pair[1]):
        print(f"  {tile:20s} {show(time)} {total / time / copy:5.2f} of copy "
              f"{times[1] / time:6.2f} of PyTorch's speed"
              f"{'  (own)' if tile == own else ''}", flush=True)
    return wrong


def run(options):
    gpu = Gpu()
    print(gpu.torch.cuda.get_device_name())
    wrong = 0
    for file in sorted(pathlib.Path(options.folder).glob("*.json")):
        problem = json.loads(file.read_text())
        try:
            wrong += run_problem(gpu, problem, options.repeats)
        except RuntimeError as error:
            print(f"FAILED {problem['name']}: {error}", flush=True)
            wrong += 1
    print(f"{wrong} kernels wrong")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("command", choices=["pack", "run"])
    parser.add_argument("folder")
    parser.add_argument("--only", default="")
    parser.add_argument("--tiles", type=int, default=4)
    parser.add_argument("--dnn-opt", default="build/dev/bin/dnn-opt")
    parser.add_argument("--ptxas", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args()
    if options.command == "pack":
        return gpu_points.pack(options, list_problems(), pack_problem)
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
