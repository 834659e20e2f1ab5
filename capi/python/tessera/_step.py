"""Runs a compiled graph: values that depend on parameters alone are kept, and a CUDA graph may replay the rest."""

from __future__ import annotations

import threading
import warnings
from typing import Any, Callable, Sequence

import torch

from tessera import _operators
from tessera._launch import Kernel
from tessera._rewrite import Split

_MAX_REPLAYS = 16  # Captures of one graph: shapes, threads and streams. Each has memory of its own.


class _Folded:
    """What depends on parameters and buffers alone. It is computed again when one of them has changed, in the same
    memory, so that a captured graph reads it.
    """

    def __init__(self, module: torch.fx.GraphModule, numbers: Sequence[int]):
        self.module, self.numbers = module, list(numbers)
        self.formats = [node.meta["val"] for node in module.graph.output_node().args[0]]
        self.values: list[torch.Tensor] = []
        self.versions: list[int] | None = None
        self.addresses: list[int] | None = None

    def update(self, arguments: list[Any]) -> str:
        """Computes the values unless they are those of these arguments: the same memory, not written since. PyTorch
        counts writes, but for those through `.data` and those to tensors of inference mode. Returns "same", "written"
        if the values are others now, or "moved" if parameters are in other memory, too.
        """
        try:
            versions = [arguments[number]._version for number in self.numbers]
        except RuntimeError:  # Tensors of inference mode do not count.
            versions = None
        have_moved = not self.are_in_place(arguments, self.numbers)
        if not have_moved and versions is not None and versions == self.versions:
            return "same"
        self._compute(arguments)
        self.versions = versions
        # For each argument of the graph, as PyTorch's function wants it.
        self.addresses = [one.data_ptr() if isinstance(one, torch.Tensor) else 0 for one in arguments]
        return "moved" if have_moved else "written"

    def are_in_place(self, arguments: list[Any], numbers: Sequence[int]) -> bool:
        """Whether the arguments `numbers` are in the memory in which the last update saw them."""
        return self.addresses is not None and torch._C._tensors_data_ptrs_at_indices_equal(
            arguments, self.addresses, numbers)

    def _compute(self, arguments: list[Any]) -> None:
        with torch.inference_mode(False), torch.no_grad():
            values = self.module(*arguments)
            if self.values:
                for old, new in zip(self.values, values):
                    old.copy_(new)
            else:
                self.values = [_lay_out(value, form) for value, form in zip(values, self.formats)]


def _lay_out(value: torch.Tensor, form: torch.Tensor) -> torch.Tensor:
    """In memory of its own, with the strides that the graph was compiled for."""
    return torch.empty_strided(form.shape, form.stride(), dtype=value.dtype, device=value.device).copy_(value)


class _Replay:
    """A function of one list, captured as a CUDA graph. Arguments with the numbers `changing` are new in each call."""

    def __init__(self, function: Callable, arguments: list[Any], changing: Sequence[int]):
        self.function, self.arguments, self.changing = function, list(arguments), changing
        self.addresses = [arguments[number].data_ptr() if isinstance(arguments[number], torch.Tensor) else 0
                       for number in changing]
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            function(list(arguments))
        torch.cuda.current_stream().wait_stream(stream)
        self.graph, self.results = self._capture(arguments)
        self.copying: tuple[list, torch.cuda.CUDAGraph, Any] | None = None
        for number in changing:
            self.arguments[number] = None  # Theirs, and not to be kept.

    def _capture(self, arguments: list[Any], pool: Any = None) -> tuple[torch.cuda.CUDAGraph, Any]:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool, capture_error_mode="thread_local"):
            results = self.function(list(arguments))
        return graph, results

    def __call__(self, given: Sequence[Any]) -> list[Any]:
        """What was captured reads its arguments where they were. If they lie elsewhere, a second graph has copies; it
        shares the memory of the first, as one is replayed after the other.
        """
        if all(address == one.data_ptr() for address, one in zip(self.addresses, given) if address):
            self.graph.replay()
            return _clone(self.results)
        if not self.copying:
            self.copying = self._capture_copies(given)
        mine, graph, results = self.copying
        for old, new in zip(mine, given):
            if isinstance(old, torch.Tensor):
                old.copy_(new)
        graph.replay()
        return _clone(results)

    def _capture_copies(self, given: Sequence[Any]) -> tuple[list, torch.cuda.CUDAGraph, Any]:
        arguments = list(self.arguments)
        with torch.inference_mode(False), torch.no_grad():
            mine = _clone(given)
            for number, copy in zip(self.changing, mine):
                arguments[number] = copy
            return mine, *self._capture(arguments, self.graph.pool())


def _clone(values: Sequence[Any]) -> list[Any]:
    """Copies of tensors. The next replay overwrites results."""
    return [value.clone() if isinstance(value, torch.Tensor) else value for value in values]


class Prepared:
    """A graph whose kernels, several at once, are compiled before it runs: once for each combination of shapes."""

    def __init__(self, module: torch.fx.GraphModule, function: Callable, changing: Sequence[int], tunes: bool):
        """`function` computes what `module` does, of one list, and may write arguments, which `module` does not. Shapes
        of the arguments `changing` may change. Convolutions are tuned with `tunes`.
        """
        self._boxed_call = True  # AOTAutograd passes one list, which may be emptied.
        self.module, self.function, self.tunes = module, function, tunes
        self.changing = list(changing)
        values = [node.meta["val"] for node in module.graph.find_nodes(op="placeholder")]
        self.has_shapes = not all(isinstance(value, torch.Tensor) for value in values)
        self.shapes: set[tuple] = set()

    def describe(self, given: Sequence[Any]) -> tuple:
        """What tells shapes apart, of the arguments that change."""
        return tuple(tuple(one.shape) if isinstance(one, torch.Tensor) else one
                     for one in given) if self.has_shapes else ()

    def prepare(self, inputs: Sequence[Any]) -> None:
        """Compiles what is missing; not inside tessera.torch.prepare(), which does so itself."""
        if Kernel.collected is not None:
            return
        shapes = self.describe([inputs[number] for number in self.changing])
        if shapes not in self.shapes:
            problems = _operators.collect(lambda: self.module(*inputs))
            _operators.compile_all(problems)
            if self.tunes:
                _operators.tune_all(problems)
            self.shapes.add(shapes)

    def __call__(self, inputs: list[Any]) -> Sequence[Any]:
        self.prepare(inputs)
        return self.function(inputs)


class Step:
    """A graph without gradients, called with the arguments that AOTAutograd passes."""

    def __init__(self, split: Split, function: Callable, static: Sequence[int], replays: bool, tunes: bool):
        """`function` computes `split.rest`; arguments with the numbers `static` are parameters and buffers."""
        self._boxed_call = True
        self.inputs, self.replays = split.inputs, replays
        self.folded = _Folded(split.fold, static)
        self.changing = [index for index, number in enumerate(split.inputs) if number >= 0 and number not in static]
        self.given = [split.inputs[index] for index in self.changing]
        self.read = [number for number in split.inputs if number >= 0 and number in static]  # As they are.
        self.rest = Prepared(split.rest, function, self.changing, tunes)
        self.captured: dict[tuple, _Replay | None] = {}

    def __call__(self, arguments: list[Any]) -> Sequence[Any]:
        if not self.replays or Kernel.collected is not None or torch.cuda.is_current_stream_capturing():
            self.folded.update(arguments)
            return self.rest(self._take(arguments))
        given = [arguments[number] for number in self.given]
        key = self.rest.describe(given), threading.get_ident(), torch.cuda.current_stream().cuda_stream
        # Looking at hundreds of parameters takes longer than queueing a graph, so that it comes afterwards. What was
        # queued for nothing reads no memory that may be gone, and has written no result.
        replay = self.captured.get(key)
        is_ahead = replay and self.folded.versions is not None and self.folded.are_in_place(arguments, self.read)
        results = replay(given) if is_ahead else None
        state = self.folded.update(arguments)
        if results is not None and state == "same":
            return results
        if state == "moved":
            self.captured.clear()
        if key not in self.captured:
            inputs = self._take(arguments)
            self.rest.prepare(inputs)
            self.captured[key] = self._capture(inputs) if len(self.captured) < _MAX_REPLAYS else None
        replay = self.captured[key]
        return replay(given) if replay else self.rest(self._take(arguments))

    def _take(self, arguments: list[Any]) -> list[Any]:
        """What the rest of the graph wants."""
        folded = self.folded.values
        return [arguments[number] if number >= 0 else folded[~number] for number in self.inputs]

    def _capture(self, inputs: list[Any]) -> _Replay | None:
        try:
            with torch.inference_mode(False), torch.no_grad():
                return _Replay(self.rest.function, inputs, self.changing)
        except RuntimeError as error:
            warnings.warn(f"backend 'tessera' runs a graph without a CUDA graph: {error}")
            return None
