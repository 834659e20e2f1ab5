"""Operators of compiled graphs (tessera.compile): what one kernel computes and PyTorch has no operator for.

They are in the namespace "tessera_compiled". What a problem of theirs is refused for, PyTorch's operators compute one
after the other. The order of an epilogue is the library's: bias, residual tensor, activation.
"""

from __future__ import annotations

import functools
from typing import Any, Sequence

import torch

from tessera import _batch_norm, _convolution, _operators, _pooling
from tessera._convolution import Convolution, New, find_bias_gather, uses_tf32
from tessera._common import Refusal
from tessera._launch import Entry, Kernel, Plan
from tessera._layouts import LAST, Input, describe, find_gathers, get_type
from tessera._operators import Operator, Operators

SPACE = "tessera_compiled"
# By the number that an operator is given: the word of a network config, and PyTorch's function of (value, a, b, c).
ACTIVATIONS = [
    ("", lambda v, a, b, c: v),
    ("relu", lambda v, a, b, c: v.relu()),
    ("logistic", lambda v, a, b, c: v.sigmoid()),
    ("tanh", lambda v, a, b, c: v.tanh()),
    ("leakyrelu", lambda v, a, b, c: torch.ops.aten.leaky_relu(v, a)),
    ("elu", lambda v, a, b, c: torch.ops.aten.elu(v, a)),
    ("clamp", lambda v, a, b, c: v.clamp(a, b)),
    ("abs", lambda v, a, b, c: v.abs()),
]
NUMBERS = {name: number for number, (name, _) in enumerate(ACTIVATIONS)}
_SCHEMAS = [
    "compiled_convolution(Tensor x, Tensor w, Tensor? bias, Tensor? residual, int[] stride, int[] padding, "
    "int[] dilation, bool transposed, int[] output_padding, int groups, bool is_last, int activation, float a, "
    "float b, float c, bool from_end) -> Tensor",
    "compiled_conv_statistics(Tensor x, Tensor w, int[] stride, int[] padding, int[] dilation, int groups) -> "
    "(Tensor, Tensor, Tensor)",
    "compiled_conv_norm_backward(Tensor grad, Tensor w, Tensor? residual, Tensor z, Tensor mean, Tensor inverse, "
    "Tensor? scale, Tensor? bias, Tensor? mask, int[] stride, int[] padding, int[] dilation, int groups) -> "
    "(Tensor, Tensor, Tensor)",
    "compiled_convolution_backward(Tensor grad, Tensor x, Tensor w, int[]? bias_sizes, int[] stride, int[] padding, "
    "int[] dilation, bool transposed, int[] output_padding, int groups, bool[] mask) -> (Tensor, Tensor, Tensor)",
    "compiled_max_pool(Tensor x, int[] window, int[] stride, int[] padding, int[] dilation, bool ceil, bool from_end) -> "
    "Tensor",
    "compiled_max_pool_mask(Tensor x, int[] window, int[] stride, int[] padding, bool ceil) -> (Tensor, Tensor)",
    "compiled_max_pool_backward(Tensor grad, SymInt[] shape, int[] window, int[] stride, int[] padding, bool ceil, "
    "bool is_last, Tensor mask) -> Tensor",
    "compiled_avg_pool(Tensor x, int[] window, int[] stride, int[] padding, bool ceil, bool counts_padding, "
    "bool from_end) -> Tensor",
    "compiled_moments(Tensor x) -> (Tensor, Tensor)",
    "compiled_norm_relu(Tensor x, Tensor weight, Tensor bias, Tensor mean, Tensor variance, float momentum, "
    "float epsilon) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
    "compiled_norm_relu_backward(Tensor grad, Tensor x, Tensor weight, Tensor bias, Tensor saved_mean, "
    "Tensor saved_inverse, float epsilon) -> (Tensor, Tensor, Tensor)",
]


class _Forward(Entry):
    """compiled_convolution: a convolution with what follows it."""

    def decide(self, x, w, bias, residual, *arguments) -> None:
        *arguments, is_last, activation, a, b, c, from_end = arguments
        get_type(*(tensor for tensor in (x, w, bias, residual) if tensor is not None))
        conv = Convolution(x, w, arguments, is_last)
        result = New(conv.b, is_last, x)
        inputs = {0: Input(x, is_last), 1: Input(w, is_last)}
        numbers = [{"a": 0, "w": 1, "b": ~0}[letter] for letter in conv.letters]
        terms = []
        if bias is not None:
            terms.append("bias")
            numbers.append(2)
        gathers = find_gathers(inputs) | find_bias_gather(conv, bias)
        if residual is not None:
            if list(residual.shape) != conv.b:
                raise Refusal("a residual tensor of another shape")
            terms.append("residual")
            numbers.append(3)
            if Input(residual, is_last).layout != result.layout or find_gathers({3: Input(residual, is_last)}):
                gathers[3] = functools.partial(_lay_out, strides=result.tensor[1])
        terms += [name for name in [ACTIVATIONS[activation][0]] if name]
        layouts = {"a": inputs[0].layout, "w": inputs[1].layout, "b": result.layout}
        # The library's tanh is b tanh(a v).
        parameters = (1, 1, 0) if ACTIVATIONS[activation][0] == "tanh" else (a, b, c)
        kernel = conv.make_kernel("b", layouts, x, terms, parameters)
        kernel.set_order(from_end)
        self.plan = Plan([result.tensor], [(kernel, numbers)], ~0, gathers)


def _lay_out(tensor: torch.Tensor, strides: Sequence[int]) -> torch.Tensor:
    """A copy with other strides, if it has others."""
    if tensor.stride() == tuple(strides):
        return tensor
    return torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype, device=tensor.device).copy_(tensor)


def _convolve(x, w, bias, residual, *arguments) -> torch.Tensor:
    """The same by PyTorch's operators."""
    *arguments, is_last, activation, a, b, c, _ = arguments
    value = torch.ops.aten.convolution(x, w, bias, *arguments)
    if residual is not None:
        value = value + residual
    value = ACTIVATIONS[activation][1](value, a, b, c)
    return value.contiguous(memory_format=LAST[value.dim()] if is_last else torch.contiguous_format)


def _convolve_meta(x, w, bias, residual, *arguments) -> torch.Tensor:
    """Its shape and strides."""
    *arguments, is_last, _, _, _, _, _ = arguments
    value = torch.ops.aten.convolution(x, w, bias, *arguments)
    form = LAST[value.dim()] if is_last else torch.contiguous_format
    return torch.empty_like(value, memory_format=form)


class _ConvStatistics(Entry):
    """compiled_conv_statistics: a convolution of images with channels last, and of each channel of its result, as it
    is rounded, the mean and the variance of the population in f32.
    """

    def decide(self, x, w, stride, padding, dilation, groups) -> None:
        if get_type(x, w) not in ("f16", "bf16", "f32"):
            raise Refusal("statistics of another type")
        conv = Convolution(x, w, [stride, padding, dilation, False, [0] * len(stride), groups], True)
        result = New(conv.b, True, x)
        inputs = {number: Input(one, True) for number, one in enumerate((x, w))}
        kernel = conv.make_kernel(
            "b", {"a": inputs[0].layout, "w": inputs[1].layout, "b": result.layout}, x, ["stats"])
        statistics = ((conv.b[1],), (1,), torch.float32)
        self.plan = Plan([result.tensor, statistics, statistics], [(kernel, [0, 1, ~0, ~1, ~2])], (~0, ~1, ~2),
                         find_gathers(inputs))


class _ConvNormBackward(Entry):
    """compiled_conv_norm_backward: the gradient of a convolution's input plus a residual tensor, with zeros where the
    ReLU of a normalisation of z, or a mask, is not positive; and of each channel in f32 its sum and that of its
    products with the normalised z.
    """

    def decide(self, grad, w, residual, z, mean, inverse, scale, bias, mask, stride, padding, dilation, groups) -> None:
        if get_type(*(one for one in (grad, w, residual, z, mask) if one is not None)) not in ("f16", "bf16", "f32"):
            raise Refusal("sums of another type")
        numbers = [one for one in (mean, inverse, scale, bias) if one is not None]
        if any(one.dtype is not torch.float32 or one.shape != (z.shape[1],) for one in numbers):
            raise Refusal("numbers of channels that are not f32")
        conv = Convolution(z, w, [stride, padding, dilation, False, [0] * len(stride), groups], True)
        if list(grad.shape) != conv.b or any(one is not None and one.shape != z.shape for one in (residual, mask)):
            raise Refusal("a tensor of another shape")
        result = New(conv.a, True, grad)
        inputs = {0: Input(grad, True), 1: Input(w, True)}
        gathers = find_gathers(inputs)
        for number, one in ((2, residual), (3, z), (8, mask)):
            if one is None:
                continue
            source = Input(one, True)
            if source.layout != result.layout or find_gathers({number: source}):
                gathers[number] = functools.partial(_lay_out, strides=result.tensor[1])
        gathers |= {number: torch.Tensor.contiguous for number, one in zip(range(4, 8), (mean, inverse, scale, bias))
                    if one is not None and not one.is_contiguous()}
        word = "normgradmask" if mask is not None else "normgradrelu" if scale is not None else "normgrad"
        kernel = conv.make_kernel(
            "a", {"a": result.layout, "w": inputs[1].layout, "b": inputs[0].layout}, grad,
            ["residual", word] if residual is not None else [word])
        further = [8] if mask is not None else [6, 7] if scale is not None else []
        sums = ((z.shape[1],), (1,), torch.float32)
        self.plan = Plan([result.tensor, sums, sums], [(kernel, [
            ~0, 1, 0, *([2] if residual is not None else []), 3, 4, 5, ~1, ~2, *further])], (~0, ~1, ~2), gathers)


def _convolve_norm_backward(grad, w, residual, z, mean, inverse, scale, bias, mask, stride, padding, dilation,
                            groups) -> tuple:
    """The same by PyTorch's operators."""
    spread = lambda t: t.view(-1, *[1] * (z.dim() - 2))
    g, _, _ = torch.ops.aten.convolution_backward(
        grad, z, w, None, stride, padding, dilation, False, [0] * len(stride), groups, [True, False, False])
    if residual is not None:
        g = g + residual
    n = (z.float() - spread(mean)) * spread(inverse)
    if mask is not None:
        g = torch.where(mask > 0, g, 0)
    elif scale is not None:
        g = torch.where(n * spread(scale) + spread(bias) > 0, g, 0)
    g = g.contiguous(memory_format=LAST[g.dim()])
    dims = [0, *range(2, g.dim())]
    return g, g.float().sum(dims), (g.float() * n).sum(dims)


def _convolve_norm_backward_meta(grad, w, residual, z, mean, *others) -> tuple:
    sums = [torch.empty_like(mean, dtype=torch.float32) for _ in range(2)]
    return torch.empty_like(z, memory_format=LAST[z.dim()]), *sums


def _convolve_and_measure(x, w, stride, padding, dilation, groups) -> tuple:
    """The same by PyTorch's operators."""
    y = torch.ops.aten.convolution(x, w, None, stride, padding, dilation, False, [0] * len(stride), groups)
    y = y.contiguous(memory_format=LAST[y.dim()])
    variance, mean = torch.var_mean(y.float(), [0, *range(2, y.dim())], correction=0)
    return y, mean, variance


class _Pool(_pooling.Pool):
    """compiled_max_pool and compiled_avg_pool: no indices, which nothing reads."""

    def __init__(self, averages: bool):
        super().__init__(_pool_average if averages else _pool_maximum, 0, averages, False, index="none")

    def decide(self, x, *arguments) -> None:
        *arguments, from_end = arguments
        self.dims = x.dim() - 2
        super().decide(x, *arguments)
        self.plan.launches[0][0].set_order(from_end)


def _pool_maximum(x, window, stride, padding, dilation, ceil, from_end=False) -> torch.Tensor:
    pool = torch.ops.aten.max_pool2d_with_indices if x.dim() == 4 else torch.ops.aten.max_pool3d_with_indices
    return pool(x, window, stride, padding, dilation, ceil)[0]


def _pool_average(x, window, stride, padding, ceil, counts_padding, from_end=False) -> torch.Tensor:
    return (torch.ops.aten.avg_pool2d if x.dim() == 4 else torch.ops.aten.avg_pool3d)(
        x, window, stride, padding, ceil, counts_padding)


class _PoolMask(_pooling.Pool):
    """compiled_max_pool_mask: of each maximum also its number in the window, a byte."""

    def __init__(self):
        super().__init__(_pool_maximum, 0, False, False, "u8mask")

    def decide(self, x, window, stride, padding, ceil) -> None:
        self.dims = x.dim() - 2
        super().decide(x, window, stride, padding, [1], ceil)


class _PoolBackward(_pooling.Pool):
    """compiled_max_pool_backward: its gradient, by the mask."""

    def __init__(self):
        super().__init__(lambda grad, x, *_: x, 0, False, True, "u8mask")

    def decide(self, grad, shape, window, stride, padding, ceil, is_last, mask) -> None:
        self.dims = len(shape) - 2
        x = _make_image(grad, shape, is_last).to("meta")
        # PyTorch's gradient has as many arguments, the indices last.
        super().decide(grad, x, window, stride, padding, [1], ceil, mask)


def _make_image(like: torch.Tensor, shape: Sequence[int], is_last: bool) -> torch.Tensor:
    form = LAST[len(shape)] if is_last else torch.contiguous_format
    return torch.empty(shape, dtype=like.dtype, device=like.device, memory_format=form)


def _pool_mask(x, window, stride, padding, ceil) -> tuple:
    """The same by PyTorch's operators."""
    pool = torch.ops.aten.max_pool2d_with_indices if x.dim() == 4 else torch.ops.aten.max_pool3d_with_indices
    y, indices = pool(x, window, stride, padding, 1, ceil)
    positions = zip(_split(indices, x.shape[2:]), _list_starts(y, stride, padding))
    return y, _join([position - start for position, start in positions], window).to(torch.uint8)


def _pool_mask_meta(x, window, stride, padding, ceil) -> tuple:
    y = _pool_maximum(x, window, stride, padding, [1], ceil)
    return y, torch.empty_like(y, dtype=torch.uint8)


def _pool_backward(grad, shape, window, stride, padding, ceil, is_last, mask) -> torch.Tensor:
    """The same by PyTorch's operators."""
    x = _make_image(grad, shape, is_last)
    positions = zip(_split(mask.long(), window), _list_starts(mask, stride, padding))
    indices = _join([position + start for position, start in positions], shape[2:])
    aten = torch.ops.aten
    pool = aten.max_pool2d_with_indices_backward if len(shape) == 4 else aten.max_pool3d_with_indices_backward
    return x.copy_(pool(grad, x, window, stride, padding, [1] * len(window), ceil, indices))


def _list_starts(y: torch.Tensor, stride: Sequence[int], padding: Sequence[int]) -> list[torch.Tensor]:
    """Where the window of each element begins, along each dimension."""
    starts = [torch.arange(length, device=y.device) * step - pad
              for length, step, pad in zip(y.shape[2:], stride, padding)]
    return [start.view(-1, *[1] * behind) for behind, start in zip(reversed(range(len(starts))), starts)]


def _split(numbers: torch.Tensor, lengths: Sequence[int]) -> list[torch.Tensor]:
    """Coordinates of elements, by their numbers."""
    positions = []
    for length in reversed(lengths):
        positions.insert(0, numbers % length)
        numbers = numbers // length
    return positions


def _join(positions: Sequence[torch.Tensor], lengths: Sequence[int]) -> torch.Tensor:
    """Numbers of elements, by their coordinates."""
    numbers = positions[0]
    for position, length in zip(positions[1:], lengths[1:]):
        numbers = numbers * length + position
    return numbers


# Of the modes of batch normalisation (docs/spec/row-wise.md): the activation; running statistics, saved ones.
_RELU, _RUNNING, _SAVES, _SAVED = 3, 16, 32, 16


class _Moments(_batch_norm.Norm):
    """compiled_moments: the mean and the variance of each channel of each image, in f32."""

    def decide(self, x) -> None:
        self.lay_out(x, [])
        batch, channels = x.shape[:2]
        row = (f"r:f32:{channels}:1:0",) * 2
        config = _batch_norm.make_config("moments", 0, x.shape, self.is_last, [("i", x.dtype, True)], "2", row)
        kernel = Kernel(config, ["0", "1", "2"], ["1", "2"], x.get_device())
        new = [((batch, channels), (channels, 1), torch.float32)] * 2
        self.plan = Plan(new, [(kernel, [0, ~0, ~1])], (~0, ~1), self.find_gathers([0], x))


def _measure(x) -> tuple:
    """The same by PyTorch's operators."""
    variance, mean = torch.var_mean(x.float().flatten(2), 2, correction=0)
    return mean, variance


class _NormForward(_batch_norm.Norm):
    """compiled_norm_relu: batch normalisation of a training step with ReLU, and the results of PyTorch's functional
    form: y, mean, one over the deviation, both running statistics.
    """

    def decide(self, x, weight, bias, mean, variance, momentum, epsilon) -> None:
        parameters = [weight, bias, mean, variance]
        self.lay_out(x, parameters)
        saved = torch.float64 if x.dtype == torch.float64 else torch.float32
        kernel = self.make_kernel(
            "bnorm_train", _RELU | _RUNNING | _SAVES, x,
            [("i", x.dtype, True), *(("i", t.dtype, False) for t in parameters),
             *(("r", t.dtype, False) for t in (mean, variance)), *[("r", saved, False)] * 2, ("o", x.dtype, True)],
            [epsilon, momentum])
        new = [(x.shape, self.strides, x.dtype)] + [((x.shape[1],), (1,), saved)] * 2
        new += [(t.shape, (1,), t.dtype) for t in (mean, variance)]
        self.plan = Plan(new, [(kernel, [0, 1, 2, 3, 4, ~3, ~4, ~1, ~2, ~0])], (~0, ~1, ~2, ~3, ~4),
                         self.find_gathers([0], x), scalar=(5, 1))


class _NormBackward(_batch_norm.Norm):
    """compiled_norm_relu_backward: the gradients of x, weight and bias."""

    def decide(self, grad, x, weight, bias, mean, inverse, epsilon) -> None:
        parameters = [weight, bias, mean, inverse]
        self.lay_out(x, parameters)
        if grad.shape != x.shape or grad.dtype != x.dtype:
            raise Refusal("a gradient of another shape or type")
        kernel = self.make_kernel(
            "bnorm_bwd", _RELU | _SAVED, x,
            [("i", x.dtype, True)] * 2 + [("i", t.dtype, False) for t in parameters]
            + [("r", weight.dtype, False)] * 2 + [("o", x.dtype, True)], [epsilon])
        new = [(x.shape, self.strides, x.dtype)] + [(weight.shape, (1,), weight.dtype)] * 2
        self.plan = Plan(new, [(kernel, [1, 0, 2, 3, 4, 5, ~1, ~2, ~0])], (~0, ~1, ~2),
                         self.find_gathers([1, 0], x, grad))


def _normalize(x, weight, bias, mean, variance, momentum, epsilon) -> tuple:
    """The same by PyTorch's operators."""
    y, *others = torch.ops.aten._native_batch_norm_legit_functional(
        x, weight, bias, mean, variance, True, momentum, epsilon)
    return y.relu(), *others


def _normalize_backward(grad, x, weight, bias, mean, inverse, epsilon) -> tuple:
    spread = lambda t: t.view(-1, *[1] * (x.dim() - 2))
    y = (x - spread(mean)) * spread(inverse * weight) + spread(bias)
    return torch.ops.aten.native_batch_norm_backward(
        torch.where(y > 0, grad, 0), x, weight, None, None, mean, inverse, True, epsilon, [True] * 3)


def _normalize_meta(x, weight, bias, mean, variance, momentum, epsilon) -> tuple:
    saved = torch.empty_like(mean, dtype=torch.float64 if x.dtype == torch.float64 else torch.float32)
    return torch.empty_like(x), saved, torch.empty_like(saved), torch.empty_like(mean), torch.empty_like(variance)


def _normalize_backward_meta(grad, x, weight, bias, mean, inverse, epsilon) -> tuple:
    return torch.empty_like(x), torch.empty_like(weight), torch.empty_like(weight)


def _get_forward_key(*arguments: Any) -> tuple:
    return *describe(*arguments), uses_tf32(arguments[0])


# Of each operator: how it is answered, and what gives a result's shape and strides.
_OPERATORS = {
    "compiled_convolution": (Operator(_Forward, _get_forward_key, _convolve), _convolve_meta),
    "compiled_conv_statistics": (Operator(_ConvStatistics, _get_forward_key, _convolve_and_measure),
                                 _convolve_and_measure),
    "compiled_conv_norm_backward": (Operator(_ConvNormBackward, _get_forward_key, _convolve_norm_backward),
                                    _convolve_norm_backward_meta),
    "compiled_convolution_backward": (
        Operator(_convolution.Backward, _convolution.get_backward_key, torch.ops.aten.convolution_backward.default),
        torch.ops.aten.convolution_backward.default),
    "compiled_max_pool": (Operator(functools.partial(_Pool, False), describe, _pool_maximum), _pool_maximum),
    "compiled_max_pool_mask": (Operator(_PoolMask, describe, _pool_mask), _pool_mask_meta),
    "compiled_max_pool_backward": (
        Operator(_PoolBackward, describe, _pool_backward),
        lambda grad, shape, *arguments: _make_image(grad, shape, arguments[-2])),
    "compiled_avg_pool": (Operator(functools.partial(_Pool, True), describe, _pool_average), _pool_average),
    "compiled_moments": (Operator(_Moments, describe, _measure), _measure),
    # Another momentum is not another kernel.
    "compiled_norm_relu": (Operator(_NormForward, lambda *arguments: describe(*arguments[:5], arguments[6]),
                                    _normalize), _normalize_meta),
    "compiled_norm_relu_backward": (Operator(_NormBackward, describe, _normalize_backward), _normalize_backward_meta)}


@functools.cache
def start() -> Operators:
    """Defines the operators, and answers them for the rest of the process."""
    key, launcher = _operators.start_device()
    # Inductor must hand tensors over as they lie in the graph: another layout is another kernel.
    tag = getattr(torch.Tag, "needs_exact_strides", None) or torch.Tag.needs_fixed_stride_order
    global _library  # Operators live as long as what has defined them.
    _library = torch.library.Library(SPACE, "DEF")
    for schema in _SCHEMAS:
        name = schema.partition("(")[0]
        _library.define(schema, tags=(tag,))
        _library.impl(name, _OPERATORS[name][1], "Meta")
    return Operators(key, launcher, {name: operator for name, (operator, _) in _OPERATORS.items()}, SPACE)
