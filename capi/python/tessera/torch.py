"""PyTorch's convolutions, poolings and batch normalisation on Tessera's kernels.

    import tessera.torch
    tessera.torch.enable()

answers `aten::convolution`, average pooling and batch normalisation with their gradients, in eager mode, under autograd
and in what torch.compile leaves to PyTorch's operators. What is refused goes back to PyTorch and is counted:
`print(tessera.torch.report())`. CUDA's tensors run on the GPU. With TESSERA_DEVICE=emulated, CPU tensors run on the
emulated device, for tests.
"""

from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import functools
import os
import sys
import threading
import warnings
from typing import Any, Callable, Iterator

import torch

from tessera import _batch_norm, _convolution, _extension, _library, _pooling
from tessera._common import Refusal, Report
from tessera._launch import Direct, Emulated, Entry, Kernel
from tessera._layouts import describe


def _get_original(name: str, key: str) -> Callable | None:
    """PyTorch's own function for an operator, which ours calls with what it refuses."""
    op = getattr(torch.ops.aten, name).default
    composite = torch._C.DispatchKey.CompositeExplicitAutograd
    if torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), composite):
        return functools.partial(op._op_dk, composite)
    if not hasattr(torch.library, "get_kernel"):
        return None  # Releases before 2.9 cannot name a function that another one replaces.
    if not torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), key):
        return None
    keys = torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, key))
    return functools.partial(torch.library.get_kernel(op, key).call_boxed, keys)


_entries: dict[tuple, Entry] = {}  # What has been decided; it outlives disable().


class _Override:
    """The operators that are ours while it lives."""

    def __init__(self, key: str, launcher: Direct | Emulated, batch_norm: bool, max_pool: bool):
        self.launcher, self.entries = launcher, _entries
        is_wanted = _library.is_on("TESSERA_TORCH_EXTENSION")
        self.extension = _extension.load(launcher, _convolution.allows_tf32) if is_wanted else None
        for entry in _entries.values():
            entry.calls -= entry.count()
        self.fallbacks: collections.Counter = collections.Counter()
        self.library = torch.library.Library("aten", "IMPL")
        operators = {"convolution": (_convolution.Forward, _convolution.get_forward_key),
                     "convolution_backward": (_convolution.Backward, _convolution.get_backward_key)}
        operators |= _batch_norm.OPERATORS if batch_norm else {}
        operators |= {name: (make, describe) for name, make in _pooling.list_operators(max_pool).items()}
        originals = {name: _get_original(name, key) for name in operators}
        if originals.get("native_batch_norm_backward"):
            originals["cudnn_batch_norm_backward"] = _batch_norm.compute_cudnn_gradient
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch warns of what this is for: that a function is replaced.
            answers = {name: self._answer(name, make, get_key, originals[name])
                       for name, (make, get_key) in operators.items() if originals[name]}
            for name, answer in answers.items():
                self.library.impl(name, answer, key)
        self.end_extension = self.extension.replace(key, answers) if self.extension else lambda: None

    def _answer(self, name: str, make: Callable, get_key: Callable, original: Callable) -> Callable:
        """The function that the dispatcher calls. What it does besides looking up and launching costs each call."""
        entries, launch, get_thread = self.entries, self.launcher.launch, threading.get_ident
        get_device, keep = self.launcher.get_device, self.extension.keep if self.extension else None

        def answer(*arguments):
            device = arguments[0].get_device()
            if device >= 0 and device != get_device():
                with torch.cuda.device(device):
                    return answer(*arguments)
            # Kernels of a thread have its handle, so that entries are not shared.
            key = (name, get_thread(), *get_key(*arguments))
            entry = entries.get(key)
            if entry is None:
                entry = self._decide(key, make, arguments)
                if Kernel.collected is not None:
                    return original(*arguments)
            if entry.reason:
                return self._fall_back(name, entry.reason, original, arguments)
            result, status = entry.plan.run(launch, arguments)
            if status:
                reason = _library.get_api().tesseraGetLastErrorMessage().decode()
                return self._fall_back(name, reason, original, arguments)
            entry.calls += 1
            if keep:
                keep(entry)
            return result
        return answer

    def _decide(self, key: tuple, make: Callable, arguments: tuple) -> Entry:
        """Looks at a combination of shapes for the first time. A refusal is kept, unless it is of the moment."""
        entry = make()
        try:
            self.launcher.check(arguments[0])
        except Refusal as refusal:
            entry.reason = str(refusal)
            return entry
        try:
            entry.decide(*arguments)
        except (Refusal, _library.Error, RuntimeError) as error:
            entry.reason = str(error) or type(error).__name__
        if Kernel.collected is None:
            self.entries[key] = entry
        return entry

    def _fall_back(self, name: str, reason: str, original: Callable, arguments: tuple) -> Any:
        self.fallbacks[name, reason] += 1
        return original(*arguments)

    def report(self) -> Report:
        """The counts."""
        calls, shapes = collections.Counter(), collections.Counter()
        for key, entry in list(self.entries.items()):
            if count := entry.count():
                calls[key[0]] += count
                shapes[key[0]] += 1
        return Report(dict(calls), dict(shapes), dict(self.fallbacks))

    def remove(self) -> None:
        """Gives the operators back to PyTorch."""
        self.end_extension()
        self.library._destroy()


_override: _Override | None = None


def enable(*, batch_norm: bool = True, max_pool: bool = False) -> None:
    """Answers PyTorch's operators by Tessera's kernels until disable() is called. Does nothing if it is on already.

    The first call of each shape compiles its kernel, or loads it from the user's database. Without `batch_norm`, batch
    normalisation stays PyTorch's. `max_pool` takes maximum pooling too: there a NaN is passed over, where PyTorch's
    result is a NaN.
    """
    if _override:
        return
    if os.environ.get("TESSERA_DEVICE", "").startswith("emulated"):
        _start("CPU", _get_launcher(Emulated), batch_norm, max_pool)
        return
    if not torch.cuda.is_available():
        raise _library.Error("PyTorch sees no GPU; TESSERA_DEVICE=emulated runs CPU tensors on the emulated device")
    torch.cuda.init()
    torch.zeros(1, device="cuda")  # Makes the context in which both work.
    if "TESSERA_DEVICE" not in os.environ:
        _library.choose_device("amd" if torch.version.hip else "nvidia")
    _start("CUDA", _get_launcher(Direct), batch_norm, max_pool)


@functools.cache
def _get_launcher(kind: Callable[[], Direct | Emulated]) -> Direct | Emulated:
    """The process's: what it knows of handles, and what the extension knows of it, outlives disable()."""
    return kind()


def _start(key: str, launcher: Direct | Emulated, batch_norm: bool = True, max_pool: bool = False) -> None:
    global _override
    _library.get_handle()  # Fails now rather than in the first call.
    _override = _Override(key, launcher, batch_norm, max_pool)


def disable() -> None:
    """Gives the operators back to PyTorch. Kernels stay in memory for the next enable()."""
    global _override
    if _override:
        _override.remove()
    _override = None


@contextlib.contextmanager
def enabled(**options: bool) -> Iterator[None]:
    """enable() with its options for a with-statement; leaves as it was what is on already. A backward pass outside is PyTorch's."""
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
    if Kernel.collected is not None:
        raise _library.Error("prepare() is running already")
    Kernel.collected = []
    try:
        with enabled(**options):
            function()
        problems = list(dict.fromkeys(Kernel.collected))
    finally:
        Kernel.collected = None
    with concurrent.futures.ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        for done, _ in enumerate(pool.map(_compile, problems), 1):
            if progress:
                print(f"\r{done}/{len(problems)} kernels", end="\n" if done == len(problems) else "", file=sys.stderr)
    return len(problems)


def _compile(problem: tuple[str, int]) -> None:
    """Leaves a kernel in memory for all threads. A failure is told by the call that needs it."""
    config, device = problem
    if device >= 0:
        torch.cuda.set_device(device)
    with contextlib.suppress(_library.Error):
        _library.get_info(config, device)


def report() -> Report:
    """What has been computed since enable(); print() shows it."""
    if not _override:
        raise _library.Error("tessera.torch is not enabled")
    return _override.report()
