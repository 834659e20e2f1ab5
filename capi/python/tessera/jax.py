"""JAX's convolutions and poolings on Tessera's kernels.

    import tessera.jax
    y = tessera.jax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

are functions to be called instead of JAX's, with the same arguments, under jit, vmap and grad (of any order, in reverse
mode). What is refused JAX computes, and is counted: `print(tessera.jax.report())`. With TESSERA_DEVICE=emulated, arrays
of the CPU are taken and kernels run on the emulated device, for tests.
"""

from __future__ import annotations

from typing import Any, Sequence

import jax
from jax import lax

from tessera import _jax_calls, _jax_convolution, _jax_pooling
from tessera._common import Refusal, Report

__all__ = ["Report", "avg_pool", "conv_general_dilated", "max_pool", "report"]

report = _jax_calls.report


def conv_general_dilated(lhs: jax.Array, rhs: jax.Array, window_strides: Sequence[int], padding: Any,
                         lhs_dilation: Sequence[int] | None = None, rhs_dilation: Sequence[int] | None = None,
                         dimension_numbers: Any = None, feature_group_count: int = 1, batch_group_count: int = 1,
                         precision: Any = None, preferred_element_type: Any = None, **others: Any) -> jax.Array:
    """`jax.lax.conv_general_dilated`. On a GPU f32 may be rounded to tf32, as JAX's may, unless `precision` or
    `jax_default_matmul_precision` asks for more.
    """
    arguments = (lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers, feature_group_count,
                 batch_group_count, precision, preferred_element_type)
    try:
        if any(value is not None for value in others.values()):
            raise Refusal("the argument " + " and ".join(others))
        return _jax_convolution.convolve(*arguments)
    except Refusal as refusal:
        _jax_calls.refuse("convolution", str(refusal))
        return lax.conv_general_dilated(*arguments, **others)


def _pool(mode: str, x: jax.Array, window: Sequence[int], strides: Sequence[int] | None, padding: Any) -> jax.Array:
    numbers = _jax_pooling.find_window(x, window, strides, padding)
    try:
        return _jax_pooling.pool(mode, x, *numbers)
    except Refusal as refusal:
        _jax_calls.refuse(f"{mode[:3]} pooling", str(refusal))
        return _jax_pooling.pool_by_jax(mode, x, *numbers)


def max_pool(x: jax.Array, window: Sequence[int], strides: Sequence[int] | None = None,
             padding: Any = "VALID") -> jax.Array:
    """The maximum of each window, as of `flax.linen.max_pool`. `window` and `strides` are of the dimensions in front of
    the last one, or of all dimensions as in `jax.lax.reduce_window`; strides are 1 unless given.
    """
    return _pool("maxnan", x, window, strides, padding)


def avg_pool(x: jax.Array, window: Sequence[int], strides: Sequence[int] | None = None, padding: Any = "VALID",
             count_include_pad: bool = True) -> jax.Array:
    """The average of each window, as of `flax.linen.avg_pool`; all else is as in `max_pool`."""
    return _pool("avgin" if count_include_pad else "avg", x, window, strides, padding)
