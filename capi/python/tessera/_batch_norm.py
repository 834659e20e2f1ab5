"""Batch normalisation of PyTorch's as row-wise problems of the library's, forward and backward.

A row is a channel: an image is N x C x pixels, of which the first and the last dimension are reduced. Where PyTorch has
an operator for cuDNN beside its own, both are answered; what they save for the gradient is the same, the mean and one
over the deviation.
"""

from __future__ import annotations

import functools
import math
from typing import Any, Callable, Sequence

import torch

from tessera._common import Refusal
from tessera._launch import Entry, Kernel, Plan
from tessera._layouts import TYPES, describe, gather, get_layout, get_strides

# Bits of the modes (docs/spec/row-wise.md).
_RUNNING, _SAVES, _SAVED = 16, 32, 16


def make_config(name: str, mode: int, shape: Sequence[int], is_last: bool,
                tensors: Sequence[tuple[str, torch.dtype, bool]], reduced: str = "0,2", rest: Sequence[str] = ()) -> str:
    """The network config. Of each tensor: its role, its type, and whether it has an element for each pixel; tensors of
    another kind are texts."""
    n, c, pixels = shape[0], shape[1], math.prod(shape[2:])
    strides = f"{c * pixels}:1:{c}" if is_last else f"{c * pixels}:{pixels}:1"
    texts = []
    for role, dtype, is_image in tensors:
        if dtype not in TYPES:
            raise Refusal(f"tensors of {dtype}")
        texts.append(f"{role}:{TYPES[dtype]}:{strides if is_image else '0:1:0'}")
    reduced = "" if name == "bnorm_infer" else reduced
    return f"rowwise-{name}-m{mode}-{n}x{c}x{pixels}-r{reduced}-{'-'.join([*texts, *rest])}"


class Norm(Entry):
    """What forward and backward have in common."""

    def lay_out(self, x: torch.Tensor, others: Sequence[torch.Tensor | None]) -> None:
        """Refuses what has no kernel, and decides how images lie: as x does."""
        if x.dim() not in (2, 3, 4, 5) or not x.numel():
            raise Refusal("no elements" if x.dim() in (2, 3, 4, 5) else f"{x.dim()} dimensions")
        if any(t is None or t.device != x.device or t.shape != x.shape[1:2] or not t.is_contiguous() for t in others):
            raise Refusal("no weights, or parameters that do not fit")
        # Two dimensions are an image of one pixel.
        view = x if x.dim() > 2 else x.unsqueeze(2)
        layout = get_layout(view, True) or "nchw"
        self.is_last = layout.endswith("c") and x.dim() > 2
        self.strides = get_strides(x.shape, self.is_last)

    def make_kernel(self, name, mode, x, tensors, scalars) -> Kernel:
        """`tensors`: role, type, whether it is an image. Scalars of the activation, which there is not, follow."""
        names = [str(number) for number in range(len(tensors))]
        written = [number for number, tensor in zip(names, tensors) if tensor[0] != "i"]
        return Kernel(make_config(name, mode, x.shape, self.is_last, tensors), names, written, x.get_device(),
                      [*scalars, 0, 0, 0])

    def find_gathers(self, numbers: Sequence[int], x: torch.Tensor, *others: torch.Tensor) -> dict[int, Callable]:
        """What copies images that do not lie as the problem says; strides of lengths of 1 do not matter."""
        return {number: functools.partial(gather, is_last=self.is_last) for number, image in zip(numbers, (x, *others))
                if any(size > 1 and given != wanted
                       for size, given, wanted in zip(image.shape, image.stride(), self.strides))}


class Forward(Norm):
    """native_batch_norm, and of cuDNN's the same with one more result, which nothing reads."""

    def __init__(self, of_cudnn: bool):
        super().__init__()
        self.of_cudnn = of_cudnn

    def decide(self, x, weight, bias, mean, variance, training, momentum, epsilon) -> None:
        has_running = mean is not None and variance is not None
        self.lay_out(x, [weight, bias] + ([mean, variance] if has_running else []))
        parameters = [("i", t.dtype, False) for t in (weight, bias)]
        saved_type = torch.float64 if x.dtype == torch.float64 else torch.float32
        image, saved = ("o", x.dtype, True), [("r", saved_type, False)] * 2
        new = [(x.shape, self.strides, x.dtype)] + [((x.shape[1] if training else 0,), (1,), saved_type)] * 2
        new += [((0,), (1,), torch.uint8)] if self.of_cudnn else []
        self.plan = Plan(new, [], tuple(~number for number in range(len(new))), self.find_gathers([0], x))
        if not training:
            if not has_running:
                raise Refusal("no running statistics")
            if x.is_cuda and not self.of_cudnn:
                raise Refusal("fixed statistics as results, which PyTorch has on a GPU alone")
            statistics = [("i", t.dtype, False) for t in (mean, variance)]
            kernel = self.make_kernel(
                "bnorm_infer", 0, x, [("i", x.dtype, True), *statistics, *parameters, image], [epsilon])
            self.plan.launches.append((kernel, [0, 3, 4, 1, 2, ~0]))
            return
        old = [("i", t.dtype, False) for t in (mean, variance)] if has_running else []
        new = [("r", *rest) for _, *rest in old]
        kernel = self.make_kernel(
            "bnorm_train", _SAVES | (_RUNNING if has_running else 0), x,
            [("i", x.dtype, True), *parameters, *old, *new, *saved, image], [epsilon, momentum])
        self.plan.launches.append((kernel, [0, 1, 2] + [3, 4] * (2 * has_running) + [~1, ~2, ~0]))
        self.plan.scalar = 6, 1


class Backward(Norm):
    """native_batch_norm_backward of a training step, and cudnn_batch_norm_backward."""

    def __init__(self, of_cudnn: bool):
        super().__init__()
        self.of_cudnn = of_cudnn

    def decide(self, *arguments) -> None:
        if self.of_cudnn:
            arguments = _as_native(*arguments)
        grad, x, weight, _mean, _variance, saved_mean, saved_inverse, train, epsilon, mask = arguments
        if not train:
            raise Refusal("the gradient with fixed statistics")
        self.lay_out(x, [weight, saved_mean, saved_inverse])
        if grad.shape != x.shape or grad.dtype != x.dtype:
            raise Refusal("a gradient of another shape or type")
        tensors = [("i", x.dtype, True)] * 2 + [("i", t.dtype, False) for t in (weight, saved_mean, saved_inverse)]
        tensors += [("r", weight.dtype, False)] * 2 + [("o", x.dtype, True)]
        kernel = self.make_kernel("bnorm_bwd", _SAVED, x, tensors, [epsilon])
        new = [(x.shape, self.strides, x.dtype)] + [(weight.shape, (1,), weight.dtype)] * 2
        images = [0, 1] if self.of_cudnn else [1, 0]
        self.plan = Plan(new, [(kernel, [*images, 2, 5, 6, ~1, ~2, ~0])],
                         tuple(~number if wanted else None for number, wanted in enumerate(mask)),
                         self.find_gathers(images, x, grad))


def _as_native(x, grad, weight, mean, variance, saved_mean, saved_inverse, epsilon, _reserve) -> tuple:
    return grad, x, weight, mean, variance, saved_mean, saved_inverse, True, epsilon, [True, True, True]


def compute_cudnn_gradient(*arguments: Any) -> Any:
    """PyTorch's own gradient of either forward: cuDNN's would read its reserve, which ours leaves empty."""
    return torch.ops.aten.native_batch_norm_backward(*_as_native(*arguments))


def _describe_forward(*arguments: Any) -> tuple:
    """All that a decision depends on: the momentum, which may change with each step, is not."""
    return describe(*arguments[:6], arguments[7])


# What makes the entries of each operator, and their keys.
OPERATORS: dict[str, tuple[Callable[[], Entry], Callable[..., tuple]]] = {
    "native_batch_norm": (functools.partial(Forward, False), _describe_forward),
    "native_batch_norm_backward": (functools.partial(Backward, False), describe),
    "cudnn_batch_norm": (functools.partial(Forward, True), _describe_forward),
    "cudnn_batch_norm_backward": (functools.partial(Backward, True), describe)}
