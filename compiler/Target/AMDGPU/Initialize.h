//===- Initialize.h - The AMDGPU backend, ready for use --------*- C++ -*-===//

#ifndef TESSERA_COMPILER_TARGET_AMDGPU_INITIALIZE_H
#define TESSERA_COMPILER_TARGET_AMDGPU_INITIALIZE_H

#include "runtime/Base/ErrorOr.h"

namespace llvm {
class Target;
} // namespace llvm

namespace tessera {

inline constexpr char kAmdgpuTriple[] = "amdgcn-amd-amdhsa";

/// LLVM's AMDGPU backend; the first call registers it. Safe from any thread.
ErrorOr<const llvm::Target *> findAmdgpuBackend();

} // namespace tessera

#endif // TESSERA_COMPILER_TARGET_AMDGPU_INITIALIZE_H
