#!/usr/bin/env python3
"""Runs the PTX of a convolution without a GPU and checks its result.

  run_ptx.py CONFIG [--tile TILE] [--target sm_90] [--dnn-opt PATH]
             [--seed N] [--ptx FILE] [--sizes SIZES]

dnn-opt compiles the problem of the network config CONFIG; all its launches run
on random data, over memory of NaN. Each element of the result is compared with
a reference in f64. One line tells the tile and the error, as a fraction of the
norm. Of epilogues, bias, residual and relu are computed; with "stats" the mean
and the variance of what was stored are compared, too. Exits 1 if the result is wrong, or if a kernel does what a chip refuses:
leaves a tensor, breaks an alignment, waits forever. FILE has PTX to run
instead of the compiler's. Where sizes of CONFIG are unknown ("n?c64h?w?"), its
one kernel runs with each of SIZES, "n2h14w14,n1h5w9".

All launches run twice, in two orders: asynchronous copies and products happen
at once, and then as late as the waits of the program allow, with other threads
ahead, so that most missing waits are seen. A missing fence is not. If a launch
may begin with its last tile, it does in the second run. Needs numpy.
"""

import argparse
import pathlib
import re
import sys

import numpy as np

TOOLS = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(TOOLS / "bench"))

import gpu_pack
from ptx.convolution import Convolution
from ptx.fault import Fault
from ptx.machine import Machine
from ptx.memory import GlobalMemory, TensorMap
from ptx.program import read_program
from ptx.sizes import bind_launch, evaluate

# By type: how far an element may be off, as a fraction of itself (the rounding
# of the result) and of the sum of its products' magnitudes (of operands, of
# sums); and all elements together, as a fraction of the norm. f32 that is split
# without its lowest terms is off by 7e-6 of the norm, truncated tf32 by more
# than 6e-4.
TOLERANCES = {"i8": (0, 0, 1e-9),
              "i32": (0, 0, 1e-9),
              "bf16": (2 ** -8, 2 ** -20, 4e-3),
              "f16": (2 ** -11, 2 ** -20, 5e-4),
              "f32": (2 ** -23, 2 ** -20, 1e-6),
              "f64": (2 ** -52, 2 ** -48, 1e-14),
              "tf32": (0, 2 ** -10, 6e-4),
              "e4m3fn": (2 ** -4, 2 ** -9, 4e-2),
              "e4m3fnuz": (2 ** -4, 2 ** -10, 4e-2),
              "e5m2": (2 ** -3, 2 ** -9, 8e-2),
              "e5m2fnuz": (2 ** -3, 2 ** -10, 8e-2)}


# The argument of kernels that may begin with the last tile.
FROM_END = "s5"


def run_tile(tile, convolution, is_late):
    """Runs all launches of a tile as gpu_pack.py reads it, with copies and
    products at once or late. Returns the result, its means and variances."""
    data, letter = convolution.data, convolution.result
    of_channels = 4 * convolution.shapes[letter][-1]
    channel_results = ("t3", "t4") if convolution.norm else ("mean", "variance")
    shapes = convolution.order_shapes()
    workspace = max([tile["workspace"], *(
        evaluate(text, shapes) for text in tile["open_workspaces"])])
    memory = GlobalMemory({name: len(values) for name, values in data.items()}
                          | {"workspace": workspace,
                             **dict.fromkeys(channel_results, of_channels)})
    for name in data.keys() - {letter}:
        memory.get(name, len(data[name]))[:] = data[name]
    kernels = read_program(tile["ptx"])

    def locate(name):
        tensor, _, offset = name.partition("+")
        return memory.addresses[tensor] + int(offset or 0)
    for launch in tile["launches"]:
        launch = bind_launch(launch, shapes)
        maps = [TensorMap.parse(text, locate(text.split(":")[0]))
                for text in launch["maps"]]
        machine = Machine(kernels[launch["symbol"]], memory,
                          [argument["value"] if "value" in argument
                           else is_late if argument["name"] == FROM_END
                           else locate(argument["name"])
                           for argument in launch["arguments"]],
                          maps, launch["shared"], is_late)
        for block in range(0, launch["grid"], machine.cluster):
            machine.run(block)
    return (convolution.decode(memory.get(letter, len(data[letter])), letter),
            *(memory.get(name, of_channels).view(np.float32).astype(np.float64)
              for name in channel_results))


def judge_statistics(result, mean, variance):
    """What is wrong, or "", by the rule of docs/spec/convolution.md."""
    pixels = result.reshape(-1, result.shape[-1])
    wanted, squares = pixels.mean(0), pixels.var(0)
    deviation = np.sqrt(squares)
    for name, values, of, most in (
            ("mean", mean, wanted, 64 * (abs(wanted) + deviation)),
            ("variance", variance, squares,
             512 * squares + 16 * abs(wanted) * deviation)):
        wrong = np.flatnonzero(~(abs(values - of) <= most * 2 ** -24))
        if len(wrong):
            return (f"{name} of {len(wrong)} channels, first {wrong[0]}: "
                    f"{values[wrong[0]]:.8g}, not {of[wrong[0]]:.8g}")
    return ""


def judge_sums(result, convolution, *sums):
    """The same of a normalisation's gradient, by the rule of dialect/Reference/
    Compare.h."""
    tensors, channels = convolution.tensors, result.shape[-1]
    centred = (tensors["t0"] - tensors["t1"]) * tensors["t2"]
    most = 4 * 2 ** -24 * np.sqrt(result.size / channels + 4)
    for name, values, terms in (("sum", sums[0], result),
                                ("dot", sums[1], result * centred)):
        terms = terms.reshape(-1, channels)
        wanted = terms.sum(0)
        wrong = np.flatnonzero(
            ~(abs(values - wanted) <= most * abs(terms).sum(0)))
        if len(wrong):
            return (f"{name} of {len(wrong)} channels, first {wrong[0]}: "
                    f"{values[wrong[0]]:.8g}, not {wanted[wrong[0]]:.8g}")
    return ""


def judge(result, convolution):
    """The error as a fraction of the norm, and what is wrong, or ""."""
    of_element, of_sum, of_norm = TOLERANCES[convolution.kind]
    wanted = convolution.finish(convolution.compute())
    most = of_element * abs(wanted) + of_sum * convolution.compute(abs)
    if convolution.kind == "f16":
        most += 2 ** -25  # Half of what f16's smallest numbers lie apart.
    wrong = np.argwhere(~(abs(result - wanted) <= most))
    error = np.linalg.norm(result - wanted) / np.linalg.norm(wanted)
    if len(wrong):
        position = tuple(wrong[0])
        return error, (f"{len(wrong)} of {result.size} elements, first "
                       f"{list(map(int, position))} (channels last): "
                       f"{result[position]:.8g}, not {wanted[position]:.8g}")
    return error, "" if error < of_norm else f"the norm's limit is {of_norm}"


def put_sizes(config, sizes):
    """The problem of the family `config` that has `sizes`, as "n2h14w14"."""
    for letter, size in re.findall(r"([a-z])(\d+)", sizes):
        config = re.sub(rf"(-[^-]*?{letter})\?", rf"\g<1>{size}", config, count=1)
    return config.removesuffix("-small")


def run(tile, config, options):
    """Runs a problem in both orders and prints the verdict; 0 if it is right."""
    name = f"{config} {options.tile or 'own'}"
    convolution = Convolution(config, options.seed)
    for is_late in (False, True):
        suffix = "; with late copies and products" if is_late else ""
        try:
            result, *statistics = run_tile(tile, convolution, is_late)
            error, wrong = judge(result, convolution)
            if convolution.has_statistics and not wrong:
                wrong = judge_statistics(result, *statistics)
            if convolution.norm and not wrong:
                wrong = judge_sums(result, convolution, *statistics)
        except Fault as fault:
            print(f"FAULT {name}: {fault}{suffix}")
            return 1
        if wrong:
            print(f"WRONG {name}: error {error:.1e}; {wrong}{suffix}")
            return 1
    print(f"right {name}: error {error:.1e}")
    return 0


def make_parser(description):
    """Of what a problem's tile is made by, for run_ptx_steps.py, too."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("config")
    parser.add_argument("--tile", default="")
    parser.add_argument("--target", default="sm_90")
    parser.add_argument("--dnn-opt", default="build/dev/bin/dnn-opt")
    parser.add_argument("--seed", type=int, default=0)
    return parser


def compile_tile(options):
    """The launches of the tile and their PTX; ends if it does not fit."""
    options.ptxas = ""
    tile = gpu_pack.compile_tile(options, options.config, options.tile)
    if not tile:
        sys.exit(f"{options.config}: tile '{options.tile}' does not fit")
    return tile


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--ptx", type=pathlib.Path)
    parser.add_argument("--sizes", default="")
    options = parser.parse_args()
    tile = compile_tile(options)
    if options.ptx:
        tile["ptx"] = options.ptx.read_text()
    np.seterr(all="ignore")
    configs = [put_sizes(options.config, sizes)
               for sizes in options.sizes.split(",")]
    return max(run(tile, config, options) for config in configs)


if __name__ == "__main__":
    sys.exit(main())
