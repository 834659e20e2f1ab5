//===- DefaultCompiler.cpp - The compiler that the library is shipped with ===//
//
// In a file of its own because it alone needs LLVM: the unit tests link all
// the rest and bring a compiler of theirs.
//
//===----------------------------------------------------------------------===//

#include "capi/lib/Library.h"

#include "compiler/Driver/JitCompiler.h"

using namespace tessera;

std::shared_ptr<KernelCompiler> capi::makeCompiler() {
  return createJitCompiler();
}
