//===- JitCompiler.h - The compiler as others see it -----------*- C++ -*-===//
//
// With Revision.h the only header of compiler/ that other layers include. It
// names no LLVM or MLIR type, so that its users need none of their headers.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_DRIVER_JITCOMPILER_H
#define TESSERA_COMPILER_DRIVER_JITCOMPILER_H

#include "runtime/Engine/KernelCompiler.h"

#include <memory>

namespace tessera {

/// The in-process compiler. Owns its MLIR contexts, one for each compilation
/// that is under way at the same time; safe to use from any thread.
std::unique_ptr<KernelCompiler> createJitCompiler();

} // namespace tessera

#endif // TESSERA_COMPILER_DRIVER_JITCOMPILER_H
