#!/usr/bin/env python3
"""Measures what a call of tessera.torch costs the host, with the extension and in Python.

  TESSERA_DEVICE=amd LD_LIBRARY_PATH=build/dev/lib/null-hip MIOPEN_DISABLE_CACHE=1 PYTHONPATH=capi/python \\
  TESSERA_LIBRARY=build/dev/lib/libMIOpen.so.1 tools/bench/torch_overhead.py

is on a device that does nothing: microseconds of processor time, the least of several rounds. A function in Python that
returns a tensor is what PyTorch's way into any such kernel costs. With a GPU (and without these variables) it is the
time in which a call of a small kernel is queued, beside PyTorch's own, in bf16 with channels last.
"""

import contextlib
import os
import time
from unittest import mock

import torch
import torch.nn.functional as F

import tessera.torch
from tessera import _operators
from tessera._launch import Direct

IS_NULL = "null-hip" in os.environ.get("LD_LIBRARY_PATH", "")


def measure(function, calls, rounds=9):
    """Microseconds of a call."""
    clock = time.process_time if IS_NULL else time.perf_counter

    def run():
        start = clock()
        for _ in range(calls):
            function()
        stop = clock()
        if not IS_NULL:
            torch.cuda.synchronize()
        return (stop - start) / calls * 1e6
    return min(run() for _ in range(rounds))


def list_calls():
    """(name, function) of each call."""
    like = {"device": "cpu", "dtype": torch.float32} if IS_NULL else {"device": "cuda", "dtype": torch.bfloat16}
    make = lambda *shape: torch.randn(shape, **like).contiguous(memory_format=torch.channels_last)
    x, w, bias = make(1, 8, 4, 4), make(8, 8, 3, 3), torch.randn(8, **like)
    leaf = w.clone().requires_grad_()
    weight, shift, mean, variance = torch.rand(4, 8, device=like["device"])
    arguments = x, x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, [True, True, False]
    return [("convolution with bias, inference", lambda: F.conv2d(x, w, bias, 1, 1)),
            ("convolution, with autograd's record", lambda: F.conv2d(x, leaf, None, 1, 1)),
            ("both gradients of a convolution", lambda: torch.ops.aten.convolution_backward(*arguments)),
            ("average pooling", lambda: F.avg_pool2d(x, 2)),
            ("batch normalisation, inference", lambda: F.batch_norm(x, mean, variance, weight, shift)),
            ("batch normalisation, training", lambda: F.batch_norm(x, mean, variance, weight, shift, True))]


@contextlib.contextmanager
def ours(extension):
    """Tessera's answers."""
    with mock.patch.dict(os.environ, {"TESSERA_TORCH_EXTENSION": extension}):
        if IS_NULL:
            tessera.torch._start("CPU", _operators._get_launcher(NullDevice))
        else:
            tessera.torch.enable()
    yield
    tessera.torch.disable()


class NullDevice(Direct):
    """Reads tensors of the host where they are."""

    def __init__(self):
        super().__init__(on_gpu=False)


@contextlib.contextmanager
def nothing_in_python():
    """A function in Python that returns a tensor."""
    x = torch.randn(1, 8, 4, 4)
    library = torch.library.Library("aten", "IMPL")
    library.impl("convolution", lambda *_: x, "CPU")
    yield
    library._destroy()


def main():
    torch.set_num_threads(1)
    ways = {"extension": ours("on"), "Python": ours("off")}
    calls, count = list_calls(), 2000 if IS_NULL else 200
    if IS_NULL:
        with nothing_in_python():
            print(f"{measure(calls[0][1], count):9.2f}  a function in Python that does nothing")
    else:
        ways = {"PyTorch": contextlib.nullcontext(), **ways}
    times = {}
    for way, context in ways.items():
        with context:
            times[way] = [measure(function, count) for _, function in calls]
            if way != "PyTorch":
                assert not tessera.torch.report().fallbacks, tessera.torch.report()
    print(" ".join(f"{way:>9}" for way in times))
    for row, (name, _) in enumerate(calls):
        print(" ".join(f"{column[row]:9.2f}" for column in times.values()) + f"  {name}")


if __name__ == "__main__":
    main()
