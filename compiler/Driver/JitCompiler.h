//===- JitCompiler.h - The compiler's public interface ---------*- C++ -*--===//
//
// Besides Revision.h this is the only header of compiler/ that other layers
// include. It names no LLVM or MLIR type, so that its users need none of their
// headers.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_DRIVER_JITCOMPILER_H
#define TESSERA_COMPILER_DRIVER_JITCOMPILER_H

#include "runtime/Engine/KernelCompiler.h"

#include <memory>

namespace tessera {

/// Creates the in-process compiler. It owns its MLIR contexts, one for each
/// concurrent compilation, and is safe to use from any thread.
std::unique_ptr<KernelCompiler> createJitCompiler();

} // namespace tessera

#endif // TESSERA_COMPILER_DRIVER_JITCOMPILER_H
