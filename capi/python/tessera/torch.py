"""PyTorch's convolutions, poolings, normalisations and, if asked for, softmax on Tessera's kernels.

    import tessera.torch
    tessera.torch.enable()

answers `aten::convolution`, poolings and batch normalisation with their gradients, in eager mode, under autograd and in
what torch.compile leaves to PyTorch's operators. What is refused goes back to PyTorch and is counted:
`print(tessera.torch.report())`. CUDA's tensors run on the GPU. With TESSERA_DEVICE=emulated, CPU tensors run on the
emulated device, for tests.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from typing import Any, Callable, Iterator

import torch

from tessera import _batch_norm, _convolution, _library, _operators, _pooling, _rows
from tessera._common import Report
from tessera._launch import Direct, Emulated
from tessera._layouts import describe
from tessera._operators import Operator, Operators


def _get_original(name: str, key: str) -> Callable | None:
    """PyTorch's own function for an operator, which ours calls with what it refuses."""
    op = getattr(torch.ops.aten, name).default
    # Releases before 2.9 cannot name a function that another one replaces.
    if hasattr(torch.library, "get_kernel") and torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), key):
        keys = torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, key))
        return functools.partial(torch.library.get_kernel(op, key).call_boxed, keys)
    composite = torch._C.DispatchKey.CompositeExplicitAutograd
    if torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), composite):
        return functools.partial(op._op_dk, composite)
    return None


def _list_operators(key: str, batch_norm: bool, rows: bool) -> dict[str, Operator]:
    """PyTorch's operators that are to be ours."""
    operators = {"convolution": (_convolution.Forward, _convolution.get_forward_key),
                 "convolution_backward": (_convolution.Backward, _convolution.get_backward_key)}
    operators |= _batch_norm.OPERATORS if batch_norm else {}
    operators |= _rows.OPERATORS if rows else {}
    operators |= {name: (make, describe) for name, make in _pooling.list_operators().items()}
    originals = {name: _get_original(name, key) for name in operators}
    if originals.get("native_batch_norm_backward"):
        originals["cudnn_batch_norm_backward"] = _batch_norm.compute_cudnn_gradient
    return {name: Operator(*operator, originals[name]) for name, operator in operators.items() if originals[name]}


_override: Operators | None = None


def enable(*, batch_norm: bool = True, rows: bool = False, dynamic: bool = False, timed: bool = False) -> None:
    """Answers PyTorch's operators by Tessera's kernels until disable() is called. Does nothing if it is on already.

    The first call of each shape compiles its kernel, or loads it from the user's database. Without `batch_norm`, batch
    normalisation stays PyTorch's; with `rows`, softmax and the normalisations of layers and groups are ours, too. With
    `dynamic`, batches and image sizes or lengths are expected to change, and one kernel serves many of them; that stays
    so in this process. With `timed`, report() has times, and each call costs the host some 20 us more.
    """
    if dynamic:
        _library.expect_new_sizes()
    if not _override:
        _start(*_operators.start_device(), batch_norm, rows, timed)


def _start(key: str, launcher: Direct | Emulated, batch_norm: bool = True, rows: bool = False,
           timed: bool = False) -> None:
    global _override
    _override = Operators(key, launcher, _list_operators(key, batch_norm, rows), timed=timed)


def disable() -> None:
    """Gives the operators back to PyTorch. Kernels stay in memory for the next enable()."""
    global _override
    if _override:
        _override.remove()
    _override = None


@contextlib.contextmanager
def enabled(**options: bool) -> Iterator[None]:
    """enable() with its options for a with-statement; leaves as it was what is on already. A backward pass outside is
    PyTorch's.
    """
    was_on = _override is not None
    enable(**options)
    try:
        yield
    finally:
        if not was_on:
            disable()


def prepare(function: Callable[[], Any], *, progress: bool = False, **options: bool) -> int:
    """Compiles, several at once, the kernels of all calls that `function` makes; returns how many there are. The
    options are those of enable().

    The function runs once, with PyTorch's own operators: a training step trains. Without this, kernels are compiled
    one after the other, when each is first asked for.
    """
    def run() -> None:
        with enabled(**options):
            function()
    problems = _operators.collect(run)
    _operators.compile_all(problems, progress)
    return len(problems)


def report() -> Report:
    """What has been computed since enable(); print() shows it.

    Times are there after enable(timed=True). They begin anew with each new shape, whose kernel is compiled in its first
    call, so that they are those of the calls since then; so is the whole time, in which PyTorch's other operators are.
    """
    if not _override:
        raise _library.Error("tessera.torch is not enabled")
    times = _override.times.read() if _override.times else ({}, 0.0)
    return Report(*map(dict, _override.count()), dict(_override.fallbacks), *times)
