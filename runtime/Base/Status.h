//===- Status.h - The outcome of an operation ------------------*- C++ -*-===//
//
// Everything outside MLIR reports failure through Status or ErrorOr (below in
// ErrorOr.h): no exception is thrown by our own code, and the C API converts a
// code to a miopenStatus_t in one place. A code says what the caller can do
// about it, not where it happened; the message says the rest in one sentence.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_BASE_STATUS_H
#define TESSERA_RUNTIME_BASE_STATUS_H

#include <string>
#include <utility>

namespace tessera {

enum class StatusCode {
  Ok,
  /// The caller passed something wrong and can mend it.
  InvalidArgument,
  /// A valid request that this build has no kernel for: fall back.
  NotSupported,
  /// What was looked up is not there (a cache miss, a missing file).
  NotFound,
  /// Memory, disk or another limited thing ran out: retry or give less.
  ResourceExhausted,
  /// The device or the operating system refused: report it.
  Unavailable,
  /// Our own mistake: report it.
  Internal,
};

/// Result of an operation that returns nothing. A plain value, safe to copy
/// between threads.
class [[nodiscard]] Status {
public:
  /// Success.
  Status() = default;
  Status(StatusCode code, std::string message)
      : code(code), message(std::move(message)) {}

  static Status ok() { return {}; }

  bool isOk() const { return code == StatusCode::Ok; }
  StatusCode getCode() const { return code; }
  const std::string &getMessage() const { return message; }

  /// The same failure, with what the caller was doing put in front of the
  /// message: "cannot open the kernel database: disk I/O error".
  Status withContext(const std::string &context) const {
    return isOk() ? *this : Status(code, context + ": " + message);
  }

private:
  StatusCode code = StatusCode::Ok;
  std::string message;
};

inline Status invalidArgument(std::string message) {
  return {StatusCode::InvalidArgument, std::move(message)};
}
inline Status notSupported(std::string message) {
  return {StatusCode::NotSupported, std::move(message)};
}
inline Status notFound(std::string message) {
  return {StatusCode::NotFound, std::move(message)};
}
inline Status unavailable(std::string message) {
  return {StatusCode::Unavailable, std::move(message)};
}
inline Status internalError(std::string message) {
  return {StatusCode::Internal, std::move(message)};
}

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_STATUS_H
