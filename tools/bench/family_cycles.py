#!/usr/bin/env python3
"""Estimated issue cycles of convolutions on an emulated chip: a problem's own kernel beside that for unknown sizes.

    family_cycles.py [--bin build/ci/bin] [--device emulated:gfx942] [--batch 1] [--groups 0] [--only REGEX] [--out FILE]

Problems are those of conv-h100.txt in f16, in NCHW and NHWC and three directions (docs/design/0038). Each runs twice by
dnn-driver with TESSERA_EMULATOR_STATS, which tells estimated issue cycles of each launch, here without what depends on addresses (docs/guides/emulator.md).
Prints one line a problem, then geometric means.
"""

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CONFIG = re.compile(r"n\d+c(\d+)h(\d+)w(\d+)-k(\d+)y(\d+)x(\d+)-p(\d+)x(\d+)-s(\d+)x(\d+)-d(\d+)x(\d+)-g(\d+)$")
LETTERS = "c H W k y x p q u v l j g".split()
DIRECTIONS = {"fwd": 1, "bwd": 2, "wrw": 4}


def read_problems():
    with open(os.path.join(HERE, "conv-h100.txt"), encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, config = line.split()
                yield name, CONFIG.search(config).groups()


def run(options, numbers, layout, direction, generic):
    """Cycles of all launches of one call, and their kernels."""
    with tempfile.NamedTemporaryFile(suffix=".json") as stats:
        command = [os.path.join(options.bin, "dnn-driver"), "convfp16", "-n", str(options.batch), "-F",
                   str(DIRECTIONS[direction]), "-V", "0", "-i", "1", "--in_layout", layout, "--fil_layout", layout,
                   "--out_layout", layout]
        for letter, number in zip(LETTERS, numbers):
            command += ["-" + letter, number]
        environment = dict(os.environ, TESSERA_DEVICE=options.device, MIOPEN_DISABLE_CACHE="1",
                           TESSERA_GENERIC_KERNELS=generic, TESSERA_GENERIC_AFTER="0",
                           TESSERA_EMULATOR_STATS=stats.name, TESSERA_EMULATOR_GROUPS=str(options.groups),
                           TESSERA_EMULATOR_STATS_ADDRESSES="0", TESSERA_EMULATOR_LOG="0")
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
        launches = [json.loads(line) for line in stats]
    cycles = {launch["kernel"]: launch["estimated_issue_cycles"] for launch in launches}
    return sum(cycles.values()), cycles


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/ci/bin")
    parser.add_argument("--device", default="emulated:gfx942")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--groups", type=int, default=0, help="workgroups of a launch that are executed; 0 for all")
    parser.add_argument("--only", default="", help="problems whose 'layout name direction' matches")
    parser.add_argument("--own", help="take own cycles from this file, of an earlier run")
    parser.add_argument("--out", help="a file for the lines")
    options = parser.parse_args()
    known = {}
    if options.own:
        with open(options.own, encoding="utf-8") as file:
            for line in file:
                fields = line.rstrip("\n").split("\t")
                if len(fields) == 6 and fields[3].isdigit():
                    known[tuple(fields[:3])] = int(fields[3])
    lines = ["layout\tname\tdirection\town_cycles\tfamily_cycles\tratio"]
    ratios = {}
    for layout in ("nchw", "nhwc"):
        for direction in DIRECTIONS:
            for name, numbers in read_problems():
                if not re.search(options.only, f"{layout} {name} {direction}"):
                    continue
                own = known.get((layout, name, direction)) or run(options, numbers, layout.upper(), direction, "never")[0]
                family, kernels = run(options, numbers, layout.upper(), direction, "keep")
                ratios.setdefault((layout, direction), []).append(own / family)
                lines.append(f"{layout}\t{name}\t{direction}\t{own:.0f}\t{family:.0f}\t{own / family:.2f}")
                print(lines[-1], *kernels.values(), sep="\t", flush=True)
    for (layout, direction), values in ratios.items():
        mean = math.exp(sum(map(math.log, values)) / len(values))
        print(f"# {layout} {direction}: geometric mean {mean:.3f}, least {min(values):.2f}, "
              f"{sum(value < 0.6 for value in values)} of {len(values)} below 0.6")
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
