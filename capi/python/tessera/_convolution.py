"""Convolutions of PyTorch's as problems of the library's, forward and backward.

A transposed convolution is backward data of the convolution whose x is the result. Here `a` is what PyTorch calls the
input, `b` its output; the library's x and y are a and b, or for a transposed convolution b and a.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Sequence

import torch

from tessera._common import Refusal, drop_depth, get_spatial, join
from tessera._launch import Entry, Kernel, Plan, Sum
from tessera._layouts import LAST, Input, find_gathers, get_layout, get_strides, get_type


# The numbered tensors of a normalisation's gradient (docs/spec/convolution.md), and which are written.
_NORM = ["0", "1", "2", "3", "4"]
NORM_TENSORS = {"normgrad": _NORM, "normgradrelu": [*_NORM, "5", "6"], "normgradmask": [*_NORM, "7"]}
NORM_SUMS = ["3", "4"]


def allows_tf32() -> bool:
    """torch.backends.cudnn.allow_tf32, of which later releases have a finer form."""
    if getter := getattr(torch._C, "_get_fp32_precision_getter", None):
        return getter("cuda", "conv") == "tf32"
    return torch.backends.cudnn.allow_tf32


def uses_tf32(tensor: torch.Tensor) -> bool:
    return tensor.dtype is torch.float32 and tensor.is_cuda and allows_tf32()


def get_forward_key(a, w, bias, stride, padding, dilation, transposed, output_padding, groups) -> tuple:
    """All that a decision depends on."""
    return (a.shape, a.stride(), a.dtype, a.get_device(), w.shape, w.stride(), w.dtype, w.get_device(),
            bias if bias is None else (bias.stride(), bias.dtype, bias.get_device()), tuple(stride), tuple(padding), tuple(dilation),
            transposed, tuple(output_padding), groups, uses_tf32(a))


def get_backward_key(grad, a, w, bias_sizes, *rest) -> tuple:
    """The same for the gradients."""
    *rest, mask = rest
    return (grad.shape, grad.stride(), grad.dtype, grad.get_device(), tuple(mask), *get_forward_key(a, w, None, *rest))


class Convolution:
    """The numbers of a convolution."""

    def __init__(self, a: torch.Tensor, w: torch.Tensor, arguments: Sequence[Any], is_last: bool | None = None):
        """`is_last` says whether the result has its channels last; None leaves that to PyTorch."""
        *lists, self.transposed, output_padding, self.groups = arguments
        self.letters = "bwa" if self.transposed else "awb"  # The library's x, w and y.
        dims = a.dim() - 2
        if dims not in (1, 2, 3) or w.dim() != dims + 2:
            raise Refusal(f"{dims} dimensions")
        self.stride, self.padding, self.dilation, extra = (
            list(v) * (dims if len(v) == 1 else 1) for v in (*lists, output_padding))
        if a.shape[1] != (w.shape[0] if self.transposed else w.shape[1] * self.groups):
            raise Refusal("filters for other channels")
        if min(self.stride) < 1:
            raise Refusal("a stride below 1")
        self.window = list(w.shape[2:])
        self.a, self.w = list(a.shape), list(w.shape)
        if not self.transposed:
            self.b = [a.shape[0], w.shape[0], *self._count_windows(self.a)]
        else:
            self.b = [a.shape[0], w.shape[1] * self.groups, *(
                (n - 1) * s - 2 * p + d * (k - 1) + e + 1
                for n, s, p, d, k, e in zip(self.a[2:], self.stride, self.padding, self.dilation, self.window, extra))]
            if self._count_windows(self.b) != self.a[2:]:
                raise Refusal("an output padding that reaches the stride")
        if min(*self.a, *self.w, *self.b) < 1:
            raise Refusal("a tensor without elements")
        self.is_last = self._find_format(a, w, arguments) if is_last is None else is_last

    def _count_windows(self, lengths: Sequence[int]) -> list[int]:
        return [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in zip(
            lengths[2:], self.window, self.stride, self.padding, self.dilation)]

    @staticmethod
    def _find_format(a: torch.Tensor, w: torch.Tensor, arguments: Sequence[Any]) -> bool:
        """Whether PyTorch's own result would have its channels last."""
        backend = torch._C._select_conv_backend(a, w, None, *arguments)
        if a.dim() == 3:  # PyTorch, too, makes an image of a row, whose channels do not lie last.
            a, w = a.contiguous().unsqueeze(2), w.unsqueeze(2)
        return torch._C._conv_determine_backend_memory_format(a, w, backend) in LAST.values()

    def make_kernel(self, wanted: str, layouts: dict[str, str], of: torch.Tensor, epilogue: Sequence[str] = (),
                    activation: Sequence[float] = ()) -> Kernel:
        """The kernel that computes one of "a", "w" and "b" from the other two, with the terms of an epilogue in their
        order and the parameters of the activation.
        """
        direction = ("bwd", "wrw", "fwd")[self.letters.index(wanted)]
        x, y = (self.b, self.a) if self.transposed else (self.a, self.b)
        # As through MIOpen's API: what is too small to gain by rounding is not rounded.
        gains = math.prod(y) * math.prod(self.w[1:]) >= 1 << 20
        kind = "tf32" if gains and uses_tf32(of) else get_type(of)
        row = self.a[2:3] if len(self.a) == 3 else []  # One dimension: an image of one row.
        stride, padding, dilation = (([neutral] if row else []) + values for neutral, values in (
            (1, self.stride), (0, self.padding), (1, self.dilation)))
        config = (f"conv-{direction}-{kind}-{','.join(layouts[letter] for letter in self.letters)}-n{x[0]}c{x[1]}"
                  f"{get_spatial(x[2:], 'dhw')}-k{y[1]}{get_spatial(self.window, 'zyx')}-p{join(padding)}"
                  f"-s{join(stride)}-d{join(dilation)}-g{self.groups}{'-e' if epilogue else ''}{'+'.join(epilogue)}")
        statistics = ["mean", "variance"] if "stats" in epilogue else []
        written = [{"bwd": "x", "wrw": "w", "fwd": "y"}[direction], *statistics]
        names = ["x", "w", "y", *(name for name in ("bias", "residual") if name in epilogue), *statistics]
        for word in epilogue:
            if word in NORM_TENSORS:
                names += NORM_TENSORS[word]
                written += NORM_SUMS
        return Kernel(drop_depth(config), names, written, of.get_device(), activation=activation)


def find_bias_gather(conv: Convolution, bias: torch.Tensor | None) -> dict[int, Callable]:
    """What copies a bias, argument 2, whose elements do not lie together."""
    if bias is not None and bias.shape != (conv.b[1],):
        raise Refusal("a bias that is not one value for each channel")
    return {} if bias is None or bias.is_contiguous() else {2: torch.Tensor.contiguous}


class New:
    """A result, as PyTorch would lay it out."""

    def __init__(self, shape: Sequence[int], is_last: bool, like: torch.Tensor):
        self.tensor = tuple(shape), get_strides(shape, is_last), like.dtype
        self.layout = get_layout(like.new_empty_strided(*self.tensor[:2]), is_last)


class Forward(Entry):
    """aten::convolution."""

    def decide(self, a, w, bias, *arguments) -> None:
        get_type(*(tensor for tensor in (a, w, bias) if tensor is not None))
        conv = Convolution(a, w, arguments)
        inputs, b = {number: Input(x, conv.is_last) for number, x in enumerate((a, w))}, New(conv.b, conv.is_last, a)
        layouts = {"a": inputs[0].layout, "w": inputs[1].layout, "b": b.layout}
        kernel = conv.make_kernel("b", layouts, a, ["bias"] if bias is not None else [])
        numbers = [{"a": 0, "w": 1, "b": ~0}[letter] for letter in conv.letters] + ([] if bias is None else [2])
        self.plan = Plan([b.tensor], [(kernel, numbers)], ~0, find_gathers(inputs) | find_bias_gather(conv, bias))


class Backward(Entry):
    """aten::convolution_backward. The gradient of a bias is PyTorch's sum."""

    def decide(self, grad, a, w, bias_sizes, *arguments) -> None:
        *arguments, mask = arguments
        get_type(grad, a, w)
        conv = Convolution(a, w, arguments)
        if list(grad.shape) != conv.b:
            raise Refusal("a gradient of another shape")
        inputs = {number: Input(x, conv.is_last) for number, x in enumerate((grad, a, w))}
        layouts = dict(zip("baw", (one.layout for one in inputs.values())))
        self.plan = Plan([], [], (), find_gathers(inputs))
        results: list[int | None] = [None] * 3
        for index, letter, like in ((0, "a", a), (1, "w", w)):
            if mask[index]:
                result = New(like.shape, conv.is_last, like)
                kernel = conv.make_kernel(letter, layouts | {letter: result.layout}, a)
                results[index] = ~len(self.plan.new)
                numbers = {"b": 0, "a": 1, "w": 2, letter: results[index]}
                self.plan.launches.append((kernel, [numbers[one] for one in conv.letters]))
                self.plan.new.append(result.tensor)
        if mask[2]:
            results[2] = ~len(self.plan.new)
            self.plan.new.append(Sum(0, [0, *range(2, a.dim())]))
        self.plan.results = tuple(results)
