#!/usr/bin/env python3
"""Judges the kernels of four layers in NCHW beside those in NHWC.

In NCHW most loads have two bytes. They hold the address unit and L1 for longer
than the bytes are worth, which the share of issue clocks (analyze_kernel.py)
does not see: the emulated device counts the clocks of both in the main loop.
Launches that transpose are counted by the cost model, at the rate of memory.
The table in tools/bench/results/amd/layout-shares.md is the output of

    tools/dev/report_layouts.py --write

Without --write the table goes to stdout.
"""

import argparse
import concurrent.futures
import dataclasses
import pathlib
import re
import subprocess
import sys
import tempfile

import analyze_kernel
import isa_chips
import isa_text
from isa_text import KernelError
from report_kernels import DIRECTIONS, LAYERS as ALL_LAYERS, compile_kernel

_ROOT = pathlib.Path(__file__).resolve().parents[2]
_TABLE = "tools/bench/results/amd/layout-shares.md"

LAYERS = ["3x3, 512 to 512, 7x7", "3x3, 256 to 256, 14x14",
          "3x3, 64 to 64, 56x56", "1x1, 64 to 256, 56x56"]
CHIPS = ["gfx90a", "gfx942", "gfx1100", "gfx1201"]
# What a tile leaves of the layouts of the problem: options for its kernel.
_LAST = "-I NHWC -O NHWC -f NHWC"
_FILTER_LAST = "-f NHWC"
# The loops need no data, but memory for the largest tensor of LAYERS.
_BUFFER_BYTES = 64 * 256 * 56 * 56 * 2
_WORKGROUPS = 2
_MATRIX = re.compile(r"v_(mfma|wmma)")


@dataclasses.dataclass
class Loop:
    """One iteration of a main loop: clocks of a SIMD's matrix unit, and of the
    address unit and L1 of a compute unit with a wave on each SIMD."""
    share: float  # Of issue clocks, on the matrix unit.
    matrix: float
    address: float
    lines: float
    lines_per_load: float

    @property
    def reached(self):
        """The share that issue, address unit and L1 allow."""
        return min([self.share] + [self.matrix / clocks for clocks in
                                   (self.address, self.lines) if clocks])


@dataclasses.dataclass
class Row:
    chip: str
    direction: str
    layer: str
    layout: str
    tile: str
    loop: Loop
    kernel_clocks: int    # Of the whole chip, by the cost model.
    launch_clocks: int    # Of the launches that transpose.

    @property
    def clocks(self):
        return self.kernel_clocks + self.launch_clocks


# -- the emulated device ----------------------------------------------------

def parse_profile(text):
    """(executions, lines, address clocks, instruction) of the instructions of
    the hottest loop, and of those of the whole kernel."""
    def parse(part):
        found = re.findall(r"^ *(\d+) +[\d.]+ +\d+ +[\d.]+ +(\d+) +(\d+) +\d+"
                           r"  0x[0-9a-f]+  (.*)$", part, re.M)
        return [(int(times), int(lines), int(clocks), text)
                for times, lines, clocks, text in found]

    loop, _, whole = text.partition("whole kernel")
    return parse(loop), parse(whole)


def measure_loop(chip, report, profile):
    """A Loop from the static report and the profile of one kernel. The loads
    are those of the whole kernel, divided by iterations: the first come before
    the loop, and its last find nothing in range."""
    loop, whole = profile
    matrix = [times for times, *_, text in loop if _MATRIX.match(text)]
    if len(matrix) != report["mix"]["matrix"]:
        raise KernelError("the hottest loop is not the main loop")
    loads = [row for row in whole if re.match(r"(buffer|global)_load", row[3])]
    # Those that find nothing in range have no lines and no clocks.
    busy = sum(times for times, lines, *_ in loads if lines)
    lines = sum(row[1] for row in loads)
    simds = chip.simds / chip.compute_units
    l1_bytes = chip.memory_clock_bytes / chip.compute_units
    return Loop(report["issue_share"], report["unit_clocks"],
                simds * sum(row[2] for row in loads) / matrix[0],
                simds * lines / matrix[0] * chip.line_bytes / l1_bytes,
                lines / busy)


def run_tool(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise KernelError(f"{command[0]}: {done.stderr.strip()}")
    return done.stdout


def profile_kernel(tools, problem, chip, tile, name):
    with tempfile.TemporaryDirectory() as folder:
        file = str(pathlib.Path(folder) / "kernel.hsaco")
        run_tool(tools.dnn_opt, "--problem", problem, "--target", chip,
                 "--tile", tile, "-o", file)
        listing = run_tool(tools.dnn_emu, file, "--list")
        own = re.search(rf"^{re.escape(name)}\n((?:  .*\n)*)", listing, re.M)
        buffers = own[1].count("global_buffer")
        return parse_profile(run_tool(
            tools.dnn_emu, file, "--kernel", name, "--grid",
            str(_WORKGROUPS), "--profile",
            *["--arg", f"buffer:{_BUFFER_BYTES}"] * buffers))


# -- the rows ---------------------------------------------------------------

def list_tiles(tools, problem, chip):
    """[(tile, clocks of the cost model)], the cheapest first."""
    text = run_tool(tools.dnn_opt, "--problem", problem, "--target", chip,
                    "--list-tiles", "1000", "-o", "-")
    return [(tile, int(clocks)) for tile, clocks in
            (line.split() for line in text.splitlines())]


def put_outputs_last(layer):
    """The option for a filter whose output channels are neighbours."""
    outputs, height, width = (int(re.search(rf"-{flag} (\d+)", layer)[1])
                              for flag in "kyx")
    return (f"--fil_strides 1,{height * width * outputs},{width * outputs},"
            f"{outputs}")


def get_inner(tile, direction, layer):
    """(options for layouts, tile) of the kernel that computes the product."""
    if tile.startswith("nhwc-w-"):
        # Backward data reduces over output channels.
        return (put_outputs_last(layer) if direction == "backward data" else
                _FILTER_LAST), tile.removeprefix("nhwc-w-")
    if tile.startswith("nhwc-"):
        return _LAST, tile.removeprefix("nhwc-")
    return "", tile


def make_row(tools, chip, direction, layer, layout, tile, clocks):
    problem = f"convfp16 -n 64 {ALL_LAYERS[layer]} -F {DIRECTIONS[direction]} "
    options, inner = (_LAST, tile) if layout == "NHWC" else get_inner(
        tile, direction, ALL_LAYERS[layer])
    problem += options
    _, text = compile_kernel(tools.dnn_opt, problem, chip, inner)
    name = next(iter(isa_text.parse_metadata(text)[1]))
    report = analyze_kernel.analyze(isa_text.parse_kernel(text, name),
                                    isa_chips.CHIPS[chip])
    profile = profile_kernel(tools, problem, chip, inner, name)
    kernel = (clocks if inner == tile else
              dict(list_tiles(tools, problem, chip))[inner])
    return Row(chip, direction, layer, layout, tile,
               measure_loop(isa_chips.CHIPS[chip], report, profile), kernel,
               clocks - kernel)


def make_rows(tools, chip, direction, layer):
    """The choice in NHWC, the choice in NCHW, and igemm if that is not it."""
    problem = f"convfp16 -n 64 {ALL_LAYERS[layer]} -F {DIRECTIONS[direction]} "
    wanted = [("NHWC", *list_tiles(tools, problem + _LAST, chip)[0])]
    first, *others = list_tiles(tools, problem, chip)
    wanted.append(("NCHW", *first))
    if not first[0].startswith("igemm-"):
        wanted.append(("NCHW", *next(
            pair for pair in others if pair[0].startswith("igemm-"))))
    return [make_row(tools, chip, direction, layer, *row) for row in wanted]


def make_all(arguments):
    work = [(chip, direction, layer) for chip in arguments.chips
            for direction in arguments.directions for layer in arguments.layers]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        return list(pool.map(
            lambda item: make_rows(arguments, *item), work))


# -- the table --------------------------------------------------------------

def format_row(row, base):
    loop = row.loop
    cells = [row.direction, row.layer, row.layout, f"`{row.tile}`",
             f"{loop.share:.3f}", f"{loop.matrix:.0f}", f"{loop.address:.0f}",
             f"{loop.lines:.0f}", f"{loop.lines_per_load:.1f}",
             f"{loop.reached:.3f}", f"{row.kernel_clocks / 1000:.0f}",
             f"{row.launch_clocks / 1000:.0f}",
             f"{base.clocks / row.clocks:.2f}"]
    return "| " + " | ".join(cells) + " |"


def format_table(groups):
    lines = ["""# NCHW beside NHWC

Made by `tools/dev/report_layouts.py --write`; do not edit. Layers of ResNet-50,
batch 64, f16, with the compiler's own tile for each layout, and `igemm` where the
choice in NCHW is another. No GPU was used.

- *share*: issue clocks on the matrix unit, as in [kernel-shares.md](kernel-shares.md).
- *matrix*: clocks of a SIMD's matrix unit for one iteration of the main loop.
- *address*, *L1*: clocks of the address unit, and of L1 for whole lines, of a compute
  unit with a wave on each SIMD: the emulated device's counts of the loop
  ([emulator.md](../../../../docs/guides/emulator.md)); *lines*: of a load of a wave.
- *loop*: the share that issue, address unit and L1 allow, the least of the three.
- *kernel*, *launches*: thousands of clocks of the whole chip by the cost model; what
  is transposed is read and written at the rate of memory (`GemmRates.def`), and a
  launch begins in as many clocks as one that adds splits. *of NHWC*: the clocks of the
  row in NHWC over both.
"""]
    for chip in dict.fromkeys(group[0].chip for group in groups):
        lines += [f"## {chip}", "",
                  "| direction | layer | layout | tile | share | matrix | address "
                  "| L1 | lines | loop | kernel | launches | of NHWC |",
                  "|" + " --- |" * 13]
        lines += [format_row(row, group[0]) for group in groups
                  if group[0].chip == chip for row in group]
        lines.append("")
    return "\n".join(lines)


# -- the command ------------------------------------------------------------

def self_test():
    """A profile is read, and the tightest limit decides."""
    text = """hottest loop: 90.0 % of all clocks
     times  lanes       clocks      %   segments    address  conflicts  instruction
        10   64.0         1240    9.3        620        160          0  0x1550  buffer_load_ushort v4, v3, s[0:3], 0 offen
        10   64.0          320    9.3          0          0          0  0x1558  v_mfma_f32_32x32x8_f16 v[0:15], v[0:1], v[2:3], v[0:15]
whole kernel
         2   64.0            8    9.3          0          0          0  0x1540  buffer_load_ushort v4, v3, s[0:3], 0 offen
        10   64.0         1240    9.3        620        160          0  0x1550  buffer_load_ushort v4, v3, s[0:3], 0 offen
        10   64.0          320    9.3          0          0          0  0x1558  v_mfma_f32_32x32x8_f16 v[0:15], v[0:1], v[2:3], v[0:15]
         2   64.0           48    9.3          4          8          0  0x1560  buffer_store_short v4, v3, s[0:3], 0 offen
"""
    profile = parse_profile(text)
    assert len(profile[0]) == 2 and profile[0][0][:3] == (10, 620, 160)
    assert len(profile[1]) == 4
    report = {"issue_share": 0.8, "unit_clocks": 32, "mix": {"matrix": 1}}
    loop = measure_loop(isa_chips.CHIPS["gfx942"], report, profile)
    # 16 clocks on each of four SIMDs, and 62 lines of 128 bytes at 64 a clock.
    assert (loop.address, loop.lines, loop.lines_per_load) == (64, 496, 62)
    assert loop.reached == 32 / 496
    base = Row("gfx942", "forward", LAYERS[0], "NHWC", "t", loop, 30, 0)
    row = dataclasses.replace(base, layout="NCHW", launch_clocks=10)
    assert format_row(row, base).endswith("| 0.065 | 0 | 0 | 0.75 |")
    layer = ALL_LAYERS[LAYERS[0]]
    assert get_inner("nhwc-w-igemm-a", "forward", layer) == (
        _FILTER_LAST, "igemm-a")
    assert get_inner("nhwc-w-igemm-a", "backward data", layer) == (
        "--fil_strides 1,4608,1536,512", "igemm-a")
    assert get_inner("nhwc-igemm-a", "forward", layer) == (_LAST, "igemm-a")
    assert get_inner("igemm-a", "forward", layer) == ("", "igemm-a")
    try:
        measure_loop(isa_chips.CHIPS["gfx942"],
                     {**report, "mix": {"matrix": 2}}, profile)
        assert False, "another loop is not noticed"
    except KernelError:
        pass


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--self-test", action="store_true",
                        help="test this script instead of the compiler")
    for name in ("dnn-opt", "dnn-emu"):
        parser.add_argument(f"--{name}", default=_ROOT / "build/dev/bin" / name,
                            help="the program")
    parser.add_argument("--write", action="store_true",
                        help=f"write {_TABLE} instead of printing it")
    parser.add_argument("--jobs", type=int, default=2)
    for name, table in (("chips", CHIPS), ("layers", LAYERS),
                        ("directions", list(DIRECTIONS))):
        parser.add_argument(f"--{name}", nargs="+", choices=table,
                            default=table, metavar="NAME",
                            help="only these of " + "; ".join(table))
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    if arguments.self_test:
        self_test()
        print("report_layouts: self-test passed")
        return 0
    try:
        table = format_table(make_all(arguments))
    except (KernelError, OSError, ValueError) as error:
        print(f"report_layouts: {error}", file=sys.stderr)
        return 2
    if arguments.write:
        (_ROOT / _TABLE).write_text(table)
    else:
        print(table, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
