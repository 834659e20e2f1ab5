"""Runs the blocks of a kernel one after the other.

All threads of a block are the lanes of numpy arrays. Those at the lowest
instruction run first, so that threads that took different branches meet again;
threads that wait let the others pass. Asynchronous copies and products happen
at once. A machine that is late has another order: copies and products happen
when somebody waits for them, and where threads wait at mbarriers, those at the
highest instruction run first.
"""

import dataclasses

import numpy as np

from . import arithmetic, control, products, transfers  # These add opcodes.
from .asynchronous import Groups
from .fault import Fault
from .memory import SHARED_BASE, Memory, align
from .opcodes import decode

MAPS_BASE = 1 << 50  # "Addresses" of tensor maps in the parameters.
NOBODY = -1


@dataclasses.dataclass
class TransactionBarrier:
    """An mbarrier in shared memory."""
    count: int
    pending: int
    bytes: int = 0
    phase: int = 0


class Machine:
    """One launch of `kernel`: `arguments` are addresses, `maps` tensor maps,
    which are the first parameters."""

    def __init__(self, kernel, memory, arguments, maps, shared_bytes, is_late):
        self.is_late = is_late
        # Threads without mbarriers have no roles, and would meet late.
        self.is_reversed = is_late and any(
            step.parts[0] == "mbarrier" for step in kernel.instructions)
        self.kernel, self.memory, self.maps = kernel, memory, maps
        self.threads = kernel.threads
        self.parameters = [MAPS_BASE + i for i in range(len(maps))] + arguments
        self.tid = np.arange(self.threads, dtype=np.uint32)
        self.ctaid = np.zeros(self.threads, np.uint32)
        self.make_registers()
        self.place_shared(shared_bytes)
        self.code = [decode(self, i) for i in kernel.instructions]

    def make_registers(self):
        """Registers of 32 bits are rows of one array, so that a matrix
        instruction reads hundreds of them at once."""
        registers = {name: np.dtype(bool if kind == "pred"
                                    else f"u{int(kind[1:]) // 8}")
                     for name, kind in self.kernel.registers.items()}
        words = [name for name, kind in registers.items() if kind == np.uint32]
        self.words = np.zeros((len(words), self.threads), np.uint32)
        self.word_index = {name: i for i, name in enumerate(words)}
        self.registers = {name: np.zeros(self.threads, kind)
                          for name, kind in registers.items()
                          if name not in self.word_index}
        self.registers |= dict(zip(words, self.words))

    def place_shared(self, dynamic_bytes):
        end, self.symbols = SHARED_BASE, {}
        for name, unit, size in self.kernel.shared:
            self.symbols[name] = align(end, unit)
            end = self.symbols[name] + size
        end = align(end, 1024)
        self.symbols |= dict.fromkeys(self.kernel.dynamic, end)
        self.shared_bytes = end + dynamic_bytes - SHARED_BASE

    def run(self, block):
        """Runs the block of this index."""
        self.ctaid[:] = block
        for register in self.registers.values():
            register.view(np.uint8)[:] = 0 if register.dtype == bool else 0xff
        self.shared = Memory("shared", SHARED_BASE, self.shared_bytes)
        self.shared.allocated[:self.shared_bytes] = True
        self.transactions = {}
        self.copies = {}  # By mbarrier: those that it shall wait for.
        self.groups = {kind: Groups(self.threads, self.is_late)
                       for kind in ("wgmma", "cp", "bulk")}
        self.arrivals = {}  # By barrier: threads that came, threads it needs.
        self.pc = np.zeros(self.threads, np.int64)
        self.alive = np.ones(self.threads, bool)
        self.asleep = np.zeros(self.threads, bool)
        self.barrier = np.full(self.threads, NOBODY)
        while self.alive.any():
            first, lanes = self.choose()
            self.run_from(first, lanes)
        # Copies by cp.async whose data nobody reads may be on their way.
        if self.copies or self.groups["bulk"].begun or \
                self.groups["wgmma"].begun:
            raise Fault("a block ends before its copies or products")

    def choose(self):
        """The first instruction that threads can execute, and these."""
        ready = self.alive & ~self.asleep & (self.barrier == NOBODY)
        order = np.unique(self.pc[ready])
        for pc in order[::-1] if self.is_reversed else order:
            lanes = ready & (self.pc == pc)
            lanes = self.keep_whole(lanes, self.code[pc].unit)
            if lanes.any():
                return pc, lanes
        reached = [self.kernel.instructions[max(pc - 1, 0)].text
                  for pc in np.unique(self.pc[self.alive])]
        raise Fault("deadlock after: " + "; ".join(reached))

    def keep_whole(self, lanes, unit):
        """Those groups of `unit` threads that are complete, apart from threads
        that have returned."""
        if unit == 1:
            return lanes
        whole = np.logical_and.reduceat(lanes | ~self.alive,
                                        range(0, self.threads, unit))
        return lanes & np.repeat(whole, unit)[:self.threads]

    def run_from(self, pc, lanes):
        """Runs `lanes` up to where they may part or others may join."""
        others = self.pc[self.alive & ~lanes]
        stop = others[others > pc].min(initial=len(self.code))
        while True:
            step = self.code[pc]
            active = lanes if step.predicate is None \
                else lanes & (step.predicate == step.wanted)
            pc += 1
            if step.is_control:
                self.pc[lanes] = pc
                step.run(active)
                return
            if active.any():
                step.run(active)
            unit = self.code[pc].unit
            if pc == stop or (self.keep_whole(lanes, unit) != lanes).any():
                self.pc[lanes] = pc
                return

    # What instructions do to the order of threads.

    def jump(self, lanes, target):
        self.pc[lanes] = target

    def finish(self, lanes):
        self.alive[lanes] = False
        self.release_barriers()

    def arrive(self, lanes, ids, counts, waits):
        """At named barriers, which may differ between warps. A count of 0 means
        all threads."""
        for name in np.unique(ids[lanes]):
            here = lanes & (ids == name)
            came, _ = self.arrivals.get(name, (0, 0))
            self.arrivals[name] = came + here.sum(), int(counts[here][0])
            if waits:
                self.barrier[here] = name
        self.release_barriers()

    def release_barriers(self):
        for name, (came, needed) in list(self.arrivals.items()):
            needed = needed or self.alive.sum()
            if came > needed:
                raise Fault(f"{came} threads at barrier {name} of {needed}")
            if came == needed:
                del self.arrivals[name]
                self.barrier[self.barrier == name] = NOBODY

    def get_map(self, address):
        """The tensor map that a parameter's address names."""
        if not 0 <= address - MAPS_BASE < len(self.maps):
            raise Fault(f"no tensor map at {address:#x}")
        return self.maps[address - MAPS_BASE]

    def get_transaction_barrier(self, address):
        if address not in self.transactions:
            raise Fault(f"no mbarrier has been made at {address}")
        return self.transactions[address]

    def make_transaction_barrier(self, address, count):
        self.transactions[address] = TransactionBarrier(count, count)

    def count_transaction(self, address, arrivals=0, expected=0, copied=0):
        """Threads that come to an mbarrier, bytes that it shall wait for, and
        bytes that came."""
        barrier = self.get_transaction_barrier(address)
        barrier.bytes += expected - copied
        barrier.pending -= arrivals
        if barrier.pending < 0:
            raise Fault(f"more than {barrier.count} arrivals at an mbarrier")
        if barrier.pending == 0 and barrier.bytes == 0:
            barrier.pending = barrier.count
            barrier.phase += 1
            self.asleep[:] = False

    def begin_transaction(self, address, copy):
        """A copy that an mbarrier shall wait for."""
        self.copies.setdefault(address, []).append(copy)
        if self.is_late:
            self.asleep[:] = False  # They must look again.
        else:
            self.finish_transactions(address)

    def finish_transactions(self, address):
        for copy in self.copies.pop(address, []):
            copy()

    def has_passed(self, address, parity):
        """Whether an mbarrier has passed the phase of this parity. If not, its
        copies must come now."""
        barrier = self.get_transaction_barrier(address)
        if barrier.phase % 2 == parity:
            self.finish_transactions(address)
        return barrier.phase % 2 != parity

    def test_transactions(self, lanes, addresses, parities):
        """Whether each lane's mbarrier has passed the phase of this parity;
        those whose has not sleep until some mbarrier passes a phase."""
        passed = np.zeros(self.threads, bool)
        for lane in np.flatnonzero(lanes):
            passed[lane] = self.has_passed(int(addresses[lane]),
                                           parities[lane])
        self.asleep |= lanes & ~passed
        return passed
