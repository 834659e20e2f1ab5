#!/usr/bin/env python3
"""Times element-wise operations, softmax and reductions on an NVIDIA GPU,
beside PyTorch, and beside the limit of the memory.

  gpu_row_wise.py pack FOLDER [--only REGEX] [--tiles N] [--dnn-opt PATH]
                          [--ptxas PATH] [--jobs N]
      on the build machine: compiles the problems with the compiler's own tile
      and the next ones that its model ranks best
  gpu_row_wise.py run FOLDER [--only REGEX] [--repeats N]
      on the machine with the GPU: checks, then times

gpu_device.py says what `run` needs and how it times; `pack` needs only Python.
A kernel counts only if its result agrees with PyTorch's in f32, in five runs
with the same bits over poisoned memory. GB/s count each tensor once; the copy
moves 256 MiB in the same run.
"""

import sys

import gpu_device
import gpu_pack

# Lengths and reduced dimensions of packed tensors, and the operations on them.
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
    """Packed strides; 0 along reduced dimensions of a row output."""
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
                   f"rowwise-{operation}-{'x'.join(map(str, lengths))}"
                   f"-r{','.join(map(str, reduced))}{tensors}")


def make_problem(gpu, name):
    """Tensors by argument, the result's name, its expected value, PyTorch's
    calls.
    """
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


def run_problem(gpu, problem, repeats):
    """Prints a line for each tile. Returns the number of wrong ones."""
    tensors, letter, wanted, peer, total = make_problem(gpu, problem["name"])
    largest = wanted.abs().max()
    most = {gpu.torch.float32: 1e-5,
            gpu.torch.float16: 2e-3}[tensors[letter].dtype]
    launches, wrong = gpu_device.load_right(
        gpu, problem, tensors, letter,
        lambda result: ((result.float() - wanted).abs().max() / largest).item(),
        most)
    run_copy, copied = gpu.make_copy()
    copy_us, peer_us, *ours = gpu.time([run_copy, peer, *launches.values()],
                                       repeats)
    copy = copied / copy_us
    show = lambda time: f"{time:7.1f} us {total / time / 1e3:6.0f} GB/s"
    print(f"{problem['name']}: {total / 1e6:.0f} MB, copy {copy / 1e3:.0f} GB/s,"
          f" PyTorch {show(peer_us)}")
    own = next(iter(problem["tiles"]))
    for tile, time in sorted(zip(launches, ours), key=lambda pair: pair[1]):
        print(f"  {tile:20s} {show(time)} {total / time / copy:5.2f} of copy "
              f"{peer_us / time:6.2f} of PyTorch's speed"
              f"{'  (own)' if tile == own else ''}", flush=True)
    return wrong


def run(options):
    gpu = gpu_device.Gpu()
    print(gpu.describe())
    return gpu_device.run_folder(
        options, lambda problem: run_problem(gpu, problem, options.repeats))


def main():
    parser = gpu_pack.make_parser(__doc__)
    parser.add_argument("--tiles", type=int, default=4)
    options = parser.parse_args()
    if options.command == "run":
        return run(options)
    return gpu_pack.pack(
        options, list_problems(), lambda name, config: gpu_pack.list_best(
            options, config, options.tiles))


if __name__ == "__main__":
    sys.exit(main())
