//===- NoCompiler.cpp - The library without a compiler --------------------===//
//
// Stands in for capi/lib/DefaultCompiler.cpp, so that these tests link without
// LLVM.
//
//===----------------------------------------------------------------------===//

#include "capi/lib/Library.h"

std::shared_ptr<tessera::KernelCompiler> tessera::capi::makeCompiler() {
  return nullptr;
}
