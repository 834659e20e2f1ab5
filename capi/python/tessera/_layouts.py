"""How PyTorch's tensors lie in memory, in the words of network configs."""

from __future__ import annotations

import functools
from typing import Any, Callable, Sequence

import torch

from tessera._common import Refusal

TYPES = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32", torch.float64: "f64"}
LAST = {4: torch.channels_last, 5: torch.channels_last_3d}


def _expand(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor of one dimension beside batch and channels as an image of one row."""
    return tensor.unsqueeze(2) if tensor.dim() == 3 else tensor


def get_layout(tensor: torch.Tensor, prefers_last: bool) -> str | None:
    """The layout's word of a network config; None for a tensor with gaps or another order. A tensor that has both
    layouts, because a length is 1, has the preferred one."""
    view = _expand(tensor)
    words = ("ndhwc", "ncdhw") if view.dim() == 5 else ("nhwc", "nchw")
    has = [view.is_contiguous(memory_format=LAST[view.dim()]), view.is_contiguous()]
    if has[0] and (prefers_last or not has[1]):
        return words[0]
    return words[1] if has[1] else None


def get_strides(shape: Sequence[int], is_last: bool) -> tuple[int, ...]:
    """The strides of a new tensor."""
    order = [0, *range(2, len(shape)), 1] if is_last else list(range(len(shape)))
    strides, step = [0] * len(shape), 1
    for dim in reversed(order):
        strides[dim] = step
        step *= max(shape[dim], 1)
    return tuple(strides)


def gather(tensor: torch.Tensor, is_last: bool) -> torch.Tensor:
    """A copy whose elements lie together."""
    if not is_last:
        return tensor.contiguous()
    view = _expand(tensor)
    view = view.contiguous(memory_format=LAST[view.dim()])
    return view.squeeze(2) if tensor.dim() == 3 else view


class Input:
    """How a tensor is read: as it lies, or gathered first."""

    def __init__(self, tensor: torch.Tensor, is_last: bool):
        layout = get_layout(tensor, is_last)
        self.gather = None if layout else functools.partial(gather, is_last=is_last)
        self.layout = layout or get_layout(gather(tensor, is_last), is_last)


def find_gathers(inputs: dict[int, Input]) -> dict[int, Callable]:
    """What copies those that must be."""
    return {number: one.gather for number, one in inputs.items() if one.gather}


def describe(*arguments: Any) -> tuple:
    """All that a decision depends on, of any operator."""
    return tuple((v.shape, v.stride(), v.dtype, v.get_device()) if isinstance(v, torch.Tensor)
                 else tuple(v) if isinstance(v, list) else v for v in arguments)


def get_type(*tensors: torch.Tensor) -> str:
    """The type that all tensors have."""
    dtype, device = tensors[0].dtype, tensors[0].device
    if dtype not in TYPES:
        raise Refusal(f"tensors of {dtype}")
    if any(t.dtype != dtype or t.device != device for t in tensors):
        raise Refusal("tensors of several types or devices")
    return TYPES[dtype]
