"""Instructions that compute registers of a thread from others of it."""

import numpy as np

from .formats import ROUND, round_to_float8, round_to_tf32
from .opcodes import NUMBERS, assign, opcode, read, write
from .program import split_list


def divide(a, b):
    if a.dtype.kind == "f":
        return a / b
    b = np.where(b == 0, 1, b).astype(a.dtype)
    quotient = a // b
    return quotient + ((quotient < 0) & (quotient * b != a))


def multiply_high(a, b):
    bits = a.itemsize * 8
    if bits == 64:
        return np.array([int(x) * int(y) >> 64 & (1 << 64) - 1
                         for x, y in zip(a, b)], np.uint64).view(a.dtype)
    return widen(a) * widen(b) >> bits


def widen(a):
    return a.astype(f"{a.dtype.kind}{2 * a.itemsize}")


def shift_left(a, count):
    bits = a.itemsize * 8
    shifted = a << np.minimum(count, bits - 1).astype(a.dtype)
    return np.where(count < bits, shifted, 0)


def shift_right(a, count):
    bits = a.itemsize * 8
    shifted = a >> np.minimum(count, bits - 1).astype(a.dtype)
    return (shifted if a.dtype.kind == "i"
            else np.where(count < bits, shifted, 0))


def fuse(a, b, c):
    """a * b + c, rounded once or nearly so."""
    return a.astype(np.float64) * b + c


ARITHMETIC = {
    "add": np.add, "sub": np.subtract, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor, "not": np.invert,
    "neg": np.negative, "abs": np.abs, "min": np.fmin, "max": np.fmax,
    "div": divide, "rem": np.fmod, "fma": fuse, "mov": np.array,
    "cvta": np.array, "rcp": lambda a: (1 / a).astype(a.dtype),
    "ex2": np.exp2,
}


@opcode(*ARITHMETIC)
def decode_arithmetic(machine, instruction):
    kind = instruction.parts[-1]
    target, *sources = instruction.operands
    modifiers = set(instruction.parts[1:-1])
    if modifiers - {"rn", "approx"} and instruction.parts[0] != "cvta":
        raise ValueError(modifiers)
    if "{" in target or "{" in sources[0]:
        return decode_packed_move(machine, instruction)
    return assign(write(machine, target, kind),
                  ARITHMETIC[instruction.parts[0]],
                  *[read(machine, source, kind) for source in sources])


def decode_packed_move(machine, instruction):
    """A register from its parts, or into them, the lowest first."""
    kind = instruction.parts[-1]
    target, source = map(split_list, instruction.operands)
    bits = int(kind[1:]) // max(len(target), len(source))
    if len(target) == 1:
        parts = [read(machine, part, f"b{bits}") for part in source]
        return assign(write(machine, target[0], kind), lambda *parts: np.stack(
            parts, axis=1).view(NUMBERS[kind])[:, 0], *parts)
    whole = read(machine, source[0], kind)
    targets = [write(machine, part, f"b{bits}") for part in target]

    def run(lanes):
        copy = whole.copy()  # A part may be the same register.
        for i, part in enumerate(targets):
            np.copyto(part, copy >> copy.dtype.type(i * bits), where=lanes,
                      casting="unsafe")
    return run


@opcode("mul", "mad")
def decode_product(machine, instruction):
    """lo, hi and wide of integers, and f32."""
    kind, form = instruction.parts[-1], instruction.parts[1]
    target, a, b, *addend = instruction.operands
    multiply = {"hi": multiply_high, "lo": np.multiply, "rn": np.multiply,
                kind: np.multiply,
                "wide": lambda a, b: widen(a) * widen(b)}[form]
    result = f"{kind[0]}{2 * int(kind[1:])}" if form == "wide" else kind
    sources = [read(machine, a, kind), read(machine, b, kind)]
    if not addend:
        return assign(write(machine, target, result), multiply, *sources)
    sources.append(read(machine, addend[0], result))
    return assign(write(machine, target, result),
                  lambda a, b, c: multiply(a, b) + c, *sources)


@opcode("shl", "shr")
def decode_shift(machine, instruction):
    kind = instruction.parts[-1]
    target, value, count = instruction.operands
    function = shift_left if instruction.parts[0] == "shl" else shift_right
    return assign(write(machine, target, kind), function,
                  read(machine, value, kind), read(machine, count, "u32"))


@opcode("popc")
def decode_count(machine, instruction):
    """The bits that are set."""
    target, source = instruction.operands
    return assign(write(machine, target, "u32"),
                  lambda a: np.unpackbits(np.ascontiguousarray(a).view(
                      np.uint8).reshape(-1, 4), axis=1).sum(1),
                  read(machine, source, "u32"))


@opcode("bfe")
def decode_bits(machine, instruction):
    """A field of constant bits; as a signed number, its highest bit is the
    sign."""
    kind = instruction.parts[-1]
    target, value, first, count = instruction.operands
    beyond = int(kind[1:]) - int(count)
    number = NUMBERS[kind]
    return assign(write(machine, target, kind), lambda a: (
        a << number(beyond - int(first))) >> number(beyond),
        read(machine, value, kind))


@opcode("prmt.b32")
def decode_permutation(machine, instruction):
    """Each four bits of the last operand name a byte of the first two, the
    lowest first; the highest of the four bits asks for eight times its sign."""
    target, a, b, selector = instruction.operands
    selector = int(selector.removesuffix("U"), 0)
    offsets = [selector >> 4 * i & 7 for i in range(4)]
    is_sign = np.array([selector >> 4 * i & 8 for i in range(4)], bool)

    def permute(a, b):
        found = np.stack([a, b], axis=1).view(np.int8)[:, offsets]
        found = np.where(is_sign, found >> 7, found).astype(np.int8)
        return np.ascontiguousarray(found).view(np.uint32)[:, 0]
    return assign(write(machine, target, "b32"), permute,
                  read(machine, a, "b32"), read(machine, b, "b32"))


COMPARISONS = {"lt": np.less, "le": np.less_equal, "gt": np.greater,
               "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal}


@opcode("setp")
def decode_comparison(machine, instruction):
    """Comparisons of floats are false for a NaN, unless they end in "u"."""
    _, name, kind = instruction.parts
    target, *sources = instruction.operands
    compare = COMPARISONS[name[:2]]
    if name[2:] == "u":
        function = lambda a, b: compare(a, b) | np.isnan(a) | np.isnan(b)
    elif name == "ne" and kind[0] == "f":
        function = lambda a, b: compare(a, b) & ~np.isnan(a) & ~np.isnan(b)
    else:
        function = compare
    return assign(write(machine, target, "pred"), function,
                  *[read(machine, source, kind) for source in sources])


@opcode("selp")
def decode_selection(machine, instruction):
    kind = instruction.parts[-1]
    target, a, b, predicate = instruction.operands
    return assign(write(machine, target, kind),
                  lambda a, b, choice: np.where(choice, a, b),
                  read(machine, a, kind), read(machine, b, kind),
                  read(machine, predicate, "pred"))


@opcode("cvt.rna.tf32.f32")
def decode_rounding(machine, instruction):
    target, source = instruction.operands
    return assign(write(machine, target, "b32"), round_to_tf32,
                  read(machine, source, "b32"))


@opcode("cvt.rn.bf16.f32", "cvt.rn.f16.f32")
def decode_narrowing(machine, instruction):
    target, source = instruction.operands
    return assign(write(machine, target, "b16"),
                  ROUND[tuple(instruction.parts[1:3])],
                  read(machine, source, "f32"))


@opcode("cvt.rn.bf16x2.f32", "cvt.rz.bf16x2.f32", "cvt.rn.f16x2.f32")
def decode_packing(machine, instruction):
    """Two f32 into one register; the first operand is the upper half."""
    _, mode, to, _ = instruction.parts
    target, *sources = instruction.operands
    pack = ROUND[mode, to.removesuffix("x2")]
    return assign(write(machine, target, "b32"), lambda high, low: np.stack(
        [pack(low), pack(high)], axis=1).view(np.uint32)[:, 0],
        *[read(machine, source, "f32") for source in sources])


@opcode("cvt.rn.satfinite.e4m3x2.f32", "cvt.rn.satfinite.e5m2x2.f32")
def decode_packing8(machine, instruction):
    """Two f32 into one register of 16 bits; the first is the upper half."""
    kind = instruction.parts[3].removesuffix("x2")
    target, *sources = instruction.operands

    def pack(high, low):
        high, low = (np.where(np.isnan(a), 0x7f, round_to_float8(a, kind))
                     .astype(np.uint16) for a in (high, low))
        return high << np.uint16(8) | low
    return assign(write(machine, target, "b16"), pack,
                  *[read(machine, source, "f32") for source in sources])


@opcode("cvt.f32.bf16")
def decode_widening(machine, instruction):
    target, source = instruction.operands
    return assign(write(machine, target, "b32"),
                  lambda a: a.astype(np.uint32) << np.uint32(16),
                  read(machine, source, "b16"))


@opcode("cvt")
def decode_conversion(machine, instruction):
    """From integers, which keep their low bits or their sign; and of floats,
    to wider ones."""
    *modes, to, source = instruction.parts[1:]
    target, operand = instruction.operands
    if modes not in ([], ["rn"]) or (source[0], to[0]) == ("f", "s"):
        raise ValueError(modes)
    return assign(write(machine, target, to), lambda a: a.astype(NUMBERS[to]),
                  read(machine, operand, source))
