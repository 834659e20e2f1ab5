#!/usr/bin/env python3
"""Runs all steps of a recurrent network without a GPU and checks the results.

  run_ptx_steps.py CONFIG [--tile TILE] [--target sm_90] [--dnn-opt PATH]
                   [--seed N]

What run_ptx.py does for convolutions, for a row-wise problem with steps
(lstm_step, gru_step, rnn_step, lstm_step_bwd) in f16 or f32. Needs numpy.
"""

import sys

import numpy as np

from ptx.fault import Fault
from ptx.machine import Machine
from ptx.memory import GlobalMemory
from ptx.program import read_program
from ptx.steps import Steps
from run_ptx import compile_tile, make_parser

# How far an output may be off: the rounding of a few steps.
TOLERANCES = {np.float16: 4e-3, np.float32: 4e-6}


def run_tile(tile, steps, is_late):
    """The outputs of the one launch."""
    memory = GlobalMemory({f"t{i}": data.nbytes
                           for i, data in enumerate(steps.data)})
    tensors = [memory.get(f"t{i}", data.nbytes)
               for i, data in enumerate(steps.data)]
    for tensor, data in zip(tensors, steps.data):
        tensor[:] = data.view(np.uint8)
    launch, = tile["launches"]
    machine = Machine(read_program(tile["ptx"])[launch["symbol"]], memory,
                      [memory.addresses[argument["name"]]
                       for argument in launch["arguments"]],
                      [], launch["shared"], is_late)
    for block in range(0, launch["grid"], machine.cluster):
        machine.run(block)
    return [steps.view(tensor.view(steps.kind), i).astype(np.float64)
            for i, tensor in enumerate(tensors) if steps.is_output[i]]


def main():
    options = make_parser(__doc__).parse_args()
    tile = compile_tile(options)
    np.seterr(all="ignore")
    steps = Steps(options.config, options.seed)
    wanted, worst = steps.compute(), 0.0
    for is_late in (False, True):
        try:
            results = run_tile(tile, steps, is_late)
        except Fault as fault:
            print(f"FAULT {options.tile or 'own'}: {fault}")
            return 1
        for number, (result, value) in enumerate(zip(results, wanted)):
            error = np.max(np.abs(result - value))
            worst = max(worst, error)
            if not error <= TOLERANCES[steps.kind]:
                print(f"WRONG {options.tile or 'own'}: output {number} is off "
                      f"by {error:.1e}")
                return 1
    print(f"right {options.tile or 'own'}: error {worst:.1e}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
