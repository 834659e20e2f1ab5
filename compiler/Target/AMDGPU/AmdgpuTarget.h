//===- AmdgpuTarget.h - From an object file to a code object ---*- C++ -*-===//
//
// What only AMD's chips have: an assembler and a linker in this process, and
// metadata in the code object. No tool is started, no file written.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_TARGET_AMDGPU_AMDGPUTARGET_H
#define TESSERA_COMPILER_TARGET_AMDGPU_AMDGPUTARGET_H

#include "compiler/Target/Codegen/Codegen.h"
#include "compiler/Target/Codegen/KernelMetadata.h"

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

/// The metadata note of a code object or object file, kernels in its order.
ErrorOr<std::vector<KernelMetadata>>
readMetadata(std::span<const char> codeObject);

} // namespace tessera

#endif // TESSERA_COMPILER_TARGET_AMDGPU_AMDGPUTARGET_H
