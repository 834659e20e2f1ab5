"""Softmax, layer normalisation and group normalisation of PyTorch's as row-wise problems of the library's.

What lies in the order of its dimensions is read as it is, with gaps, or where it is expanded, over and over; everything
else is copied first. How results lie, and the types of what they save for the gradient, is PyTorch's choice.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, NamedTuple, Sequence

import torch

from tessera._common import Refusal, join
from tessera._launch import Entry, Kernel, Plan
from tessera._layouts import LAST, TYPES, describe, gather

_MAX_DIMS = 5
# Bits and numbers of the modes (docs/spec/row-wise.md).
_SOFTMAX, _LOG_SOFTMAX = 1, 2
_WEIGHT, _BIAS, _SAVES = 2, 4, 8 | 16


class Part(NamedTuple):
    """A tensor of a problem: i(nput), r(ow output) or o(utput), and its number in the plan."""
    role: str
    number: int


def fold(shape: Sequence[int], reduced: Sequence[int],
         strides: Sequence[Sequence[int]]) -> tuple[list[int], list[int], list[tuple[int, ...]]]:
    """Lengths, reduced dimensions and strides of each tensor, with neighbouring dimensions as one where they can be."""
    lengths: list[int] = []
    flags: list[bool] = []
    steps: list[tuple[int, ...]] = []  # Of each dimension, those of all tensors.
    for dim, length in enumerate(shape):
        if length == 1:
            continue
        flag, step = dim in reduced, tuple(one[dim] for one in strides)
        if flags[-1:] == [flag] and steps[-1] == tuple(length * one for one in step):
            lengths[-1] *= length
            steps[-1] = step
        else:
            lengths, flags, steps = [*lengths, length], [*flags, flag], [*steps, step]
    if True not in flags:  # Rows of one element.
        lengths, flags, steps = [*lengths, 1], [*flags, True], [*steps, (0,) * len(strides)]
    return lengths, [dim for dim, flag in enumerate(flags) if flag], list(zip(*steps))


def _is_ordered(tensor: torch.Tensor) -> bool:
    """Whether the tensor lies in the order of its dimensions."""
    steps = [step for size, step in zip(tensor.shape, tensor.stride()) if size > 1 and step > 0]
    return steps == sorted(steps, reverse=True)


class Rows(Entry):
    """What the operators have in common: tensors of one space, of which some are the same along dimensions."""

    def start(self, arguments: Sequence[Any], new: Sequence[torch.Tensor]) -> None:
        """Begins a plan. `new` are tensors without data."""
        given = [value for value in arguments if isinstance(value, torch.Tensor)]
        for tensor in [*given, *new]:
            if tensor.dtype not in TYPES:
                raise Refusal(f"tensors of {tensor.dtype}")
        if not all(tensor.numel() for tensor in given):
            raise Refusal("no elements")
        if any(tensor.device != given[0].device for tensor in given):
            raise Refusal("tensors of several devices")
        self.device = given[0].get_device()
        self.tensors = dict(enumerate(arguments)) | {~number: tensor for number, tensor in enumerate(new)}
        self.plan = Plan([(tensor.shape, tensor.stride(), tensor.dtype) for tensor in new], [], ())

    def add(self, name: str, mode: int, space: Sequence[int], reduced: Sequence[int], parts: Sequence[Part],
            scalars: Sequence[float] = (), spread: Callable = lambda tensor: tensor) -> None:
        """Adds a launch. `spread` is a view of each tensor that can be expanded to the space."""
        def fold_parts(is_ready: Callable[[torch.Tensor], bool]) -> tuple:
            tensors = []
            for _, number in parts:
                tensor = self.tensors[number]
                if not is_ready(tensor) and number >= 0:
                    self.plan.gathers[number] = functools.partial(gather, is_last=False)
                    tensor = torch.empty(tensor.shape, device="meta")
                tensors.append(spread(tensor).expand(space).stride())
            return fold(space, reduced, tensors)
        lengths, dims, strides = fold_parts(self.is_ready)
        if len(lengths) > _MAX_DIMS:
            lengths, dims, strides = fold_parts(torch.Tensor.is_contiguous)
        texts = [f"{role}:{TYPES[self.tensors[number].dtype]}:{join(steps).replace('x', ':')}"
                 for (role, number), steps in zip(parts, strides)]
        names = [str(number) for number in range(len(parts))]
        kernel = Kernel(f"rowwise-{name}-m{mode}-{join(lengths)}-r{join(dims).replace('x', ',')}-{'-'.join(texts)}",
                        names, [one for one, part in zip(names, parts) if part.role != "i"], self.device, scalars)
        self.plan.launches.append((kernel, [part.number for part in parts]))

    @staticmethod
    def is_ready(tensor: torch.Tensor) -> bool:
        """Whether a kernel reads the tensor as it lies."""
        return _is_ordered(tensor)


class Softmax(Rows):
    """_softmax and _log_softmax, and their gradients from their results."""

    def __init__(self, mode: int, backward: bool):
        super().__init__()
        self.mode, self.backward = mode, backward

    def decide(self, *arguments) -> None:
        first, dim = arguments[0], arguments[-2]
        if self.backward:
            kind = arguments[-1]
            if first.shape != arguments[1].shape or first.dtype != arguments[1].dtype:
                raise Refusal("a gradient of another shape or type")
        else:
            kind = torch.float32 if arguments[-1] else first.dtype
        if not -max(first.dim(), 1) <= dim < max(first.dim(), 1):
            raise Refusal("a dimension that there is not")
        self.start(arguments, [torch.empty(first.shape, dtype=kind, device="meta")])
        # PyTorch gives the gradient before the result.
        inputs = [Part("i", 1), Part("i", 0)] if self.backward else [Part("i", 0)]
        self.add("softmax_bwd" if self.backward else "softmax_fwd", self.mode, first.shape,
                 [dim % max(first.dim(), 1)], [*inputs, Part("o", ~0)], [1, 0])
        self.plan.results = ~0


def _get_saved_type(x: torch.Tensor, *parameters: torch.Tensor | None) -> torch.dtype:
    """The type of mean and inverse where PyTorch's kernels keep them in that of the parameters."""
    return next((tensor.dtype for tensor in parameters if tensor is not None), x.dtype)


def _check_parameters(x: torch.Tensor, shape: Sequence[int], *parameters: torch.Tensor | None) -> None:
    for tensor in parameters:
        if tensor is not None and tuple(tensor.shape) != tuple(shape):
            raise Refusal("parameters that do not fit")
        if tensor is not None and tensor.dtype != x.dtype and (
                tensor.dtype != torch.float32 or x.dtype == torch.float64):
            raise Refusal("parameters of another type")


def _add_forward(rows: Rows, space, reduced, weight: tuple[int, Any], bias: tuple[int, Any], epsilon: float,
                 **options) -> None:
    """norm_fwd, of which x is the argument 0 and the results are new."""
    given = [(bit, Part("i", number)) for bit, (number, tensor) in ((_WEIGHT, weight), (_BIAS, bias))
             if tensor is not None]
    rows.add("norm_fwd", _SAVES + sum(bit for bit, _ in given), space, reduced,
             [Part("i", 0), *(part for _, part in given), Part("r", ~1), Part("r", ~2), Part("o", ~0)], [epsilon],
             **options)
    rows.plan.results = ~0, ~1, ~2


def _check_rows(x: torch.Tensor, shape: Sequence[int]) -> int:
    """The first dimension that is normalised."""
    axis = x.dim() - len(shape)
    if axis < 0 or not shape or tuple(x.shape[axis:]) != tuple(shape):
        raise Refusal("a shape that does not fit")
    return axis


class LayerNorm(Rows):
    """native_layer_norm: the last dimensions of x are normalised."""

    def decide(self, x, shape, weight, bias, epsilon) -> None:
        axis = _check_rows(x, shape)
        _check_parameters(x, shape, weight, bias)
        if x.is_cuda:
            saved = torch.float64 if x.dtype == torch.float64 else torch.float32
        else:
            saved = _get_saved_type(x, weight, bias)
        statistic = torch.empty((*x.shape[:axis], *[1] * len(shape)), dtype=saved, device="meta")
        self.start([x, shape, weight, bias], [torch.empty(x.shape, dtype=x.dtype, device="meta"), statistic, statistic])
        _add_forward(self, x.shape, range(axis, x.dim()), (2, weight), (3, bias), epsilon)


class LayerNormGradient(Rows):
    """native_layer_norm_backward."""

    def decide(self, grad, x, shape, mean, inverse, weight, bias, mask) -> None:
        axis = _check_rows(x, shape)
        _check_parameters(x, shape, weight, bias)
        parameter = torch.empty(tuple(shape), dtype=_get_saved_type(x, weight, bias), device="meta")
        self.start([grad, x, shape, mean, inverse, weight, bias],
                   _list_gradients(grad, x, torch.contiguous_format, parameter, mask))
        _add_backward(self, x.shape, range(axis, x.dim()), range(axis), [1, 0, 3, 4], 5, mask)


def _list_gradients(grad: torch.Tensor, x: torch.Tensor, form: torch.memory_format, parameter: torch.Tensor,
                    mask: Sequence[bool]) -> list[torch.Tensor]:
    """What _add_backward() makes: the gradient of x, and those of both parameters if one is wanted."""
    if grad.shape != x.shape or grad.dtype != x.dtype:
        raise Refusal("a gradient of another shape or type")
    image = torch.empty(x.shape, dtype=x.dtype, device="meta", memory_format=form)
    return [image] * mask[0] + [parameter] * (2 * (mask[1] or mask[2]))


def _add_backward(rows: Rows, space: Sequence[int], reduced: Sequence[int], others: Sequence[int],
                  inputs: Sequence[int], weight: int, mask: Sequence[bool], **options: Any) -> None:
    """A kernel for the gradient of x and one for those of the parameters, which reduces `others`. `inputs` are the
    numbers of x, its gradient, mean and inverse.
    """
    parts = [Part("i", number) for number in inputs]
    first = ~int(mask[0])
    if mask[0]:
        weights = [Part("i", weight)] if rows.tensors[weight] is not None else []
        rows.add("norm_bwd", len(weights), space, reduced, [*parts, *weights, Part("o", ~0)], **options)
    if mask[1] or mask[2]:
        rows.add("norm_bwd_weight", 0, space, others, [*parts, Part("r", first), Part("r", first - 1)], **options)
    rows.plan.results = tuple(number if wanted else None
                              for number, wanted in zip((~0, first, first - 1), mask))


class Groups(Rows):
    """What native_group_norm and its gradient have in common: images without gaps, in either layout."""

    def lay_out(self, x: torch.Tensor, batch: int, channels: int, pixels: int, groups: int) -> None:
        """How results lie, and the space: groups of channels. Only on the CPU PyTorch's have channels last."""
        form = LAST.get(x.dim()) if x.get_device() < 0 else None
        self.form = torch.contiguous_format if not form or x.is_contiguous() else form
        if not x.is_contiguous(memory_format=self.form) or x.numel() != batch * channels * pixels or channels % groups:
            raise Refusal("an image with gaps, or lengths that do not fit")
        self.space = batch, groups, channels // groups, pixels

        def spread(tensor: torch.Tensor) -> torch.Tensor:
            if tensor.shape == x.shape:
                return tensor.view(self.space)
            return tensor.view(1, groups, -1, 1) if tensor.dim() == 1 else tensor[:, :, None, None]
        self.spread = spread

    @staticmethod
    def is_ready(tensor: torch.Tensor) -> bool:
        """The kernels read images in both layouts."""
        return tensor.dim() > 1 or tensor.is_contiguous()


class GroupNorm(Groups):
    """native_group_norm."""

    def decide(self, x, weight, bias, batch, channels, pixels, groups, epsilon) -> None:
        self.lay_out(x, batch, channels, pixels, groups)
        _check_parameters(x, (channels,), weight, bias)
        statistic = torch.empty((batch, groups), dtype=_get_saved_type(x, weight, bias), device="meta")
        self.start([x, weight, bias],
                   [torch.empty(x.shape, dtype=x.dtype, device="meta", memory_format=self.form), statistic, statistic])
        _add_forward(self, self.space, (2, 3), (1, weight), (2, bias), epsilon, spread=self.spread)


class GroupNormGradient(Groups):
    """native_group_norm_backward."""

    def decide(self, grad, x, mean, inverse, weight, batch, channels, pixels, groups, mask) -> None:
        self.lay_out(x, batch, channels, pixels, groups)
        _check_parameters(x, (channels,), weight)
        if not grad.is_contiguous(memory_format=self.form) or mean.dim() != 2 or inverse.dim() != 2:
            raise Refusal("a gradient with gaps or in another layout, or statistics that do not fit")
        parameter = torch.empty((channels,), dtype=_get_saved_type(x, weight), device="meta")
        self.start([grad, x, mean, inverse, weight], _list_gradients(grad, x, self.form, parameter, mask))
        _add_backward(self, self.space, (2, 3), (0, 3), [1, 0, 2, 3], 4, mask, spread=self.spread)


# What makes the entries of each operator, and their keys.
OPERATORS: dict[str, tuple[Callable[[], Entry], Callable[..., tuple]]] = {
    "_softmax": (functools.partial(Softmax, _SOFTMAX, False), describe),
    "_softmax_backward_data": (functools.partial(Softmax, _SOFTMAX, True), describe),
    "_log_softmax": (functools.partial(Softmax, _LOG_SOFTMAX, False), describe),
    "_log_softmax_backward_data": (functools.partial(Softmax, _LOG_SOFTMAX, True), describe),
    "native_layer_norm": (LayerNorm, describe),
    "native_layer_norm_backward": (LayerNormGradient, describe),
    "native_group_norm": (GroupNorm, describe),
    "native_group_norm_backward": (GroupNormGradient, describe)}
