//===- NoCompiler.cpp - The library without a compiler --------------------===//
//
// This file replaces capi/lib/Common/DefaultCompiler.cpp, so that these tests
// link without LLVM.
//
//===----------------------------------------------------------------------===//

#include "capi/lib/Common/Library.h"

std::shared_ptr<tessera::KernelCompiler> tessera::capi::makeCompiler() {
  return nullptr;
}
