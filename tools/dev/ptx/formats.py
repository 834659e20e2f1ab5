"""Bits of the floating-point types that matrix instructions take."""

import numpy as np


def round_to_tf32(bits):
    """To the nearest value with ten bits of mantissa, halves away from zero."""
    return (bits + np.uint32(0x1000)) & np.uint32(0xffffe000)


def round_to_bf16(values):
    """The bits of f32 `values` as bf16, rounded to nearest even."""
    bits = values.view(np.uint32)
    even = np.uint32(0x7fff) + ((bits >> np.uint32(16)) & np.uint32(1))
    return cut_to_bf16(np.where(np.isnan(values), np.uint32(0x7fffffff),
                                bits + even))


def cut_to_bf16(values):
    """The same, rounded towards zero."""
    return (values.view(np.uint32) >> np.uint32(16)).astype(np.uint16)


def round_to_f16(values):
    return values.astype(np.float16).view(np.uint16)


def list_float8(fraction, bias, has_infinity=False, is_fnuz=False):
    """The numbers of all codes of an 8-bit float, by code: OCP's, which may
    have infinity, or FNUZ, whose NaN has the code of -0."""
    code = np.arange(128)
    exponent, rest = code >> fraction, code % (1 << fraction)
    values = np.ldexp(rest + np.where(exponent > 0, 1 << fraction, 0.0),
                      np.maximum(exponent, 1) - bias - fraction)
    if is_fnuz:
        return np.concatenate([values, [np.nan], -values[1:]])
    if has_infinity:
        values[exponent == 31] = np.where(rest[exponent == 31], np.nan, np.inf)
    else:
        values[-1] = np.nan
    return np.concatenate([values, -values])


FLOAT8 = {"e4m3": list_float8(3, 7),
          "e5m2": list_float8(2, 15, has_infinity=True),
          "e4m3fnuz": list_float8(3, 8, is_fnuz=True),
          "e5m2fnuz": list_float8(2, 16, is_fnuz=True)}
FLOAT8["e4m3fn"] = FLOAT8["e4m3"]


def round_to_float8(values, kind):
    """The nearest codes, ties to even; what is too large is the largest."""
    numbers = FLOAT8[kind][:128]
    last = np.flatnonzero(np.isfinite(numbers))[-1]
    magnitude = np.minimum(abs(values.astype(np.float64)), numbers[last])
    below = np.searchsorted(numbers[:last + 1], magnitude, "right") - 1
    above = np.minimum(below + 1, last)
    under, over = magnitude - numbers[below], numbers[above] - magnitude
    is_up = (under > over) | ((under == over) & (above % 2 == 0))
    code = np.where(is_up, above, below)
    has_zero = kind.endswith("fnuz")  # One zero only.
    sign = np.signbit(values) & ~((code == 0) & has_zero)
    return (code | np.where(sign, 128, 0)).astype(np.uint8)


# By the mode of an instruction, and the type of its result.
ROUND = {("rn", "bf16"): round_to_bf16, ("rz", "bf16"): cut_to_bf16,
         ("rn", "f16"): round_to_f16}


def decode(bits, kind):
    """The values of elements of f16, bf16, f64, s8, 8-bit floats or tf32, whose low
    bits a matrix instruction does not see."""
    if kind in FLOAT8:
        return FLOAT8[kind][bits]
    if kind == "s8":
        return bits.view(np.int8).astype(np.float64)
    if kind == "f64":
        return bits.view(np.float64)
    if kind == "f16":
        return bits.view(np.float16).astype(np.float64)
    if kind == "bf16":
        bits = bits.astype(np.uint32) << np.uint32(16)
    else:
        bits = bits & np.uint32(0xffffe000)
    return bits.view(np.float32).astype(np.float64)


def get_bytes(kind):
    sizes = {"s8": 1, "tf32": 4, "f64": 8}
    return 1 if kind in FLOAT8 else sizes.get(kind, 2)
