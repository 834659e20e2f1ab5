"""Loads, stores and copies between memories."""

import numpy as np

from .fault import Fault
from .memory import SHARED_WINDOW, copy_to_global, copy_to_shared
from .opcodes import NUMBERS, assign, opcode, read, read_address, write
from .program import split_list, split_operands


def get_memory(machine, parts):
    """A function, since each block has a shared memory of its own."""
    space = parts[1].removesuffix("::cluster")
    return {"shared": lambda: machine.shared,
            "global": lambda: machine.memory}[space]


@opcode("ld.shared", "ld.global")
def decode_load(machine, instruction):
    memory = get_memory(machine, instruction.parts)
    kind = instruction.parts[-1]
    targets = [write(machine, name, kind)
               for name in split_list(instruction.operands[0])]
    address = read_address(machine, instruction.operands[1])
    number = np.dtype(NUMBERS[kind])

    def run(lanes):
        values = memory().load(address()[lanes], number.itemsize, len(targets))
        for target, value in zip(targets, values):
            target[lanes] = value.view(number)
    return run


@opcode("ld.param")
def decode_parameter(machine, instruction):
    target, source = instruction.operands
    kind = instruction.parts[-1]
    return assign(write(machine, target, kind), np.array,
                  read(machine, source[1:-1], kind))


@opcode("mapa.shared::cluster")
def decode_remote_address(machine, instruction):
    """The same offset in the shared memory of the block of another rank."""
    kind = instruction.parts[-1]
    target, source, rank = instruction.operands
    return assign(write(machine, target, kind), lambda address, rank: (
        address % SHARED_WINDOW + rank.astype(address.dtype) * SHARED_WINDOW),
        read(machine, source, kind), read(machine, rank, "u32"))


@opcode("st.shared::cluster")
def decode_remote_store(machine, instruction):
    store = decode_store(machine, instruction)
    address = read_address(machine, instruction.operands[0])

    def run(lanes):
        machine.check_remote(lanes, address()[lanes])
        store(lanes)
    return run


@opcode("st.shared", "st.global")
def decode_store(machine, instruction):
    memory = get_memory(machine, instruction.parts)
    bits = instruction.parts[-1][1:]
    address = read_address(machine, instruction.operands[0])
    sources = [read(machine, name, "b" + bits)
               for name in split_list(instruction.operands[1])]
    return lambda lanes: memory().store(address()[lanes], int(bits) // 8,
                                        [source[lanes] for source in sources])


@opcode("cp.async.cg.shared.global", "cp.async.ca.shared.global")
def decode_copy(machine, instruction):
    """The bytes beyond the last operand are zero."""
    target, source, size, *used = instruction.operands
    target, source = (read_address(machine, text) for text in (target, source))
    used, size = read(machine, (used or [size])[0], "u32"), int(size)

    def copy(lanes, targets, sources, used):
        to, sources = targets[lanes], sources[lanes]
        inside = np.arange(size) < used[lanes][:, None]
        if (to % size).any() or (sources[inside[:, 0]] % size).any():
            raise Fault(f"a copy of {size} bytes is not aligned")
        values = np.zeros(inside.shape, np.uint8)
        values[inside], = machine.memory.load(
            (sources[:, None] + np.arange(size))[inside], 1)
        machine.shared.store(to, 1, list(values.T))

    def run(lanes):
        operands = target(), source(), used.copy()
        machine.groups["cp"].begin(lanes, lambda due: copy(due, *operands))
    return run


def read_tensor(machine, text):
    """A function of a thread that gives the tensor map and the corner of
    "[map, {corner}]"."""
    name, corner = split_operands(text[1:-1])
    name = read(machine, name, "b64")
    corner = [read(machine, part, "s32") for part in split_list(corner)]
    return lambda lane: (machine.get_map(int(name[lane])),
                         [int(part[lane]) for part in corner])


@opcode("cp.async.bulk.tensor")
def decode_tensor_copy(machine, instruction):
    if instruction.parts[5] == "global":
        return decode_tensor_store(machine, instruction)
    is_multicast = "multicast::cluster" in instruction.parts
    target, source, barrier, *offsets = instruction.operands
    if "L2::cache_hint" in instruction.parts:
        offsets.pop()
    mask = read(machine, offsets.pop(), "u16") if is_multicast else None
    tensor = read_tensor(machine, source)
    target, barrier = (read_address(machine, t) for t in (target, barrier))
    offsets = [read(machine, part, "u16") for text in offsets
               for part in split_list(text)]

    def begin(map, corner, offsets, target, barrier):
        def copy():
            size = copy_to_shared(map, corner, offsets, machine.memory,
                                  machine.shared, target)
            machine.count_transaction(barrier, copied=size)
        machine.begin_transaction(barrier, copy)

    def find_windows(lanes, lane):
        """How far the windows of the blocks that get the copy are from the
        lane's own."""
        if not is_multicast:
            return [0]
        windows = SHARED_WINDOW * np.flatnonzero(
            int(mask[lane]) >> np.arange(16) & 1)
        machine.check_remote(lanes, windows)
        return windows - machine.window[lane]

    def run(lanes):
        for lane in np.flatnonzero(lanes):
            for window in find_windows(np.arange(len(lanes)) == lane, lane):
                begin(*tensor(lane), [int(part[lane]) for part in offsets],
                      int(target()[lane] + window),
                      int(barrier()[lane] + window))
    return run


def decode_tensor_store(machine, instruction):
    tensor = read_tensor(machine, instruction.operands[0])
    source = read_address(machine, instruction.operands[1])

    def run(lanes):
        copies = {lane: (*tensor(lane), machine.memory, machine.shared,
                         int(source()[lane])) for lane in np.flatnonzero(lanes)}

        def copy(due):
            for lane in np.flatnonzero(due):
                copy_to_global(*copies[lane])
        machine.groups["bulk"].begin(lanes, copy)
    return run
