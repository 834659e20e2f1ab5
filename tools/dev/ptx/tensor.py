"""Instructions of sm_100's tensor cores, which add up products in a memory of
their own (PTX ISA, "TensorCore 5th Generation Family Instructions"): what one
block without a cluster uses of them."""

import numpy as np

from . import matrix
from .fault import Fault
from .opcodes import find_word_rows, opcode, read, read_address

LANES, COLUMNS = 128, 512
KINDS = {0: "f16", 1: "bf16"}


class TensorMemory:
    """The words of a block, all NaN at first, and what its tensor cores have
    still to do."""

    def __init__(self):
        self.words = np.full((LANES, COLUMNS), 0xffffffff, np.uint32)
        self.allocated = np.zeros(COLUMNS, bool)
        self.begun = []  # Barrier or None, and work, in the order of issue.
        self.loads = []  # Work, and threads that still wait for it.

    def find(self, address, lanes, columns):
        """Indices of words from an address on: of so many lanes and columns."""
        lane, column = divmod(int(address), 1 << 16)
        last = column + columns
        if lane + lanes > LANES or last > COLUMNS \
                or not self.allocated[column:last].all():
            raise Fault(f"accesses {columns} columns of tensor memory at "
                        f"{address:#x}, which are not all allocated")
        return lane, column

    def finish(self, barrier):
        """Does all that comes before the last arrival at `barrier`, and it."""
        last = max((i + 1 for i, (at, _) in enumerate(self.begun)
                    if at == barrier), default=0)
        due, self.begun = self.begun[:last], self.begun[last:]
        for _, work in due:
            work()


def get_only(values, lanes):
    """The value that all `lanes` have."""
    found = np.unique(values[lanes])
    if len(found) != 1:
        raise Fault("threads have different operands of one instruction")
    return int(found[0])


@opcode("tcgen05.alloc.cta_group::1.sync.aligned", unit=32)
def decode_allocation(machine, instruction):
    target, count = instruction.operands
    target, count = read_address(machine, target), read(machine, count, "u32")

    def run(lanes):
        size, tensor = get_only(count, lanes), machine.tensor
        if size < 32 or size & size - 1:
            raise Fault(f"{size} columns of tensor memory")
        first = COLUMNS - size  # Beside zero, if it can be.
        if tensor.allocated[first:].any():
            raise Fault("tensor memory is allocated twice")
        tensor.allocated[first:] = True
        machine.shared.store(np.array([get_only(target(), lanes)]), 4,
                             [np.array([first], np.uint32)])
    return run


@opcode("tcgen05.dealloc.cta_group::1.sync.aligned", unit=32)
def decode_release(machine, instruction):
    address, count = (read(machine, text, "u32")
                      for text in instruction.operands)

    def run(lanes):
        first, size = get_only(address, lanes), get_only(count, lanes)
        allocated = np.flatnonzero(machine.tensor.allocated)
        if list(allocated) != list(range(first, first + size)):
            raise Fault("gives back other tensor memory than it has")
        machine.tensor.allocated[:] = False
    return run


@opcode("tcgen05.fence::before_thread_sync", "tcgen05.fence::after_thread_sync",
        "tcgen05.relinquish_alloc_permit")
def decode_order(_, instruction):
    return lambda lanes: None


def read_shape(bits):
    """Rows, columns and the operands' kind of an instruction descriptor."""
    field = lambda first, count: bits >> first & (1 << count) - 1
    if field(4, 2) != 1 or field(7, 3) != field(10, 3) or \
            bits & ~(1 << 4 | 7 << 7 | 7 << 10 | 63 << 17 | 31 << 24):
        raise Fault(f"unknown instruction descriptor {bits:#x}")
    return field(24, 5) * 16, field(17, 6) * 8, KINDS[field(7, 3)]


@opcode("tcgen05.mma.cta_group::1.kind::f16")
def decode_product(machine, instruction):
    target, a, b, shape, adds = instruction.operands
    target = read_address(machine, target)
    a, b = (read(machine, text, "b64") for text in (a, b))
    shape, adds = read(machine, shape, "b32"), read(machine, adds, "pred")

    def multiply(target, a, b, shape, adds):
        rows, columns, kind = read_shape(shape)
        a, b = (matrix.read_shared(machine.shared, 0,
                                   matrix.read_tensor_descriptor(factor), size,
                                   16, kind, False)
                for factor, size in ((a, rows), (b, columns)))
        lane, column = machine.tensor.find(target, rows, columns)
        if (rows, lane) != (LANES, 0):
            raise Fault(f"products of {rows} rows at lane {lane}")
        words = machine.tensor.words[:, column:column + columns]
        old = words.view(np.float32) if adds else np.float32(0)
        words[:] = (old + a @ b.T).astype(np.float32).view(np.uint32)

    def run(lanes):
        for lane in np.flatnonzero(lanes):
            operands = [int(values[lane])
                        for values in (target(), a, b, shape, adds)]
            machine.begin_product(None, lambda: multiply(*operands))
    return run


@opcode("tcgen05.commit.cta_group::1.mbarrier::arrive::one")
def decode_commit(machine, instruction):
    barrier = read_address(machine, instruction.operands[0])

    def run(lanes):
        for lane in np.flatnonzero(lanes):
            at = int(barrier()[lane])
            machine.begin_product(
                at, lambda: machine.count_transaction(at, arrivals=1))
    return run


@opcode("tcgen05.ld.sync.aligned.16x256b", unit=32)
def decode_load(machine, instruction):
    registers, address = instruction.operands
    registers = find_word_rows(machine, registers)
    address = read_address(machine, address)
    rows, columns = matrix.find_sums(len(registers))

    def load(due, first):
        warp = first // 32 % 4
        lane, column = machine.tensor.find(
            get_only(address(), due), 16, columns.max() + 1)
        if not 32 * warp <= lane <= 32 * warp + 16:
            raise Fault(f"warp {warp} loads lane {lane} of tensor memory")
        words = machine.tensor.words[lane + rows, column + columns]
        machine.words[registers, first:first + 32] = 0xffffffff

        def deliver():
            machine.words[registers, first:first + 32] = words
        return deliver

    def run(lanes):
        for first in np.flatnonzero(lanes)[::32]:
            warp = lanes & (np.arange(len(lanes)) // 32 == first // 32)
            deliver = load(warp, first)
            if machine.is_late:
                machine.tensor.loads.append((deliver, warp))
            else:
                deliver()
    return run


@opcode("tcgen05.wait::ld", unit=32)
def decode_wait(machine, _):
    def run(lanes):
        tensor = machine.tensor
        for deliver, warp in tensor.loads:
            if (warp & lanes).any():
                deliver()
        tensor.loads = [(deliver, warp) for deliver, warp in tensor.loads
                        if not (warp & lanes).any()]
    return run
