"""torch.compile's backend "tessera": kernels that compute a convolution with all that follows it.

    import tessera.compile
    step = torch.compile(model.eval(), backend="tessera", mode="reduce-overhead")
    with torch.no_grad():
        step(images)

AOTAutograd captures the graph. Fixed batch normalisation becomes part of a convolution's weights; bias, the addition of
a residual tensor and the activation become part of its kernel; poolings are ours. The rest is Inductor's. With mode
"reduce-overhead", CUDA graphs replay the whole. docs/guides/pytorch.md is the guide.
"""

import torch._dynamo

from tessera._backend import Options, backend

__all__ = ["Options", "backend"]

# A wheel names the backend to PyTorch itself, which registers it when it is wanted.
if "tessera" not in torch._dynamo.list_backends(exclude_tags=()):
    torch._dynamo.register_backend(backend, "tessera")
