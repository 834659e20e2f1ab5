"""Rewrites normalisations by the statistics of each image: of groups of channels, or of single ones.

PyTorch reads an image with channels last group by group, a few bytes of each pixel at a time. Here the library's kernel
reads it once, as it lies, for the mean and the variance of every channel; the groups' follow from those. That leaves a
few operations on each element, which Inductor joins to what is behind.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._prims_common import suggest_memory_format
from torch.fx import Graph, Node

from tessera._layouts import LAST, TYPES
from tessera._rewrite import find, get_arguments, get_operator, inline

aten = torch.ops.aten
# Batch normalisation by the statistics of what it is given.
_BATCH_NORMS = (aten._native_batch_norm_legit.no_stats, aten.native_batch_norm.default, aten.cudnn_batch_norm.default)


def fuse_image_norms(graph: Graph) -> None:
    """Group and instance normalisation of images with channels last, if nothing reads the statistics themselves."""
    for node in find(graph, aten.native_group_norm.default):
        x, weight, bias, _, _, _, groups, epsilon = get_arguments(node)
        if all(user.args[1] == 0 for user in node.users):
            for user in list(node.users):
                _replace(user, x, weight, bias, groups, epsilon)
    for node in find(graph, *_BATCH_NORMS):
        _fuse_instance_norm(node)
    graph.eliminate_dead_code()


def _fuse_instance_norm(norm: Node) -> None:
    """PyTorch calls batch normalisation with the channels of all images as those of one."""
    view, weight, bias, *mean, trains, _, epsilon = get_arguments(norm)
    if not trains or any(one is not None for one in mean) or view.target is not aten.view.default:
        return
    image, shape = view.args[0], view.args[0].meta["val"].shape
    if (1, shape[0] * shape[1], *shape[2:]) != tuple(view.meta["val"].shape):
        return
    results = [user for one in norm.users for user in one.users]
    if any(user.args[1] != 0 for user in norm.users) or any(
            user.target is not aten.view.default or user.meta["val"].shape != shape for user in results):
        return
    parameters = [one if one is None or one.target is not aten.repeat.default else one.args[0]
                  for one in (weight, bias)]
    if all(one is None or tuple(one.meta["val"].shape) == (shape[1],) for one in parameters):
        for result in results:
            _replace(result, image, *parameters, shape[1], epsilon)


def _is_suitable(x: torch.Tensor) -> bool:
    """Whether the kernel is worth while: images with a size whose several channels lie last, without gaps."""
    return (x.dim() in LAST and x.dtype in TYPES and x.dtype is not torch.float64
            and suggest_memory_format(x) == LAST[x.dim()] and x.is_contiguous(memory_format=LAST[x.dim()]))


def _replace(result: Node, x: Node, weight: Node | None, bias: Node | None, groups: int, epsilon: float) -> None:
    """What takes the place of the result has its strides, too. On GPUs PyTorch brings images to NCHW first."""
    if x.target is aten.clone.default:
        x = x.args[0]
    if not _is_suitable(x.meta["val"]):
        return
    parameters = [one for one in (weight, bias) if one is not None]
    form = suggest_memory_format(result.meta["val"])

    def normalize(x: torch.Tensor, *given: torch.Tensor) -> Any:
        return _normalize(x, *_place(given, weight is not None, bias is not None), groups, epsilon, form)
    result.replace_all_uses_with(inline(result, normalize, x, *parameters))


def _place(given: tuple[torch.Tensor, ...], has_weight: bool, has_bias: bool) -> tuple[torch.Tensor | None, ...]:
    values = iter(given)
    return next(values) if has_weight else None, next(values) if has_bias else None


def _normalize(x: torch.Tensor, weight: torch.Tensor | None, bias: torch.Tensor | None, groups: int, epsilon: float,
               form: torch.memory_format) -> torch.Tensor:
    """The normalisation, in f32."""
    mean, variance = get_operator("compiled_moments")(x)
    batch, channels = mean.shape
    if groups < channels:
        # The variance of a group is that within its channels and that between them.
        means = mean.view(batch, groups, -1)
        mean = means.mean(2, keepdim=True)
        variance = (variance.view(batch, groups, -1) + (means - mean).square()).mean(2, keepdim=True)
        mean, variance = (one.expand(-1, -1, channels // groups).reshape(batch, channels) for one in (mean, variance))
    scale = (variance + epsilon).rsqrt()
    if weight is not None:
        scale = scale * weight.float()
    spread = (batch, channels, *[1] * (x.dim() - 2))
    y = (x.float() - mean.view(spread)) * scale.view(spread)
    if bias is not None:
        y = y + bias.float().view(-1, *spread[2:])
    return y.to(x.dtype).clone(memory_format=form)
