"""Convolutions of JAX's as problems of the library's.

A convolution is linear in x and in w, and with the gradient g of y the sum of g * conv(x, w) is linear in all three:
its derivative by each of them is the kernel that computes the third tensor from the other two. So one rule gives all
derivatives of any order.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, Callable, Sequence

import jax
import jax.numpy as jnp
from jax import lax

from tessera import _jax_calls
from tessera._common import Refusal, drop_depth, get_spatial, join

_DIRECTIONS = {"x": "bwd", "w": "wrw", "y": "fwd"}  # By what is computed.


@dataclasses.dataclass(frozen=True)
class Convolution:
    """A problem without its direction. Arrays begin with the batch, of w with the output channels; the other channels
    are next, or last in those of `last`.
    """
    dtype: Any
    allows_tf32: bool
    precision: Any  #: JAX's, for what JAX computes.
    last: frozenset[str]
    n: int
    c: int
    k: int
    groups: int
    image: tuple[int, ...]
    window: tuple[int, ...]
    strides: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]
    dilations: tuple[int, ...]

    @property
    def result(self) -> tuple[int, ...]:
        """The lengths of y."""
        return tuple((length + sum(pads) - dilation * (window - 1) - 1) // stride + 1
                     for length, pads, window, dilation, stride in zip(
                         self.image, self.pads, self.window, self.dilations, self.strides))

    def get_shape(self, letter: str) -> jax.ShapeDtypeStruct:
        """An array."""
        first, channels, spatial = {
            "x": (self.n, self.c, self.image), "w": (self.k, self.c // self.groups, self.window),
            "y": (self.n, self.k, self.result)}[letter]
        shape = (first, *spatial, channels) if letter in self.last else (first, channels, *spatial)
        return jax.ShapeDtypeStruct(shape, self.dtype)

    def get_config(self, wanted: str) -> str:
        """The problem that computes one tensor."""
        row = [1] if len(self.image) == 1 else []  # One dimension: an image of one row.
        words = ("ncdhw", "ndhwc") if len(self.image) == 3 else ("nchw", "nhwc")
        layouts = ",".join(words[letter in self.last] for letter in "xwy")
        # As through MIOpen's API: what is too small to gain by rounding is not rounded.
        products = self.n * self.k * math.prod(self.result) * self.c // self.groups * math.prod(self.window)
        is_rounded = self.allows_tf32 and products >= 1 << 20 and _jax_calls.start() != "cpu"
        kind = "tf32" if is_rounded else _jax_calls.TYPES[self.dtype.name]
        pads = ["0"] * len(row) + [f"{low}:{high}" if low != high else str(low) for low, high in self.pads]
        return drop_depth(
            f"conv-{_DIRECTIONS[wanted]}-{kind}-{layouts}-n{self.n}c{self.c}{get_spatial(self.image, 'dhw')}"
            f"-k{self.k}{get_spatial(self.window, 'zyx')}-p{join(pads)}-s{join(row + [*self.strides])}"
            f"-d{join(row + [*self.dilations])}-g{self.groups}")

    def compute_by_jax(self, wanted: str, a: jax.Array, b: jax.Array) -> tuple[jax.Array]:
        """The same as the kernel."""
        spatial = "012"[:len(self.image)]
        spell = lambda letter, names: f"{names[0]}{spatial}{names[1]}" if letter in self.last else names + spatial
        convolve = functools.partial(
            lax.conv_general_dilated, window_strides=self.strides, padding=self.pads, rhs_dilation=self.dilations,
            dimension_numbers=(spell("x", "NC"), spell("w", "OI"), spell("y", "NC")),
            feature_group_count=self.groups, precision=self.precision)
        if wanted == "y":
            return (convolve(a, b),)
        function = (lambda x: convolve(x, a)) if wanted == "x" else (lambda w: convolve(a, w))
        return jax.linear_transpose(function, self.get_shape(wanted))(b)

    def fold_into_batch(self, size: int) -> Convolution:
        """Of `size` batches at once."""
        return dataclasses.replace(self, n=size * self.n)

    def fold_into_groups(self, size: int) -> Convolution:
        """Of `size` convolutions side by side."""
        return dataclasses.replace(self, c=size * self.c, k=size * self.k, groups=size * self.groups)

    def get_channel(self, letter: str) -> int:
        """The dimension in which convolutions lie side by side."""
        return 0 if letter == "w" else len(self.image) + 1 if letter in self.last else 1


def _get_operands(wanted: str) -> str:
    return "xwy".replace(wanted, "")


@functools.cache
def _get_function(conv: Convolution, wanted: str) -> Callable[[jax.Array, jax.Array], jax.Array]:
    """The function that XLA compiles once for each problem."""
    operands = _get_operands(wanted)

    @jax.custom_batching.custom_vmap
    def compute(a, b):
        operator = "convolution" if wanted == "y" else f"gradient of {'data' if wanted == 'x' else 'weights'}"
        return _jax_calls.call(operator, conv.get_config(wanted), operands + wanted, [conv.get_shape(wanted)],
                               functools.partial(conv.compute_by_jax, wanted), a, b)[0]

    @compute.def_vmap
    def _(size, batched, a, b):
        if "w" in operands and not batched[operands.index("w")]:
            folded = conv.fold_into_batch(size)
            arrays = [array.reshape(folded.get_shape(letter).shape) for letter, array in zip(operands, (a, b))]
            result = _get_function(folded, wanted)(*arrays)
            return result.reshape(size, *conv.get_shape(wanted).shape), True
        folded, arrays = conv.fold_into_groups(size), []
        for letter, array, has_batch in zip(operands, (a, b), batched):
            array = array if has_batch else jnp.broadcast_to(array, (size, *array.shape))
            array = jnp.moveaxis(array, 0, conv.get_channel(letter))
            arrays.append(array.reshape(folded.get_shape(letter).shape))
        channel, shape = conv.get_channel(wanted), list(conv.get_shape(wanted).shape)
        result = _get_function(folded, wanted)(*arrays).reshape(*shape[:channel], size, *shape[channel:])
        return jnp.moveaxis(result, channel, 0), True

    return jax.jit(compute)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def compute(conv: Convolution, wanted: str, a: jax.Array, b: jax.Array) -> jax.Array:
    """One of "x", "w" and "y" from the other two, in this order."""
    return _get_function(conv, wanted)(a, b)


def _compute_and_save(conv, wanted, a, b):
    # What no derivative needs is not kept, and not computed.
    saved = (a.value if b.perturbed else None, b.value if a.perturbed else None)
    return compute(conv, wanted, a.value, b.value), saved


def _differentiate(conv, wanted, saved, gradient):
    if isinstance(gradient, jax.custom_derivatives.SymbolicZero):
        return None, None
    results, operands = [], _get_operands(wanted)
    for letter, other, value in zip(operands, reversed(operands), reversed(saved)):
        tensors = {wanted: gradient, other: value}
        results.append(None if value is None else compute(conv, letter, *(tensors[k] for k in _get_operands(letter))))
    return tuple(results)


compute.defvjp(_compute_and_save, _differentiate, symbolic_zeros=True)


def _allows_tf32(precision: Any) -> bool:
    """Whether f32 may be rounded: by JAX's default on a GPU it may."""
    values = precision if isinstance(precision, (tuple, list)) else (precision,)
    default = jax.config.jax_default_matmul_precision or "default"
    return all(str(default if value is None else value).rpartition(".")[2].lower()
               in ("default", "fastest", "tensorfloat32") for value in values)


def _to_tuple(values: Sequence[int] | None, count: int) -> tuple[int, ...]:
    values = (1,) * count if values is None else tuple(map(int, values))
    if len(values) != count:
        raise Refusal("numbers for another count of dimensions")
    return values


def _lay_out(array: jax.Array, spec: Sequence[int]) -> tuple[jax.Array, bool]:
    """An array with the order of dimensions (batch, channels, ...) as we take it, and whether channels are last."""
    is_last = spec[1] == array.ndim - 1
    order = (spec[0], *spec[2:], spec[1]) if is_last else tuple(spec)
    return lax.transpose(array, order), is_last


def _orient(array: jax.Array, is_last: bool) -> jax.Array:
    """(batch, channels, ...) with channels last."""
    return jnp.moveaxis(array, 1, -1) if is_last else array


def _find_pads(padding: Any, image, window, strides, dilations) -> tuple[tuple[int, int], ...]:
    if isinstance(padding, str):
        reach = [dilation * (length - 1) + 1 for dilation, length in zip(dilations, window)]
        padding = lax.padtype_to_pads(image, reach, strides, padding)
    pads = tuple((int(low), int(high)) for low, high in padding)
    if len(pads) != len(image):
        raise Refusal("numbers for another count of dimensions")
    return pads


def _transpose_filter(w: jax.Array, groups: int) -> jax.Array:
    """(output channels, channels of a group, ...) of a transposed convolution as the filter of the convolution whose
    gradient it is."""
    outputs, inputs, *window = w.shape
    w = lax.rev(w, range(2, w.ndim)).reshape(groups, outputs // groups, inputs, *window)
    return w.swapaxes(1, 2).reshape(groups * inputs, outputs // groups, *window)


def _mirror_pads(pads, image, window, strides, dilations) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...]]:
    """The padding of that convolution, and the image it reads."""
    mirrored, lengths = [], []
    for (low, high), length, size, stride, dilation in zip(pads, image, window, strides, dilations):
        reach = dilation * (size - 1)
        lengths.append((length - 1) * stride + 1 + low + high - reach)
        before, after = reach - low, max(reach - high, 0)
        if before < 0 or high - reach >= stride or lengths[-1] < 1:
            raise Refusal("padding that reaches beyond the filter of a transposed convolution")
        mirrored.append((before, after))
    return tuple(mirrored), tuple(lengths)


def convolve(lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers, groups, batch_groups,
             precision, result_type) -> jax.Array:
    """lax.conv_general_dilated, by kernels of ours. Raises Refusal where JAX is to compute it."""
    _jax_calls.start()
    _jax_calls.get_type(lhs, rhs)
    dims = lhs.ndim - 2
    if dims not in (1, 2, 3) or rhs.ndim != lhs.ndim:
        raise Refusal(f"{dims} dimensions")
    if batch_groups != 1:
        raise Refusal("groups of the batch")
    if result_type is not None and jnp.dtype(result_type) != lhs.dtype:
        raise Refusal("a result of another type")
    spec = lax.conv_dimension_numbers(lhs.shape, rhs.shape, dimension_numbers)
    strides, steps, dilations = (_to_tuple(values, dims) for values in (window_strides, lhs_dilation, rhs_dilation))
    a, last_a = _lay_out(lhs, spec.lhs_spec)
    w = lax.transpose(rhs, spec.rhs_spec)
    image, window = tuple(lhs.shape[dim] for dim in spec.lhs_spec[2:]), w.shape[2:]
    channels, last_b = lhs.shape[spec.lhs_spec[1]], spec.out_spec[1] == lhs.ndim - 1
    if not math.prod(lhs.shape) * math.prod(rhs.shape):
        raise Refusal("an array without elements")
    if channels != w.shape[1] * groups or w.shape[0] % groups:
        raise Refusal("filters for other channels")
    if any(step != 1 for step in steps):
        if any(stride != 1 for stride in strides) or isinstance(padding, str):
            raise Refusal("strides of a transposed convolution")
        pads = _find_pads(padding, image, window, strides, dilations)
        pads, image = _mirror_pads(pads, image, window, steps, dilations)
        wanted, strides = "x", steps
        last = "xw" * last_b + "y" * last_a
        c, k = w.shape[0], channels
        operands = _orient(_transpose_filter(w, groups), last_b), a
    else:
        pads = _find_pads(padding, image, window, strides, dilations)
        wanted, c, k = "y", channels, w.shape[0]
        last = "xw" * last_a + "y" * last_b
        operands = a, _orient(w, last_a)
    if min(map(min, pads)) < 0:
        raise Refusal("a negative padding")
    conv = Convolution(lhs.dtype, lhs.dtype == jnp.float32 and _allows_tf32(precision), precision, frozenset(last),
                       a.shape[0], c, k, groups, image, tuple(window), strides, pads, dilations)
    if min(conv.get_shape("y").shape) < 1:
        raise Refusal("an array without elements")
    result = compute(conv, wanted, *operands)
    order = (spec.out_spec[0], *spec.out_spec[2:], spec.out_spec[1]) if last_b else spec.out_spec
    return lax.transpose(result, [order.index(dim) for dim in range(lhs.ndim)])
