//===- KernelText.h - A kernel in the form in which it is kept -*- C++ -*--===//
//
// Databases and saved solutions store the same pieces: a text of the launches,
// and numbers. kKernelFormat is the version of their form.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_DB_KERNELTEXT_H
#define TESSERA_RUNTIME_DB_KERNELTEXT_H

#include "runtime/Base/Kernel.h"

#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// Prints one line for each launch: "symbol grid block dynamicLds x:16,w:16,y
/// map ...". The sizes are three numbers each; an argument is followed by the
/// alignment of its address, if that is not 1; "-" stands for no argument;
/// "size=EXPRESSION" and "divisor=EXPRESSION" for a number that is made of the
/// sizes (SizeExpr.h), "workspace+EXPRESSION" for an address in a tensor,
/// "workgroups=EXPRESSION" for the grid's first number and
/// "workspace=EXPRESSION" for bytes of the workspace; "dependent" before the
/// maps marks a dependent launch.
std::string toText(const std::vector<LaunchRecipe> &launches);

/// Reads what toText() writes; nothing if it is anything else.
std::optional<std::vector<LaunchRecipe>> parseLaunches(const std::string &text);

/// Calls `visit` with every number of a kernel, in the order of the columns
/// workspace_bytes ... scratch_bytes.
template <typename SomeKernel, typename Visitor>
void visitColumns(SomeKernel &kernel, Visitor visit) {
  visit(kernel.workspaceBytes);
  visit(kernel.resources.vgprs);
  visit(kernel.resources.agprs);
  visit(kernel.resources.sgprs);
  visit(kernel.resources.vgprSpills);
  visit(kernel.resources.sgprSpills);
  visit(kernel.resources.ldsBytes);
  visit(kernel.resources.scratchBytes);
}

} // namespace tessera

#endif // TESSERA_RUNTIME_DB_KERNELTEXT_H
