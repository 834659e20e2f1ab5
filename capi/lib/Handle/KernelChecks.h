//===- KernelChecks.h - Checks before a launch -----------------*- C++ -*--===//

#ifndef TESSERA_CAPI_LIB_HANDLE_KERNELCHECKS_H
#define TESSERA_CAPI_LIB_HANDLE_KERNELCHECKS_H

#include "runtime/Engine/Engine.h"

namespace tessera::capi {

/// InvalidArgument if the workspace is missing or smaller than `needed` bytes.
Status checkWorkspace(uint64_t needed, const void *workspace,
                      size_t workspaceBytes);
inline Status checkWorkspace(const LoadedKernel &kernel, const void *workspace,
                             size_t workspaceBytes) {
  return checkWorkspace(kernel.getKernel().workspaceBytes, workspace,
                        workspaceBytes);
}

/// NotSupported if the kernel adds by atomics, whose order differs between
/// runs. No model chooses such a tile; only TESSERA_TILE can name one.
Status checkDeterministic(const LoadedKernel &kernel);

/// InvalidArgument if a pointer that one of the launches takes is null.
Status checkArguments(const LoadedKernel &kernel, const LaunchArgs &args);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_HANDLE_KERNELCHECKS_H
