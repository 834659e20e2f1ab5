"""Poolings of JAX's as problems of the library's."""

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


@dataclasses.dataclass(frozen=True)
class Pooling:
    """A problem without its direction. Arrays begin with the batch, and have channels next or last."""
    mode: str  #: "maxnan", "avg" or "avgin": averages that count padding.
    dtype: Any
    is_last: bool
    n: int
    c: int
    image: tuple[int, ...]
    window: tuple[int, ...]
    strides: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]

    @property
    def indices(self) -> tuple[str, Any]:
        """How the position of a maximum is kept: within its window, if a byte can say it."""
        return ("u8mask", jnp.uint8) if math.prod(self.window) <= 256 else ("u32image", jnp.uint32)

    def get_shape(self, letter: str) -> jax.ShapeDtypeStruct:
        """x, y or the indices."""
        spatial = self.image if letter == "x" else tuple(
            (length + sum(pads) - window) // stride + 1
            for length, pads, window, stride in zip(self.image, self.pads, self.window, self.strides))
        shape = (self.n, *spatial, self.c) if self.is_last else (self.n, self.c, *spatial)
        return jax.ShapeDtypeStruct(shape, self.indices[1] if letter == "i" else self.dtype)

    def get_config(self, direction: str, indices: str = "none") -> str:
        """The problem's text."""
        row = [1] if len(self.image) == 1 else []
        layout = ("ndhwc" if self.is_last else "ncdhw").replace("d", "" if len(self.image) < 3 else "d")
        pads = ["0"] * len(row) + [f"{low}:{high}" if low != high else str(low) for low, high in self.pads]
        return drop_depth(
            f"pool-{direction}-{self.mode}-{_jax_calls.TYPES[self.dtype.name]}-{layout},{layout}-n{self.n}c{self.c}"
            f"{get_spatial(self.image, 'dhw')}-{get_spatial(self.window, 'zyx')}-p{join(pads)}"
            f"-s{join(row + [*self.strides])}-i{indices}")

    def compute_by_jax(self, x: jax.Array) -> jax.Array:
        """y."""
        return pool_by_jax(self.mode, x, *(self._surround(values, neutral) for values, neutral in (
            (self.window, 1), (self.strides, 1), (self.pads, (0, 0)))))

    def _surround(self, values: Sequence[Any], neutral: Any) -> list[Any]:
        return [neutral, *values, neutral] if self.is_last else [neutral, neutral, *values]


def pool_by_jax(mode: str, x: jax.Array, window, strides, pads) -> jax.Array:
    """What JAX's libraries make of lax.reduce_window; all dimensions are named."""
    if mode == "maxnan":
        return lax.reduce_window(x, -jnp.inf, lax.max, window, strides, pads)
    add = lambda values: lax.reduce_window(values, 0.0, lax.add, window, strides, pads)
    counts = math.prod(window) if mode == "avgin" else add(jnp.ones(x.shape, x.dtype))
    return add(x) / counts


def _forward(pool: Pooling, x: jax.Array) -> tuple[jax.Array]:
    return _jax_calls.call(f"{pool.mode[:3]} pooling", pool.get_config("fwd"), "xy", [pool.get_shape("y")],
                           lambda x: (pool.compute_by_jax(x),), x)


def _average_gradient(pool: Pooling, g: jax.Array) -> tuple[jax.Array]:
    return _jax_calls.call("gradient of avg pooling", pool.get_config("bwd"), "yx", [pool.get_shape("x")],
                           jax.linear_transpose(pool.compute_by_jax, pool.get_shape("x")), g)


def _forward_with_indices(pool: Pooling, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    shapes = [pool.get_shape("y"), pool.get_shape("i")]
    # JAX's own gradient needs no indices.
    return _jax_calls.call("max pooling", pool.get_config("fwd", pool.indices[0]), "xyi", shapes,
                           lambda x: (pool.compute_by_jax(x), jnp.zeros(shapes[1].shape, shapes[1].dtype)), x)


def _max_gradient(pool: Pooling, x: jax.Array, indices: jax.Array, g: jax.Array) -> tuple[jax.Array]:
    forward, backward = (pool.get_config(direction, pool.indices[0]) for direction in ("fwd", "bwd"))
    return _jax_calls.call("gradient of max pooling", backward, "-iyx", [pool.get_shape("x")],
                           lambda x, _, g: jax.vjp(pool.compute_by_jax, x)[1](g), x, indices, g, needs=[forward])


@functools.cache
def _get_function(pool: Pooling, function: Callable) -> Callable[..., tuple[jax.Array, ...]]:
    """The function that XLA compiles once for each problem."""
    compute = jax.custom_batching.custom_vmap(functools.partial(function, pool))

    @compute.def_vmap
    def _(size, batched, *arrays):
        arrays = [array if has_batch else jnp.broadcast_to(array, (size, *array.shape))
                  for array, has_batch in zip(arrays, batched)]
        folded = _get_function(dataclasses.replace(pool, n=size * pool.n), function)
        results = folded(*(array.reshape(-1, *array.shape[2:]) for array in arrays))
        return tuple(result.reshape(size, -1, *result.shape[1:]) for result in results), (True,) * len(results)

    return jax.jit(compute)


# An average is linear, and each direction is the other's derivative.
@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _average(pool: Pooling, function: Callable, array: jax.Array) -> jax.Array:
    return _get_function(pool, function)(array)[0]


_average.defvjp(lambda pool, function, array: (_average(pool, function, array), None),
                lambda pool, function, _, gradient: (_average(
                    pool, _average_gradient if function is _forward else _forward, gradient),))


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _max(pool: Pooling, x: jax.Array) -> jax.Array:
    return _get_function(pool, _forward)(x)[0]


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _max_with_indices(pool: Pooling, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    return _get_function(pool, _forward_with_indices)(x)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _spread(pool: Pooling, x: jax.Array, indices: jax.Array, g: jax.Array) -> jax.Array:
    """The gradient of x. It is linear in g, and its derivative is JAX's."""
    return _get_function(pool, _max_gradient)(x, indices, g)[0]


def _max_and_save(pool, x):
    y, indices = _max_with_indices(pool, x)
    return y, (x, indices)


def _max_with_indices_and_save(pool, x):
    results = _max_with_indices(pool, x)
    return results, (x, results[1])


_max.defvjp(_max_and_save, lambda pool, saved, g: (_spread(pool, *saved, g),))
_max_with_indices.defvjp(_max_with_indices_and_save, lambda pool, saved, gs: (_spread(pool, *saved, gs[0]),))
_spread.defvjp(lambda pool, x, indices, g: (_spread(pool, x, indices, g), x),
               lambda pool, x, gradient: (None, None, jax.jvp(pool.compute_by_jax, (x,), (gradient,))[1]))


def find_window(x: jax.Array, window, strides, padding) -> tuple[tuple, tuple, tuple]:
    """Window, strides and padding for all dimensions. As in Flax they may be those of the dimensions in front of the
    last one, which has the channels.
    """
    window, given = tuple(map(int, window)), len(window)
    strides = (1,) * given if strides is None else tuple(map(int, strides))
    before, behind = ((0, 0) if given == x.ndim else (x.ndim - given - 1, 1))
    window, strides = ((1,) * before + values + (1,) * behind for values in (window, strides))
    if isinstance(padding, str):
        return window, strides, tuple(lax.padtype_to_pads(x.shape, window, strides, padding))
    pads = tuple((int(low), int(high)) for low, high in padding)
    return window, strides, ((0, 0),) * before + pads + ((0, 0),) * behind


def pool(mode: str, x: jax.Array, window, strides, pads) -> jax.Array:
    """A pooling by kernels of ours; all dimensions are named. Raises Refusal where JAX is to compute it."""
    _jax_calls.start()
    if _jax_calls.get_type(x) == "f64":
        raise Refusal("arrays of float64")
    given = x.shape
    if not len(window) == len(strides) == len(pads) == x.ndim:
        raise Refusal("numbers for another count of dimensions")
    if not x.size:
        raise Refusal("an array without elements")
    # What lies in front of the dimensions with a window is one batch, but for the channels of a plane.
    plain = [size == step == 1 and not low and not high for size, step, (low, high) in zip(window, strides, pads)]
    is_last = plain[-1]
    end = x.ndim - is_last
    first = min([dim for dim in range(end) if not plain[dim]], default=end - 1)
    if not 1 <= end - first <= 3:
        raise Refusal(f"{end - first} dimensions")
    channels = x.shape[-1] if is_last else math.prod(x.shape[first - 1:first])
    description = Pooling(mode, x.dtype, is_last, math.prod(x.shape[:first]) // (1 if is_last else channels), channels,
                          x.shape[first:end], window[first:end], strides[first:end], pads[first:end])
    result = description.get_shape("y").shape
    if min(map(min, pads)) < 0 or min(result) < 1:
        raise Refusal("a negative padding, or an array without elements")
    x = x.reshape(description.get_shape("x").shape)
    y = _max(description, x) if mode == "maxnan" else _average(description, _forward, x)
    return y.reshape(*given[:first], *(result[1:] if is_last else result[2:]))
