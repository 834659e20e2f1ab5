#!/usr/bin/env python3
"""Predicts our kernels' times on an MI300X, beside the best that AMD measured.

  ours.py layers [--databases DIR] [--tiles N]     ResNet-50's layers, as a table
  ours.py corpus --databases DIR [--count 200]     problems drawn from AMD's find
                                                   database, and their geomean
  ours.py selftest                                 of this tool, without any file

A problem is compiled by dnn-opt (--opt) with the tile that the compiler chooses;
with --tiles N the N tiles that it ranks best are tried, and the one is taken that
dnn-emu (--emulator) predicts to be fastest. The launches are those of the stage
"gpu". All of a chain are added; of the band, too. DIR is a folder with the files
of MIOpen's src/kernels (amd_clock.py). What is printed of ours is predicted, and
what is printed of AMD's is measured: their ratio is no comparison of speeds.
"""

import argparse
import json
import math
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import launches
from records import Refused, parse_key, read_find_db

CHIP = "gfx942"
# Name, channels, rows and columns, filters, filter's side, stride.
LAYERS = (("3x3, 64 channels, 56x56", 64, 56, 64, 3, 1),
          ("3x3, 128, 28x28", 128, 28, 128, 3, 1),
          ("3x3, 256, 14x14", 256, 14, 256, 3, 1),
          ("3x3, 512, 7x7", 512, 7, 512, 3, 1),
          ("1x1, 1024 to 256, 14x14", 1024, 14, 256, 1, 1),
          ("7x7, 3 to 64, 224x224", 3, 224, 64, 7, 2))
BATCH = 256
DIRECTIONS = {"F": 1, "B": 2, "W": 4}
DRIVERS = {"FP16": "convfp16", "BF16": "convbfp16", "FP32": "conv"}
FUNCTION = re.compile(r"gpu\.func @(\w+)\((.*?)\) (?:workgroup\(.*?\) )?kernel "
                      r"attributes \{(.*)\} \{")
GRID = re.compile(r"known_grid_size = array<i32: (\d+), (\d+), (\d+)>")


class Failed(Exception):
    """A problem that could not be compiled or predicted."""


def layer_line(layer, direction, layout):
    _, c, size, k, side, stride = layer
    return (f"convfp16 -n {BATCH} -c {c} -H {size} -W {size} -k {k} -y {side} "
            f"-x {side} -p {side // 2} -q {side // 2} -u {stride} -v {stride} "
            f"-I {layout} -O {layout} -f {layout} -F {DIRECTIONS[direction]}")


def layer_bytes(layer):
    _, c, size, k, side, stride = layer
    out = size // stride
    return {"x": 2 * BATCH * c * size * size, "w": 2 * k * c * side * side,
            "y": 2 * BATCH * k * out * out}


def problem_line(p):
    layout = "NHWC" if p.is_nhwc else "NCHW"
    return (f"{DRIVERS[p.type]} -n {p.n} -c {p.c} -H {p.h} -W {p.w} -k {p.k} "
            f"-y {p.y} -x {p.x} -p {p.pads[0]} -q {p.pads[1]} -u {p.strides[0]} "
            f"-v {p.strides[1]} -l {p.dilations[0]} -j {p.dilations[1]} "
            f"-g {p.groups} -I {layout} -O {layout} -f {layout} "
            f"-F {DIRECTIONS[p.direction]}")


def read_launches(text, sizes):
    """Of a module at the stage gpu: kernel, grid and bytes of its buffers."""
    found = []
    for name, arguments, attributes in FUNCTION.findall(text):
        buffers = []
        for attribute in re.findall(r"%arg\d+: [^{]*(\{[^}]*\})", arguments):
            tensor = re.search(r'dnn\.arg = "(\w+)"', attribute)
            size = re.search(r"dnn\.bytes = (\d+)", attribute)
            if not tensor:
                raise Failed("an argument that is no tensor")
            buffers.append(int(size[1]) if size else sizes.get(tensor[1], 0))
        grid = GRID.search(attributes)
        if not grid or not all(buffers):
            raise Failed("a launch of unknown size")
        found.append((name, ",".join(grid.groups()), buffers))
    return found


def run(command):
    done = subprocess.run(command, text=True, capture_output=True)
    if done.returncode:
        raise Failed((done.stderr.strip() or "failed").splitlines()[0])
    return done.stdout


def predict_tile(options, line, sizes, tile, folder):
    """Adds the launches of a problem's tile up."""
    chip = getattr(options, "chip", CHIP)
    compile_it = [options.opt, "--problem", line, "--target", chip]
    if tile:
        compile_it += ["--tile", tile]
    launched = read_launches(run([*compile_it, "--stop-after", "gpu"]), sizes)
    kernels, out = folder / "kernels.co", folder / "time.json"
    run([*compile_it, "-o", str(kernels)])
    total = {"ms": 0.0, "low": 0.0, "high": 0.0, "main": None}
    for name, grid, buffers in launched:
        out.unlink(missing_ok=True)
        run([options.emulator, str(kernels), "--kernel", name, "--grid", grid,
             *(word for size in buffers for word in ("--arg", f"buffer:{size}")),
             f"--time={out}"])
        row = json.loads(out.read_text())
        for key, field in (("ms", "predicted_us"), ("low", "predicted_low_us"),
                           ("high", "predicted_high_us")):
            total[key] += row[field] / 1000
        if not total["main"] or row["predicted_us"] > total["main"]["predicted_us"]:
            total["main"] = row
    return total


def predict(options, line, sizes):
    """The chosen tile, or the best one of several, and its prediction."""
    listed = run([options.opt, "--problem", line, "--target", CHIP, "--list-tiles",
                  str(max(1, options.tiles))])
    tiles = [row.split()[0] for row in listed.splitlines() if row.strip()]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for tile in tiles:
            try:
                found.append((tile, predict_tile(options, line, sizes, tile,
                                                 pathlib.Path(folder))))
            except Failed as reason:
                if tile == tiles[-1] and not found:
                    raise
                print(f"{tile}: {reason}", file=sys.stderr)
    return min(found, key=lambda row: row[1]["ms"])


def find_best(databases):
    """AMD's best milliseconds and their solver, by key; those of the largest
    workspace are no different."""
    best = {}
    path = pathlib.Path(databases, launches.CHIPS[CHIP].find_db)
    for record in read_find_db(path, CHIP):
        if record.ms > 0 and record.ms < best.get(record.key, (math.inf,))[0]:
            best[record.key] = (record.ms, record.solver)
    return best


def find_layer(best, layer, direction, layout):
    """What the database has for a layer."""
    name, c, size, k, side, stride = layer
    for key, row in best.items():
        try:
            p = parse_key(key)
        except Refused:
            continue
        if (p.n, p.c, p.h, p.w, p.k, p.y, p.x) == (BATCH, c, size, size, k, side,
                                                   side) \
                and p.strides == (stride, stride) and p.type == "FP16" \
                and p.direction == direction and p.groups == 1 \
                and p.is_nhwc == (layout == "NHWC") and p.dilations == (1, 1) \
                and p.pads == (side // 2, side // 2):
            return row
    return None


def command_layers(options):
    best = find_best(options.databases) if options.databases else {}
    print("layer\tdirection\tlayout\ttile\tpredicted ms\tlow\thigh\tbound\tmatrix\t"
          "l2\tAMD's best ms, measured\tits solver")
    for layer in LAYERS:
        for direction in DIRECTIONS:
            for layout in ("NHWC", "NCHW"):
                line = layer_line(layer, direction, layout)
                try:
                    tile, row = predict(options, line, layer_bytes(layer))
                except Failed as reason:
                    print(f"{layer[0]}\t{direction}\t{layout}\t{reason}")
                    continue
                ms, solver = find_layer(best, layer, direction, layout) or ("", "")
                main = row["main"]
                print(f"{layer[0]}\t{direction}\t{layout}\t{tile}\t{row['ms']:.3f}\t"
                      f"{row['low']:.3f}\t{row['high']:.3f}\t{main['bound']}\t"
                      f"{main['busy']['matrix']:.2f}\t{main['busy']['l2']:.2f}\t"
                      f"{ms}\t{solver}", flush=True)


def draw(best, count, least_ms):
    """Problems of at least so many milliseconds that both sides can do."""
    keys = sorted(best)
    random.Random(1).shuffle(keys)
    for key in keys:
        try:
            p = parse_key(key)
        except Refused:
            continue
        if best[key][0] >= least_ms and p.bytes < 2e9:
            yield p, best[key]
            count -= 1
            if not count:
                return


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def command_corpus(options):
    best = find_best(options.databases)
    rows = []
    for p, (ms, solver) in draw(best, options.count, options.least_ms):
        line = problem_line(p)
        sizes = {name: size * p.element_bytes
                 for name, size in zip("xwy", p.sizes)}
        try:
            tile, row = predict(options, line, sizes)
        except Failed as reason:
            print(f"{line}\t{reason}")
            continue
        rows.append([ms / row[key] for key in ("ms", "high", "low")])
        print(f"{line}\t{tile}\t{row['ms']:.4f}\t{row['main']['bound']}\t{ms}\t"
              f"{solver}\t{rows[-1][0]:.2f}", flush=True)
    if rows:
        middle, low, high = (geomean(column) for column in zip(*rows))
        print(f"# {len(rows)} problems: AMD's best, measured, over ours, predicted: "
              f"geomean {middle:.2f} ({low:.2f} to {high:.2f})")


def command_selftest(_):
    text = ('gpu.func @k_sum(%arg0: !llvm.ptr<1> {dnn.arg = "x", llvm.noalias}, '
            '%arg1: !llvm.ptr<1> {dnn.arg = "workspace", dnn.bytes = 64 : i64}) '
            'workgroup(%arg2 : memref<8xf16, #gpu.address_space<workgroup>> '
            '{llvm.align = 16 : i64}) kernel attributes {known_block_size = '
            'array<i32: 256, 1, 1>, known_grid_size = array<i32: 3, 1, 1>} {')
    assert read_launches(text, {"x": 32}) == [("k_sum", "3,1,1", [32, 64])]
    try:
        read_launches(text, {})
        raise AssertionError("a buffer without a size was taken")
    except Failed:
        pass
    assert layer_bytes(LAYERS[-1])["y"] == 2 * 256 * 64 * 112 * 112
    assert abs(geomean([2, 8]) - 4) < 1e-9
    print("ok")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for name, function in (("layers", command_layers), ("corpus", command_corpus),
                           ("selftest", command_selftest)):
        command = commands.add_parser(name)
        command.set_defaults(function=function)
        command.add_argument("--opt", default="dnn-opt")
        command.add_argument("--emulator", default="dnn-emu")
        command.add_argument("--tiles", type=int, default=1)
        command.add_argument("--databases", required=name == "corpus")
        command.add_argument("--count", type=int, default=200)
        command.add_argument("--least-ms", type=float, default=0.05)
    options = parser.parse_args()
    options.function(options)


if __name__ == "__main__":
    main()
