//===- KernelChecks.cpp - Checks before a launch --------------------------===//

#include "capi/lib/Handle/KernelChecks.h"

#include <string>

using namespace tessera;
using namespace tessera::capi;

Status capi::checkWorkspace(uint64_t needed, const void *workspace,
                            size_t workspaceBytes) {
  if (needed > workspaceBytes)
    return invalidArgument(
        "the workspace has " + std::to_string(workspaceBytes) +
        " bytes, but the kernel needs " + std::to_string(needed));
  if (needed != 0 && !workspace)
    return invalidArgument("workSpace is NULL, but the kernel needs " +
                           std::to_string(needed) + " bytes");
  return Status::ok();
}

/// The text of such a tile ends in "-a4", where 4 is the number of splits.
Status capi::checkDeterministic(const LoadedKernel &kernel) {
  const std::string_view tile = kernel.getKernel().tile;
  const size_t last = tile.rfind('-');
  if (last == tile.npos || last + 1 == tile.size() || tile[last + 1] != 'a')
    return Status::ok();
  return notSupported("tile " + std::string(tile) +
                      " adds by atomics, but the convolution's attribute asks "
                      "for determinism");
}

Status capi::checkArguments(const LoadedKernel &kernel,
                            const LaunchArgs &args) {
  for (const LaunchRecipe &launch : kernel.getKernel().launches)
    for (const LaunchArg &arg : launch.args)
      if (!isScalar(arg.kind) && !args.getPointer(arg.kind))
        return invalidArgument(std::string(getName(arg.kind)) +
                               " is NULL, but the kernel uses it");
  return Status::ok();
}
