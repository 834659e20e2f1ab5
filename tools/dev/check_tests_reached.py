#!/usr/bin/env python3
"""Checks that every test file is run: a test that nobody runs never fails.

A unit test must be named in the CMakeLists.txt of its folder or of one above
it, and every folder with a CMakeLists.txt must be added by one above; a lit
test needs a RUN line. Exits 1 with one line for each fault.
"""

import pathlib
import re
import sys
import tempfile

import tree_check


def is_named(root, file):
    """True if a list file between `file` and `root` names it."""
    for folder in file.parents:
        lists = folder / "CMakeLists.txt"
        name = file.relative_to(folder).as_posix()
        if lists.exists() and re.search(
                rf"(?<![\w/]){re.escape(name)}(?![\w/])", lists.read_text()):
            return True
        if folder == root:
            return False
    return False


def is_added(root, folder):
    """True if a list file above `folder` adds it."""
    for above in folder.parents:
        lists = above / "CMakeLists.txt"
        name = folder.relative_to(above).as_posix()
        if lists.exists() and f"add_subdirectory({name})" in lists.read_text():
            return True
        if above == root:
            return False
    return False


def check(root):
    """Returns (number of test files, list of faults)."""
    unit = sorted((root / "test/unit").rglob("*Test.cpp"))
    faults = [f"{file.relative_to(root)}: no CMakeLists.txt names it"
              for file in unit if not is_named(root, file)]
    for lists in sorted((root / "test").rglob("CMakeLists.txt")):
        if not is_added(root, lists.parent):
            faults.append(f"{lists.relative_to(root)}: nobody adds this folder")
    lit = [file for suffix in ("mlir", "test", "c")
           for file in sorted((root / "test/lit").rglob(f"*.{suffix}"))
           if "Inputs" not in file.parts]
    faults += [f"{file.relative_to(root)}: has no RUN line" for file in lit
               if "RUN:" not in file.read_text()]
    return len(unit) + len(lit), faults


def self_test():
    """Each kind of lost test is found."""
    files = {
        "CMakeLists.txt": "add_subdirectory(test)\n",
        "test/CMakeLists.txt": "add_subdirectory(unit)\n",
        "test/unit/CMakeLists.txt": "add_test(a a/ATest.cpp)\n",
        "test/unit/a/ATest.cpp": "",
        "test/lit/a.mlir": "// RUN: true\n",
    }
    lost = {
        "test/unit/a/BTest.cpp": ("", "no CMakeLists.txt names it"),
        "test/unit/TTest.cpp": ("", "no CMakeLists.txt names it"),
        "test/unit/b/CMakeLists.txt": ("", "nobody adds this folder"),
        "test/lit/b.mlir": ("// CHECK: x\n", "has no RUN line"),
    }
    for extra in [None, *lost]:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            content = dict(files)
            if extra:
                content[extra] = lost[extra][0]
            for name, text in content.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            faults = check(root)[1]
        wanted = [f"{extra}: {lost[extra][1]}"] if extra else []
        assert faults == wanted, (faults, wanted)


if __name__ == "__main__":
    sys.exit(tree_check.main(check, self_test, "test files"))
