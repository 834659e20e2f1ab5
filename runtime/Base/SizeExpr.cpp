//===- SizeExpr.cpp - A number made of a launch's sizes -------------------===//

#include "runtime/Base/SizeExpr.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

using namespace tessera;

static constexpr std::string_view kOperators = "+-*/^";
static constexpr int64_t kMost = int64_t(1) << 62;

SizeExpr::SizeExpr(int64_t number)
    : text(std::to_string(number)), number(number) {}

SizeExpr SizeExpr::makeSize(KernelArg tensor, int64_t dim) {
  SizeExpr size;
  size.number.reset();
  size.text = std::string(getName(tensor)) + "d" + std::to_string(dim);
  return size;
}

/// Nothing if the result has more than 62 bits or does not exist.
static std::optional<int64_t> apply(int64_t lhs, char op, int64_t rhs) {
  int64_t result = 0;
  switch (op) {
  case '+':
    result = lhs + rhs;
    break;
  case '-':
    result = std::max<int64_t>(lhs - rhs, 0);
    break;
  case '*':
    if (__builtin_mul_overflow(lhs, rhs, &result))
      return std::nullopt;
    break;
  default:
    if (rhs == 0)
      return std::nullopt;
    result = lhs / rhs + (op == '^' && lhs % rhs != 0);
  }
  return result < kMost ? std::optional(result) : std::nullopt;
}

SizeExpr SizeExpr::combine(const SizeExpr &lhs, char op, const SizeExpr &rhs) {
  if (lhs.number && rhs.number)
    if (const std::optional<int64_t> folded =
            apply(*lhs.number, op, *rhs.number))
      return {*folded};
  const bool isProduct = op == '*', isQuotient = op == '/' || op == '^';
  if ((isProduct || isQuotient) && rhs.number == 1)
    return lhs;
  if (isProduct && lhs.number == 1)
    return rhs;
  if ((op == '+' || op == '-') && rhs.number == 0)
    return lhs;
  SizeExpr result;
  result.number.reset();
  result.text = lhs.text + "." + rhs.text + "." + op;
  return result;
}

/// A number, as printed; nothing if the word is none.
static std::optional<int64_t> readNumber(std::string_view word) {
  int64_t value = 0;
  const auto [end, error] =
      std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || value < 0 ||
      value >= kMost || word != std::to_string(value))
    return std::nullopt;
  return value;
}

namespace {
struct Size {
  KernelArg tensor;
  int64_t dim;
};
} // namespace

/// "xd1", which is dimension 1 of tensor x.
static std::optional<Size> readSize(std::string_view word) {
  const size_t at = word.rfind('d');
  if (at == word.npos)
    return std::nullopt;
  const std::optional<KernelArg> tensor = parseKernelArg(word.substr(0, at));
  const std::optional<int64_t> dim = readNumber(word.substr(at + 1));
  if (!tensor || isScalar(*tensor) || !dim)
    return std::nullopt;
  return Size{*tensor, *dim};
}

/// Evaluates a postfix text; `lookup` gives the values of sizes.
static ErrorOr<int64_t> evaluateText(std::string_view text,
                                     const SizeExpr::Lookup &lookup) {
  const auto malformed = [&] {
    return invalidArgument("'" + std::string(text) +
                           "' is not an expression of sizes, which looks like "
                           "'xd1.xd2.*.64.^'");
  };
  constexpr size_t kMostValues = 32;
  std::array<int64_t, kMostValues> stack;
  size_t count = 0;
  for (std::string_view rest = text;;) {
    const std::string_view word = rest.substr(0, rest.find('.'));
    if (word.size() == 1 && kOperators.find(word[0]) != kOperators.npos) {
      if (count < 2)
        return malformed();
      const std::optional<int64_t> result =
          apply(stack[count - 2], word[0], stack[count - 1]);
      if (!result)
        return notSupported("'" + std::string(text) +
                            "' is no number that a kernel can take");
      stack[--count - 1] = *result;
    } else {
      std::optional<int64_t> value = readNumber(word);
      if (const std::optional<Size> size = readSize(word))
        value = lookup(size->tensor, size->dim);
      if (!value || count == kMostValues)
        return malformed();
      stack[count++] = *value;
    }
    if (word.size() == rest.size())
      break;
    rest.remove_prefix(word.size() + 1);
  }
  return count == 1 ? ErrorOr<int64_t>(stack[0]) : malformed();
}

ErrorOr<int64_t> SizeExpr::evaluate(const Lookup &lookup) const {
  return number ? ErrorOr<int64_t>(*number) : evaluateText(text, lookup);
}

ErrorOr<SizeExpr> tessera::parseSizeExpr(std::string_view text) {
  SizeExpr expr;
  expr.text = text;
  expr.number = readNumber(text);
  // Sizes of any value show whether the words are right.
  const ErrorOr<int64_t> value =
      evaluateText(text, [](KernelArg, int64_t) { return 1; });
  if (!value && value.getStatus().getCode() == StatusCode::InvalidArgument)
    return value.getStatus();
  return expr;
}

// With s = ceil(log2 d) and m = ceil(2^(31+s) / d), e = m d - 2^(31+s) is less
// than d <= 2^s, so that n m / 2^(31+s) = n / d + n e / (d 2^(31+s)) exceeds
// n/d by less than 1 / d for n < 2^31: the floors are equal. m < 2^32 because
// d > 2^(s-1) (T. Granlund and P. Montgomery, Division by invariant integers
// using multiplication, 1994).
uint64_t tessera::makeDivisor(int64_t divisor) {
  const auto d = static_cast<uint64_t>(divisor);
  const uint64_t shift = std::bit_width(d - 1);
  const uint64_t multiplier = ((uint64_t(1) << (31 + shift)) + d - 1) / d;
  return shift << 32 | multiplier;
}
