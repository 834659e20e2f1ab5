#!/usr/bin/env python3
"""Judges the kernels of eight layers of ResNet-50, and writes the table.

A change that makes the main loop of one layer better may make another layer,
direction or chip worse, and this shows it. Each layer is compiled for each
direction and chip with the tile that the compiler chooses, and one of them
also with the largest tile; analyze_kernel.py judges the loops. The table in
tools/bench/results/amd/kernel-shares.md is the output of

    tools/dev/report_kernels.py --write

Without --write the table goes to stdout. Exit status 1 if a kernel spills, or
if a large tile is below the share that is required of it and EXPLAINED does
not say why. A chosen tile below that share has a letter that says why.
"""

import argparse
import concurrent.futures
import dataclasses
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

import analyze_kernel
import isa_chips
import isa_text
from isa_text import KernelError

_ROOT = pathlib.Path(__file__).resolve().parents[2]
_TABLE = "tools/bench/results/amd/kernel-shares.md"

# Batch 64, f16, NHWC: stems, 3x3 of each size, one of stride 2, and the 1x1
# convolutions that widen and narrow.
LAYERS = {
    "7x7/2, 3 to 64, 224x224": "-c 3 -H 224 -W 224 -k 64 -y 7 -x 7 -p 3 -q 3 -u 2 -v 2",
    "3x3, 64 to 64, 56x56": "-c 64 -H 56 -W 56 -k 64 -y 3 -x 3 -p 1 -q 1",
    "3x3/2, 128 to 128, 56x56": "-c 128 -H 56 -W 56 -k 128 -y 3 -x 3 -p 1 -q 1 -u 2 -v 2",
    "3x3, 128 to 128, 28x28": "-c 128 -H 28 -W 28 -k 128 -y 3 -x 3 -p 1 -q 1",
    "3x3, 256 to 256, 14x14": "-c 256 -H 14 -W 14 -k 256 -y 3 -x 3 -p 1 -q 1",
    "3x3, 512 to 512, 7x7": "-c 512 -H 7 -W 7 -k 512 -y 3 -x 3 -p 1 -q 1",
    "1x1, 64 to 256, 56x56": "-c 64 -H 56 -W 56 -k 256 -y 1 -x 1",
    "1x1, 1024 to 256, 14x14": "-c 1024 -H 14 -W 14 -k 256 -y 1 -x 1",
}
DIRECTIONS = {"forward": 1, "backward data": 2, "backward weights": 4}
LARGE_LAYER = "3x3, 256 to 256, 14x14"

_MFMA = "igemm-m256n256k32-w2x4-b2-mfma32"
_WMMA = "igemm-m128n128k32-w2x4-b2-wmma16"
# For each chip: the share that is required forward (the gradients may have
# GRADIENT_MARGIN less; none where there is no matrix unit), the tile that must
# reach it, and the tile for gradients.
CHIPS = {
    "gfx90a": (0.94, _MFMA, _MFMA),
    "gfx942": (0.90, _MFMA, _MFMA),
    "gfx950": (0.84, "igemm-m256n256k64-w2x4-d2-mfma32", _MFMA),
    "gfx1030": (None, "igemm-m128n128k16-w4x2-b2-fma",
                "igemm-m128n128k16-w4x2-b2-fma"),
    "gfx1100": (0.90, _WMMA, _WMMA),
    "gfx1201": (0.88, _WMMA, _WMMA),
}
GRADIENT_MARGIN = 0.08

# Large tiles below their required share, and the reason why they are accepted.
EXPLAINED = {
    ("gfx950", "backward weights"):
        "gfx950's matrix unit is twice as fast as gfx942's for the same "
        "transposition in registers, which is all that the loop does besides. "
        "Its transposing LDS reads would do without, and without LDS writes; "
        "no copy is made for them yet",
}

REASONS = {
    "a": "the loop computes: addresses of a flat walk, or a transposition",
    "b": "LDS or the loads are the bottleneck: a tile so small reads and loads "
         "each row for few instructions",
    "c": "the tile is small, so that all units have one; its loop is pure, but "
         "has more reads, loads and barriers for each instruction",
    "d": "the chip's issue: nothing is in the loop that the copy does not need",
    "e": "there is no loop (stems): all that the kernel does is counted, its "
         "first loads and its stores included",
}


@dataclasses.dataclass
class Row:
    """One kernel; `report` is the output of analyze_kernel."""
    chip: str
    layer: str
    direction: str
    is_large: bool
    tile: str
    report: dict
    spills: int

    @property
    def wanted(self):
        share = CHIPS[self.chip][0]
        if share is None:
            return None
        return share - (GRADIENT_MARGIN if self.direction != "forward" else 0)

    @property
    def is_below(self):
        """Compares with the share that is printed."""
        return (self.wanted is not None
                and round(self.report["issue_share"], 3) < self.wanted - 1e-9)


# -- compiling --------------------------------------------------------------

def make_problem(layer, direction):
    """A line of MIOpenDriver."""
    return (f"convfp16 -n 64 {LAYERS[layer]} -I NHWC -O NHWC -f NHWC "
            f"-F {DIRECTIONS[direction]}")


def compile_kernel(dnn_opt, problem, chip, tile):
    """(the tile's text, assembly)."""
    with tempfile.NamedTemporaryFile("r", suffix=".s") as output:
        command = [dnn_opt, "--problem", problem, "--target", chip, "--timing",
                   "--stop-after", "isa", "-o", output.name]
        done = subprocess.run(command + (["--tile", tile] if tile else []),
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise KernelError(f"{chip}, {problem}: {done.stderr.strip()}")
        found = re.search(r"^tile +(\S+)$", done.stderr, re.M)
        if not found:
            raise KernelError("dnn-opt --timing names no tile")
        # Opened by its name: the tool replaces the file.
        return found[1], pathlib.Path(output.name).read_text()


def judge(dnn_opt, chip, layer, direction, is_large):
    wanted = CHIPS[chip][1 if direction == "forward" else 2]
    tile, text = compile_kernel(dnn_opt, make_problem(layer, direction), chip,
                                wanted if is_large else None)
    # The first kernel has the loop; one that adds the partial results of
    # split-K may follow.
    kernels = isa_text.parse_metadata(text)[1]
    kernel = isa_text.parse_kernel(text, next(iter(kernels)))
    report = analyze_kernel.analyze(kernel, isa_chips.CHIPS[chip])
    spills = sum(used.get(key, 0) for used in kernels.values()
                 for key in ("vgpr_spill_count", "sgpr_spill_count",
                             "private_segment_fixed_size"))
    return Row(chip, layer, direction, is_large, tile, report, spills)


def judge_all(arguments):
    """Rows in the order of the table."""
    work = [(chip, layer, direction, is_large) for chip in arguments.chips
            for direction in arguments.directions
            for layer in arguments.layers
            for is_large in ([True, False] if layer == LARGE_LAYER else [False])]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        return list(pool.map(
            lambda item: judge(arguments.dnn_opt, *item), work))


# -- the table --------------------------------------------------------------

def get_area(tile):
    """Rows times columns of a GEMM's tile; 0 for other algorithms."""
    found = re.match(r"igemm-m(\d+)n(\d+)k", tile)
    return int(found[1]) * int(found[2]) if found else 0


def explain(row):
    """The letter of REASONS for a row below the required share; else nothing.
    """
    if not row.is_below:
        return ""
    if row.report["region"] == "whole kernel":
        return "e"
    if row.report["busiest"] == "VALU":
        return "a"
    if row.report["busiest"] in ("LDS", "vector memory"):
        return "b"
    mix = row.report["mix"]
    if mix["VALU"] > mix["matrix"] / 2:
        return "a"
    return "c" if get_area(row.tile) < get_area(CHIPS[row.chip][2]) else "d"


def format_row(row):
    report, used = row.report, row.report["resources"]
    mix = report["mix"]
    share = f"{report['issue_share']:.3f}"
    letter = explain(row)
    if row.is_large:
        share = f"**{share}**"
    cells = [row.direction, row.layer, f"`{row.tile}`",
             share + (f" ({letter})" if letter else ""), report["busiest"],
             ", ".join(str(mix[name]) for name in
                       ("matrix", "VALU", "LDS read", "LDS write", "VMEM",
                        "SALU", "wait", "barrier")),
             f"{used['vgprs']} ({used['agprs']}), {used['sgprs']}",
             str(used["lds_bytes"]),
             f"{report['occupancy']['waves_per_simd']:g}", str(row.spills)]
    return "| " + " | ".join(cells) + " |"


def format_note(note):
    return textwrap.fill(note, 90, initial_indent="- ", subsequent_indent="  ",
                         break_on_hyphens=False)


def format_chip(chip, rows):
    share = CHIPS[chip][0]
    wanted = ("No share is wanted: it has no matrix unit, and the share is that "
              "of multiply-adds." if share is None else
              f"Wanted: {share:.2f} forward, {share - GRADIENT_MARGIN:.2f} of "
              "the gradients.")
    lines = [f"## {chip}", "", wanted, "",
             "| direction | layer | tile | share | busiest | mix | VGPR (AGPR), "
             "SGPR | LDS | waves | spills |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    lines += [format_row(row) for row in rows]
    letters = sorted({explain(row) for row in rows} - {""})
    notes = [f"({letter}) {REASONS[letter]}." for letter in letters]
    notes += [f"The large tile of {direction}: {EXPLAINED[chip, direction]}."
              for direction in dict.fromkeys(
                  row.direction for row in rows
                  if row.is_large and row.is_below)
              if (chip, direction) in EXPLAINED]
    lines += [""] + [format_note(note) for note in notes]
    return "\n".join(lines).rstrip() + "\n"


def format_table(rows):
    head = """# Inner loops of eight layers

Made by `tools/dev/report_kernels.py --write`; do not edit. Layers of ResNet-50,
batch 64, f16, NHWC, with the compiler's own tile; **bold** is the layer with the
largest tile of the chip. No GPU was used:
[performance.md](../../../../docs/performance.md#amds-chips-counted-and-not-timed) says
what the figures mean.

- *share*: issue clocks on the matrix unit; with a letter where it is below the wanted.
- *mix*: matrix, VALU, LDS reads, LDS writes, loads, scalar, waits, barriers of a body.
- *LDS* in bytes, *waves* of a SIMD.
"""
    chips = list(dict.fromkeys(row.chip for row in rows))
    return "\n".join([head] + [
        format_chip(chip, [row for row in rows if row.chip == chip])
        for chip in chips])


def find_faults(rows):
    """One sentence for each kernel that may not be as it is."""
    faults = []
    for row in rows:
        name = f"{row.chip}, {row.direction}, {row.layer}, {row.tile}"
        if row.spills:
            faults.append(f"{name}: spills {row.spills}")
        is_explained = (row.chip, row.direction) in EXPLAINED
        if row.is_large and row.is_below and not is_explained:
            faults.append(f"{name}: a share of {row.report['issue_share']:.3f}, "
                          f"but {row.wanted:.2f} is wanted")
    return faults


# -- the command ------------------------------------------------------------

def make_sample(share, tile, busiest="matrix unit", valu=0,
                region="inner loop", **changes):
    """A row for the self-test."""
    report = {"issue_share": share, "busiest": busiest, "region": region,
              "mix": {"matrix": 32, "VALU": valu}}
    return dataclasses.replace(
        Row("gfx942", LARGE_LAYER, "forward", False, tile, report, 0), **changes)


def self_test():
    """Every reason is distinguished, and every fault found."""
    small = "igemm-m64n64k32-w1x2-b2-mfma32"
    assert explain(make_sample(0.90, small)) == ""
    assert explain(make_sample(0.16, small, "VALU", 99)) == "a"
    assert explain(make_sample(0.80, small, valu=17)) == "a"
    assert explain(make_sample(0.68, small, "LDS")) == "b"
    assert explain(make_sample(0.85, small)) == "c"
    assert explain(make_sample(0.85, _MFMA)) == "d"
    assert explain(make_sample(0.5, "stem-x", region="whole kernel")) == "e"
    assert not find_faults([make_sample(0.5, small)])
    assert "0.89" in find_faults([make_sample(0.894, _MFMA, is_large=True)])[0]
    # The gradients may have a lower share, and a chip without a matrix unit
    # any.
    for change in ({"direction": "backward data"}, {"chip": "gfx1030"}):
        assert not find_faults([make_sample(0.83, _MFMA, is_large=True,
                                            **change)])
    assert max(map(len, format_note("a word " * 40).splitlines())) <= 90
    known = {"chip": "gfx950", "direction": "backward weights"}
    assert not find_faults([make_sample(0.7, _MFMA, is_large=True, **known)])
    assert "spills 3" in find_faults([make_sample(0.9, small, spills=3)])[0]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--self-test", action="store_true",
                        help="test this script instead of the compiler")
    parser.add_argument("--dnn-opt", default=_ROOT / "build/dev/bin/dnn-opt",
                        help="the compiler")
    parser.add_argument("--write", action="store_true",
                        help=f"write {_TABLE} instead of printing it")
    parser.add_argument("--jobs", type=int, default=2)
    for name, table in (("chips", CHIPS), ("layers", LAYERS),
                        ("directions", DIRECTIONS)):
        parser.add_argument(f"--{name}", nargs="+", choices=list(table),
                            default=list(table), metavar="NAME",
                            help="only these of " + "; ".join(table))
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    if arguments.self_test:
        self_test()
        print("report_kernels: self-test passed")
        return 0
    try:
        rows = judge_all(arguments)
    except (KernelError, OSError, ValueError) as error:
        print(f"report_kernels: {error}", file=sys.stderr)
        return 2
    table = format_table(rows)
    if arguments.write:
        (_ROOT / _TABLE).parent.mkdir(exist_ok=True)
        (_ROOT / _TABLE).write_text(table)
    else:
        print(table, end="")
    faults = find_faults(rows)
    for fault in faults:
        print(f"report_kernels: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
