"""Runs the clusters of a kernel one after the other; a block without others is
one, too.

All threads of a cluster are the lanes of numpy arrays. Each block's shared
memory is a window of the cluster's. Threads at the lowest
instruction run first, so that threads that took different branches meet again;
threads that wait let the others pass. Asynchronous copies and products happen
at once. A machine that is late has another order: copies and products happen
when somebody waits for them, and where threads wait at mbarriers, those at the
highest instruction run first, and the last block of a cluster as far as it gets
without the others.
"""

import dataclasses

import numpy as np

# These add opcodes.
from . import arithmetic, control, products, tensor, transfers
from .asynchronous import Groups
from .fault import Fault
from .memory import SHARED_BASE, SHARED_WINDOW, Memory, align
from .opcodes import decode

MAPS_BASE = 1 << 50  # "Addresses" of tensor maps in the parameters.
NOBODY = -1
BARRIERS = 16  # Of a block.


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
        self.cluster, self.block_threads = kernel.cluster, kernel.threads
        self.threads = kernel.threads * kernel.cluster
        self.parameters = [MAPS_BASE + i for i in range(len(maps))] + arguments
        self.rank, self.tid = np.divmod(
            np.arange(self.threads, dtype=np.uint32),
            np.uint32(kernel.threads))
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

    @property
    def window(self):
        """Where each thread's own shared memory begins in the cluster's."""
        return self.rank.astype(np.int64) * SHARED_WINDOW

    def run(self, first_block):
        """Runs the cluster of this block and those behind it."""
        self.ctaid[:] = first_block + self.rank
        for register in self.registers.values():
            register.view(np.uint8)[:] = 0 if register.dtype == bool else 0xff
        self.shared = Memory("shared", SHARED_BASE, self.shared_bytes
                             + (self.cluster - 1) * SHARED_WINDOW)
        for rank in range(self.cluster):
            begin = rank * SHARED_WINDOW
            self.shared.allocated[begin:begin + self.shared_bytes] = True
        self.tensor = tensor.TensorMemory()
        self.transactions = {}
        self.copies = {}  # By mbarrier: those that it shall wait for.
        self.groups = {kind: Groups(self.threads, self.is_late)
                       for kind in ("wgmma", "cp", "bulk")}
        # By block and barrier: threads that came, threads it needs.
        self.arrivals = {}
        self.meetings = np.zeros(self.threads, np.int64)  # At the cluster's
        self.arrived = np.zeros(self.threads, np.int64)   # barrier.
        self.pc = np.zeros(self.threads, np.int64)
        self.alive = np.ones(self.threads, bool)
        self.asleep = np.zeros(self.threads, bool)
        self.barrier = np.full(self.threads, NOBODY)
        while self.alive.any():
            first, lanes = self.choose()
            self.run_from(first, lanes)
        # Copies by cp.async whose data nobody reads may be on their way.
        if self.copies or self.groups["bulk"].begun or \
                self.groups["wgmma"].begun or self.tensor.begun:
            raise Fault("a block ends before its copies or products")
        if self.tensor.allocated.any():
            raise Fault("a block ends without giving back tensor memory")

    def choose(self):
        """The first instruction that threads can execute, and these."""
        ready = self.alive & ~self.asleep & (self.barrier == NOBODY) \
            & (self.meetings <= self.count_meetings())
        for here in self.part_blocks(ready):
            order = np.unique(self.pc[here])
            for pc in order[::-1] if self.is_reversed else order:
                lanes = here & (self.pc == pc)
                lanes = self.keep_whole(lanes, self.code[pc].unit)
                if lanes.any():
                    return pc, lanes
        reached = [self.kernel.instructions[max(pc - 1, 0)].text
                  for pc in np.unique(self.pc[self.alive])]
        raise Fault("deadlock after: " + "; ".join(reached))

    def part_blocks(self, ready):
        """Those of `ready` that may run, the first ones first."""
        if not self.is_reversed or self.cluster == 1:
            return [ready]
        return [ready & (self.rank == rank)
                for rank in reversed(range(self.cluster))]

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
        """At named barriers of a block, which may differ between warps. A count
        of 0 means all threads."""
        names = self.rank * np.int64(BARRIERS) + ids
        for name in np.unique(names[lanes]):
            here = lanes & (names == name)
            came, _ = self.arrivals.get(name, (0, 0))
            self.arrivals[name] = came + here.sum(), int(counts[here][0])
            if waits:
                self.barrier[here] = name
        self.release_barriers()

    def arrive_at_cluster(self, lanes):
        if (self.arrived[lanes] > self.meetings[lanes]).any():
            raise Fault("a thread comes to the cluster's barrier again before "
                        "it has waited")
        self.arrived[lanes] += 1

    def wait_for_cluster(self, lanes):
        self.meetings[lanes] = self.arrived[lanes]

    def count_meetings(self):
        """How often all threads of the cluster, apart from those that have
        returned, have come to its barrier."""
        return self.arrived[self.alive].min(initial=1 << 62)

    def check_remote(self, lanes, addresses):
        """What lanes write, copy or come to at addresses of another block is
        there from the first meeting on, and until that block ends."""
        if (self.meetings[lanes] == 0).any():
            raise Fault("a store to a block that may not have begun")
        ranks = np.unique(addresses // SHARED_WINDOW)
        if not np.isin(ranks, self.rank[self.alive]).all():
            raise Fault("a store to a block that has ended")

    def release_barriers(self):
        for name, (came, needed) in list(self.arrivals.items()):
            block = self.rank == name // BARRIERS
            needed = needed or (self.alive & block).sum()
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

    def begin_product(self, address, work):
        """Work of the tensor cores, one behind the other; that of an mbarrier
        at `address` is to arrive there."""
        if not self.is_late:
            work()
            return
        self.tensor.begun.append((address, work))
        if address is not None:
            self.asleep[:] = False  # Who waits there must look again.

    def finish_transactions(self, address):
        for copy in self.copies.pop(address, []):
            copy()

    def has_passed(self, address, parity):
        """Whether an mbarrier has passed the phase of this parity. If not, its
        copies must come now."""
        barrier = self.get_transaction_barrier(address)
        if barrier.phase % 2 == parity:
            self.finish_transactions(address)
            self.tensor.finish(address)
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
