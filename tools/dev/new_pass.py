#!/usr/bin/env python3
"""Makes the skeleton of a pass, with its tests.

    new_pass.py dnn-do-something "What it does" [--in Transforms|Conversion]

Writes the pass's entry in Passes.td, a .cpp that compiles and changes nothing, its
line in CMakeLists.txt, a test of what it does, from which the example in the
description is taken (update_doc_ir.py), and a test of what it refuses. Prints what
is left to do. Writes nothing if anything of that name is there.
"""

import argparse
import pathlib
import re
import sys

ENTRY = '''\
def @Name@ : Pass<"@flag@", "::mlir::ModuleOp"> {
  let summary = "@summary@";
  let description = [{
    Changes nothing yet.

    Pre-condition:  the module names a known chip in `dnn.target`.
    Post-condition: none.

    Example:
    ```mlir
    // Before
    func.func @example(%x: f32) -> f32 {
      return %x : f32
    }
    // After
    func.func @example(%arg0: f32) -> f32 {
      return %arg0 : f32
    }
    ```
  }];
}

'''

SOURCE = '''\
@header@

#include "compiler/@folder@/Passes.h"
#include "dialect/IR/Dnn.h"

#include "mlir/IR/BuiltinOps.h"

namespace tessera {
#define GEN_PASS_DEF_@NAME@
#include "compiler/@folder@/Passes.h.inc"
} // namespace tessera

using namespace mlir;

namespace {
struct @Name@ : tessera::impl::@Name@Base<@Name@> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!module->hasAttr(tessera::dnn::kTargetAttrName)) {
      module.emitError() << getArgument() << ": the module names no chip in '"
                         << tessera::dnn::kTargetAttrName << "'";
      return signalPassFailure();
    }
  }
};
} // namespace
'''

TEST = '''\
// RUN: dnn-opt %s --@flag@ | FileCheck %s

module attributes {dnn.target = "gfx942"} {
  // Nothing is changed yet.
  // CHECK-LABEL: func.func @example
  // CHECK-NEXT:    return
  // EXAMPLE: @flag@
  func.func @example(%x: f32) -> f32 {
    return %x : f32
  }
  // EXAMPLE-END
}
'''

ERRORS = '''\
// RUN: not dnn-opt %s --@flag@ 2>&1 | FileCheck %s

// The chip decides what becomes of a module.
// CHECK: error: @flag@: the module names no chip in 'dnn.target'
module {}
'''

NEXT = '''\
@td@: what it does, Pre-condition, Post-condition, dependent dialects
compiler/@folder@/@Name@.cpp: why it exists, in the head; the pass
test/lit/@folder@/@kebab@.mlir and -errors.mlir: what it does and refuses
compiler/Pipeline/Pipeline.cpp: addPass, with the reason for its position
then:
  ninja -C build/dev dnn-opt
  tools/dev/update_doc_ir.py --dnn-opt build/dev/bin/dnn-opt
  /usr/lib/llvm-22/bin/lit -v build/dev/test/lit --filter @folder@/@kebab@'''


def make_header(name, summary):
    """The first line of a file: 80 columns."""
    line = f"//===- {name}.cpp - {summary} "
    return line + "-" * max(3, 80 - len(line) - len("===//")) + "===//"


def add_entry(text, entry):
    """Passes.td with one more pass, the last one."""
    start = text.rindex("#endif")
    return text[:start] + entry + text[start:]


def add_source(text, name):
    """CMakeLists.txt with one more source, in its position of the order."""
    sources = list(re.finditer(r"^  \S+\.cpp\n", text, re.M))
    line = f"  {name}.cpp\n"
    before = [source for source in sources if source[0] < line]
    at = before[-1].end() if before else sources[0].start()
    return text[:at] + line + text[at:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("flag", help="dnn-do-something")
    parser.add_argument("summary", help="one line, without a full stop")
    parser.add_argument("--in", dest="folder", default="Transforms",
                        choices=["Transforms", "Conversion"], help="of compiler/")
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parents[2])
    arguments = parser.parse_args()
    flag, folder, root = arguments.flag, arguments.folder, arguments.root
    if not re.fullmatch(r"dnn(-[a-z][a-z0-9]*)+", flag):
        parser.error(f"'{flag}' is no name of a pass, such as dnn-do-something")
    if re.search(r'["\\\n]|\.$', arguments.summary) or not arguments.summary:
        parser.error("the summary is one line without quotes and a full stop")

    kebab = flag.removeprefix("dnn-")
    name = "".join(word.capitalize() for word in kebab.split("-"))
    td = root / "compiler" / folder / "Passes.td"
    cmake = root / "compiler" / folder / "CMakeLists.txt"

    def fill(text):
        words = {"header": make_header(name, arguments.summary), "Name": name,
                 "NAME": name.upper(), "flag": flag, "kebab": kebab, "folder": folder,
                 "summary": arguments.summary, "td": f"compiler/{folder}/Passes.td"}
        return re.sub(r"@(" + "|".join(words) + r")@", lambda word: words[word[1]], text)

    new = {root / "compiler" / folder / f"{name}.cpp": SOURCE,
           root / "test/lit" / folder / f"{kebab}.mlir": TEST,
           root / "test/lit" / folder / f"{kebab}-errors.mlir": ERRORS}
    there = [str(path.relative_to(root)) for path in new if path.exists()]
    there += [str(path.relative_to(root)) for path in root.glob("compiler/*/Passes.td")
              if re.search(rf'Pass<"{flag}"|def {name} ', path.read_text())]
    if there:
        sys.exit(f"new_pass: {flag} is there already: {', '.join(there)}")
    td.write_text(add_entry(td.read_text(), fill(ENTRY)))
    cmake.write_text(add_source(cmake.read_text(), name))
    for path, text in new.items():
        path.write_text(fill(text))
    print(fill(NEXT))


if __name__ == "__main__":
    main()
