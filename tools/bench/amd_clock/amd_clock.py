#!/usr/bin/env python3
"""Holds dnn-emu's predicted times against the times that AMD published.

MIOpen's find databases have milliseconds of its kernels on MI300X and MI210. This
runs the same kernels with dnn-emu --time. The databases and the kernels are not
part of this tree: --databases is a folder with the files of MIOpen's src/kernels,
--kernels one with code objects, CHIP-*.co, that hold the kernels by their names.

  amd_clock.py list    --databases DIR               what there is, and what is left
                                                     out for which reason
  amd_clock.py run     --databases DIR --kernels DIR --out ROWS.jsonl
                       [--half fit] [--each 40]      a sample of each solver and
                       [--from-ms 0.1]               decade of times; what ROWS has
                                                     is not done again
  amd_clock.py report  ROWS.jsonl...                 errors and Kendall's tau
  amd_clock.py verify  --kernels DIR --chip gfx942   the launches compute
                                                     convolutions
  amd_clock.py selftest                              of this tool, without any file

Records whose hash is even (fit) may be looked at to choose parameters; the odd
ones (judge) may not. docs/guides/amd-clock.md has more.
"""

import argparse
import collections
import concurrent.futures
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import launches
import selftest
import statistic
import verify
from records import Refused, parse_key, read_find_db

# What is left out before anything is looked at: tensors of more bytes take too much
# memory, and groups whose waves do more multiply-adds take the emulated device too
# long. A matrix instruction does many at once. A persistent group is executed for as
# long as the launch lasts.
MAX_BYTES = 2e9
MAX_WAVE_MACS = 1e6
MATRIX_MACS = 1024
MAX_PERSISTENT_MS = 10


def get_wave_macs(problem, launch, is_matrix):
    """Multiply-adds of a group, one of all lanes of a wave counted once."""
    if is_matrix:
        return problem.macs / launch.grid / 64 / MATRIX_MACS
    results = problem.sizes[launch.output] / launch.grid
    return problem.macs / launch.grid / min(64, results)


def check_record(record, tunings):
    """Returns the record's problem and launch, or raises Refused."""
    if record.solver not in launches.SOLVERS:
        raise Refused("another solver")
    if record.ms <= 0:
        raise Refused("a time of zero")
    problem = parse_key(record.key)
    launch = launches.make_launch(problem, record.solver, record.chip, tunings)
    if problem.bytes > MAX_BYTES:
        raise Refused("tensors of more than 2 GB")
    if record.solver in launches.WINOGRAD:
        if record.ms >= MAX_PERSISTENT_MS:
            raise Refused("persistent groups of 10 ms and more")
        return problem, launch
    macs = get_wave_macs(problem, launch, record.solver == launches.GTC_FORWARD)
    if macs > MAX_WAVE_MACS:
        raise Refused("groups of more than a million multiply-adds of waves")
    return problem, launch


def find_tunings(databases, chip):
    path = pathlib.Path(databases, launches.CHIPS[chip].perf_db)
    return launches.read_tunings(path) if path.exists() else None


def load_corpus(databases, chip):
    """Returns the records that can be reproduced, with problem and launch, and how
    many of each solver are left out for which reason."""
    tunings = find_tunings(databases, chip)
    kept, refused = [], collections.Counter()
    path = pathlib.Path(databases, launches.CHIPS[chip].find_db)
    for record in read_find_db(path, chip):
        try:
            kept.append((record, *check_record(record, tunings)))
        except Refused as reason:
            known = record.solver in launches.SOLVERS
            refused[record.solver if known else "others", str(reason)] += 1
    return kept, refused


def decade_of(ms):
    return math.floor(math.log10(ms) + 1e-9)


def draw(kept, half, each, from_ms=0.0):
    """At most `each` records of a solver and decade, from 0.1 us on: one of each
    after the other, so that a run which is ended early has as many of each.
    `from_ms` leaves out what is shorter; a power of ten leaves the rest as drawn."""
    cells = collections.defaultdict(list)
    for row in sorted(kept, key=lambda row: row[0].order):
        if row[0].is_fit == (half == "fit") and row[0].ms >= from_ms:
            cells[row[0].solver, decade_of(row[0].ms)].append(row)
    for rank in range(each):
        for cell in sorted(cells):
            if rank < len(cells[cell]):
                yield cells[cell][rank]


def find_kernels(emulator, folder, chip):
    """The kernels of the code objects CHIP-*.co, by name."""
    found = {}
    for path in sorted(pathlib.Path(folder).glob(f"{chip}-*.co")):
        text = subprocess.run([emulator, path, "--list"], text=True, check=True,
                              capture_output=True).stdout
        for line in text.splitlines():
            if line and not line.startswith(" "):
                found[line.strip()] = path
    return found


def predict(emulator, path, launch, chip, extra):
    """One prediction of dnn-emu."""
    if not chip.is_product:
        extra = ["--time-with", f"computeUnits={chip.units}", *extra]
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "time.json")
        command = [emulator, path, f"--time={out}", "--threads", "1",
                   *launch.get_options(), *extra]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return {"error": (done.stderr or done.stdout).strip()[-300:]}
        with open(out) as file:
            return json.load(file)


def run_record(emulator, paths, row, extra):
    record, problem, launch = row
    result = {"chip": record.chip, "solver": record.solver, "key": record.key,
              "half": "fit" if record.is_fit else "judge", "ms": record.ms}
    if launch.kernel not in paths:
        return result | {"error": f"no code object has {launch.kernel}"}
    chip = launches.CHIPS[record.chip]
    got = predict(emulator, paths[launch.kernel], launch, chip, extra)
    if "error" not in got:
        side = launch.side_bytes / chip.side_rate * 1e3 + \
            launch.side_launches * chip.side_launch_ms
        if "Naive" in record.solver:
            side += chip.naive_extra_ms
        got = {"predicted_ms": got["predicted_us"] / 1e3 + side, "side_ms": side,
               "launches": 1 + launch.side_launches, "nhwc": problem.is_nhwc, **got}
    return result | got


def command_list(options):
    print("chip\tsolver\tfit\tjudge\tfrom 0.1 ms on")
    for chip in options.chip:
        kept, refused = load_corpus(options.databases, chip)
        for solver in launches.SOLVERS:
            rows = [row[0] for row in kept if row[0].solver == solver]
            fit = sum(row.is_fit for row in rows)
            print(chip, solver, fit, len(rows) - fit,
                  sum(row.ms >= 0.1 for row in rows), sep="\t")
        for (solver, reason), count in sorted(refused.items()):
            print(chip, f"left out, {solver}: {reason}", count, sep="\t")


def command_run(options):
    done = set()
    if os.path.exists(options.out):
        with open(options.out) as file:
            rows = [json.loads(line) for line in file]
        done = {(row["chip"], row["solver"], row["key"]) for row in rows}
    with open(options.out, "a") as out, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for chip in options.chip:
            paths = find_kernels(options.emulator, options.kernels, chip)
            kept, _ = load_corpus(options.databases, chip)
            rows = [row for row in draw(kept, options.half, options.each,
                                         options.from_ms)
                    if (row[0].chip, row[0].solver, row[0].key) not in done
                    and options.solver in row[0].solver]
            extra = [word for text in options.time_with or ()
                     for word in ("--time-with", text)]
            for result in pool.map(lambda row, p=paths: run_record(
                    options.emulator, p, row, extra), rows):
                print(json.dumps(result), file=out, flush=True)


def command_report(options):
    rows = []
    for path in options.rows:
        with open(path) as file:
            rows += [json.loads(line) for line in file]
    statistic.report(rows)


def command_verify(options):
    for chip in options.chip:
        paths = find_kernels(options.emulator, options.kernels, chip)
        verify.run(options.emulator, paths, chip)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for name, function in (("list", command_list), ("run", command_run),
                           ("report", command_report), ("verify", command_verify),
                           ("selftest", lambda _: selftest.run())):
        command = commands.add_parser(name)
        command.set_defaults(function=function)
        if name == "report":
            command.add_argument("rows", nargs="+")
        if name in ("list", "run", "verify"):
            command.add_argument("--chip", action="append",
                                 choices=list(launches.CHIPS))
        if name in ("list", "run"):
            command.add_argument("--databases", required=True)
        if name in ("run", "verify"):
            command.add_argument("--kernels", required=True)
            command.add_argument("--emulator", default="dnn-emu")
        if name == "run":
            command.add_argument("--out", required=True)
            command.add_argument("--half", default="judge",
                                 choices=["fit", "judge"])
            command.add_argument("--each", type=int, default=40)
            command.add_argument("--from-ms", type=float, default=0.0)
            command.add_argument("--jobs", type=int, default=1)
            command.add_argument("--solver", default="", help="part of a name")
            command.add_argument("--time-with", action="append")
    options = parser.parse_args()
    if "chip" in options and not options.chip:
        options.chip = list(launches.CHIPS)
    options.function(options)


if __name__ == "__main__":
    main()
