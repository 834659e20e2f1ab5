//===- Status.h - The outcome of an operation ------------------*- C++ -*--===//
//
// Everything outside MLIR reports failure through Status or ErrorOr (in
// ErrorOr.h): our own code throws no exception, and the C API converts a code
// to a miopenStatus_t at a single point. A code says what the caller can do
// about the failure, not where it happened; the message says the rest in one
// sentence.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_BASE_STATUS_H
#define TESSERA_RUNTIME_BASE_STATUS_H

#include <string>
#include <utility>

namespace tessera {

enum class StatusCode {
  Ok,
  /// The caller passed something wrong and can correct it.
  InvalidArgument,
  /// A valid request that this build has no kernel for: the caller falls back.
  NotSupported,
  /// What was looked up is not there (a cache miss, a missing file).
  NotFound,
  /// Memory, disk or another limited resource ran out: retry or ask for less.
  ResourceExhausted,
  /// The device or the operating system refused: the caller reports it.
  Unavailable,
  /// Our own mistake: the caller reports it.
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
