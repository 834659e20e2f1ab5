//===- AmdgpuTarget.h - From an object file to a code object ---*- C++ -*--===//
//
// The steps that only AMD's chips need: the assembler and the linker, which run
// in this process and in memory, and the metadata of the code object.
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

/// Assembles the text that emitAssembly() returns to an object file.
ErrorOr<ObjectBytes> assembleText(std::string_view text,
                                  const GpuTarget &target);

/// Links one object file to a code object, which hipModuleLoadData() takes.
/// Safe to call from any thread; calls are serialized (about 1 ms each).
ErrorOr<ObjectBytes> linkObject(std::span<const char> object);

/// Reads the metadata note of a code object or object file; kernels are in its
/// order.
ErrorOr<std::vector<KernelMetadata>>
readMetadata(std::span<const char> codeObject);

} // namespace tessera

#endif // TESSERA_COMPILER_TARGET_AMDGPU_AMDGPUTARGET_H
