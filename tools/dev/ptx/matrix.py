"""Where matrix instructions keep the elements of their operands (PTX ISA,
"Warp-level matrix instructions" and "Asynchronous warpgroup-level matrix
instructions"), and their products, in f64."""

import numpy as np

from .fault import Fault
from .formats import decode, get_bytes
from .memory import swizzle_addresses

LANES = np.arange(32)
ROW, UNIT = LANES // 4, LANES % 4  # Of a lane in every fragment.


def read_elements(words, kind):
    """Elements of registers [register, warp, lane] as
    [warp, register, lane, element]."""
    bits = np.ascontiguousarray(words)[..., None].view(f"u{get_bytes(kind)}")
    return np.moveaxis(decode(bits, kind), 0, 1)


def find_columns(kind, register):
    """[lane, element] -> the position along the reduction of the elements of a
    fragment's register; four lanes have 16 bytes of a row in each, or, of f64,
    32."""
    count = max(1, 4 // get_bytes(kind))
    return (count * UNIT[:, None] + np.arange(count)
            + 4 * count * np.asarray(register)[..., None, None])


def read_a(words, kind):
    """[register, warp, lane] -> [warp, 16, reduction], or 8 rows of one
    register."""
    registers = np.arange(len(words))
    parts = min(len(words), 2)
    columns = find_columns(kind, registers // parts)
    rows = np.broadcast_to(
        (ROW + 8 * (registers % parts)[:, None])[..., None], columns.shape)
    matrix = np.zeros((words.shape[1], 8 * parts, columns.max() + 1))
    matrix[:, rows, columns] = read_elements(words, kind)
    return matrix


def read_b(words, kind):
    """[register, warp, lane] -> [warp, reduction, 8]."""
    rows = find_columns(kind, np.arange(len(words)))
    columns = np.broadcast_to(ROW[:, None], rows.shape)
    matrix = np.zeros((words.shape[1], rows.max() + 1, 8))
    matrix[:, rows, columns] = read_elements(words, kind)
    return matrix


def find_sums(count):
    """[register, lane] -> row and column of a sum, of `count` registers."""
    registers = np.arange(count)[:, None]
    return (ROW + 8 * (registers // 2 % 2),
            2 * UNIT + registers % 2 + 8 * (registers // 4))


def multiply_warps(a, b, sums, kind):
    """mma.sync: registers [register, warp, lane] in, and those of the sums out,
    of their type."""
    rows, columns = find_sums(len(sums))
    products = read_a(a, kind) @ read_b(b, kind)
    return (np.moveaxis(products[:, rows, columns], 0, 1)
            + sums).astype(sums.dtype)


def read_descriptor(descriptor):
    """Start, leading and stride offset in bytes, and bytes of the swizzle."""
    field = lambda first, bits: (descriptor >> first) & ((1 << bits) - 1)
    if field(49, 3):
        raise Fault("a matrix descriptor has a base offset")
    swizzle = {0: 0, 1: 128, 2: 64, 3: 32}[field(62, 2)]
    return field(0, 14) * 16, field(16, 14) * 16, field(32, 14) * 16, swizzle


def read_tensor_descriptor(descriptor):
    """The same of tcgen05.mma, which names its version and other swizzles."""
    if descriptor >> 46 & 7 != 1 or descriptor >> 49 & 0xfff:
        raise Fault(f"unknown matrix descriptor {descriptor:#x}")
    swizzle = {2: 128, 4: 64, 6: 32}[descriptor >> 61]
    return (*read_descriptor(descriptor & (1 << 46) - 1)[:3], swizzle)


def read_shared(shared, window, descriptor, rows, reduction, kind,
                transposed):
    """The factor [rows, reduction] that a descriptor, as the above read it,
    names in the shared memory from `window` on. Its rows are contiguous, or,
    `transposed`, its columns."""
    start, leading, stride, swizzle = descriptor
    size = get_bytes(kind)
    row, k = np.arange(rows)[:, None], np.arange(reduction)
    if transposed:
        if not swizzle or size != 2:
            raise Fault("a transposed factor has no swizzle, or not 16 bits")
        across = swizzle // size
        addresses = (row // across * leading + row % across * size
                     + k // 8 * stride + k % 8 * swizzle)
    elif swizzle:
        addresses = row // 8 * stride + row % 8 * swizzle + k * size
    else:
        addresses = (row // 8 * stride + row % 8 * 16
                     + k * size // 16 * leading + k * size % 16)
    bits, = shared.load(swizzle_addresses(window + start + addresses,
                                         swizzle), size)
    return decode(bits, kind)


def multiply_warpgroup(a, b, sums):
    """wgmma: [64, reduction] times [columns, reduction], and sums [register,
    thread] in and out."""
    rows, columns = find_sums(len(sums))
    warps = np.repeat(16 * np.arange(4), 32)
    products = a @ b.T
    return (products[np.tile(rows, 4) + warps, np.tile(columns, 4)]
            + sums).astype(np.float32)
