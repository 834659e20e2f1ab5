#!/usr/bin/env python3
"""Checks that the tree says the field's words and not home-made ones.

docs/guides/glossary.md has the words. Each rule below names one that this
project used to have of its own, what is said instead, and where the word is
plain English or somebody else's term, which is allowed. tools/bench/results is
left out, because it keeps what was measured. Names and comments of
compiler/Conversion, whose schedules are to be written anew, are spared some of
the rules; the texts that it prints are checked by their tests. Exits 1 with
one line for each fault.
"""

import pathlib
import re
import sys
import tempfile

import tree_check

FOLDERS = ("compiler", "dialect", "runtime", "capi", "tools", "test", "docs")
SUFFIXES = {".h", ".cpp", ".c", ".hip", ".def", ".td", ".py", ".sh", ".cmake",
            ".txt", ".md", ".mlir", ".test", ".in", ".s"}
SKIPPED = ("tools/bench/results/",
           "docs/guides/glossary.md", "tools/dev/check_words.py")

# Rules that compiler/Conversion is spared.
OUTSIDE = r"(?!compiler/Conversion/)"
PRODUCTS = r"compiler/Algorithms/(?!Pooling|RowWise)"

# (files, word, what to say, contexts in which the word is right). A context is
# searched in the line; files match from the beginning of the path.
RULES = [
    (OUTSIDE, r"\b(?:SumStore|WayOut|BothOperands|CellKernel|RunsWriter"
     r"|RowsTeam)\b", "the name of what it does", None),
    (r"", r"\bRows[A-Z]\w*|\bdnn\.rows\b|\brows-(?=[a-z]+[-_])", "row-wise",
     r"RowsAreNotSlots"),
    (PRODUCTS, r"\bsums\b", "accumulators",
     r"partial|stores the sums|their sums|[Ss]ums (?:of|over)"),
    (r"", r"\bsums? (?:a|per) thread\b", "accumulators a thread", None),
    (r"compiler/(?!Frontend/|Conversion/)|dialect/IR/|docs/(?:design|guides)/"
     r"|test/lit/Conversion/",
     r"\b[Ff]actors?\b|Factors?\b|\bFactor[A-Z]\w*",
     "operand, for an input of a product",
     r"[Ss]cal|[Ee]xpAvg|\bfactor (?:of [\d.]|1\b|that turns)|a factor\b"
     r"|[Uu]nroll|same factors|dilation|lane / divisor|int factor|digit\.factor"
     r"|factor \* kLog2E|double factor|e\^\(factor|kept its factor"
     r"|1\) - factor|- factor\)|[*,] factor|current factor"),
    (r"compiler/(?!Conversion/)|dialect/IR/", r"\bparts\b|\bgetParts\b", "splits",
     r"parts of|[Tt]wo parts|unused parts|vendors' parts"),
    (OUTSIDE, r"\b[Tt]urns?\b|[a-z]Turns?\b", "iteration, wave of workgroups, pass",
     r"[Tt]urns? (?:\w+ )?(?:into|on|off|a problem|the state|every|primitives"
     r"|LLVM|the sum|x |a loop|links|the signal)|turns on|in turns, that is"
     r"|(?:sin|cos)Turns|turnOn|TURN_ON"),
    (OUTSIDE, r"\b(?:[Rr]ing|[Rr]ings)\b|\w(?:Ring)\b", "stages, circular buffer",
     r"LineRing\.h"),
    (OUTSIDE, r"\b[Pp]laces?\b|[a-z]Places?\b", "offset, index, slot or position",
     r"[Ii]n[ _-]?[Pp]lace|last places?|[Tt]akes? (?:its|the) place|only place"
     r"|[Ii]n (?:its|their) place|MIOpen's place|ours in its place|take its place"
     r"|(?:[Cc]an|[Ll]inkers|:|,) places? |place(?:Input|Output|Segments)|public"
     r"|\.place\(|\bvoid place\("),
    (OUTSIDE, r"\b[Ee]xchanged\b|\w(?:Exchanged)\b", "swapped",
     r"atomicExch|int sum|(?:got|want)\.exchanged"),
    (r"", r"\b[Cc]areful\b", "untuned", None),
    (r"", r"\b[Rr]ooms?\b|\b[Hh]ouses?\b", "space; component, layer", None),
    (r"", r"\b[Tt]eams?\b", "threads that share a row", None),
    (r"", r"\b(?:first|second)(?:-level)? cache\b", "L1, L2",
     r"first- and second-level|behind the first-level"),
    (r"", r"\b[Ll]ane cop(?:y|ies)\b", "per-thread copies", None),
    (r"", r"\b[Bb]ox cop(?:y|ies)\b", "TMA copies", None),
]


def find_words(path, line):
    """The words of `line` that should be others, with what to say."""
    return [(match[0], instead) for files, word, instead, context in RULES
            if re.match(files, path) and
            not (context and re.search(context, line))
            for match in re.finditer(word, line)]


def check(root):
    """Returns (number of files, list of faults)."""
    count, faults = 0, []
    for file in sorted([root / "README.md",
                        *(file for folder in FOLDERS
                          for file in (root / folder).rglob("*"))]):
        path = file.relative_to(root).as_posix()
        if (file.suffix not in SUFFIXES or path.startswith(SKIPPED)
                or not file.is_file()):
            continue
        count += 1
        for number, line in enumerate(
                file.read_text(errors="replace").splitlines(), 1):
            for word, instead in find_words(path, line):
                faults.append(f"{path}:{number}: '{word}', say {instead}")
    return count, faults


def self_test():
    """Each rule finds its word in a real file, and passes the allowed ones."""
    bad = ["class SumStore;", "RowsTile tile;", "// Keeps its sums in LDS.",
           "// 32 sums a thread.", "// Both factors are read.",
           "int64_t parts = 1;", "// The last turn.", "// A ring of lines.",
           "// The first place of it.", "// Has exchanged operands.",
           "// Of careful rows.", "// No room is left.", "// A team adds.",
           "// The second cache.", "// By lane copies.", "// By box copies."]
    good = ["// A scale factor of 2.", "// This turns a problem into IR.",
            "// It is sorted in place.", "// Stores partial sums.",
            "// Parts of a file are one part of it."]
    assert len(bad) == len(RULES), "each rule has a case"
    for case in bad + good:
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "compiler/Algorithms/Tma/A.cpp")
            file.parent.mkdir(parents=True)
            file.write_text(f"// A file.\n{case}\n")
            count, faults = check(pathlib.Path(folder))
        assert count == 1, case
        assert bool(faults) == (case in bad), (case, faults)


if __name__ == "__main__":
    sys.exit(tree_check.main(check, self_test, "files"))
