//===- SizeExpr.h - A number made of a launch's sizes ----------*- C++ -*--===//
//
// A kernel for unknown sizes takes numbers that depend on nothing else: a
// stride, a number of points, the number of workgroups. The compiler says how
// each is computed, in one word that is kept with the kernel, and the runtime
// computes it when it sees the sizes (docs/design/0038-sizes-as-arguments.md).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_BASE_SIZEEXPR_H
#define TESSERA_RUNTIME_BASE_SIZEEXPR_H

#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/KernelArg.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tessera {

/// An expression of sizes of tensors and of numbers that are not negative. Its
/// text is postfix, with dots between the words: "xd1.xd2.*.64.^" is
/// ceil(x1 * x2 / 64), where x1 is dimension 1 of the memref of tensor x. The
/// operators are +, - (at least 0), *, / (floor) and ^ (ceil of a quotient).
class SizeExpr {
public:
  SizeExpr() : SizeExpr(0) {}
  SizeExpr(int64_t number);
  static SizeExpr makeSize(KernelArg tensor, int64_t dim);

  /// The expression as a number, if it has no sizes.
  std::optional<int64_t> getNumber() const { return number; }

  /// Both sides as one expression; `op` is an operator of the text. Numbers are
  /// folded.
  static SizeExpr combine(const SizeExpr &lhs, char op, const SizeExpr &rhs);
  friend SizeExpr operator*(const SizeExpr &lhs, const SizeExpr &rhs) {
    return combine(lhs, '*', rhs);
  }
  friend SizeExpr operator+(const SizeExpr &lhs, const SizeExpr &rhs) {
    return combine(lhs, '+', rhs);
  }
  friend SizeExpr minimum(const SizeExpr &lhs, const SizeExpr &rhs) {
    return combine(lhs, '-', combine(lhs, '-', rhs));
  }
  friend SizeExpr maximum(const SizeExpr &lhs, const SizeExpr &rhs) {
    if (lhs == rhs || rhs == SizeExpr())
      return lhs;
    return lhs == SizeExpr() ? rhs : combine(combine(lhs, '-', rhs), '+', rhs);
  }
  friend SizeExpr ceilDiv(const SizeExpr &lhs, const SizeExpr &rhs) {
    return combine(lhs, '^', rhs);
  }

  /// The size of a dimension of a tensor; nothing if there is none.
  using Lookup = std::function<std::optional<int64_t>(KernelArg, int64_t)>;

  /// NotSupported if a number on the way has more than 62 bits or a divisor is
  /// 0, InvalidArgument if a size does not exist.
  ErrorOr<int64_t> evaluate(const Lookup &lookup) const;

  const std::string &toText() const { return text; }

  friend bool operator==(const SizeExpr &, const SizeExpr &) = default;

private:
  friend ErrorOr<SizeExpr> parseSizeExpr(std::string_view text);

  std::string text;
  std::optional<int64_t> number;
};

/// Reads what toText() writes.
ErrorOr<SizeExpr> parseSizeExpr(std::string_view text);

/// What divides a dividend below 2^31 by `divisor`, from 1 to 2^31, by a
/// multiplication: n / divisor = (2n * multiplier) >> 32 >> shift. The low half
/// has the multiplier, the high half the shift.
uint64_t makeDivisor(int64_t divisor);

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_SIZEEXPR_H
