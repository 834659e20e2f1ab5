//===- Revision.h - The revision of the compiler ---------------*- C++ -*--===//
//
// The revision is available without the compiler, because it is part of the key
// of every stored kernel, and a process that finds all its kernels never loads
// LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_DRIVER_REVISION_H
#define TESSERA_COMPILER_DRIVER_REVISION_H

namespace tessera {

/// Returns, for example, "llvm-22.1.8-0123456789abcdef": the version of LLVM
/// and a hash of everything that decides what code is generated, and of the
/// compiler's interface. The string lives as long as the process.
const char *getCompilerRevision();

} // namespace tessera

#endif // TESSERA_COMPILER_DRIVER_REVISION_H
