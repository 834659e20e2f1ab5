//===- KernelInfo.h - A kernel as the extensions describe it ---*- C++ -*-===//

#ifndef TESSERA_CAPI_LIB_KERNELINFO_H
#define TESSERA_CAPI_LIB_KERNELINFO_H

#include "runtime/Engine/Engine.h"

#include <tessera/tessera.h>

namespace tessera::capi {

/// InvalidArgument if a struct is of a release that we do not know.
Status checkStructSize(uint32_t given, size_t expected);

/// Sets everything but `structSize`; texts that are too long are cut.
void describe(const LoadedKernel &loaded, tesseraKernelInfo &info);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_KERNELINFO_H
