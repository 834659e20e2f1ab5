//===- KernelMetadata.h - The metadata of a kernel -------------*- C++ -*--===//

#ifndef TESSERA_COMPILER_TARGET_CODEGEN_KERNELMETADATA_H
#define TESSERA_COMPILER_TARGET_CODEGEN_KERNELMETADATA_H

#include "runtime/Base/Kernel.h"

#include <string>
#include <vector>

namespace tessera {

/// The layout of one explicit or hidden argument. PTX has explicit ones only.
struct KernelArgLayout {
  uint32_t offset = 0;
  uint32_t bytes = 0;
  std::string kind; ///< "global_buffer", "by_value", "hidden_...".
};

/// The metadata of one kernel of a code object. The numbers of registers are 0
/// for PTX, which has virtual registers only.
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
