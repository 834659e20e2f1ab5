//===- NotImplemented.cpp - Names of MIOpen that have no body yet ---------===//
//
// A client that was linked with MIOpen needs every name that it mentions, even
// those of functions that it never calls, and some clients load all names when
// they start. The headers that declare these functions are not included here,
// so that the definitions need no parameters.
//
//===----------------------------------------------------------------------===//

#include "capi/lib/Common/ErrorGuard.h"

using namespace tessera;
using namespace tessera::capi;

static miopenStatus_t refuse(const char *function) {
  return guard(function, "", {}, []() -> ApiResult {
    return notSupported("the function is not implemented");
  });
}

#define TESSERA_NOT_IMPLEMENTED(name)                                          \
  extern "C" MIOPEN_EXPORT miopenStatus_t name() { return refuse(#name); }
#include "capi/lib/Common/NotImplemented.def"
