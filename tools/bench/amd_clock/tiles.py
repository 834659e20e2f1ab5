#!/usr/bin/env python3
"""Predicts the best tiles of many problems on an AMD chip, for tools/dnn-fit.

  tiles.py draw --databases DIR [--half fit] [--count 100]  problems as driver lines
  tiles.py run LINES --out TILES.csv [--most 12]            predicts their tiles
  tiles.py selftest                                         of this tool

Problems are drawn from AMD's find database, of all directions, f16 and f32, half
of them with channels last. A hash of the problem says whether it is for the fit or
judges it. Of each problem the tiles are taken that the compiler ranks best, up to
--factor times the least cost. TILES.csv is a table of dnn-tune, whose values are
predicted clocks without a launch; what it has is not done again. ours.py says how one is predicted.
"""

import argparse
import hashlib
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import ours
from records import Refused, parse_key

HEADER = "problem,device,rank,tile,model_cost,value,spread,unit,failure"
# Of a chip, clocks of a millisecond and of a launch, which all tiles have alike
# and costs do not contain.
CLOCKS = {"gfx942": (2.1e6, 10500), "gfx90a": (1.7e6, 6800)}
NAMES = {1: "fwd", 2: "bwd", 4: "wrw"}
TYPES = {"convfp16": "f16", "convbfp16": "bf16", "conv": "f32"}
LEAST_MS = 0.05


def hash_of(text):
    return hashlib.sha256(text.encode()).digest()


def draw(best, half, count):
    """As many problems of each type, direction and layout, one after the other."""
    cells = {}
    for key in sorted(best, key=lambda key: hash_of("tiles " + key)):
        try:
            p = parse_key(key)
        except Refused:
            continue
        if best[key][0] < LEAST_MS or p.groups > 1 or p.bytes > 1e9 or p.is_nhwc:
            continue
        if (hash_of("half of tiles " + key)[0] % 2 == 0) == (half == "fit"):
            cells.setdefault((p.type, p.direction), []).append(p)
    rank = 0
    while rank * len(cells) < count:
        for cell in sorted(cells):
            if rank < len(cells[cell]):
                line = ours.problem_line(cells[cell][rank])
                yield line if rank % 2 else line.replace("NCHW", "NHWC")
        rank += 1


def parse_line(line):
    """The options of a driver line, and the sizes in bytes of its tensors."""
    words = line.split()
    o = {words[i][1:]: words[i + 1] for i in range(1, len(words) - 1, 2)}
    get = lambda name, default=1: int(o.get(name, default))
    width = 4 if words[0] == "conv" else 2
    out = [(get(size) + 2 * get(pad, 0) - get(dilation) * (get(taps) - 1) - 1)
           // get(stride) + 1 for size, pad, dilation, taps, stride in
           (("H", "p", "l", "y", "u"), ("W", "q", "j", "x", "v"))]
    sizes = {"x": get("n") * get("c") * get("H") * get("W"),
             "w": get("k") * get("c") // get("g") * get("y") * get("x"),
             "y": get("n") * get("k") * out[0] * out[1]}
    layouts = ",".join(o[name].lower() for name in ("I", "f", "O"))
    config = (f"conv-{NAMES[get('F')]}-{TYPES[words[0]]}-{layouts}-n{get('n')}"
              f"c{get('c')}h{get('H')}w{get('W')}-k{get('k')}y{get('y')}x{get('x')}"
              f"-p{get('p', 0)}x{get('q', 0)}-s{get('u')}x{get('v')}"
              f"-d{get('l')}x{get('j')}-g{get('g')}")
    return config, {name: size * width for name, size in sizes.items()}


def list_tiles(options, line):
    text = ours.run([options.opt, "--problem", line, "--target", options.chip,
                     "--list-tiles", "100"])
    rows = [row.split() for row in text.splitlines() if row.strip()]
    rows = [(row[0], float(row[-1])) for row in rows]
    least = rows[0][1]
    return [row for row in rows if row[1] <= options.factor * least and
            not row[0].startswith("general")][:options.most]


def command_draw(options):
    best = ours.find_best(options.databases)
    for line in draw(best, options.half, options.count):
        print(line)


def command_run(options):
    out = pathlib.Path(options.out)
    of_ms, of_launch = CLOCKS[options.chip]
    done = set(re.findall(r'^"(.*?)"', out.read_text(), re.M)) if out.exists() \
        else set()
    lines = pathlib.Path(options.lines).read_text().splitlines()
    with out.open("a") as file, tempfile.TemporaryDirectory() as folder:
        if not done:
            print(HEADER, file=file)
        for line in filter(None, lines):
            config, sizes = parse_line(line)
            if config in done:
                continue
            rows = []
            for rank, (tile, cost) in enumerate(list_tiles(options, line)):
                try:
                    row = ours.predict_tile(options, line, sizes, tile,
                                            pathlib.Path(folder))
                except ours.Failed as reason:
                    print(f"{line} {tile}: {reason}", file=sys.stderr)
                    continue
                clocks = row["ms"] * of_ms - of_launch
                rows.append(f'"{config}",{options.chip},{rank},{tile},{cost:.0f},'
                            f"{clocks:.0f},0,cycles,")
            if rows:
                print("\n".join(rows), file=file, flush=True)


def command_selftest(_):
    config, sizes = parse_line("convfp16 -n 2 -c 8 -H 7 -W 7 -k 16 -y 3 -x 3 -p 1 "
                               "-q 1 -u 2 -v 2 -I NHWC -O NHWC -f NHWC -F 4")
    assert config == ("conv-wrw-f16-nhwc,nhwc,nhwc-n2c8h7w7-k16y3x3-p1x1-s2x2-d1x1-g1")
    assert sizes == {"x": 1568, "w": 2304, "y": 1024}
    print("ok")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("draw")
    command.set_defaults(function=command_draw)
    command.add_argument("--databases", required=True)
    command.add_argument("--half", default="fit", choices=["fit", "judge"])
    command.add_argument("--count", type=int, default=100)
    command = commands.add_parser("run")
    command.set_defaults(function=command_run)
    command.add_argument("lines")
    command.add_argument("--out", required=True)
    command.add_argument("--chip", default=ours.CHIP, choices=list(CLOCKS))
    command.add_argument("--opt", default="dnn-opt")
    command.add_argument("--emulator", default="dnn-emu")
    command.add_argument("--most", type=int, default=12)
    command.add_argument("--factor", type=float, default=3)
    command = commands.add_parser("selftest")
    command.set_defaults(function=command_selftest)
    options = parser.parse_args()
    options.function(options)


if __name__ == "__main__":
    main()
