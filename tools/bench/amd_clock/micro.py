#!/usr/bin/env python3
"""Puts predicted results of microbenchmarks beside published ones.

The kernels of micro.hip are compiled here and predicted by dnn-emu --time, twice
with different numbers of steps: the difference is what a step takes.

  micro.py [--chip gfx942] [--clang clang++-22] [--emulator dnn-emu]
"""

import argparse
import array
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PART = 16384  # bytes that a group of read_parts and write_parts touches in a step
GIB = 2.0 ** 30
# Sources: [mt4g]: caps-tum/mt4g, sample_results; [peak]: AMD's data sheets of MI210 and
# MI300X; [guide]: ROCm Compute Profiler, "Local data share".


@dataclasses.dataclass
class Chip:
    units: int
    ghz: float


CHIPS = {"gfx90a": Chip(104, 1.7), "gfx942": Chip(304, 2.1)}


@dataclasses.dataclass
class Question:
    name: str
    unit: str
    kernel: str
    arguments: list  # of dnn-emu; STEPS is replaced
    grid: int
    block: int
    steps: tuple
    convert: object  # from clocks of a step, and the chip
    published: dict  # by chip
    source: str


def clocks(step, _):
    return step


def chase(size):
    return [f"chain:{size}", "buffer:4096", "STEPS"]


def rate(groups):
    """GiB/s of all groups."""
    return lambda step, chip: groups * PART * chip.ghz * 1e9 / step / GIB


def transfer(size, groups):
    parts = size // PART
    return [f"buffer:{size}", "buffer:65536", "STEPS", f"u32:{groups}",
            f"u32:{parts}"]


def flops(of_step, waves):
    """TFLOP/s of `waves` waves that do so many operations a step."""
    return lambda step, chip: of_step * waves * chip.ghz / step / 1e3


def ask(chip):
    """The questions; those of a rate keep every unit busy with eight groups."""
    groups = chip.units * 8
    big, near = 1 << 30, 2 << 20
    # Each group reads the same three parts again and again: which lines other
    # groups read earlier the model does not know.
    far = groups * 3 * PART

    def write(size):
        return [f"buffer:{size}", "STEPS", f"u32:{groups}", f"u32:{size // PART}"]
    waves = chip.units * 8
    return [
        Question("latency of L1", "clocks", "chase_vector", chase(4096), 1, 1,
                 (2000, 4000), clocks, {"gfx90a": 124, "gfx942": 116}, "mt4g"),
        Question("latency of L2", "clocks", "chase_vector", chase(1 << 20), 1, 1,
                 (20000, 40000), clocks, {"gfx90a": 302, "gfx942": 288}, "mt4g"),
        Question("latency of memory", "clocks", "chase_vector", chase(1 << 28), 1, 1,
                 (4000, 8000), clocks, {"gfx90a": 741, "gfx942": 900}, "mt4g"),
        Question("latency of scalar loads", "clocks", "chase_scalar", chase(2048), 1,
                 64, (2000, 4000), clocks, {"gfx90a": 53, "gfx942": 48}, "mt4g"),
        Question("latency of LDS", "clocks", "chase_lds", chase(4096), 1, 64,
                 (2000, 4000), clocks, {"gfx90a": 50, "gfx942": 51}, "mt4g"),
        Question("reading L2", "GiB/s", "read_parts", transfer(near, groups), groups,
                 256, (60, 120), rate(groups), {"gfx90a": 4014, "gfx942": 14365},
                 "mt4g"),
        Question("writing L2", "GiB/s", "write_parts", write(near), groups, 256,
                 (60, 120), rate(groups), {"gfx90a": 2404, "gfx942": 6562}, "mt4g"),
        Question("reading the Infinity Cache", "GiB/s", "read_parts",
                 transfer(far, groups), groups, 256, (60, 120), rate(groups),
                 {"gfx942": 5400}, "mt4g"),
        Question("reading memory", "GiB/s", "read_parts", transfer(big, groups),
                 groups, 256, (10, 20), rate(groups),
                 {"gfx90a": 1085, "gfx942": 3690}, "mt4g"),
        Question("writing memory", "GiB/s", "write_parts", write(big), groups, 256,
                 (10, 20), rate(groups), {"gfx90a": 967, "gfx942": 4117}, "mt4g"),
        Question("reading LDS", "bytes a clock of a unit", "read_lds",
                 ["buffer:4096", "STEPS", "u32:1"], 1, 1024, (200, 400),
                 lambda step, _: 16 * 4 * 256 / step,
                 {"gfx90a": 128, "gfx942": 128}, "guide"),
        Question("reading one bank of LDS", "bytes a clock of a unit", "read_lds",
                 ["buffer:4096", "STEPS", "u32:32"], 1, 1024, (200, 400),
                 lambda step, _: 16 * 4 * 256 / step, {"gfx90a": 4, "gfx942": 4},
                 "guide"),
        Question("f16 matrices", "TFLOP/s", "multiply_f16",
                 ["buffer:4096", "STEPS"], waves // 8, 512, (500, 1000),
                 flops(4 * 32 * 32 * 8, waves), {"gfx90a": 181, "gfx942": 1307},
                 "peak"),
        Question("f32 matrices", "TFLOP/s", "multiply_f32",
                 ["buffer:4096", "STEPS"], waves // 8, 512, (500, 1000),
                 flops(4 * 32 * 32 * 2, waves), {"gfx90a": 45.3, "gfx942": 163.4},
                 "peak"),
        Question("f64 multiply-adds", "TFLOP/s", "multiply_add_f64",
                 ["buffer:8192", "f64:1.5", "STEPS"], waves // 8, 512, (500, 1000),
                 flops(64 * 64 * 2, waves), {"gfx90a": 22.6, "gfx942": 81.7},
                 "peak")]


def write_chain(path, size):
    """A cycle through all lines of 128 bytes."""
    words = array.array("I", bytes(size))
    for line in range(size // 128):
        words[line * 32] = (line * 128 + 128) % size
    with open(path, "wb") as file:
        words.tofile(file)


def predict(options, chip, code, question, steps, folder):
    """Clocks of the launch at the boost clock, without what the launch takes."""
    command = [options.emulator, code, "--kernel", question.kernel, "--threads", "1",
               "--grid", str(question.grid), "--block", str(question.block),
               f"--time={folder}/out", "--time-with", "matrixSlowdown=0"]
    for argument in question.arguments:
        kind, _, size = argument.partition(":")
        if kind == "chain":
            path = f"{folder}/chain{size}"
            if not os.path.exists(path):
                write_chain(path, int(size))
            argument = f"buffer:{size}=file:{path}"
        command += ["--arg", f"u32:{steps}" if kind == "STEPS" else argument]
    subprocess.run(command, check=True)
    with open(f"{folder}/out") as file:
        got = json.loads(file.readlines()[-1])
    return (got["predicted_us"] - got["launch_us"]) * chip.ghz * 1e3


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--chip", action="append", choices=list(CHIPS))
    parser.add_argument("--clang", default="clang++-22")
    parser.add_argument("--emulator", default="dnn-emu")
    options = parser.parse_args()
    source = pathlib.Path(__file__).parent / "micro.hip"
    print("chip", "question", "unit", "predicted", "published", "source", sep="\t")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.chip or list(CHIPS):
            chip, code = CHIPS[name], f"{folder}/{name}.co"
            subprocess.run(
                [options.clang, "-x", "hip", f"--offload-arch={name}", "-O2",
                 "--offload-device-only", "--no-gpu-bundle-output", "-nogpulib",
                 "-nogpuinc", source, "-o", code], check=True)
            for question in ask(chip):
                if name not in question.published:
                    continue
                few, many = (predict(options, chip, code, question, steps, folder)
                             for steps in question.steps)
                step = (many - few) / (question.steps[1] - question.steps[0])
                print(name, question.name, question.unit,
                      f"{question.convert(step, chip):.4g}",
                      question.published[name], question.source, sep="\t",
                      flush=True)


if __name__ == "__main__":
    sys.exit(main())
