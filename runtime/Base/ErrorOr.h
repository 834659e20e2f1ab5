//===- ErrorOr.h - A value, or why there is none ---------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_BASE_ERROROR_H
#define TESSERA_RUNTIME_BASE_ERROROR_H

#include "runtime/Base/Status.h"

#include <cassert>
#include <optional>

namespace tessera {

/// Holds a T or a failed Status. Owns the value; as safe to share as T is.
///
///   ErrorOr<Kernel> kernel = compiler.compile(problem, tile, target);
///   if (!kernel)
///     return kernel.getStatus().withContext("cannot compile");
///   use(*kernel);
template <typename T>
class [[nodiscard]] ErrorOr {
public:
  ErrorOr(T value) : value(std::move(value)) {}
  ErrorOr(Status failure) : status(std::move(failure)) {
    assert(!status.isOk() && "an ErrorOr without a value needs a failure");
  }

  explicit operator bool() const { return value.has_value(); }
  const Status &getStatus() const { return status; }

  T &operator*() { return *value; }
  const T &operator*() const { return *value; }
  T *operator->() { return &*value; }
  const T *operator->() const { return &*value; }

private:
  std::optional<T> value;
  Status status;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_ERROROR_H
