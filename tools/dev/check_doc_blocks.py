#!/usr/bin/env python3
"""Runs the commands of the documents, and checks that none is left out.

    check_doc_blocks.py                     every block is run or has a reason
    check_doc_blocks.py pages               prints the pages with a block to run
    check_doc_blocks.py run PAGE BUILD WORK runs the blocks of a page

The pages are README.md, docs/*.md and docs/guides/*.md. `sh` blocks are run. The
lines of a `text` block must be in the output of the `sh` block before it, where
`...` is any text within a line and a line of `...` any number of lines. A block
without a language may not look like commands.

The blocks of a page run one after the other in one shell, in the folder WORK, which
is made to look like the root of the tree: build/dev and build/release are BUILD,
whose programs are in the PATH. HOME is a folder in WORK, and the device is an
emulated gfx942. test/docs/blocks.toml says what else a page and its blocks need:

    setup    commands that make what the reader has: files, programs
    not_run  [text, why]            the block that has this text is not run
    needs    [text, command, why]   not where the command fails
    exits    [text, status, why]    it ends with this status
    shorter  [text, other, why]     run with the other text

It is a fault if no block of the page has the text, or more than one.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

import tree_check

LIST = "test/docs/blocks.toml"
KEYS = {"not_run": 2, "needs": 3, "exits": 3, "shorter": 3}
SHOWN = 60   # Last lines of what a block printed, if it failed.
LANGUAGES = {"", "c", "cmake", "cpp", "mlir", "python", "sh", "text"}

FENCE = re.compile(r"\s*(?:```|~~~)\s*(\S*)")
COMMAND = re.compile(r"\s*(\$ |[A-Z_]+=\S* |(?:\S*/)?(?:dnn-\w+|cmake|ninja|ctest|clang\S*|tools/\S+)( |$))")

# In front of the blocks. The fences of a block are replaced by calls of these, so
# that line N of the script is line N of the page.
PRELUDE = """\
set -eEu -o pipefail
__begin() { rm -f "$OUT/line"; echo "$1" >"$OUT/block"; exec >"$OUT/$1" 2>&1; }
__end() { [ "$1" = "$2" ] || { echo "exit status $2, not $1"; exit 1; }; echo 0 >"$OUT/block"; }
trap 'echo "$LINENO" >"$OUT/line"' ERR
source "$OUT/setup"
"""


class Block:
    def __init__(self, line, language):
        self.line, self.end, self.language = line, line, language
        self.lines = []

    @property
    def text(self):
        return "\n".join(self.lines)


def read_blocks(text):
    """The fenced blocks of a page."""
    block = None
    for number, line in enumerate(text.splitlines(), 1):
        match = FENCE.match(line)
        if match and block:
            block.end = number
            yield block
            block = None
        elif match:
            block = Block(number, match[1])
        elif block:
            block.lines.append(line)


def find_pages(root):
    return ["README.md"] + sorted(
        path.relative_to(root).as_posix()
        for folder in ("docs", "docs/guides")
        for path in (root / folder).glob("*.md"))


class Page:
    """The blocks of one page, and what the list says of them."""

    def __init__(self, root, name, entry):
        self.name, self.faults = name, []
        self.setup = entry.get("setup", "")
        blocks = list(read_blocks((root / name).read_text()))
        self.shell = [block for block in blocks if block.language == "sh"]
        self.outputs = {}   # of a shell block's line: the text block behind it
        before = None
        for block in blocks:
            self.check_language(block, before)
            if block.language == "text" and before:
                self.outputs.setdefault(before.line, []).append(block)
            before = block if block.language == "sh" else before
        self.rules = {key: {} for key in KEYS}
        for key, rows in entry.items():
            if key != "setup":
                self.add_rules(key, rows)

    def check_language(self, block, before):
        def complain(text):
            self.faults.append(f"{self.name}:{block.line}: {text}")
        if block.language not in LANGUAGES:
            complain(f"no block is of '{block.language}'; commands are of sh")
        if block.language == "text" and not before:
            complain("a text block is the output of an sh block, and none is before it")
        if block.language == "" and any(map(COMMAND.match, block.lines)):
            complain("looks like commands, which are blocks of sh")

    def add_rules(self, key, rows):
        for row in rows:
            if key not in KEYS or len(row) != KEYS[key]:
                self.faults.append(f"{LIST}: {self.name}: '{key}' is not so: {row}")
                continue
            text, *rest = row
            found = [block for block in self.shell if text in block.text]
            if len(found) == 1:
                self.rules[key].setdefault(found[0].line, []).append([text, *rest])
            else:
                self.faults.append(f"{LIST}: {self.name}: {len(found)} blocks have "
                                   f"'{text}', named in '{key}'")

    def find_run(self):
        """The blocks to run."""
        return [block for block in self.shell
                if block.line not in self.rules["not_run"]]


def read_pages(root):
    """The pages by name, and faults of the list."""
    entries = tomllib.loads((root / LIST).read_text())
    names = find_pages(root)
    faults = [f"{LIST}: there is no page {name}" for name in entries
              if name not in names]
    return {name: Page(root, name, entries.get(name, {})) for name in names}, faults


def check(root):
    """Returns (number of blocks, list of faults)."""
    pages, faults = read_pages(root)
    count = 0
    for page in pages.values():
        faults += page.faults
        count += len(page.shell)
    run = sum(len(page.find_run()) for page in pages.values())
    print(f"check_doc_blocks: {run} blocks are run, {count - run} are not, "
          f"{sum(len(p.outputs.get(b.line, [])) for p in pages.values() for b in p.find_run())} "
          "outputs are compared")
    return count, faults


def make_root(root, build, work):
    """The folder in which a page runs."""
    for path in root.iterdir():
        is_own = path.name == "build" or (work / path.name).exists()
        if not is_own and not path.name.startswith("."):
            (work / path.name).symlink_to(path)
    (work / "build").mkdir()
    for preset in ("dev", "release"):
        (work / "build" / preset).symlink_to(build)


def make_environment(root, build, work):
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith(("TESSERA_", "MIOPEN_", "XDG_"))}
    return {"CC": "clang-22", "ONNX_PYTHON": ""} | environment | {
        "PATH": f"{work}/bin:{build}/bin:{os.environ['PATH']}",
        "HOME": str(work / "home"), "OUT": str(work / "out"),
        "TESSERA_DEVICE": "emulated:gfx942", "PYTHONDONTWRITEBYTECODE": "1"}


def make_script(page, blocks, text):
    """The page as a script: line N is its line N, or nothing."""
    lines = [""] * len(text.splitlines())
    for block in blocks:
        begin, end = f"__begin {block.line}", "__end 0 0"
        for _, status, _ in page.rules["exits"].get(block.line, []):
            begin, end = f"{begin}; set +e; (set -e", f"); __end {status} $?; set -e"
        code = block.text
        for old, new, _ in page.rules["shorter"].get(block.line, []):
            code = code.replace(old, new)
        lines[block.line - 1] = begin
        lines[block.line:block.line + len(block.lines)] = code.splitlines()
        lines[block.end - 1] = end
    return "\n".join(lines) + "\n"


def make_pattern(lines):
    """What an output has to match somewhere."""
    pattern = ""
    for line in lines:
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*?".join(map(re.escape, line.rstrip().split("..."))) + r"[ \t]*\n"
    return re.compile("^" + pattern, re.M)


def run_page(root, name, build, work):
    """Returns the faults, each with the block and what it printed."""
    pages, _ = read_pages(root)
    page = pages[name]
    shutil.rmtree(work, ignore_errors=True)
    for folder in ("out", "home", "bin"):
        (work / folder).mkdir(parents=True)
    make_root(root, build, work)
    environment = make_environment(root, build, work)
    (work / "out/prelude").write_text(PRELUDE)
    (work / "out/setup").write_text(page.setup)
    # Bash is told the page's name, for its messages.
    script = work / "out" / pathlib.Path(name).name

    blocks = []
    for block in page.find_run():
        missing = [why for _, command, why in page.rules["needs"].get(block.line, [])
                   if subprocess.run(["bash", "-c", command], cwd=work, env=environment,
                                     stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL).returncode]
        print(f"{name}:{block.line}: " +
              (f"not here: {missing[0]}" if missing else "run"))
        if not missing:
            blocks.append(block)
    if not blocks:
        return []
    script.write_text(make_script(page, blocks, (root / name).read_text()))
    (work / "out/block").write_text("setup")
    with open(work / "out/first", "w") as output:
        status = subprocess.run(
            ["bash", "-c", 'source "$OUT/prelude"; source "$0"', str(script)], cwd=work,
            env=environment, stdin=subprocess.DEVNULL, stdout=output,
            stderr=subprocess.STDOUT).returncode
    faults = find_faults(page, blocks, status, work / "out")
    if not faults:
        shutil.rmtree(work)   # An installation is half a gigabyte.
    return faults


def find_faults(page, blocks, status, out):
    faults = []
    at = (out / "block").read_text().strip()
    if at == "setup":
        return [f"{LIST}: {page.name}: setup failed with status {status}\n" +
                (out / "first").read_text()]
    for block in blocks:
        output = out / str(block.line)
        printed = output.read_text(errors="replace") if output.exists() else ""
        last = "\n".join(printed.splitlines()[-SHOWN:])
        shown = f"\n--- the block\n{block.text}\n--- printed\n{last}"
        if at == str(block.line):
            line = out / "line"
            line = line.read_text().strip() if line.exists() else block.line
            return faults + [f"{page.name}:{line}: failed with status {status}{shown}"]
        for expected in page.outputs.get(block.line, []):
            if not make_pattern(expected.lines).search(printed):
                faults.append(f"{page.name}:{expected.line}: the block at line "
                              f"{block.line} does not print this{shown}")
    return faults


def self_test():
    """What is wrong with a page, its list or its commands is named by its line."""
    good = ("# Page\n```sh\nx=1\necho \"a $x b\"; pwd\n```\n```text\na ... b\n...\n```\n"
            "```\na ──► b\n```\n```sh\ntest -d build/dev\nfalse || exit 3\n```\n"
            "```sh\nforbidden\n```\n```sh\nsleep 9 && made\n```\n")
    rules = ('["README.md"]\nsetup = "touch made; made() { test -e made; }"\n'
             'not_run = [["forbidden", "why"]]\nexits = [["exit 3", 3, "why"]]\n'
             'shorter = [["sleep 9", "sleep 0", "why"]]\n')
    cases = [  # of the page, of the list: old, new; the fault
        (None, None, None),
        ("```\na ──►", "```\ndnn-opt ──►", "README.md:10: looks like commands"),
        ("```\na ──►", "```bash\na ──►", "README.md:10: no block is of 'bash'"),
        ("forbidden", "other", "0 blocks have 'forbidden', named in 'not_run'"),
        ("# Page", "```sh\nforbidden\n```", "2 blocks have 'forbidden'"),
        ("x=1", "false", "README.md:3: failed with status 1"),
        ("a $x b", "a $x c", "README.md:6: the block at line 2 does not print this"),
        ("exit 3", "exit 4  # not exit 3", "exit status 4, not 3"),
        ("&& made", "&& test -e other", "README.md:21: failed with status 1"),
    ]
    for old, new, fault in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path in ("docs/guides", "test/docs", "b"):
                (root / path).mkdir(parents=True)
            (root / "README.md").write_text(good.replace(old, new) if old else good)
            (root / LIST).write_text(rules)
            faults = read_pages(root)[0]["README.md"].faults
            if not faults:
                faults = run_page(root, "README.md", root / "b", root / "work")
        assert len(faults) == (1 if fault else 0), faults
        assert not fault or fault in faults[0], (fault, faults)


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    if sys.argv[1:] == ["pages"]:
        pages = read_pages(root)[0].values()
        print("\n".join(page.name for page in pages if page.find_run()))
        return 0
    if sys.argv[1:2] == ["run"]:
        name, build, work = sys.argv[2:]
        faults = run_page(root, name, pathlib.Path(build).resolve(),
                          pathlib.Path(work).resolve())
        print("\n".join(faults))
        return 1 if faults else 0
    return tree_check.main(check, self_test, "blocks")


if __name__ == "__main__":
    sys.exit(main())
