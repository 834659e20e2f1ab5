//===- Revision.h - Which compiler a build has -----------------*- C++ -*-===//
//
// Needed without the compiler: it is part of the key of every stored kernel,
// and a process that finds all its kernels never loads LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_DRIVER_REVISION_H
#define TESSERA_COMPILER_DRIVER_REVISION_H

namespace tessera {

/// "llvm-22.1.8-0123456789abcdef": the version of LLVM and a hash of everything
/// that decides what code is made, and of the interface to who makes it. Lives
/// as long as the process.
const char *getCompilerRevision();

} // namespace tessera

#endif // TESSERA_COMPILER_DRIVER_REVISION_H
