"""Rewrites graphs of AOTAutograd's, whose nodes are aten's operators, with operators of _fused.py.

Each function here keeps shapes, strides and types of what it replaces, which node.meta["val"] tells as fake tensors.
"""

from __future__ import annotations

import contextlib
import functools
import math
import operator
from typing import Any, Callable, Iterator, Sequence

import torch
from torch._guards import detect_fake_mode
from torch._prims_common import suggest_memory_format
from torch.fx import Graph, GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.node import map_arg

from tessera._fused import NUMBERS, SPACE
from tessera._layouts import LAST, TYPES

aten = torch.ops.aten
# Batch normalisation of several names: x, weight, bias, mean, variance[, whether it trains], momentum, epsilon.
_BATCH_NORMS = (aten._native_batch_norm_legit_no_training.default, aten.native_batch_norm.default,
                aten.cudnn_batch_norm.default)


def get_operator(name: str) -> Any:
    return getattr(getattr(torch.ops, SPACE), name).default


def find(graph: Graph, *targets: Any) -> Iterator[Node]:
    return (node for node in list(graph.nodes) if node.op == "call_function" and node.target in targets)


def get_arguments(node: Node) -> list[Any]:
    """All of a call's arguments, with defaults, in their order."""
    arguments = node.target._schema.arguments
    return [node.args[number] if number < len(node.args) else node.kwargs.get(argument.name, argument.default_value)
            for number, argument in enumerate(arguments)]


def inline(before: Node, function: Callable, *inputs: Node, decompositions: dict | None = None) -> Any:
    """Nodes that compute what `function` does."""
    values = [node.meta["val"] for node in inputs]
    with detect_fake_mode(values) or contextlib.nullcontext():
        traced = make_fx(function, decompositions)(*values)
    placeholders = [node for node in traced.graph.nodes if node.op == "placeholder"]
    with before.graph.inserting_before(before):
        return before.graph.graph_copy(traced.graph, dict(zip(placeholders, inputs)))


def _is_only_user(user: Node, node: Node) -> bool:
    return list(node.users) == [user]


class _Constants:
    """Which nodes depend on parameters and buffers alone."""

    def __init__(self, graph: Graph, static: Sequence[int]):
        placeholders = graph.find_nodes(op="placeholder")
        self.nodes = {placeholders[number] for number in static}
        for node in graph.nodes:
            if node.op == "call_function" and self._is_constant(node):
                self.nodes.add(node)

    def _is_constant(self, node: Node) -> bool:
        return (bool(node.all_input_nodes) and all(one in self.nodes for one in node.all_input_nodes)
                and not node.is_impure() and torch.Tag.nondeterministic_seeded not in getattr(node.target, "tags", ())
                and isinstance(node.meta.get("val"), torch.Tensor))


def _look_through_casts(node: Node) -> Node:
    """What a tensor was before it was rounded."""
    while (node.op == "call_function" and node.target is aten._to_copy.default
           and set(node.kwargs) <= {"dtype"} and node.args[0].meta["val"].dtype.is_floating_point):
        node = node.args[0]
    return node


def fold_batch_norms(graph: Graph, static: Sequence[int]) -> None:
    """Makes fixed batch normalisation a factor and a summand for each channel, computed in f32; behind a convolution
    they are those of its weights and its bias, which are rounded once.
    """
    constants = _Constants(graph, static).nodes
    for node in find(graph, *_BATCH_NORMS):
        x, weight, bias, mean, variance, *rest = get_arguments(node)
        if len(rest) == 3 and rest[0] or mean is None or variance is None:
            continue  # It trains, or has nothing fixed.
        wide = torch.promote_types(x.meta["val"].dtype, torch.float32)
        scale = _multiply(node, wide, inline(node, lambda v: (v.to(wide) + rest[-1]).rsqrt(), variance), weight)
        shift = inline(node, lambda m, s: -m.to(wide) * s, mean, scale)
        shift = shift if bias is None else inline(node, lambda a, b: a + b.to(wide), shift, bias)
        is_fixed = all(one is None or one in constants for one in (weight, bias, mean, variance))
        results = [user for user in node.users if user.args[1] == 0]
        if is_fixed and (folded := _fold(node, x, scale, shift, constants, wide)):
            result = folded
        else:
            dims = x.meta["val"].dim() - 2
            result = inline(node, lambda x, a, b: (x.to(wide) * _spread(a, dims) + _spread(b, dims)).to(x.dtype),
                             x, scale, shift)
        for user in results:
            user.replace_all_uses_with(result)
    graph.eliminate_dead_code()


def _spread(values: torch.Tensor, dims: int) -> torch.Tensor:
    """One value for each channel, against images."""
    return values.view(-1, *[1] * dims)


def _multiply(before: Node, wide: torch.dtype, one: Node, other: Node | None) -> Node:
    return one if other is None else inline(before, lambda a, b: a * b.to(wide), one, other)


def _fold(norm: Node, conv: Node, scale: Node, shift: Node, constants: set[Node], wide: torch.dtype) -> Node | None:
    """The convolution with other weights, if that is all there is to it."""
    if conv.target is not aten.convolution.default or not _is_only_user(norm, conv):
        return None
    x, w, bias, stride, padding, dilation, transposed, extra, groups = conv.args
    if w not in constants or bias is not None and bias not in constants or transposed and groups > 1:
        return None
    dtype, dims = w.meta["val"].dtype, w.meta["val"].dim() - 2
    # Its output channels are the first dimension, or the second.
    dims += not transposed
    w = inline(norm, lambda w, s: (w.to(wide) * _spread(s, dims)).to(dtype), _look_through_casts(w), scale)
    if bias is not None:
        shift = inline(norm, lambda a, b, s: a + b.to(wide) * s, shift, _look_through_casts(bias), scale)
    bias = inline(norm, lambda b: b.to(dtype), shift)
    with norm.graph.inserting_before(norm):
        result = norm.graph.call_function(
            aten.convolution.default, (x, w, bias, stride, padding, dilation, transposed, extra, groups))
    result.meta = dict(conv.meta)
    return result


def _read_activation(node: Node) -> tuple[int, float, float, float] | None:
    """The number and the parameters of an activation; None if it is none that a kernel has."""
    if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
        return None
    simple = {aten.relu.default: "relu", aten.sigmoid.default: "logistic", aten.tanh.default: "tanh",
              aten.abs.default: "abs"}
    if node.target in simple:
        return NUMBERS[simple[node.target]], 0.0, 0.0, 0.0
    _, *numbers = get_arguments(node) if node.target in (
        aten.leaky_relu.default, aten.elu.default, aten.hardtanh.default, aten.clamp.default) else [None]
    if not numbers or not all(isinstance(number, (int, float)) for number in numbers):
        return None
    numbers = [float(number) for number in numbers]
    if node.target is aten.elu.default:
        return (NUMBERS["elu"], numbers[0], 0.0, 0.0) if numbers[1:] == [1, 1] else None
    name = "leakyrelu" if node.target is aten.leaky_relu.default else "clamp"
    return (NUMBERS[name], *(numbers + [0.0, 0.0])[:3])


def _find_residual(conv: Node, user: Node) -> Node | None:
    """What is added to a convolution's result by its user."""
    if user.target is not aten.add.Tensor or user.kwargs.get("alpha", 1) != 1:
        return None
    others = [one for one in user.args if one is not conv]
    if len(others) != 1 or not isinstance(others[0], Node):
        return None
    mine, other, total = (node.meta["val"] for node in (conv, others[0], user))
    return others[0] if mine.shape == other.shape and mine.dtype == other.dtype == total.dtype else None


def _has_kernels(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype in TYPES and value.dim() in (3, 4, 5)


def lay_channels_last(graph: Graph) -> None:
    """Convolutions whose results have their channels last are given images that have, too. Whoever computes an image
    for one, such as a normalisation that is not ours, then writes it so; else the library would transpose it.
    """
    copies: dict[Node, Node] = {}
    for conv in find(graph, aten.convolution.default):
        x, value = conv.args[0], conv.meta["val"]
        form = suggest_memory_format(value)
        if form not in LAST.values() or x.meta["val"].is_contiguous(memory_format=form):
            continue
        if x not in copies:
            copies[x] = inline(conv, functools.partial(torch.clone, memory_format=form), x)
        conv.replace_input_with(x, copies[x])


def fuse_convolutions(graph: Graph, fuses: bool = True) -> None:
    """Makes one operator of each convolution and, if nothing else reads what is between, of the addition and the
    activation behind it.
    """
    # From the end, so that of two convolutions that are added the later one adds.
    for conv in reversed(list(find(graph, aten.convolution.default))):
        x, w, bias, *arguments = conv.args
        if not _has_kernels(conv.meta["val"]):
            continue
        last, residual, activation = conv, None, (0, 0.0, 0.0, 0.0)
        if fuses and len(last.users) == 1 and (residual := _find_residual(conv, next(iter(last.users)))):
            last = next(iter(last.users))
        if fuses and len(last.users) == 1 and (found := _read_activation(next(iter(last.users)))):
            last, activation = next(iter(last.users)), found
        is_last = suggest_memory_format(last.meta["val"]) in LAST.values()
        with graph.inserting_before(last):
            result = graph.call_function(get_operator("compiled_convolution"),
                                         (x, w, bias, residual, *arguments, is_last, *activation, False))
        result.meta = dict(last.meta)
        last.replace_all_uses_with(result)
    graph.eliminate_dead_code()


def replace_gradients(graph: Graph) -> None:
    """The gradients of convolutions, by the operator that is ours. It is given the gradient of the result as images
    lie: behind a mean it may lie otherwise, and so would all gradients on a residual stream.
    """
    for node in find(graph, aten.convolution_backward.default):
        grad, x = node.args[:2]
        if not _has_kernels(grad.meta["val"]):
            continue
        node.target = get_operator("compiled_convolution_backward")
        form = suggest_memory_format(x.meta["val"])
        if form in LAST.values() and not grad.meta["val"].is_contiguous(memory_format=form):
            with graph.inserting_before(node):
                copy = graph.call_function(aten.clone.default, (grad,), {"memory_format": form})
            copy.meta["val"] = torch.empty_like(grad.meta["val"], memory_format=form)
            node.replace_input_with(grad, copy)


def replace_pools(graph: Graph) -> None:
    """Poolings of which no index is read."""
    for node in find(graph, aten.max_pool2d_with_indices.default, aten.max_pool3d_with_indices.default,
                      aten.avg_pool2d.default, aten.avg_pool3d.default):
        averages = "avg" in node.target.name()
        x, window, stride, *rest = get_arguments(node)
        results = [node] if averages else [user for user in node.users if user.args[1] == 0]
        if len(results) != len(node.users) and not averages or averages and rest.pop() is not None:
            continue
        if not _has_kernels(x.meta["val"]) or x.meta["val"].dtype is torch.float64:
            continue
        name = "compiled_avg_pool" if averages else "compiled_max_pool"
        with graph.inserting_before(node):
            result = graph.call_function(get_operator(name), (x, window, stride or window, *rest, False))
        for one in results:
            result.meta = dict(one.meta)
            one.replace_all_uses_with(result)
    graph.eliminate_dead_code()


# Bytes of a tensor of which L2 may hold the end alone: kernels with one can begin with the last tile.
LARGE = 32 << 20


def alternate_orders(graph: Graph) -> None:
    """Lets what reads a large tensor begin with what was written last, which L2 still has: if what has written it began
    with its first tile, as all do that are not ours, with the last.
    """
    ordered = [get_operator(name) for name in ("compiled_convolution", "compiled_max_pool", "compiled_avg_pool")]
    order = {node: number for number, node in enumerate(graph.nodes)}
    from_end: set[Node] = set()
    for node in find(graph, *ordered):
        # Images and residual tensors.
        read = [one for one in node.args[0:4:3] if isinstance(one, Node) and one.op == "call_function"
                and _is_large(one)]
        if read and max(read, key=order.__getitem__) not in from_end:
            from_end.add(node)
            node.args = (*node.args[:-1], True)


def _is_large(node: Node) -> bool:
    """Of unknown sizes nothing is."""
    value = node.meta["val"]
    return isinstance(value, torch.Tensor) and all(isinstance(size, int) for size in value.shape) \
        and value.numel() * value.element_size() >= LARGE


# Maximum poolings of graphs with gradients, when Inductor's decompositions leave them out, and their gradients.
POOLS = (aten.max_pool2d_with_indices.default, aten.max_pool3d_with_indices.default)
POOL_GRADIENTS = (aten.max_pool2d_with_indices_backward.default, aten.max_pool3d_with_indices_backward.default)


def fuse_pools(graph: Graph, decompositions: dict) -> None:
    """Maximum poolings whose indices nothing but the gradient reads: a byte tells as much. Others are decomposed, if
    the operator has a decomposition here.
    """
    for pool in find(graph, *POOLS):
        x, window, stride, padding, dilation, ceil = get_arguments(pool)
        value, results = x.meta["val"], {user.args[1]: user for user in pool.users}
        gradients = list(results[1].users) if 1 in results else []
        if not gradients or not all(one.target in POOL_GRADIENTS and one.args[-1] is results[1] for one in gradients):
            continue
        dims = value.dim() - 2
        window, stride, padding = (list(one) * (dims if len(one) == 1 else 1)
                                   for one in (window, stride or window, padding))
        is_odd = any(step != 1 for step in dilation) or math.prod(window) > 256
        if is_odd or not _has_kernels(value) or value.dtype is torch.float64 or f"pool{dims}d" not in str(pool.target):
            continue
        is_last = suggest_memory_format(value) in LAST.values()
        with graph.inserting_before(pool):
            pool.replace_all_uses_with(graph.call_function(
                get_operator("compiled_max_pool_mask"), (x, window, stride, padding, ceil)))
        for gradient in gradients:
            with graph.inserting_before(gradient):
                gradient.replace_all_uses_with(graph.call_function(
                    get_operator("compiled_max_pool_backward"),
                    (gradient.args[0], _get_shape(pool, x), window, stride, padding, ceil, is_last, results[1])))
    _finish_fusing(graph, POOLS + POOL_GRADIENTS, decompositions, "compiled_max_pool_mask",
                   "compiled_max_pool_backward")


def mask_pooled_gradients(graph: Graph) -> None:
    """The gradient of a ReLU in front of a maximum pooling is zero where the maximum is not positive, which the pooled
    result tells: so zeros go into its gradient, which is smaller, and not into the pooling's. It runs before
    fuse_pools(), on graphs that have KEPT.
    """
    for relu in find(graph, KEPT[2]):
        gradient, y, threshold = relu.args
        if threshold != 0 or gradient.target not in POOL_GRADIENTS or not _is_only_user(relu, gradient):
            continue
        pool = gradient.args[-1].args[0]
        pooled = next((user for user in pool.users if user.args[1] == 0), None)
        if pooled is None or _look_through_aliases(pool.args[0]) is not _look_through_aliases(y):
            continue
        with graph.inserting_before(gradient):
            masked = graph.call_function(KEPT[2], (gradient.args[0], pooled, 0))
        masked.meta["val"] = gradient.args[0].meta["val"]
        gradient.args = (masked, *gradient.args[1:])
        relu.replace_all_uses_with(gradient)
    graph.eliminate_dead_code()


def _look_through_aliases(node: Node) -> Node:
    while node.target in (aten.alias.default, aten.detach.default):
        node = node.args[0]
    return node


def _get_shape(before: Node, x: Node) -> list[int | Node]:
    """The lengths of a tensor as an operator's argument; those that change from call to call are nodes."""
    shape: list[int | Node] = list(x.meta["val"].shape)
    for dim, length in enumerate(shape):
        if isinstance(length, torch.SymInt):
            with before.graph.inserting_before(before):
                shape[dim] = before.graph.call_function(aten.sym_size.int, (x, dim))
            shape[dim].meta["val"] = length
    return shape


def _finish_fusing(graph: Graph, targets: Sequence[Any], decompositions: dict, *fused: str) -> None:
    """Decomposes what is left of operators, and says what the results of new ones look like."""
    graph.eliminate_dead_code()
    for node in find(graph, *(op for op in targets if op in decompositions)):
        _decompose(node, decompositions)
    graph.eliminate_dead_code()
    for node in find(graph, *map(get_operator, fused)):
        node.meta["val"] = node.target(*map_arg(node.args, lambda one: one.meta["val"]))
        for user in node.users:
            if user.target is operator.getitem:
                user.meta["val"] = node.meta["val"][user.args[1]]


# What batch normalisation and its ReLU are in graphs with gradients, when Inductor's decompositions leave them out.
KEPT = (aten._native_batch_norm_legit_functional.default, aten.native_batch_norm_backward.default,
        aten.threshold_backward.default)


def fuse_norms(graph: Graph, decompositions: dict) -> None:
    """Makes one operator of the batch normalisation of a training step and the ReLU behind it, and one of both
    gradients. What else there is of KEPT is decomposed, if the operator has a decomposition here.
    """
    fused = {}  # By the ReLU's results: normalisation and bias.
    for norm in find(graph, KEPT[0]):
        x, weight, bias, mean, variance, trains, momentum, epsilon = norm.args
        results = {user.args[1]: user for user in norm.users}
        relu = next(iter(results[0].users)) if 0 in results and len(results[0].users) == 1 else None
        if not trains or weight is None or bias is None or not relu or relu.target is not aten.relu.default:
            continue
        with graph.inserting_before(norm):
            norm.replace_all_uses_with(graph.call_function(
                get_operator("compiled_norm_relu"), (x, weight, bias, mean, variance, momentum, epsilon)))
        relu.replace_all_uses_with(results[0])
        results[0].meta = dict(relu.meta)
        fused[results[0]] = x, bias
    for norm in find(graph, KEPT[1]):
        grad, x, weight, _, _, mean, inverse, trains, epsilon, _ = norm.args
        if not trains or grad.target is not KEPT[2] or not _is_only_user(norm, grad) or grad.args[2] != 0:
            continue
        source, y = grad.args[0], _look_through_aliases(grad.args[1])
        if y not in fused or fused[y][0] is not x:
            continue
        with graph.inserting_before(norm):
            norm.replace_all_uses_with(graph.call_function(
                get_operator("compiled_norm_relu_backward"),
                (source, x, weight, fused[y][1], mean, inverse, epsilon)))
    _finish_fusing(graph, KEPT, decompositions, "compiled_norm_relu", "compiled_norm_relu_backward")


def fuse_statistics(graph: Graph, decompositions: dict) -> None:
    """Has convolutions measure what they store, if a batch normalisation of a training step reads it: the mean and the
    variance of each channel, where the kernel that stores them does (limits.md). The rest of the normalisation is decomposed, and
    so are others, if they have a decomposition here. Gradients stay as they are.
    """
    for norm in find(graph, KEPT[0]):
        conv, trains = norm.args[0], norm.args[5]
        if not trains or conv.target is not aten.convolution.default or not _is_measured(conv):
            continue
        x, w, _, stride, padding, dilation, _, _, groups = conv.args
        with graph.inserting_before(conv):
            measured = graph.call_function(
                get_operator("compiled_conv_statistics"), (x, w, stride, padding, dilation, groups))
            results = [graph.call_function(operator.getitem, (measured, number)) for number in range(3)]
        measured.meta["val"] = measured.target(*map_arg(measured.args, lambda one: one.meta["val"]))
        for result, value in zip(results, measured.meta["val"]):
            result.meta["val"] = value
        conv.replace_all_uses_with(results[0])
        _normalize_by(norm, *results, decompositions)
    _finish_fusing(graph, KEPT, decompositions)


def _is_measured(conv: Node) -> bool:
    """16 bits, channels last, and so many of them that tiles of 64 are multiplied as they are loaded."""
    x, w, bias, *_, transposed, _, groups = conv.args
    value = conv.meta["val"]
    (outputs, inputs), unit, least = w.meta["val"].shape[:2], 8, 64
    is_wide = inputs % unit == 0 and outputs % unit == 0 and outputs >= least
    return (bias is None and not transposed and groups == 1 and is_wide
            and value.dtype in (torch.float16, torch.bfloat16)
            and all(suggest_memory_format(one) == LAST.get(value.dim()) for one in (value, x.meta["val"])))


def _normalize_by(norm: Node, y: Node, mean: Node, variance: Node, decompositions: dict) -> None:
    """The results of batch normalisation by statistics that are known: those that Inductor's decomposition has."""
    _, weight, bias, running_mean, running_variance, _, momentum, epsilon = norm.args
    given = [one for one in (weight, bias) if one is not None]
    dims = y.meta["val"].dim() - 2

    def normalize(y: torch.Tensor, mean: torch.Tensor, variance: torch.Tensor, old_mean: torch.Tensor,
                  old_variance: torch.Tensor, *given: torch.Tensor) -> tuple:
        parameters = iter(given)
        inverse = torch.rsqrt(variance + epsilon)
        result = (y - _spread(mean, dims)) * _spread(inverse, dims)
        if weight is not None:
            result = result * _spread(next(parameters), dims)
        if bias is not None:
            result = result + _spread(next(parameters), dims)
        count = y.numel() / y.shape[1]
        unbiased = variance * (count / (count - 1))
        return (result.to(y.dtype), mean, inverse, momentum * mean + (1 - momentum) * old_mean,
                momentum * unbiased + (1 - momentum) * old_variance)
    results = inline(norm, normalize, y, mean, variance, running_mean, running_variance, *given,
                     decompositions=decompositions)
    for user in list(norm.users):
        user.replace_all_uses_with(results[user.args[1]])


def fuse_norm_gradients(graph: Graph, decompositions: dict, is_last: bool) -> None:
    """Has the gradients of convolutions add up what the gradient of a batch normalisation in front needs, behind a ReLU
    or not: the sums of its channels, where the kernel that stores it does. The other gradient of a residual stream
    is added there, too. If nothing else fuses normalisations, what is left of KEPT is decomposed, if the operator has
    a decomposition here.
    """
    order = {node: number for number, node in enumerate(graph.nodes)}
    for norm in find(graph, KEPT[1]):
        grad, z, weight, _, _, mean, inverse, trains, _, _ = norm.args
        relu = grad if grad.target is KEPT[2] and grad.args[2] == 0 else None
        found = _find_gradient(relu.args[0] if relu else grad, order)
        # Of one stored gradient there are sums with one z.
        if not trains or not found or not _is_summed(found[0], z) or grad.meta["val"].dtype != z.meta["val"].dtype:
            continue
        # A CPU may save them in 16 bits.
        mean, inverse = (one if one.meta["val"].dtype is torch.float32 else inline(
            relu or norm, lambda t: t.to(torch.float32), one, decompositions=decompositions) for one in (mean, inverse))
        conv, residual = found
        scale, bias, mask = _find_mask(relu, z) if relu else (None, None, None)
        grad_y, _, w, _, stride, padding, dilation, _, _, groups, wanted = conv.args
        with graph.inserting_before(grad if relu else norm):
            fused = graph.call_function(get_operator("compiled_conv_norm_backward"), (
                grad_y, w, residual, z, mean, inverse, scale, bias, mask, stride, padding, dilation, groups))
            g, total, dot = (graph.call_function(operator.getitem, (fused, number)) for number in range(3))
        fused.meta["val"] = fused.target(*map_arg(fused.args, lambda one: one.meta["val"]))
        for result, value in zip((g, total, dot), fused.meta["val"]):
            result.meta["val"] = value
        order[fused], order[g] = order[grad], order[grad]
        conv.args = (*conv.args[:-1], [False, *wanted[1:]])
        grad.replace_all_uses_with(g)
        results = _differentiate(norm, g, z, weight, mean, inverse, total, dot, decompositions)
        for user in list(norm.users):
            user.replace_all_uses_with(results[user.args[1]])
        graph.eliminate_dead_code()
    _finish_fusing(graph, KEPT, decompositions if is_last else {})


def _find_gradient(source: Node, order: dict[Node, int]) -> tuple[Node, Node | None] | None:
    """The convolution whose gradient it is, and what is added to that."""
    def read(node: Any) -> Node | None:
        is_gradient = (isinstance(node, Node) and node.target is operator.getitem and node.args[1] == 0
                       and node.args[0].target is aten.convolution_backward.default)
        return node.args[0] if is_gradient else None
    if len(source.users) != 1:
        return None
    if conv := read(source):
        return conv, None
    if source.target is not aten.add.Tensor:
        return None
    # The later one adds, if nothing else reads its gradient.
    terms = [one for one in source.args if isinstance(one, Node)]
    for one in sorted(terms, key=lambda one: order.get(one, 0), reverse=True):
        conv, residual = read(one), _find_residual(one, source)
        if conv and residual and _is_only_user(source, one):
            return conv, residual
    return None


def _is_summed(conv: Node, z: Node) -> bool:
    """16 bits, channels last, and such that tiles of 64 channels are stored as they are multiplied."""
    grad, _, w, _, stride, *_, transposed, _, groups, wanted = conv.args
    value, unit, least = z.meta["val"], 8, 64
    outputs, inputs = w.meta["val"].shape[:2]
    return (not transposed and groups == 1 and all(step == 1 for step in stride) and wanted[0] and inputs >= least
            and inputs % unit == 0 and outputs % unit == 0 and value.dtype in (torch.float16, torch.bfloat16)
            and all(suggest_memory_format(one.meta["val"]) == LAST.get(value.dim()) for one in (z, grad)))


def _find_mask(relu: Node, z: Node) -> tuple[Node | None, Node | None, Node | None]:
    """Scale and bias, if a normalisation of z alone went into the ReLU, else its result."""
    y = _look_through_aliases(relu.args[1])
    normalized = y.args[0] if y.target is aten.relu.default else None
    if isinstance(normalized, Node) and normalized.target is operator.getitem and normalized.args[0].target is KEPT[0]:
        x, weight, bias = normalized.args[0].args[:3]
        if x is z and all(one is not None and one.meta["val"].dtype is torch.float32 for one in (weight, bias)):
            return weight, bias, None
    return None, None, relu.args[1]


def _differentiate(norm: Node, g: Node, z: Node, weight: Node | None, mean: Node, inverse: Node, total: Node,
                   dot: Node, decompositions: dict) -> Any:
    """The gradients of z, weight and bias by the sums."""
    dims = z.meta["val"].dim() - 2

    def function(g: torch.Tensor, z: torch.Tensor, mean: torch.Tensor, inverse: torch.Tensor, total: torch.Tensor,
                 dot: torch.Tensor, *weights: torch.Tensor) -> tuple:
        share = z.shape[1] / z.numel()
        factor = inverse * weights[0] if weights else inverse
        centred = z - _spread(mean, dims)
        dz = (g - _spread(total * share, dims) - centred * _spread(dot * share * inverse, dims)) * _spread(factor, dims)
        kind = weights[0].dtype if weights else total.dtype
        return dz.to(z.dtype), dot.to(kind), total.to(kind)
    return inline(norm, function, g, z, mean, inverse, total, dot, *([weight] if weight is not None else []),
                  decompositions=decompositions)


def _decompose(node: Node, decompositions: dict) -> None:
    inputs = node.all_input_nodes

    def function(*values: torch.Tensor) -> Any:
        return node.target(*map_arg(node.args, dict(zip(inputs, values)).__getitem__), **node.kwargs)
    result = inline(node, function, *inputs, decompositions=decompositions)
    for user, one in [(node, result)] if isinstance(result, Node) else [(user, result[user.args[1]])
                                                                       for user in list(node.users)]:
        user.replace_all_uses_with(one)


def fix_strides(graph: Graph) -> None:
    """Notes for Inductor how the arguments of our operators lie. For an operator that a trace has not met it does not
    ask the graph, and may hand over another layout.
    """
    for node in graph.nodes:
        if getattr(node.target, "namespace", None) == SPACE:
            node.meta["eager_input_vals"] = map_arg((node.args, node.kwargs), lambda one: one.meta["val"])


def copy_without_writes(module: GraphModule) -> GraphModule:
    """The same graph in a module of its own; arguments that it writes at its end stay as they are."""
    graph = Graph()
    graph.output(graph.graph_copy(module.graph, {}))
    for node in find(graph, aten.copy_.default):
        node.replace_all_uses_with(node.args[1])
        graph.erase_node(node)
    return GraphModule(module, graph)


class Split:
    """A graph in two: what depends on parameters and buffers alone, and the rest. `inputs` are those of the rest: the
    number of an argument of the whole or, as ~0, ~1 ..., of a result of the first part.
    """

    def __init__(self, module: GraphModule, static: Sequence[int]):
        graph = module.graph
        placeholders = graph.find_nodes(op="placeholder")
        constants = _Constants(graph, static).nodes
        values = [node for node in graph.nodes if node in constants and not self._is_view(node)
                  and any(user not in constants for user in node.users)]
        self.fold = self._extract(module, placeholders, values)
        numbers = {placeholder: number for number, placeholder in enumerate(placeholders)}
        for number, node in enumerate(values):
            with graph.inserting_before(next(iter(graph.nodes))):
                placeholder = graph.placeholder(f"folded_{number}")
            placeholder.meta = dict(node.meta)
            numbers[placeholder] = ~number
            node.replace_all_uses_with(placeholder)
        graph.eliminate_dead_code()
        for placeholder in placeholders:
            if not placeholder.users and placeholder in constants:
                graph.erase_node(placeholder)
        graph.lint()
        module.recompile()
        self.rest = module
        self.inputs = [numbers[placeholder] for placeholder in graph.find_nodes(op="placeholder")]

    @classmethod
    def _is_view(cls, node: Node) -> bool:
        """Whether it is a parameter, in its own memory."""
        if node.op == "placeholder":
            return True
        schema = getattr(node.target, "_schema", None)
        is_view = schema is not None and any(result.alias_info for result in schema.returns)
        return is_view and all(cls._is_view(one) for one in node.all_input_nodes)

    @staticmethod
    def _extract(module: GraphModule, placeholders: Sequence[Node], values: Sequence[Node]) -> GraphModule:
        needed, graph, copies = set(), Graph(), {}
        pending = list(values)
        while pending:
            node = pending.pop()
            if node not in needed:
                needed.add(node)
                pending += node.all_input_nodes
        for node in module.graph.nodes:
            if node in needed or node in placeholders:
                copies[node] = graph.node_copy(node, copies.__getitem__)
        graph.output(tuple(copies[node] for node in values))
        return GraphModule(module, graph)
