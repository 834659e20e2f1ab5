//===- FakeCudaDefaults.cpp - Driver functions that only succeed ----------===//
//
// Defines every function weakly; FakeCudaDriver.cpp overrides those that do
// more.
//
//===----------------------------------------------------------------------===//

#include "test/unit/Support/FakeCudaState.h"

using namespace tessera::cuda;

#define CUDA_SYMBOL(name, exported, parameters)                                \
  extern "C" __attribute__((                                                   \
      weak, visibility("default"))) CudaError exported parameters {            \
    return tessera::test::recordCall(#name);                                   \
  }
#include "runtime/HipOnCuda/CudaSymbols.def"
