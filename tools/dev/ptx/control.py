"""Branches, and instructions by which threads wait for each other."""

import numpy as np

from .opcodes import opcode, read, read_address

# Orders of memory accesses, and hints: accesses happen in order here.
ORDERS = ("griddepcontrol", "fence", "membar", "prefetch", "setmaxnreg",
          "wgmma.fence", "nanosleep", "cp.async.bulk.prefetch")


@opcode("bar.warp", unit=32)
@opcode(*ORDERS)
def decode_order(machine, instruction):
    return lambda lanes: None


def get_groups(machine, instruction):
    """Those of wgmma, cp.async or cp.async.bulk."""
    kind = instruction.parts[0]
    return machine.groups["bulk" if "bulk" in instruction.parts else kind]


@opcode("wgmma.commit_group", "cp.async.commit_group",
        "cp.async.bulk.commit_group")
def decode_commit(machine, instruction):
    return lambda lanes: get_groups(machine, instruction).commit(lanes)


@opcode("wgmma.wait_group", unit=128)
@opcode("cp.async.wait_group", "cp.async.bulk.wait_group", "cp.async.wait_all")
def decode_group_wait(machine, instruction):
    count = int((instruction.operands or ["0"])[0])
    is_committed = "wait_group" in instruction.parts
    return lambda lanes: get_groups(machine, instruction).wait(
        lanes, count, is_committed)


@opcode("bra", is_control=True)
def decode_branch(machine, instruction):
    return lambda lanes: machine.jump(lanes, instruction.target)


@opcode("ret", "exit", is_control=True)
def decode_return(machine, instruction):
    return machine.finish


@opcode("bar.sync", "bar.arrive", "barrier.sync", "barrier.arrive", unit=32,
        is_control=True)
def decode_barrier(machine, instruction):
    ids, count = [read(machine, text, "u32")
                  for text in (instruction.operands + ["0"])[:2]]
    waits = "sync" in instruction.parts
    return lambda lanes: machine.arrive(lanes, ids, count, waits)


@opcode("barrier.cluster.arrive", unit=32)
def decode_cluster_arrival(machine, instruction):
    return machine.arrive_at_cluster


@opcode("barrier.cluster.wait", unit=32, is_control=True)
def decode_cluster_wait(machine, instruction):
    return machine.wait_for_cluster


@opcode("mbarrier.init")
def decode_barrier_init(machine, instruction):
    addresses = read_address(machine, instruction.operands[0])
    count = read(machine, instruction.operands[1], "u32")

    def run(lanes):
        for address, value in zip(addresses()[lanes], count[lanes]):
            machine.make_transaction_barrier(int(address), int(value))
    return run


@opcode("mbarrier.arrive.shared", "mbarrier.arrive.expect_tx.shared",
        "cp.async.mbarrier.arrive.noinc.shared")
def decode_arrival(machine, instruction):
    operands = instruction.operands
    addresses = read_address(machine, next(t for t in operands if t[0] == "["))
    expects = "expect_tx" in instruction.parts
    amount = read(machine, operands[2] if len(operands) > 2 else "1", "u32")

    def run(lanes):
        if instruction.parts[0] == "cp":
            machine.groups["cp"].wait(lanes, is_committed=False)
        for address, value in zip(addresses()[lanes], amount[lanes]):
            machine.count_transaction(
                int(address), 1 if expects else int(value),
                int(value) if expects else 0)
    return run


@opcode("mbarrier.arrive.shared::cluster")
def decode_remote_arrival(machine, instruction):
    arrive = decode_arrival(machine, instruction)
    addresses = read_address(machine, next(
        t for t in instruction.operands if t[0] == "["))

    def run(lanes):
        machine.check_remote(lanes, addresses()[lanes])
        arrive(lanes)
    return run


@opcode("mbarrier.try_wait.parity", is_control=True)
def decode_wait(machine, instruction):
    passed = machine.registers[instruction.operands[0]]
    address = read_address(machine, instruction.operands[1])
    parity = read(machine, instruction.operands[2], "u32")
    return lambda lanes: np.copyto(
        passed, machine.test_transactions(lanes, address(), parity),
        where=lanes)
