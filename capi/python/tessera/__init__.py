"""Tessera from Python: kernels made for exactly the problem that is asked for.

    import numpy, tessera
    problem = tessera.Problem("conv-fwd-f32-nchw,nchw,nchw-n1c8h9w9-k8y3x3-p1x1-s1x1-d1x1-g1")
    problem.run(x, w, y)
    print(problem.info().tile)

`tessera.torch` answers PyTorch's convolutions and poolings by such kernels, `tessera.jax` JAX's. Without a GPU, kernels
run on the emulated device. docs/guides/python.md, pytorch.md and jax.md are the guides.
"""

from tessera._library import DeviceMemory, Error, InvalidProblem, NotSupported, choose_device
from tessera.problem import STAGES, Info, Problem, Tensor, find_tool

__version__ = "0.1.0"
__all__ = ["STAGES", "DeviceMemory", "Error", "Info", "InvalidProblem", "NotSupported", "Problem", "Tensor",
           "choose_device", "find_tool"]
