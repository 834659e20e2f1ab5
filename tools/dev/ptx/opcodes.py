"""How instructions are decoded: each becomes a function of the threads that
execute it, a mask, and its operands become views of registers."""

import dataclasses
import re
from collections.abc import Callable

import numpy as np

from .fault import Fault
from .program import split_list

NUMBERS = {"f16": np.float16, "f32": np.float32, "f64": np.float64,
           **{f"{letter}{bits}": np.dtype(f"{kind}{bits // 8}").type
              for letter, kind in (("u", "u"), ("s", "i"), ("b", "u"))
              for bits in (8, 16, 32, 64)}, "pred": np.bool_}


@dataclasses.dataclass
class Step:
    """`unit` threads must execute it together; a control step says itself where
    its threads go."""
    run: Callable
    unit: int
    is_control: bool
    predicate: np.ndarray
    wanted: bool


OPCODES = {}


def opcode(*names, unit=1, is_control=False):
    """Names the instructions that a function decodes, by how they begin."""
    def add(function):
        for name in names:
            OPCODES[name] = function, unit, is_control
        return function
    return add


def decode(machine, instruction):
    """A step of `machine`. The longest name that fits decodes it."""
    name = ".".join(instruction.parts)
    found = max((known for known in OPCODES
                 if name == known or name.startswith(known + ".")),
                key=len, default=None)
    try:
        if not found:
            raise KeyError(name)
        function, unit, is_control = OPCODES[found]
        run = function(machine, instruction)
    except (KeyError, ValueError, IndexError) as error:
        raise Fault(f"unknown instruction '{instruction.text}'") from error
    predicate, wanted = instruction.predicate or (None, True)
    return Step(run, unit, is_control,
                predicate and machine.registers[predicate], wanted)


def read(machine, text, kind):
    """The values of an operand, as numbers of this kind."""
    number = NUMBERS[kind]
    if text in machine.registers:
        register = machine.registers[text]
        parts = register.itemsize // np.dtype(number).itemsize
        if not parts:
            raise ValueError(text)
        return register.view(number)[::parts]
    if text in ("%tid.x", "%ctaid.x"):
        return getattr(machine, text[1:-2]).view(number)
    if text in machine.symbols:
        return (machine.symbols[text] + machine.window).astype(
            f"u{np.dtype(number).itemsize}").view(number)
    if parameter := re.search(r"_param_(\d+)$", text):
        value = machine.parameters[int(parameter[1])]
    elif text.startswith(("0f", "0d")):
        value = int(text[2:], 16)
    else:
        value = int(text, 0)
    bits = np.dtype(number).itemsize * 8
    if number is np.bool_:
        return np.full(machine.threads, value != 0)
    return np.full(machine.threads, value & ((1 << bits) - 1),
                   f"u{bits // 8}").view(number)


def write(machine, text, kind):
    """The register, as numbers of this kind, or wider integers, to store to."""
    if text == "_":
        return np.zeros(machine.threads, NUMBERS[kind])
    register = machine.registers[text]
    number = np.dtype(NUMBERS[kind])
    return register.view(number if number.itemsize == register.itemsize
                         else f"{number.kind}{register.itemsize}")


def read_address(machine, text):
    """A function that gives the addresses of "[register+offset]"."""
    base, offset = re.fullmatch(r"\[([^+\]]+)(?:\+(-?\d+))?\]", text).groups()
    kind = "b32" if base in machine.word_index else "b64"
    base, offset = read(machine, base, kind), int(offset or 0)
    return lambda: base.astype(np.int64) + offset


def assign(target, function, *sources):
    """A step that computes a register from others."""
    return lambda lanes: np.copyto(target, function(*sources), where=lanes,
                                   casting="unsafe")


def find_word_rows(machine, text):
    return np.array([machine.word_index[name] for name in split_list(text)])
