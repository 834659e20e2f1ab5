//===- NotSupported.cpp - Entry points that only say that they are --------===//
//
// A program that was linked against AMD's library needs every name that it
// mentions, also of functions that it never calls. hip_runtime_api.h is not
// included here, because the parameters do not matter.
//
//===----------------------------------------------------------------------===//

#include "runtime/Hip/Refuse.h"

#define TESSERA_NOT_SUPPORTED(name)                                            \
  extern "C" __attribute__((visibility("default"))) int name() {               \
    return tessera::hip::refuseCall(#name);                                    \
  }
#include "runtime/Hip/NotSupported.def"
