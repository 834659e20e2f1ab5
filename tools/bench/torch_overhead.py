#!/usr/bin/env python3
"""Measures what a call of tessera.torch costs the host, on a device that does nothing.

  TESSERA_DEVICE=amd LD_LIBRARY_PATH=build/dev/lib/null-hip MIOPEN_DISABLE_CACHE=1 PYTHONPATH=capi/python \\
  TESSERA_LIBRARY=build/dev/lib/libMIOpen.so.1 tools/bench/torch_overhead.py

Microseconds of processor time, the least of several rounds. A function in Python that returns a tensor is what
PyTorch's way into any such kernel costs.
"""

import time

import torch
import torch.nn.functional as F

import tessera.torch
from tessera._launch import Direct


def measure(function, calls=2000, rounds=9):
    """Microseconds of a call."""
    def run():
        start = time.process_time()
        for _ in range(calls):
            function()
        return (time.process_time() - start) / calls * 1e6
    return min(run() for _ in range(rounds))


def measure_all():
    """The costs by name."""
    x, w, bias = torch.randn(1, 8, 4, 4), torch.randn(8, 8, 3, 3), torch.randn(8)
    leaf = w.clone().requires_grad_()
    weight, mean, variance = torch.ones(8), torch.zeros(8), torch.ones(8)
    yield "convolution with bias, inference", lambda: F.conv2d(x, w, bias, 1, 1)
    with torch.enable_grad():
        yield "convolution, with autograd's record", lambda: F.conv2d(x, leaf, None, 1, 1)
    arguments = x, x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, [True, True, False]
    yield "both gradients of a convolution", lambda: torch.ops.aten.convolution_backward(*arguments)
    yield "average pooling", lambda: F.avg_pool2d(x, 2)
    yield "batch normalisation, inference", lambda: F.batch_norm(x, mean, variance, weight, bias)


@torch.no_grad()
def main():
    torch.set_num_threads(1)
    x, w = torch.randn(1, 8, 4, 4), torch.randn(8, 8, 3, 3)
    library = torch.library.Library("aten", "IMPL")
    library.impl("convolution", lambda *_: x, "CPU")
    print(f"{measure(lambda: F.conv2d(x, w, None, 1, 1)):6.2f}  a function in Python that does nothing")
    library._destroy()
    tessera.torch._start("CPU", Direct(on_gpu=False))
    for name, function in measure_all():
        print(f"{measure(function):6.2f}  {name}")
    print(tessera.torch.report())


if __name__ == "__main__":
    main()
