//===- ErrorGuard.h - The boundary between Status and C ---------*- C++ -*-===//
//
// Every public function runs its body in guard(). This is the only place where
// a Status, or an exception of the standard library, becomes a miopenStatus_t,
// and where the sentence behind it is kept for tesseraGetLastErrorMessage().
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_LIB_ERRORGUARD_H
#define TESSERA_CAPI_LIB_ERRORGUARD_H

#include "capi/lib/Common/ObjectTag.h"
#include "runtime/Base/Log.h"
#include "runtime/Base/Status.h"
#include <miopen/handle.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace tessera::capi {

/// What the body of a public function answers: a Status, converted by its
/// code, or one of MIOpen's statuses that no StatusCode stands for, with its
/// sentence. A plain value.
class [[nodiscard]] ApiResult {
public:
  /// Not explicit, so that a body can return a Status as it is.
  ApiResult(Status status);
  ApiResult(miopenStatus_t status, std::string message)
      : status(status), message(std::move(message)) {}

  miopenStatus_t getStatus() const { return status; }
  const std::string &getMessage() const { return message; }

private:
  miopenStatus_t status;
  std::string message;
};

/// MIOpen's name of a status, or "Unknown error status".
const char *getStatusName(miopenStatus_t status);

/// The sentence of the last failure on this thread; "" at first.
const char *getLastErrorMessage();

/// A pointer of a call, and the tag of what it must point at.
class Argument {
public:
  template <typename T>
  Argument(T *pointer) : pointer(pointer), tag(kTagOf<std::remove_cv_t<T>>) {}

  const void *get() const { return pointer; }
  uint64_t getTag() const { return tag & ~kOptional; }

  /// Whether a call may go on with it.
  bool isValid() const {
    if (!pointer) [[unlikely]]
      return tag & kOptional;
    return tag == 0 || readTag(pointer) == getTag();
  }

private:
  template <typename T>
  friend Argument orNull(T *pointer);

  /// A bit of no tag. Each call writes a list of arguments, so they are short.
  static constexpr uint64_t kOptional = 0x80;

  const void *pointer;
  uint64_t tag;
};

/// An object that may be left out: REQUIRED(handle, orNull(biasDesc)).
template <typename T>
Argument orNull(T *pointer) {
  Argument argument(pointer);
  argument.tag |= Argument::kOptional;
  return argument;
}

/// Pointers of a call that must not be null, objects that must be alive and of
/// their types, and what the header calls them:
/// guard(__func__, REQUIRED(handle, xDesc), [&] ...). Two arguments.
#define REQUIRED(...)                                                          \
  #__VA_ARGS__, { __VA_ARGS__ }
using Pointers = std::initializer_list<Argument>;

/// InvalidArgument with what is wrong with the first argument that is not
/// valid. `names` is a list with commas between: the arguments come from
/// REQUIRED().
Status checkPointers(std::string_view names, Pointers pointers);

namespace detail {
/// "miopenSetStream(handle = 0x...)", for MIOPEN_ENABLE_LOGGING.
void logApiCall(const char *function, std::string_view names,
                Pointers pointers);
/// Logs the failure and keeps its sentence; gives back its status.
miopenStatus_t reportFailure(const char *function, const ApiResult &result);
/// The same for the exception that is being handled; memory that ran out has a
/// fixed sentence, and is not logged.
miopenStatus_t reportException(const char *function) noexcept;
} // namespace detail

/// Runs `body`, which returns an ApiResult, for the public function
/// `function`, once the REQUIRED() pointers are what they should be.
template <typename Body>
miopenStatus_t guard(const char *function, std::string_view names,
                     Pointers pointers, Body &&body) {
  try {
    if (areCallsLogged()) [[unlikely]]
      detail::logApiCall(function, names, pointers);
    Status status = checkPointers(names, pointers);
    const ApiResult result =
        status.isOk() ? body() : ApiResult(std::move(status));
    if (result.getStatus() == miopenStatusSuccess)
      return miopenStatusSuccess;
    return detail::reportFailure(function, result);
  } catch (...) {
    return detail::reportException(function);
  }
}

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_ERRORGUARD_H
