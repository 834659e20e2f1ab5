"""How long the calls of tessera.torch take, ours and PyTorch's: enable(timed=True)."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import Any, Hashable, Iterator

import torch


class Stopwatch:
    """Adds up the time of spans, each under a name. On a GPU it is the current stream's time between two events, so
    that no call waits; elsewhere the host's.

    A span within a span is part of the outer one. During a graph's capture nothing is timed.
    """

    def __init__(self, on_gpu: bool):
        self._on_gpu, self._local = on_gpu, threading.local()
        self._begin()

    def _begin(self) -> None:
        self._spans: list[tuple[Hashable, Any, Any]] = []
        self._start, self._is_stale = self._mark(), False

    def restart(self) -> None:
        """Forgets what was timed when the open span ends. A new shape asks for it, because its kernel is compiled."""
        self._is_stale = True

    def _mark(self) -> Any:
        if not self._on_gpu:
            return time.perf_counter()
        if torch.cuda.is_current_stream_capturing():
            return None
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def _measure(self, start: Any, end: Any) -> float:
        """Milliseconds between two marks."""
        return start.elapsed_time(end) if self._on_gpu else (end - start) * 1e3

    @contextlib.contextmanager
    def span(self, name: Hashable) -> Iterator[None]:
        """Times what is in the with-statement; rename() may change the name meanwhile."""
        if getattr(self._local, "name", None) is not None:
            yield
            return
        self._local.name, spans, start = name, self._spans, self._mark()
        try:
            yield
        finally:
            end = self._mark()
            if start is not None and end is not None:
                spans.append((self._local.name, start, end))
            self._local.name = None
            if self._is_stale:
                self._begin()

    def rename(self, name: Hashable) -> None:
        """The outermost span that is open has this name, unless an earlier one was given."""
        if isinstance(getattr(self._local, "name", None), str):
            self._local.name = name

    def read(self) -> tuple[dict[Hashable, float], float]:
        """Milliseconds by name, and from the start until now. Waits for the GPU."""
        spans, end = list(self._spans), self._mark()
        if self._on_gpu:
            torch.cuda.synchronize()
        times: dict[Hashable, float] = {}
        for name, begin, finish in spans:
            times[name] = times.get(name, 0.0) + self._measure(begin, finish)
        return times, self._measure(self._start, end) if self._start is not None and end is not None else 0.0
