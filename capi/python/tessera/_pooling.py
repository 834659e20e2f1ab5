"""Poolings of PyTorch's as problems of the library's, forward and backward.

How the result lies, PyTorch says itself: its operator is called on tensors without data. Rounding up is more padding
behind the image.
"""

from __future__ import annotations

import functools
from typing import Any, Sequence

import torch

from tessera._common import Refusal, drop_depth, get_spatial, join
from tessera._launch import Entry, Kernel, Plan
from tessera._layouts import Input, find_gathers, gather, get_layout, get_type


# How a maximum is told: its number in the image, or in the window.
INDICES = {"u64image": torch.int64, "u8mask": torch.uint8}


def _to_meta(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")
    return value


def _get_average_mode(padding, ceil_mode=False, count_include_pad=True, divisor_override=None) -> str:
    if divisor_override is not None:
        raise Refusal("a divisor of its own")
    if ceil_mode and count_include_pad:
        raise Refusal("averages that count padding and round up")
    return "avgin" if count_include_pad and any(padding) else "avg"


def _get_max_mode(padding, dilation=(1,), *_) -> str:
    if any(step != 1 for step in dilation):
        raise Refusal("a dilation")
    return "maxnan"


class Pool(Entry):
    """An operator of PyTorch's: its dimensions, whether it averages, whether it is the gradient, and how a maximum is
    told, if it is.
    """

    def __init__(self, op: Any, dims: int, averages: bool, backward: bool, index: str = "u64image"):
        super().__init__()
        self.op, self.dims, self.averages, self.backward = op, dims, averages, backward
        self.index = "none" if averages else index

    def decide(self, *arguments) -> None:
        # Forward is of (x, window, stride, padding, ...), backward of (gradient, x, window, ...[, indices]).
        tensors = [value for value in arguments if isinstance(value, torch.Tensor)]
        source, image = tensors[0], tensors[1 if self.backward else 0]
        kind = get_type(source)
        dims = self.dims
        if image.dim() != dims + 2 or not image.numel() or kind == "f64":
            raise Refusal("f64" if kind == "f64" else "an image without a batch" if image.numel() else "no elements")
        options = [value for value in arguments if not isinstance(value, torch.Tensor)]
        window, stride, padding, *options = options + [[], [0]][len(options) - 1:]
        window, stride, padding = (list(v) * (dims if len(v) == 1 else 1) for v in (window, stride or window, padding))
        mode = (_get_average_mode if self.averages else _get_max_mode)(padding, *options)
        self._lay_out(source, tensors[-1], arguments)
        y = self.shape if not self.backward else source.shape
        layouts = [self.source.layout, self.layout]
        config = (f"pool-{'bwd' if self.backward else 'fwd'}-{mode}-{kind}"
                  f"-{','.join(reversed(layouts) if self.backward else layouts)}-n{image.shape[0]}c{image.shape[1]}"
                  f"{get_spatial(image.shape[2:], 'dhw')}-{get_spatial(window, 'zyx')}"
                  f"-p{self._get_pads(image.shape[2:], y[2:], window, stride, padding)}-s{join(stride)}"
                  f"-i{self.index}")
        has_indices = self.index in INDICES
        names = ["x", "y"] + (["indices"] if has_indices else [])
        kernel = Kernel(drop_depth(config), names, names[:1] if self.backward else names[1:], source.get_device())
        new = [(self.shape, self.strides, kind) for kind in ([source.dtype, INDICES[self.index]]
                                                             if has_indices and not self.backward
                                                             else [source.dtype])]
        numbers = [~0, 0, len(arguments) - 1] if self.backward else [0, ~0, ~1]
        self.plan = Plan(new, [(kernel, numbers[:len(names)])],
                         ~0 if len(new) == 1 else (~0, ~1), self.gathers)

    def _lay_out(self, source: torch.Tensor, last: torch.Tensor, arguments: Sequence[Any]) -> None:
        """Decides how tensors are read and written. Indices must lie as the gradient does."""
        meta = self.op(*map(_to_meta, arguments))
        meta = meta if isinstance(meta, torch.Tensor) else meta[0]
        self.shape, self.strides = tuple(meta.shape), tuple(meta.stride())
        self.layout = get_layout(meta, True)
        if not self.layout:
            raise Refusal("a result with gaps")
        is_last = self.layout.endswith("c")
        self.source = Input(source, is_last)
        self.gathers = find_gathers({0: self.source})
        if self.backward and not self.averages:
            indices = Input(last, is_last)
            if indices.gather or indices.layout != self.source.layout:
                function = functools.partial(gather, is_last=is_last)
                self.gathers = {0: function, len(arguments) - 1: function}
                self.source = Input(function(source), is_last)

    @staticmethod
    def _get_pads(lengths, outputs, window, stride, padding) -> str:
        """ "1x0:2": the padding behind is what the size of the result needs."""
        after = [max((out - 1) * step + size - length - pad, pad)
                 for length, out, size, step, pad in zip(lengths, outputs, window, stride, padding)]
        return join(f"{pad}:{end}" if end != pad else pad for pad, end in zip(padding, after))


def list_operators() -> dict[str, Any]:
    """What makes the entries of each operator."""
    operators = {}
    for kind, averages in (("avg_pool", True), ("max_pool", False)):
        for dims in (2, 3):
            for suffix in ("", "_backward"):
                name = f"{kind}{dims}d{'' if averages else '_with_indices'}{suffix}"
                op = getattr(torch.ops.aten, name).default
                operators[name] = functools.partial(Pool, op, dims, averages, bool(suffix))
    return operators
