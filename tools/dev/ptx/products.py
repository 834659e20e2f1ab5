"""Instructions of whole warps: exchanges of registers, fragments of matrices in
shared memory, and products."""

import re

import numpy as np

from . import matrix
from .fault import Fault
from .opcodes import find_word_rows, opcode, read, read_address, write
from .program import split_list


def split_warps(values, lanes):
    """[.., thread] -> [.., warp, lane] of the warps of `lanes`."""
    return values[..., lanes].reshape(*values.shape[:-1], -1, 32)


# By mode: which lane's value a lane gets. Beyond the warp it keeps its own.
SHUFFLES = {
    "idx": lambda lane, by: by % 32, "bfly": lambda lane, by: lane ^ by,
    "down": lambda lane, by: np.where(lane + by < 32, lane + by, lane)}


@opcode("shfl.sync", unit=32)
def decode_shuffle(machine, instruction):
    find = SHUFFLES[instruction.parts[2]]
    target, source, by, last, _ = instruction.operands
    if last != "31":
        raise ValueError(last)
    target = write(machine, target.split("|")[0], "b32")
    source, by = read(machine, source, "b32"), read(machine, by, "u32")
    threads = np.arange(machine.threads)

    def run(lanes):
        other = threads // 32 * 32 + find(threads % 32, by)
        np.copyto(target, source[other], where=lanes)
    return run


@opcode("vote.sync.ballot.b32", unit=32)
def decode_ballot(machine, instruction):
    """A bit of each lane of the warp; lanes without the thread give 0."""
    target, source, _ = instruction.operands
    target, source = write(machine, target, "b32"), read(machine, source, "pred")

    def run(lanes):
        bits = (source & lanes).reshape(-1, 32).astype(np.uint64)
        words = (bits << np.arange(32, dtype=np.uint64)).sum(1)
        np.copyto(target, np.repeat(words, 32).astype(target.dtype),
                  where=lanes)
    return run


def find_matrix_rows(address, lanes, count, is_transposed):
    """Shared addresses of what lanes hold of 8 by 8 matrices of 16 bits: two
    elements [half, matrix, warp, lane]. Of each matrix 8 lanes have the
    addresses of its rows."""
    rows_at = split_warps(address, lanes)
    first, second = np.arange(32) // 4, np.arange(32) % 4
    matrices = 8 * np.arange(count)[:, None]
    if is_transposed:
        return np.stack([np.moveaxis(
            rows_at[:, matrices + 2 * second + half], 0, 1) + 2 * first
            for half in range(2)])
    return np.stack([np.moveaxis(rows_at[:, matrices + first], 0, 1)
                     + 4 * second + 2 * half for half in range(2)])


@opcode("ldmatrix.sync", "stmatrix.sync", unit=32)
def decode_matrix_access(machine, instruction):
    is_load = instruction.parts[0] == "ldmatrix"
    registers, address = (instruction.operands if is_load
                          else instruction.operands[::-1])
    rows = find_word_rows(machine, registers)
    address = read_address(machine, address)
    is_transposed = "trans" in instruction.parts

    def run(lanes):
        first = address()
        if (first[lanes] % 16).any():
            raise Fault("a row of a matrix is not at 16 bytes")
        rows_at = find_matrix_rows(first, lanes, len(rows), is_transposed)
        rows_at = rows_at.reshape(2, len(rows), -1)
        if is_load:
            low, high = machine.shared.load(rows_at, 2)[0].astype(np.uint32)
            machine.words[np.ix_(rows, lanes)] = low | high << np.uint32(16)
            return
        words = machine.words[np.ix_(rows, lanes)]
        halves = np.stack([words, words >> np.uint32(16)]).astype(np.uint16)
        machine.shared.store(rows_at, 2, [halves])
    return run


def decode_double_product(machine, instruction):
    """mma.sync of f64, whose registers are no words."""
    target, *sources = [[write(machine, name, "f64")
                         for name in split_list(text)]
                        for text in instruction.operands]

    def run(lanes):
        a, b, sums = (split_warps(np.stack(registers), lanes)
                      for registers in sources)
        result = matrix.multiply_warps(a, b, sums, "f64")
        for register, values in zip(target, result):
            register[lanes] = values.reshape(-1)
    return run


@opcode("mma.sync.aligned", unit=32)
def decode_warp_product(machine, instruction):
    *_, result, a_kind, b_kind, sum_kind = instruction.parts
    wanted = {"s8": "s32", "f64": "f64"}.get(a_kind, "f32")
    if {result, sum_kind} != {wanted} or a_kind != b_kind:
        raise ValueError(instruction.text)
    if wanted == "f64":
        return decode_double_product(machine, instruction)
    target, *sources = [find_word_rows(machine, text)
                        for text in instruction.operands]

    def run(lanes):
        a, b, sums = (split_warps(machine.words[rows], lanes)
                      for rows in sources)
        number = np.int32 if wanted == "s32" else np.float32
        result = matrix.multiply_warps(a, b, sums.view(number), a_kind)
        machine.words[np.ix_(target, lanes)] = \
            result.view(np.uint32).reshape(len(target), -1)
    return run


def read_fragment(machine, text, kind):
    """A function of a warpgroup's first thread and of what its descriptors were
    when the product began: A of wgmma in registers, which has none."""
    rows = find_word_rows(machine, text)

    def run(first, _):
        words = machine.words[rows, first:first + 128]
        return matrix.read_a(words.reshape(-1, 4, 32), kind).reshape(64, -1)
    return run


def read_factor(machine, rows, reduction, kind, transposed):
    """The same of a factor [rows, reduction] in shared memory."""
    def run(first, descriptors):
        descriptor = np.unique(descriptors[first:first + 128])
        if len(descriptor) != 1:
            raise Fault("threads of a warpgroup have different descriptors")
        return matrix.read_shared(
            machine.shared, int(machine.window[first]),
            matrix.read_descriptor(int(descriptor[0])), rows, reduction, kind,
            transposed)
    return run


def read_factors(machine, instruction, columns, reduction, kind):
    """A and B of wgmma: descriptors, and a function of them. Behind them stand
    whether sums are kept, two signs, and of 16 bits which of the factors in
    shared memory are transposed."""
    _, a, b, _, *signs = instruction.operands
    if signs[:2] != ["1", "1"]:
        raise ValueError(signs)
    transposed = [flag == "1" for flag in signs[2:]] or [False, False]
    read_b = read_factor(machine, columns, reduction, kind, transposed[-1])
    b = read(machine, b, "b64"), read_b
    if a.startswith("{"):
        return (np.zeros(0), read_fragment(machine, a, kind)), b
    return (read(machine, a, "b64"),
            read_factor(machine, 64, reduction, kind, transposed[0])), b


@opcode("wgmma.mma_async.sync.aligned", unit=128)
def decode_warpgroup_product(machine, instruction):
    shape, result, kind, other = instruction.parts[-4:]
    columns, reduction = map(int, re.fullmatch(r"m64n(\d+)k(\d+)",
                                               shape).groups())
    if result != "f32" or kind != other:
        raise ValueError(instruction.text)
    (a, read_a), (b, read_b) = read_factors(machine, instruction, columns,
                                            reduction, kind)
    rows = find_word_rows(machine, instruction.operands[0])
    keeps = read(machine, instruction.operands[3], "pred")

    def multiply(lanes, a, b, keeps):
        for first in np.flatnonzero(lanes)[::128]:
            sums = machine.words[rows, first:first + 128]
            old = sums.view(np.float32) if keeps[first] else 0 * sums
            new = matrix.multiply_warpgroup(read_a(first, a), read_b(first, b),
                                            old)
            machine.words[rows, first:first + 128] = new.view(np.uint32)

    def run(lanes):
        operands = a.copy(), b.copy(), keeps.copy()
        machine.groups["wgmma"].begin(lanes,
                                      lambda due: multiply(due, *operands))
    return run
