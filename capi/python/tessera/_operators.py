"""Operators that Tessera answers: PyTorch's own (tessera.torch), and those of compiled graphs (tessera.compile)."""

from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import functools
import os
import sys
import threading
import warnings
from typing import Any, Callable, NamedTuple, Sequence

import torch

from tessera import _convolution, _extension, _library
from tessera._common import Refusal
from tessera._launch import Direct, Emulated, Entry, Kernel
from tessera._times import Stopwatch


class Operator(NamedTuple):
    """How an operator is answered."""
    make: Callable[[], Entry]  #: What decides for one combination of shapes.
    get_key: Callable[..., tuple]  #: All that a decision depends on.
    original: Callable  #: Computes what is refused.


_collecting = threading.RLock()  # One thread at a time collects.
entries: dict[tuple, Entry] = {}  # What has been decided; it outlives Operators.


class Operators:
    """Operators of a namespace that are ours while it lives, on a dispatch key."""

    def __init__(self, key: str, launcher: Direct | Emulated, operators: dict[str, Operator], space: str = "aten",
                 timed: bool = False):
        self.launcher, self.names = launcher, set(operators)
        self.times = Stopwatch(key == "CUDA") if timed else None
        # The extension's calls are not seen here, so that they could not be timed.
        is_wanted = _library.is_on("TESSERA_TORCH_EXTENSION") and not timed
        self.extension = _extension.load(launcher, _convolution.allows_tf32) if is_wanted else None
        for entry_key, entry in entries.items():
            if entry_key[0] in self.names:
                entry.calls -= entry.count()
        self.fallbacks: collections.Counter = collections.Counter()
        self.library = torch.library.Library(space, "IMPL")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch warns of what this is for: that a function is replaced.
            answers = {name: self._time(name, self._answer(name, operator)) for name, operator in operators.items()}
            # PyTorch tells of the first operator that is replaced, of aten's here, where that is not heard.
            for name, answer in answers.items() if space == "aten" or not self.extension else ():
                self.library.impl(name, answer, key)
        self.end_extension = self.extension.replace(space, key, answers) if self.extension else lambda: None

    def _answer(self, name: str, operator: Operator) -> Callable:
        """The function that the dispatcher calls. What it does besides looking up and launching costs each call."""
        launch, get_thread = self.launcher.launch, threading.get_ident
        get_device, keep = self.launcher.get_device, self.extension.keep if self.extension else None
        make, get_key, original = operator

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
                    return _call_uncollected(original, arguments)
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

    def _time(self, name: str, answer: Callable) -> Callable:
        """The same function, timed if times are wanted."""
        if not self.times:
            return answer

        def timed(*arguments):
            with self.times.span(name):
                return answer(*arguments)
        return timed

    def _decide(self, key: tuple, make: Callable, arguments: tuple) -> Entry:
        """Looks at a combination of shapes for the first time. A refusal is kept, unless it is of the moment."""
        entry = make()
        if self.times:
            self.times.restart()
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
            entries[key] = entry
        return entry

    def _fall_back(self, name: str, reason: str, original: Callable, arguments: tuple) -> Any:
        self.fallbacks[name, reason] += 1
        if self.times:
            self.times.rename((name, reason))
        return original(*arguments)

    def count(self) -> tuple[collections.Counter, collections.Counter]:
        """Calls and shapes by operator."""
        calls, shapes = collections.Counter(), collections.Counter()
        for key, entry in list(entries.items()):
            if key[0] in self.names and (count := entry.count()):
                calls[key[0]] += count
                shapes[key[0]] += 1
        return calls, shapes

    def remove(self) -> None:
        """Gives the operators back to PyTorch."""
        self.end_extension()
        self.library._destroy()


def _call_uncollected(original: Callable, arguments: tuple) -> Any:
    """Computes a call whose problems are collected already; of operators that are ours too, it may be made."""
    collected, Kernel.collected = Kernel.collected, []
    try:
        return original(*arguments)
    finally:
        Kernel.collected = collected


def start_device() -> tuple[str, Direct | Emulated]:
    """The dispatch key of the tensors that are answered, and what launches for them. Fails where there is no device."""
    if os.environ.get("TESSERA_DEVICE", "").startswith("emulated"):
        key, launcher = "CPU", _get_launcher(Emulated)
    else:
        if not torch.cuda.is_available():
            raise _library.Error("PyTorch sees no GPU; TESSERA_DEVICE=emulated runs CPU tensors on the emulated device")
        torch.cuda.init()
        torch.zeros(1, device="cuda")  # Makes the context in which both work.
        if "TESSERA_DEVICE" not in os.environ:
            _library.choose_device("amd" if torch.version.hip else "nvidia")
        key, launcher = "CUDA", _get_launcher(Direct)
    _library.get_handle()  # Fails now rather than in the first call.
    return key, launcher


@functools.cache
def _get_launcher(kind: Callable[[], Direct | Emulated]) -> Direct | Emulated:
    """The process's: what it knows of handles, and what the extension knows of it, outlives Operators."""
    return kind()


def collect(function: Callable[[], Any]) -> Sequence[tuple[str, int]]:
    """The problems that calls in `function` would compile. It runs once, on PyTorch's operators."""
    with _collecting:
        if Kernel.collected is not None:
            raise _library.Error("prepare() is running already")
        Kernel.collected = []
        try:
            function()
            return list(dict.fromkeys(Kernel.collected))
        finally:
            Kernel.collected = None


def compile_all(problems: Sequence[tuple[str, int]], progress: bool = False) -> None:
    """Leaves kernels in memory for all threads, several compiled at once."""
    with concurrent.futures.ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        for done, _ in enumerate(pool.map(_compile, problems), 1):
            if progress:
                print(f"\r{done}/{len(problems)} kernels", end="\n" if done == len(problems) else "", file=sys.stderr)


def _on_device(device: int) -> contextlib.AbstractContextManager:
    """PyTorch's current GPU is the one of this number, if it is one."""
    return torch.cuda.device(device) if device >= 0 else contextlib.nullcontext()


def tune_all(problems: Sequence[tuple[str, int]]) -> None:
    """Times kernels of each convolution, one after the other, and leaves the fastest. What another process has measured
    is in the user's database.
    """
    convolutions = [problem for problem in problems if problem[0].startswith("conv-")]
    for done, (config, device) in enumerate(convolutions, 1):
        with _on_device(device), contextlib.suppress(_library.Error):
            _library.tune(config, device)
        print(f"\r{done}/{len(convolutions)} convolutions tuned", end="\n" if done == len(convolutions) else "",
              file=sys.stderr, flush=True)


def _compile(problem: tuple[str, int]) -> None:
    """A failure is told by the call that needs the kernel."""
    config, device = problem
    with _on_device(device), contextlib.suppress(_library.Error):
        _library.get_info(config, device)
