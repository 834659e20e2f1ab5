//===- KernelInfo.h - A kernel as the extensions describe it ---*- C++ -*--===//

#ifndef TESSERA_CAPI_LIB_HANDLE_KERNELINFO_H
#define TESSERA_CAPI_LIB_HANDLE_KERNELINFO_H

#include "runtime/Engine/Engine.h"

#include <tessera/tessera.h>

namespace tessera::capi {

/// InvalidArgument if a struct has a size that this release does not know.
Status checkStructSize(uint32_t given, size_t expected);

/// Sets all members but `structSize`. Texts that are too long are truncated.
void describe(const LoadedKernel &loaded, tesseraKernelInfo &info);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_HANDLE_KERNELINFO_H
