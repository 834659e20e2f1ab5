//===- AmdgpuTarget.h - From an object file to a code object ---*- C++ -*-===//
//
// What only AMD's chips have: an assembler and a linker in this process, and
// metadata in the code object. No tool is started, no file written.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_TARGET_AMDGPU_AMDGPUTARGET_H
#define TESSERA_COMPILER_TARGET_AMDGPU_AMDGPUTARGET_H

#include "compiler/Target/Codegen/Codegen.h"
#include "runtime/Base/Kernel.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// The object file that emitAssembly()'s text stands for.
ErrorOr<ObjectBytes> assembleText(std::string_view text,
                                  const GpuTarget &target);

/// Makes a code object, which hipModuleLoadData takes, of one object file.
/// Safe from any thread; calls wait for each other (about 1 ms).
ErrorOr<ObjectBytes> linkObject(std::span<const char> object);

/// One explicit or hidden argument as the code object lays it out.
struct KernelArgLayout {
  uint32_t offset = 0;
  uint32_t bytes = 0;
  std::string kind; ///< "global_buffer", "by_value", "hidden_...".
};

/// What a code object says of one of its kernels.
struct KernelMetadata {
  std::string name;
  KernelResources resources;
  uint32_t kernargBytes = 0;
  uint32_t waveSize = 0;
  uint32_t maxBlockSize = 0; ///< Threads of a workgroup.
  std::vector<KernelArgLayout> args;
};

/// The metadata note of a code object or object file, kernels in its order.
ErrorOr<std::vector<KernelMetadata>>
readMetadata(std::span<const char> codeObject);

} // namespace tessera

#endif // TESSERA_COMPILER_TARGET_AMDGPU_AMDGPUTARGET_H
