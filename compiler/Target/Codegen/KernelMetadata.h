//===- KernelMetadata.h - What a code object says of a kernel --*- C++ -*-===//

#ifndef TESSERA_COMPILER_TARGET_CODEGEN_KERNELMETADATA_H
#define TESSERA_COMPILER_TARGET_CODEGEN_KERNELMETADATA_H

#include "runtime/Base/Kernel.h"

#include <string>
#include <vector>

namespace tessera {

/// One explicit or hidden argument as the code object lays it out. PTX has
/// explicit ones alone.
struct KernelArgLayout {
  uint32_t offset = 0;
  uint32_t bytes = 0;
  std::string kind; ///< "global_buffer", "by_value", "hidden_...".
};

/// What a code object says of one of its kernels. PTX knows no registers: those
/// are 0.
struct KernelMetadata {
  std::string name;
  KernelResources resources;
  uint32_t kernargBytes = 0;
  uint32_t waveSize = 0;
  uint32_t maxBlockSize = 0; ///< Threads of a workgroup.
  std::vector<KernelArgLayout> args;
};

} // namespace tessera

#endif // TESSERA_COMPILER_TARGET_CODEGEN_KERNELMETADATA_H
