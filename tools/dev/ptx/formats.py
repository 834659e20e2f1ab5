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


# By the mode of an instruction, and the type of its result.
ROUND = {("rn", "bf16"): round_to_bf16, ("rz", "bf16"): cut_to_bf16,
         ("rn", "f16"): round_to_f16}


def decode(bits, kind):
    """The values of elements of f16, bf16 or tf32, whose low bits a matrix
    instruction does not see."""
    if kind == "f16":
        return bits.view(np.float16).astype(np.float64)
    if kind == "bf16":
        bits = bits.astype(np.uint32) << np.uint32(16)
    else:
        bits = bits & np.uint32(0xffffe000)
    return bits.view(np.float32).astype(np.float64)


def get_bytes(kind):
    return 4 if kind == "tf32" else 2
