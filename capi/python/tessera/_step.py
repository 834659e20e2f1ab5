"""Runs a compiled graph: values that depend on parameters alone are kept, and a CUDA graph may replay the rest."""

from __future__ import annotations

import threading
from typing import Any, Callable, Sequence

import torch

from tessera import _operators
from tessera._rewrite import Split

_MAX_REPLAYS = 16  # Captures of one graph: shapes, threads and streams. Each has memory of its own.


class _Folded:
    """What depends on parameters and buffers alone. It is computed again when one of them has changed, in the same
    memory, so that a captured graph reads it.
    """

    def __init__(self, module: torch.fx.GraphModule, numbers: Sequence[int]):
        self.module, self.numbers = module, numbers
        self.places = [node.meta["val"] for node in module.graph.output_node().args[0]]
        self.values: list[torch.Tensor] = []
        self.known: tuple = ()

    def update(self, arguments: Sequence[Any]) -> None:
        """Computes the values unless they are those of these arguments: the same memory, not written since. PyTorch
        counts writes, but for those through `.data` and those to tensors of inference mode.
        """
        static = [arguments[number] for number in self.numbers]
        try:
            state = [(one._version, one.data_ptr()) for one in static]
        except RuntimeError:  # Tensors of inference mode do not count.
            state = None
        if state is not None and state == self.known:
            return
        with torch.inference_mode(False), torch.no_grad():
            values = self.module(*arguments)
            if self.values:
                for old, new in zip(self.values, values):
                    old.copy_(new)
            else:
                self.values = [_lay_out(value, place) for value, place in zip(values, self.places)]
        self.known = state


def _lay_out(value: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
    """In memory of its own, with the strides that the graph was compiled for."""
    return torch.empty_strided(place.shape, place.stride(), dtype=value.dtype, device=value.device).copy_(value)


class _Replay:
    """A function of tensors, captured as a CUDA graph."""

    def __init__(self, function: Callable, arguments: Sequence[Any], static: Sequence[bool]):
        self.inputs = [(number, argument.clone()) for number, argument in enumerate(arguments)
                       if isinstance(argument, torch.Tensor) and not static[number]]
        arguments = list(arguments)
        for number, mine in self.inputs:
            arguments[number] = mine
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            function(list(arguments))
        torch.cuda.current_stream().wait_stream(stream)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, capture_error_mode="thread_local"):
            self.results = function(list(arguments))

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        for number, mine in self.inputs:
            mine.copy_(arguments[number])
        self.graph.replay()
        # The next replay overwrites them.
        return [result.clone() if isinstance(result, torch.Tensor) else result for result in self.results]


class Step:
    """A graph without gradients, called with the arguments that AOTAutograd passes."""

    _boxed_call = True  # AOTAutograd passes one list, which may be emptied.

    def __init__(self, split: Split, function: Callable, static: Sequence[int], replays: bool):
        """`function` is what computes `split.rest`."""
        self.split, self.function, self.replays = split, function, replays
        self.folded = _Folded(split.fold, static)
        self.is_static = [number < 0 or number in static for number in split.inputs]
        self.prepared: set[tuple] = set()
        self.captured: dict[tuple, _Replay | None] = {}

    def __call__(self, arguments: list[Any]) -> Sequence[Any]:
        self.folded.update(arguments)
        folded = self.folded.values
        inputs = [arguments[number] if number >= 0 else folded[~number] for number in self.split.inputs]
        arguments.clear()
        shapes = tuple(tuple(one.shape) if isinstance(one, torch.Tensor) else one
                       for one, is_static in zip(inputs, self.is_static) if not is_static)
        if shapes not in self.prepared:
            self._prepare(shapes, inputs)
        if not self.replays or torch.cuda.is_current_stream_capturing():
            return self.function(inputs)
        return self._replay(shapes, inputs)

    def _prepare(self, shapes: tuple, inputs: Sequence[Any]) -> None:
        """Compiles the kernels of these shapes, several at once."""
        _operators.compile_all(_operators.collect(lambda: self.split.rest(*inputs)))
        self.prepared.add(shapes)

    def _replay(self, shapes: tuple, inputs: list[Any]) -> Sequence[Any]:
        places = tuple(one.data_ptr() for one, number in zip(inputs, self.split.inputs)
                       if 0 <= number and isinstance(one, torch.Tensor) and number in self.folded.numbers)
        key = shapes, places, threading.get_ident(), torch.cuda.current_stream()
        if key not in self.captured:
            self.captured[key] = self._capture(inputs) if len(self.captured) < _MAX_REPLAYS else None
        replay = self.captured[key]
        return replay(inputs) if replay else self.function(inputs)

    def _capture(self, inputs: list[Any]) -> _Replay | None:
        try:
            return _Replay(self.function, inputs, self.is_static)
        except RuntimeError as error:
            import warnings
            warnings.warn(f"tessera: the step runs without a CUDA graph: {error}")
            return None
