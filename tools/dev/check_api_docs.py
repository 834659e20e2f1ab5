#!/usr/bin/env python3
"""Checks that every public C function is documented in full.

The functions are those of exports.map; the mangled C++ names in it belong to
no header. Each needs a Doxygen comment with its purpose, a `@param` with a
direction for each parameter, a `@retval` for each status that it returns, and
the paragraphs Cost and Threads, which begin with the words that
capi/include/miopen/miopen.h defines. Exits 1 with one line for each fault.
"""

import collections
import pathlib
import re
import sys
import tempfile

import tree_check

INCLUDE = "capi/include"
SOURCES = "capi/lib"
EXPORTS = "exports.map"
STUBS = "NotImplemented.def"

# The beginning of a paragraph, and the statuses that its function must list.
DEVICE = {"AllocFailed", "InternalError", "NotImplemented"}
LAUNCH = DEVICE | {"GpuOperationsSkipped"}
COSTS = {
    "Host only": set(),
    "Opens the device": {"InternalError"},
    "Compiles on first use; launches nothing": DEVICE,
    "Compiles on first use, then launches": LAUNCH,
    "Loads on first use, then launches": LAUNCH,
    "Loads on first use; launches nothing": {"InternalError"},
}
THREADS = ("Any thread", "One thread for each handle", "Shared", "Exclusive")

# The declaration, with the comment directly above it if there is one.
FUNCTION = re.compile(
    r"(?:/\*\*((?:(?!\*/).)*)\*/\s*)?"
    r"^MIOPEN_EXPORT\s+([^;(]*?)\b(\w+)\s*\(([^;]*)\)\s*;", re.M | re.S)
TAG = re.compile(r"^@(\w+)(?:\[([\w,]*)\])?\s*(\S*)\s*(.*)", re.S)

Function = collections.namedtuple("Function", "location comment result name "
                                  "parameters")
Parameter = collections.namedtuple("Parameter", "type name")
Tag = collections.namedtuple("Tag", "word direction name text")


def parse_parameters(text):
    """The parameters of a declaration, without default arguments."""
    text = " ".join(re.sub(r"MIOPEN_DEFAULT\([^)]*\)", "", text).split())
    if text in ("", "void"):
        return []
    return [Parameter(*re.match(r"(.*?)(\w+)$", part.strip()).groups())
            for part in text.split(",")]


def find_functions(root):
    """Every function that the public headers declare."""
    functions = []
    for header in sorted((root / INCLUDE).rglob("*.h")):
        text = header.read_text()
        for match in FUNCTION.finditer(text):
            line = text.count("\n", 0, match.start(3)) + 1
            location = f"{header.relative_to(root).as_posix()}:{line}"
            functions.append(Function(location, match[1], match[2].strip(),
                                      match[3], parse_parameters(match[4])))
    return functions


def find_objects(root):
    """The types of handles and descriptors, which are pointers."""
    return {f"{name}_t" for header in (root / INCLUDE).rglob("*.h")
            for name in re.findall(r"^MIOPEN_DECLARE_OBJECT\((\w+)\)",
                                   header.read_text(), re.M)}


def read_source(root, name):
    """The text of a file in a folder of the implementation."""
    (file,) = (root / SOURCES).rglob(name)
    return file.read_text()


def split_comment(comment):
    """Returns a comment's purpose and its tags."""
    lines = [re.sub(r"^\s*\* ?", "", line).rstrip()
             for line in comment.splitlines()]
    pieces = re.split(r"\n(?=@)", "\n".join(lines).strip())
    tags = [Tag(*(" ".join((group or "").split()) for group in
                  TAG.match(piece).groups()))
            for piece in pieces if TAG.match(piece)]
    purpose = "" if pieces[0].startswith("@") else pieces[0].strip()
    return purpose, tags


def check_parameters(function, tags, objects):
    """Faults of the @param tags."""
    faults = []
    documented = {tag.name: tag for tag in tags if tag.word == "param"}
    names = [parameter.name for parameter in function.parameters]
    faults += [f"has no parameter '{name}'" for name in documented
               if name not in names]
    for kind, name in function.parameters:
        tag = documented.get(name)
        if not tag:
            faults.append(f"parameter '{name}' has no @param")
            continue
        if not tag.text:
            faults.append(f"@param {name} says nothing")
        kind = kind.strip()
        is_object = kind.split()[-1] in objects
        is_written = is_object or (kind.endswith("*") and "const" not in kind)
        if tag.direction not in ("in", "out", "in,out"):
            faults.append(f"@param {name} has no direction")
        elif tag.direction != "in" and not is_written:
            faults.append(f"@param[{tag.direction}] {name} cannot be written")
    if not faults and list(documented) != names:
        faults.append("@param tags are not in the order of the parameters")
    return faults


def check_paragraph(tags, title, beginnings):
    """Returns how the paragraph begins, and faults."""
    texts = [tag.text for tag in tags
             if (tag.word, tag.name) == ("par", title)]
    if not texts:
        return None, [f"has no paragraph {title}"]
    for beginning in beginnings:
        if texts[0].startswith(beginning):
            return beginning, []
    return None, [f"paragraph {title} begins with none of: " +
                  "; ".join(beginnings)]


def check_statuses(tags, cost, is_stub, known):
    """Faults of the @retval tags of a function that returns a status."""
    prefix = "miopenStatus"
    names = [tag.name for tag in tags if tag.word == "retval"]
    statuses = {name.removeprefix(prefix) for name in names}
    faults = [f"@retval {name} is no status" for name in names
              if name not in known]
    faults += [f"@retval {tag.name} does not say when" for tag in tags
               if tag.word == "retval" and not tag.text]
    if is_stub:
        if statuses != {"NotImplemented"}:
            faults.append(f"is in {STUBS}, so it returns NotImplemented only")
        return faults
    if "Success" not in statuses:
        faults.append("has no @retval for success")
    if not statuses - {"Success"}:
        faults.append("has no @retval for a failure")
    faults += [f"has no @retval {prefix}{status}, but its cost is '{cost}'"
               for status in sorted(COSTS.get(cost, set()) - statuses)]
    if cost == "Host only" and "GpuOperationsSkipped" in statuses:
        faults.append("launches nothing, so that no launch can be skipped")
    return faults


def check_function(function, objects, stubs, known):
    """The faults of one function, as sentences about it."""
    if function.comment is None:
        return ["has no comment"]
    purpose, tags = split_comment(function.comment)
    faults = [] if purpose else ["has no purpose"]
    faults += check_parameters(function, tags, objects)
    cost, missing = check_paragraph(tags, "Cost", COSTS)
    faults += missing + check_paragraph(tags, "Threads", THREADS)[1]
    if function.result == "miopenStatus_t":
        faults += check_statuses(tags, cost, function.name in stubs, known)
    elif function.result != "void" and not any(
            tag.word == "return" for tag in tags):
        faults.append("has no @return")
    return faults


def check(root):
    """Returns (numbers of documented and of exported functions, faults)."""
    functions = find_functions(root)
    objects = find_objects(root)
    exports = re.sub(r"/\*.*?\*/", "", read_source(root, EXPORTS), flags=re.S)
    exported = set(re.findall(r"^\s*((?:miopen|tessera)\w+);", exports, re.M))
    stubs = set(re.findall(r"^TESSERA_NOT_IMPLEMENTED\((\w+)\)",
                           read_source(root, STUBS), re.M))
    known = {name for header in (root / INCLUDE).rglob("*.h")
             for name in re.findall(r"\bmiopenStatus\w+(?=\s*=)",
                                    header.read_text())}
    faults = [f"{EXPORTS}: no header declares {name}"
              for name in sorted(exported - {f.name for f in functions})]
    documented = 0
    for function in functions:
        found = check_function(function, objects, stubs, known)
        if function.name not in exported:
            found.append(f"is not in {EXPORTS}")
        faults += [f"{function.location}: {function.name}: {fault}"
                   for fault in found]
        documented += not found
    return documented, len(exported), faults


def report(root):
    """Prints the numbers of check() on a line of their own."""
    documented, exported, faults = check(root)
    print(f"{documented} of {exported} functions documented")
    return documented, faults


GOOD = """/**
 * Runs it.
 *
 * @param[in]  handle  Device and stream.
 * @param[in]  x       Device memory, read,
 *                     in any layout.
 * @param[out] y       Device memory.
 *
 * @retval miopenStatusSuccess               It runs.
 * @retval miopenStatusBadParm               A pointer is NULL.
 * @retval miopenStatusNotImplemented        There is no kernel.
 * @retval miopenStatusAllocFailed           Memory ran out.
 * @retval miopenStatusInternalError         The device failed.
 * @retval miopenStatusGpuOperationsSkipped  Nothing is launched.
 *
 * @par Cost
 *   Compiles on first use, then launches; does not
 *   wait.
 *
 * @par Threads
 *   One thread for each handle.
 */
MIOPEN_EXPORT miopenStatus_t miopenRun(
    miopenHandle_t handle, const void *x, void *y MIOPEN_DEFAULT(nullptr));
"""
STATUSES = """typedef enum {
  miopenStatusSuccess = 0,
  miopenStatusBadParm = 3,
  miopenStatusAllocFailed = 4,
  miopenStatusInternalError = 5,
  miopenStatusNotImplemented = 6,
  miopenStatusGpuOperationsSkipped = 9
} miopenStatus_t;
MIOPEN_DECLARE_OBJECT(miopenHandle);
"""
# (text in GOOD, its replacement, what the script then says)
BROKEN = [
    (" * Runs it.\n *\n", "", "has no purpose"),
    (GOOD[:GOOD.index("MIOPEN")], "", "has no comment"),
    ("*/\nMIOPEN", "*/\nint other;\nMIOPEN", "has no comment"),
    (" * @param[out] y       Device memory.\n", "",
     "parameter 'y' has no @param"),
    ("[out] y", "[out] z", "has no parameter 'z'"),
    ("[out] y       Device memory.", "[out] y", "@param y says nothing"),
    ("@param[in]  x", "@param x", "@param x has no direction"),
    ("@param[in]  x", "@param[out] x", "@param[out] x cannot be written"),
    ("@param[in]  handle  Device and stream.\n *",
     "@param[out] y  Device memory.\n * @param[in]  handle  Device.\n *",
     "@param tags are not in the order of the parameters"),
    ("@retval miopenStatusSuccess               It runs.\n *", "",
     "has no @retval for success"),
    (GOOD[GOOD.index(" * @retval miopenStatusBadParm"):
          GOOD.index(" *\n * @par Cost")], "", "has no @retval for a failure"),
    ("@retval miopenStatusBadParm ", "@retval miopenStatusBadParam ",
     "@retval miopenStatusBadParam is no status"),
    ("miopenStatusBadParm               A pointer is NULL.",
     "miopenStatusBadParm", "@retval miopenStatusBadParm does not say when"),
    (" * @retval miopenStatusAllocFailed           Memory ran out.\n", "",
     "has no @retval miopenStatusAllocFailed, but its cost is"),
    ("Compiles on first use, then launches", "Host only",
     "no launch can be skipped"),
    ("@par Cost", "@par Price", "has no paragraph Cost"),
    ("@par Threads", "@par Others", "has no paragraph Threads"),
    ("One thread for each handle.", "It depends.",
     "paragraph Threads begins with none of"),
    ("miopenRun(", "miopenWalk(", "is not in exports.map"),
    ("miopenRun(", "miopenWalk(", "no header declares miopenRun"),
    ("miopenStatus_t miopenRun(", "const char *miopenRun(", "has no @return"),
    ("miopenRun(", "miopenStub(", "so it returns NotImplemented only"),
]


def check_text(text):
    """The result of check() for a tree with one header."""
    files = {
        f"{INCLUDE}/a.h": STATUSES + "\n" + text,
        f"{SOURCES}/{EXPORTS}": "{ global: /* miopenOld; */\n"
                                "    miopenRun;\n"
                                "    _Z9miopenCxxv;\n"
                                "  local: *; };\n",
        f"{SOURCES}/part/{STUBS}": "TESSERA_NOT_IMPLEMENTED(miopenStub)\n",
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            file = pathlib.Path(folder) / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        return check(pathlib.Path(folder))


def self_test():
    """A full comment passes, and each omission is found."""
    assert check_text(GOOD) == (1, 1, []), check_text(GOOD)
    for old, new, wanted in BROKEN:
        assert old in GOOD, old
        documented, _, faults = check_text(GOOD.replace(old, new, 1))
        assert any(wanted in fault for fault in faults), (wanted, faults)
        assert documented == 0, wanted


if __name__ == "__main__":
    sys.exit(tree_check.main(report, self_test, "documented functions"))
