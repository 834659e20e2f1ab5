#!/usr/bin/env python3
"""Writes the IR in descriptions of ops and passes from the lit tests.

    update_doc_ir.py [--dnn-opt PROGRAM]           writes what differs
    update_doc_ir.py --check [--dnn-opt PROGRAM]   exits 1 if anything differs

Each ```mlir block of a .td file of dialect/ and compiler/, and of docs/spec, is a
region of one lit test:

    // EXAMPLE: dnn.view
    ...
    // EXAMPLE-END

named after the op (dnn.view), the attribute (#dnn.coords), the dialect (dnn), the
pass (dnn-lower-math) or the page (docs/spec/pooling.md); the second block of an op
is the second region of its name. Regions may hold others. Lines of comments for
FileCheck are left out.

The block of a pass has the region under "// Before", and under "// After" the
function in which the region begins, as the pass prints it: by the command in front
of the first pipe of the first RUN line that has the pass. Of a long function the
region chooses lines, the next one each time that has the text, and "..." stands
for those between:

    // EXAMPLE-AFTER: amdgpu.mfma
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

COLUMNS = 92   # Longer lines of output are folded.

FENCE = re.compile(r"^( *)```mlir\n(.*?)^ *```$", re.M | re.S)
NAMES = (   # What a block may belong to: the last one before it.
    (re.compile(r'def \w+ : (?!Wg_)\w*Op<"(\w+)"'), "dnn.{}"),
    (re.compile(r'def \w+ : Wg_Op<"(\w+)"'), "wg.{}"),
    (re.compile(r'let mnemonic = "(\w+)";\n  let summary'), "#dnn.{}"),
    (re.compile(r'def \w+ : Pass<"([\w-]+)"'), "{}"),
    (re.compile(r'def \w+ : Dialect {\n  let name = "(\w+)";'), "{}"),
)
MARK = re.compile(r"\s*// EXAMPLE(-END|-AFTER)?(?:: (.*))?$")
CHECK = re.compile(r"\s*// [A-Z][A-Z0-9]*(-[A-Z]+)*(-\d+)?:")
FUNCTION = re.compile(r"func\.func (?:\w+ )?@(\w+)|gpu\.func @(\w+)")


class Fault(Exception):
    pass


class Region:
    """The lines of a test between two marks."""

    def __init__(self, test, function):
        self.test = test
        self.function = None     # The first one in it.
        self.enclosing = function
        self.lines, self.after = [], []

    @property
    def text(self):
        return textwrap.dedent("\n".join(self.lines)).strip("\n")


def read_regions(test):
    """Yields (name, region) of a lit test."""
    opened, function = [], None
    for line in test.read_text().splitlines():
        mark = MARK.match(line)
        if not mark:
            match = None if CHECK.match(line) else FUNCTION.search(line)
            function = match[1] or match[2] if match else function
            for _, region in opened:
                if not CHECK.match(line):
                    region.function = region.function or (match and function)
                    region.lines.append(line)
        elif mark[1] is None:
            opened.append((mark[2], Region(test, function)))
        elif not opened:
            raise Fault(f"{test}: '{line.strip()}' is in no region")
        elif mark[1] == "-AFTER":
            opened[-1][1].after.append(mark[2])
        else:
            name, region = opened.pop()
            region.function = region.function or region.enclosing
            yield name, region
    if opened:
        raise Fault(f"{test}: the region '{opened[-1][0]}' has no end")


def find_regions(root):
    """The regions of all tests by their names."""
    regions = {}
    for test in sorted((root / "test/lit").rglob("*.mlir")):
        for name, region in read_regions(test):
            regions.setdefault(name, []).append(region)
    return regions


def run_pass(name, test, program):
    """What the test's first command with the pass prints."""
    text = test.read_text().replace("\\\n// RUN:", "")
    commands = [line.split("|")[0] for line in re.findall(r"// RUN:(.*)", text)
                if f"--{name}" in line.split("|")[0]]
    if not commands:
        raise Fault(f"{test}: no RUN line has --{name}")
    command = re.sub(r"\bdnn-opt\b", str(program), commands[0], count=1)
    command = command.replace("%s", str(test))
    result = subprocess.run(command, shell=True, capture_output=True, text=True)
    if result.returncode:
        raise Fault(f"{test}: failed: {command}\n{result.stderr}")
    return result.stdout


def find_function(output, name):
    """The lines of a function, and of nothing around it."""
    lines = output.splitlines()
    for first, line in enumerate(lines):
        if re.search(rf"func @{name}\b", line):
            indent = line[:len(line) - len(line.lstrip())]
            last = lines.index(indent + "}", first)
            return textwrap.dedent("\n".join(lines[first:last + 1])).splitlines()
    raise Fault(f"the output has no function @{name}")


def choose_lines(lines, texts):
    """The lines that have the texts; `...` stands for those between."""
    chosen, at = [], 0
    for text in texts:
        found = next((i for i in range(at, len(lines)) if text in lines[i]), None)
        if found is None:
            raise Fault(f"the output has no '{text}' behind the line before it")
        if found > at and chosen:
            chosen.append(" " * (len(lines[found]) - len(lines[found].lstrip())) + "...")
        chosen.append(lines[found])
        at = found + 1
    return textwrap.dedent("\n".join(chosen)).splitlines()


def fold(line):
    """The lines of a long one, which ends at commas and in front of types."""
    indent = " " * (len(line) - len(line.lstrip()))
    lines = [""]
    for piece in re.split(r"(?<=,) | (?=:|->|\{)", line):
        if len(lines[-1]) + len(piece) > COLUMNS:
            lines.append(f"{indent}    {piece}")
        else:
            lines[-1] += " " + piece if lines[-1] else piece
    return lines


def make_block(name, region, program):
    """The lines of a block."""
    if not name.startswith("dnn-"):
        return region.text.splitlines()
    lines = find_function(run_pass(name, region.test, program), region.function)
    if region.after:
        lines = choose_lines(lines, region.after)
    after = [piece for line in lines for piece in fold(line)]
    return ["// Before", *region.text.splitlines(), "// After", *after]


def find_name(text, position):
    """What the block at the position belongs to."""
    found = [(match.start(), form.format(match[1])) for pattern, form in NAMES
             for match in pattern.finditer(text, 0, position)]
    return max(found, default=(0, None))[1]


def update(root, program):
    """Yields (path, old text, new text, labels of its blocks)."""
    regions = find_regions(root)
    used = {}
    pages = [path for folder in ("dialect", "compiler")
             for path in sorted((root / folder).rglob("*.td"))]
    for path in pages + sorted((root / "docs/spec").glob("*.md")):
        name_of_page = path.relative_to(root).as_posix()
        text = path.read_text()

        def replace(match):
            name = name_of_page
            if path.suffix == ".td":
                name = find_name(text, match.start())
            number = used.get(name, 0)
            used[name] = number + 1
            if number >= len(regions.get(name, [])):
                raise Fault(f"{name_of_page}: no lit test has "
                            f"'// EXAMPLE: {name}', number {number + 1}")
            lines = make_block(name, regions[name][number], program)
            indent = match[1]
            body = "".join(f"{indent}{line}".rstrip() + "\n" for line in lines)
            return f"{indent}```mlir\n{body}{indent}```"
        yield path, text, FENCE.sub(replace, text)
    for name, found in regions.items():
        if len(found) != used.get(name, 0):
            raise Fault(f"{found[-1].test}: no description has a block for the region '{name}'")


def self_test():
    """Blocks are written from regions and outputs; what does not fit is a fault."""
    td = ('def A : Dnn_Op<"a"> {\n    ```mlir\n    old\n    ```\n}\n'
          'def P : Pass<"dnn-p", "x"> {\n    ```mlir\n    ```\n}\n')
    op = ("func.func @f() {\n  // EXAMPLE: dnn.a\n  // CHECK: dnn.a\n  dnn.a\n"
          "    {x}\n  // EXAMPLE-END\n}\n")
    of_pass = ("// RUN: dnn-opt %s \\\n// RUN: --dnn-p | FileCheck %s\n// EXAMPLE: dnn-p\n"
               "func.func @g() {\n  dnn.b\n}\n// EXAMPLE-AFTER: func\n"
               "// EXAMPLE-AFTER: dnn.d\n// EXAMPLE-END\n")
    program = "echo 'module {\n  gpu.func @g() {\n    dnn.c\n    dnn.d\n  }\n}'; :"
    cases = [  # file, old, new, fault
        (None, None, None, None),
        ("o.mlir", "// EXAMPLE-END\n", "", "the region 'dnn.a' has no end"),
        ("o.mlir", "EXAMPLE: dnn.a", "EXAMPLE: dnn.x", "'// EXAMPLE: dnn.a', number 1"),
        ("p.mlir", "dnn.d", "dnn.e", "the output has no 'dnn.e'"),
        ("p.mlir", "--dnn-p", "--dnn-q", "no RUN line has --dnn-p"),
        ("a.td", 'Op<"a"', 'Op<"b"', "'// EXAMPLE: dnn.b', number 1"),
        ("a.td", "```mlir\n    old\n    ```", "", "no description has a block"),
    ]
    for changed, old, new, fault in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, text in (("dialect/a.td", td), ("test/lit/o.mlir", op),
                               ("test/lit/p.mlir", of_pass)):
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(
                    text.replace(old, new) if path.endswith(f"/{changed}") else text)
            try:
                (_, _, text), = update(root, program)
            except Fault as error:
                assert fault and fault in str(error), (fault, error)
                continue
        assert not fault, (fault, text)
        assert "```mlir\n    dnn.a\n      {x}\n    ```" in text, text
        assert ("    // Before\n    func.func @g() {\n      dnn.b\n    }\n    // After\n"
                "    gpu.func @g() {\n      ...\n      dnn.d\n    ```") in text, text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--dnn-opt", default="dnn-opt")
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
        print("update_doc_ir: self-test passed")
        return 0
    count, differ = 0, []
    try:
        for path, old, new in update(arguments.root, arguments.dnn_opt):
            count += len(FENCE.findall(new))
            if old != new:
                differ.append(path.relative_to(arguments.root).as_posix())
                if not arguments.check:
                    path.write_text(new)
    except Fault as error:
        print(f"update_doc_ir: {error}", file=sys.stderr)
        return 1
    verb = "differs; run tools/dev/update_doc_ir.py" if arguments.check else "written"
    for path in differ:
        print(f"update_doc_ir: {path}: {verb}")
    print(f"update_doc_ir: {count} examples, {len(differ)} files differed")
    return 1 if differ and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
