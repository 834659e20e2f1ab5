//===- ErrorGuard.h - The boundary between Status and C ---------*- C++ -*-===//
//
// Every public function runs its body in guard(). This is the only place where
// a Status, or an exception of the standard library, becomes a miopenStatus_t,
// and where its message is kept for tesseraGetLastErrorMessage().
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_LIB_COMMON_ERRORGUARD_H
#define TESSERA_CAPI_LIB_COMMON_ERRORGUARD_H

#include "capi/lib/Common/ObjectTag.h"
#include "runtime/Base/Log.h"
#include "runtime/Base/Status.h"
#include <miopen/handle.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace tessera::capi {

/// What the body of a public function returns: a Status, converted by its code,
/// or a status of MIOpen that no StatusCode stands for, with a message. A plain
/// value.
class [[nodiscard]] ApiResult {
public:
  /// The constructor is not explicit, so that a body can return a Status.
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

/// The message of the last failure on this thread; "" before the first one.
const char *getLastErrorMessage();

/// A pointer argument of a call, with the tag of the object that it must point
/// at.
class Argument {
public:
  template <typename T>
  Argument(T *pointer) : pointer(pointer), tag(kTagOf<std::remove_cv_t<T>>) {}

  const void *get() const { return pointer; }
  uint64_t getTag() const { return tag & ~(kOptional | kAnyLayout); }

  /// Whether the call takes tensors with blocks of channels.
  bool takesAnyLayout() const { return tag & kAnyLayout; }

  /// Whether the call may use the pointer.
  bool isValid() const {
    if (!pointer) [[unlikely]]
      return tag & kOptional;
    return tag == 0 || readTag(pointer) == getTag();
  }

private:
  template <typename T>
  friend Argument orNull(T *pointer);
  template <typename T>
  friend Argument anyLayout(T *pointer);

  /// Bits that no tag of a live object has. They are kept in `tag`, and not in
  /// members of their own, because each call writes a list of arguments to the
  /// stack.
  static constexpr uint64_t kOptional = 0x80, kAnyLayout = 0x100;
  static_assert((kLiveTag & (kOptional | kAnyLayout)) == 0);

  const void *pointer;
  uint64_t tag;
};

/// Marks an object that may be NULL: REQUIRED(handle, orNull(biasDesc)).
template <typename T>
Argument orNull(T *pointer) {
  Argument argument(pointer);
  argument.tag |= Argument::kOptional;
  return argument;
}

/// Marks a tensor that may have blocks of channels, which other functions
/// refuse before their bodies run: REQUIRED(handle, anyLayout(xDesc)).
template <typename T>
Argument anyLayout(T *pointer) {
  Argument argument(pointer);
  argument.tag |= Argument::kAnyLayout;
  return argument;
}

/// Expands to two arguments: the names of pointers as the header has them, and
/// the pointers, which must not be null and whose objects must be alive and
/// have the right types: guard(__func__, REQUIRED(handle, xDesc), [&] ...).
#define REQUIRED(...)                                                          \
#__VA_ARGS__, { __VA_ARGS__ }
using Pointers = std::initializer_list<Argument>;

/// InvalidArgument that says what is wrong with the first argument that is not
/// valid. Both arguments come from REQUIRED(); `names` is separated by commas.
Status checkPointers(std::string_view names, Pointers pointers);

namespace detail {
/// "miopenSetStream(handle = 0x...)", for MIOPEN_ENABLE_LOGGING.
void logApiCall(const char *function, std::string_view names,
                Pointers pointers);
/// Logs the failure, keeps its message and returns its status.
miopenStatus_t reportFailure(const char *function, const ApiResult &result);
/// Does the same for the exception that is being handled. If memory ran out,
/// the message is a literal and nothing is logged, because both would allocate.
miopenStatus_t reportException(const char *function) noexcept;
} // namespace detail

/// Runs `body`, which returns an ApiResult, for the public function `function`,
/// after it has checked the REQUIRED() pointers.
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

#endif // TESSERA_CAPI_LIB_COMMON_ERRORGUARD_H
