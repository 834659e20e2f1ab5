//===- Objects.h - How clients make and destroy objects --------*- C++ -*--===//
//
// Helpers of the functions that make, set, read and destroy descriptors and
// other objects.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_LIB_COMMON_OBJECTS_H
#define TESSERA_CAPI_LIB_COMMON_OBJECTS_H

#include "capi/lib/Common/ErrorGuard.h"

namespace tessera::capi {

/// createObject(__func__, REQUIRED(desc), desc) makes `*desc`.
template <typename Object>
miopenStatus_t createObject(const char *function, std::string_view names,
                            Pointers pointers, Object **object) {
  return guard(function, names, pointers, [&]() -> ApiResult {
    *object = makeObject<Object>();
    return Status::ok();
  });
}

template <typename Object>
miopenStatus_t destroyObject(const char *function, std::string_view names,
                             Pointers pointers, Object *object) {
  return guard(function, names, pointers, [&]() -> ApiResult {
    DestroyObject()(object);
    return Status::ok();
  });
}

/// Writes an output that a client may leave out by passing NULL.
template <typename Value>
void setIfWanted(Value *result, const Value &value) {
  if (result)
    *result = value;
}

/// InvalidArgument unless `value`, which a client passed as an enum, is an
/// enumerator from 0 to `last`.
inline Status checkEnum(int value, int last, const char *what) {
  if (value >= 0 && value <= last)
    return Status::ok();
  return invalidArgument(std::string(what) + " " + std::to_string(value) +
                         " is unknown");
}

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_COMMON_OBJECTS_H
