#!/usr/bin/env python3
"""Compares the machine code of a list of kernels between two builds.

    compare_kernels.py BEFORE AFTER [--list FILE] [--jobs N]

BEFORE and AFTER are dnn-opt of the two builds. A change that only moves or
renames must leave every kernel of kernels.tsv the same, instruction for
instruction; comments, directives and names of symbols do not count. Prints the
kernels that differ, are made by one build only or by none, and exits 1 if
there are any.
"""

import argparse
import collections
import concurrent.futures
import pathlib
import re
import subprocess
import sys

COMMENT = re.compile(r"\s*(?:;|//|#).*$")
# Directives that name files and sizes of symbols; others (.maxntid,
# .amdhsa_next_free_vgpr) belong to the kernel.
DIRECTIVE = re.compile(r"\s*\.(?:file|ident|asciz|string|loc|size|type|globl"
                       r"|visible|section|p2align|weak|protected|hidden)\b")
SYMBOL = re.compile(r"\.globl\s+(\w+)")


def read_list(path):
    """(target, tile, problem) of each line."""
    lines = path.read_text().splitlines()
    return [tuple(line.split("\t")) for line in lines
            if line and not line.startswith("#")]


def normalize(text):
    """The lines of an assembly text that decide what the kernels do."""
    for number, symbol in enumerate(dict.fromkeys(SYMBOL.findall(text))):
        text = re.sub(rf"\b(?:__wg_)?{symbol}(?=\b|_)", f"kernel{number}", text)
    lines = (COMMENT.sub("", line).rstrip() for line in text.splitlines())
    return [line for line in lines if line and not DIRECTIVE.match(line)]


def make(dnn_opt, kernel):
    """The normalized text of a kernel, or the error of making it."""
    target, tile, problem = kernel
    run = subprocess.run(
        [dnn_opt, "--problem", problem, "--target", target, "--tile", tile,
         "--stop-after", "isa", "-o", "-"], capture_output=True, text=True)
    if run.returncode:
        return None, run.stderr.strip().splitlines()[-1:]
    return normalize(run.stdout), []


def compare(before, after, kernel):
    """What is wrong with a kernel, or nothing."""
    old, old_error = make(before, kernel)
    new, new_error = make(after, kernel)
    if old is None or new is None:
        return "; ".join(f"not made by {name}: {' '.join(error)}"
                         for name, text, error in (("BEFORE", old, old_error),
                                                   ("AFTER", new, new_error))
                         if text is None)
    if not old:
        return "no instructions"
    if old != new:
        return f"{len(old)} lines before, {len(new)} after, which differ"
    return ""


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("--list", type=pathlib.Path,
                        default=pathlib.Path(__file__).with_name("kernels.tsv"))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    kernels = read_list(options.list)
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(
            lambda kernel: compare(options.before, options.after, kernel),
            kernels)
        for number, (kernel, fault) in enumerate(zip(kernels, results), 1):
            if fault:
                wrong += 1
                print(f"{' '.join(kernel[:2])} | {kernel[2]}: {fault}")
            if sys.stderr.isatty():
                print(f"{number} of {len(kernels)}\r", end="", file=sys.stderr)
    families = collections.Counter(tile.split("-")[0] for _, tile, _ in kernels)
    print(f"{len(kernels)} kernels of {len(families)} algorithms and "
          f"{len({kernel[0] for kernel in kernels})} chips, {wrong} differ")
    return 1 if wrong or not kernels else 0


if __name__ == "__main__":
    sys.exit(main())
