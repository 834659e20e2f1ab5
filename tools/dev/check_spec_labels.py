#!/usr/bin/env python3
"""Checks that the numbered constraints of every op are the same everywhere.

A constraint such as conv_c4 is written in four kinds of files, which diverge
without a check:
  docs/spec/<name>.md           a row of the table of constraints, on the one
                                page of the op
  dialect/IR/*.td               a comment /*conv_c4*/ at the operand or attribute
  dialect/IR/*.cpp              a comment /*conv_c4*/ at the check
  test/lit/Dialect/*.mlir       an invalid function @conv_c4
Numbers start at 1 and have no gaps. Exits 1 with one line for each fault.
"""

import collections
import pathlib
import re
import sys
import tempfile

import tree_check

LABEL = r"([a-z]+)_c(\d+)"

# Folder and files of each kind, and the form of a label there. A test function
# may have a suffix (@conv_c2_empty) when a constraint has several cases.
KINDS = {
    "spec": ("docs/spec", "*.md", re.compile(rf"^\| `{LABEL}` \|", re.M)),
    "op": ("dialect/IR", "*.td", re.compile(rf"\b{LABEL}\b(?=[^/\n]*\*/)")),
    "verifier": ("dialect/IR", "*.cpp", re.compile(rf"/\*{LABEL}\*/")),
    "test": ("test/lit/Dialect", "*.mlir", re.compile(rf"@{LABEL}(?:_\w+)?\(")),
}


def collect(root, folder, pattern, regex):
    """The set of numbers found in the files of one kind, for each op."""
    found = collections.defaultdict(set)
    for path in sorted((root / folder).glob(pattern)):
        for op, number in regex.findall(path.read_text()):
            found[op].add(int(number))
    return found


def find_pages(root):
    """The pages that define constraints of each op."""
    pages = collections.defaultdict(list)
    folder, pattern, regex = KINDS["spec"]
    for path in sorted((root / folder).glob(pattern)):
        for op in sorted({op for op, _ in regex.findall(path.read_text())}):
            pages[op].append(path.name)
    return pages


def check(root):
    """Returns (number of labels in the spec, list of faults)."""
    kinds = {name: collect(root, *where) for name, where in KINDS.items()}
    ops = sorted(set().union(*kinds.values()))
    faults = [f"{op} has constraints on several pages: {', '.join(pages)}"
              for op, pages in sorted(find_pages(root).items()) if len(pages) > 1]
    for op in ops:
        known = set().union(*(found[op] for found in kinds.values()))
        for number in sorted(known | set(range(1, max(known) + 1))):
            missing = [n for n, found in kinds.items() if number not in found[op]]
            if missing:
                faults.append(f"{op}_c{number} is missing in: {', '.join(missing)}")
    return sum(len(numbers) for numbers in kinds["spec"].values()), faults


def self_test():
    """The check accepts four kinds that agree and names each that does not."""
    good = {
        "docs/spec/conv.md": "| `conv_c1` | rank |\n| `conv_c2` | size |\n",
        "dialect/IR/A.td": "x /*conv_c1, conv_c2*/\n",
        "dialect/IR/A.cpp": "if (a) /*conv_c1*/\nif (b) /*conv_c2*/\n",
        "test/lit/Dialect/invalid.mlir": "@conv_c1(\n@conv_c2_empty(\n",
    }
    # A second op has a page of its own, which no change to the first one
    # affects.
    other = {
        "docs/spec/pool.md": "| `pool_c1` | rank |\n",
        "dialect/IR/B.td": "x /*pool_c1*/\n",
        "dialect/IR/B.cpp": "if (a) /*pool_c1*/\n",
        "test/lit/Dialect/pool-invalid.mlir": "@pool_c1(\n",
    }
    cases = [(None, None, None)] + [
        (path, text.replace("conv_c2", "conv_c3"), f"conv_c2 is missing in: {name}")
        for (path, text), name in zip(good.items(), KINDS)
    ] + [
        ("docs/spec/pool.md", other["docs/spec/pool.md"] + "| `conv_c1` | rank |\n",
         "conv has constraints on several pages: conv.md, pool.md"),
    ]
    for changed, text, fault in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, content in (good | other).items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text if path == changed else content)
            count, faults = check(root)
        if changed is None:
            assert (count, faults) == (3, []), faults
        else:
            assert fault in faults, (fault, faults)
            assert not any("pool_c1" in line for line in faults), faults


if __name__ == "__main__":
    sys.exit(tree_check.main(check, self_test, "constraints"))
