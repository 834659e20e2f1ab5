#!/usr/bin/env python3
"""Predicted times of convolutions on an AMD chip: a problem's own kernel beside that for unknown sizes.

    family_clock.py [--bin build/ci/bin] [--chip gfx942] [--batch 1] [--only REGEX] [--cycles FILE] [--out FILE]

Problems and layouts are those of family_cycles.py, and dnn-emu --time predicts each launch (docs/guides/amd-clock.md).
A launch's arguments are evaluated here for the sizes of the problem. With --cycles, a table of family_cycles.py, its
columns come first in the output.
"""

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile

import family_cycles

FUNCTION = re.compile(r"gpu\.func @(\w+)\((.*?)\) (?:workgroup\(.*?\) )?kernel attributes \{(.*)\} \{")
ARGUMENT = re.compile(r"%arg\d+: [^{]*\{((?:[^{}\"]|\"[^\"]*\")*)\}")
KNOWN_GRID = re.compile(r"known_grid_size = array<i32: (\d+), (\d+), (\d+)>")
OPERATORS = {"+": lambda a, b: a + b, "-": lambda a, b: max(0, a - b), "*": lambda a, b: a * b,
             "/": lambda a, b: a // b, "^": lambda a, b: -(-a // b)}


def run(command, **more):
    done = subprocess.run(command, text=True, capture_output=True, check=False, **more)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout


def make_divisor(divisor):
    """As runtime/Base/SizeExpr.cpp does."""
    shift = (divisor - 1).bit_length()
    return shift << 32 | ((1 << (31 + shift)) + divisor - 1) // divisor


def evaluate(text, sizes):
    """A postfix expression (runtime/Base/SizeExpr.h) of sizes by tensor and dimension."""
    stack = []
    for word in text.split("."):
        if word in OPERATORS:
            right, left = stack.pop(), stack.pop()
            stack.append(OPERATORS[word](left, right))
        else:
            stack.append(int(word) if word.isdigit() else sizes[word])
    return stack.pop()


def make_sizes(batch, numbers, layout):
    """Sizes such as "xd2" of x and y, and the bytes of the tensors in f16."""
    c, h, w, k, y, x, p, q, u, v, l, j, g = map(int, numbers)
    out = [(size + 2 * pad - (side - 1) * dilation - 1) // stride + 1
           for size, pad, side, dilation, stride in ((h, p, y, l, u), (w, q, x, j, v))]
    sizes = {}
    for tensor, channels, image in (("x", c, [h, w]), ("y", k, out)):
        dims = [batch, channels, *image] if layout == "nchw" else [batch, *image, channels]
        sizes.update({f"{tensor}d{i}": size for i, size in enumerate(dims)})
    return sizes, {"x": 2 * batch * c * h * w, "w": 2 * k * c // g * y * x, "y": 2 * batch * k * out[0] * out[1]}


def make_argument(attributes, sizes, tensors):
    """dnn-emu's word for an argument."""
    name = re.search(r'dnn\.arg = "([^"]*)"', attributes)[1]
    kind, _, text = name.partition("=")
    if kind == "size":
        return f"i64:{evaluate(text, sizes)}"
    if kind == "divisor":
        return f"i64:{make_divisor(evaluate(text, sizes))}"
    if name in tensors:
        return f"buffer:{tensors[name]}"
    asked = re.search(r'dnn\.bytes = (?:(\d+)|"([^"]*)")', attributes)
    return f"buffer:{asked[1] or evaluate(asked[2], sizes)}"


def predict(options, config, sizes, tensors):
    """Microseconds of all launches of a problem, by kernel."""
    compile_it = [os.path.join(options.bin, "dnn-opt"), "--problem", config, "--target", options.chip]
    times = {}
    with tempfile.TemporaryDirectory() as folder:
        code, out = os.path.join(folder, "code"), os.path.join(folder, "time.json")
        text = run([*compile_it, "--stop-after", "gpu"])
        run([*compile_it, "-o", code])
        for name, arguments, attributes in FUNCTION.findall(text):
            grid = KNOWN_GRID.search(attributes)
            workgroups = re.search(r'dnn\.workgroups = "([^"]*)"', attributes)
            shape = ",".join(grid.groups()) if grid else str(evaluate(workgroups[1], sizes))
            command = [os.path.join(options.bin, "dnn-emu"), code, "--kernel", name, "--grid", shape, f"--time={out}"]
            for argument in ARGUMENT.findall(arguments):
                command += ["--arg", make_argument(argument, sizes, tensors)]
            run(command)
            with open(out, encoding="utf-8") as file:
                times[name] = json.load(file)["predicted_us"]
            os.remove(out)
    return times


def find_configs(options, numbers, layout, direction):
    """The network configs of a problem and of its family, of which few pixels are another one."""
    c, h, w, k, y, x, p, q, u, v, l, j, g = numbers
    window = f"-k{k}y{y}x{x}-p{p}x{q}-s{u}x{v}-d{l}x{j}-g{g}"
    head = f"conv-{direction}-f16-{layout},{layout},{layout}-"
    chosen = argparse.Namespace(bin=options.bin, device=f"emulated:{options.chip}", batch=options.batch, groups=1)
    names = family_cycles.run(chosen, numbers, layout.upper(), direction, "keep")[1]
    small = "-small" if any("_small" in name for name in names) else ""
    return f"{head}n{options.batch}c{c}h{h}w{w}{window}", f"{head}n?c{c}h?w?{window}{small}"


def read_cycles(path):
    """The lines of a table of family_cycles.py, by layout, name and direction."""
    rows = {}
    if path:
        with open(path, encoding="utf-8") as file:
            for line in file:
                fields = line.rstrip("\n").split("\t")
                if len(fields) >= 6 and fields[3].isdigit():
                    rows[tuple(fields[:3])] = fields[3:6]
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/ci/bin")
    parser.add_argument("--chip", default="gfx942")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--only", default="", help="problems whose 'layout name direction' matches")
    parser.add_argument("--cycles", help="a table of family_cycles.py")
    parser.add_argument("--out", help="a file for the lines")
    options = parser.parse_args()
    cycles = read_cycles(options.cycles)
    more = "own_cycles\tfamily_cycles\tratio\t" if options.cycles else ""
    lines = [f"layout\tname\tdirection\t{more}own_us\tfamily_us\tratio_us"]
    ratios = {}
    for layout in ("nchw", "nhwc"):
        for direction in family_cycles.DIRECTIONS:
            for name, numbers in family_cycles.read_problems():
                if not re.search(options.only, f"{layout} {name} {direction}"):
                    continue
                sizes, tensors = make_sizes(options.batch, numbers, layout)
                own, family = (predict(options, config, sizes, tensors)
                               for config in find_configs(options, numbers, layout, direction))
                times = sum(own.values()), sum(family.values())
                ratios.setdefault((layout, direction), []).append(times[0] / times[1])
                columns = [layout, name, direction, *cycles.get((layout, name, direction), []),
                           f"{times[0]:.1f}", f"{times[1]:.1f}", f"{times[0] / times[1]:.2f}"]
                lines.append("\t".join(columns))
                print(lines[-1], *(f"{time:.1f}" for time in family.values()), sep="\t", flush=True)
    for (layout, direction), values in ratios.items():
        mean = math.exp(sum(map(math.log, values)) / len(values))
        print(f"# {layout} {direction}: geometric mean {mean:.3f}, least {min(values):.2f}, "
              f"{sum(value < 0.6 for value in values)} of {len(values)} below 0.6")
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
