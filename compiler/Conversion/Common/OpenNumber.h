//===- OpenNumber.h - A number that may have unknown sizes -----*- C++ -*--===//
//
// What an address is made of, a stride or the length of a walk, is a number
// where all sizes are known. Else it is a polynomial of unknown sizes: a sum of
// products. Two of them that are equal have equal terms, so that dimensions can
// be merged as those of known sizes are.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COMMON_OPENNUMBER_H
#define TESSERA_COMPILER_CONVERSION_COMMON_OPENNUMBER_H

#include "runtime/Base/SizeExpr.h"

#include <cassert>
#include <concepts>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace tessera {

/// An integer, or a polynomial of unknown sizes with integer factors. Plain
/// data, cheap to copy.
class OpenNumber {
public:
  template <std::integral T>
  OpenNumber(T value) : number(static_cast<int64_t>(value)) {}
  OpenNumber() = default;
  /// A size, or what is made of sizes, as one unknown.
  explicit OpenNumber(const SizeExpr &size);

  bool isKnown() const { return !terms; }
  /// Programs with unknown sizes are refused where only numbers will do
  /// (TileSupport.cpp).
  operator int64_t() const {
    assert(isKnown() && "the number depends on unknown sizes");
    return number;
  }

  /// The largest integer that divides all values; 0 for zero.
  int64_t getFactor() const;

  /// The sums of the terms that are added and of those that are subtracted.
  std::pair<SizeExpr, SizeExpr> toExprs() const;
  /// As one expression, of which nothing is subtracted.
  SizeExpr toExpr() const;

  OpenNumber &operator+=(const OpenNumber &rhs) { return *this = *this + rhs; }
  OpenNumber &operator*=(const OpenNumber &rhs) { return *this = *this * rhs; }

  friend OpenNumber operator+(const OpenNumber &lhs, const OpenNumber &rhs);
  friend OpenNumber operator-(const OpenNumber &lhs, const OpenNumber &rhs) {
    return lhs + rhs * OpenNumber(-1);
  }
  friend OpenNumber operator*(const OpenNumber &lhs, const OpenNumber &rhs);
  friend bool operator==(const OpenNumber &lhs, const OpenNumber &rhs);

  // With a plain integer on one side, for which the conversions would leave a
  // choice.
  template <std::integral T>
  friend OpenNumber operator+(const OpenNumber &lhs, T rhs) {
    return lhs + OpenNumber(rhs);
  }
  template <std::integral T>
  friend OpenNumber operator-(const OpenNumber &lhs, T rhs) {
    return lhs - OpenNumber(rhs);
  }
  template <std::integral T>
  friend OpenNumber operator*(const OpenNumber &lhs, T rhs) {
    return lhs * OpenNumber(rhs);
  }
  template <std::integral T>
  friend OpenNumber operator*(T lhs, const OpenNumber &rhs) {
    return OpenNumber(lhs) * rhs;
  }
  template <std::integral T>
  friend bool operator==(const OpenNumber &lhs, T rhs) {
    return lhs == OpenNumber(rhs);
  }

private:
  struct ByText {
    bool operator()(const SizeExpr &lhs, const SizeExpr &rhs) const {
      return lhs.toText() < rhs.toText();
    }
  };
  /// The factors of a product, ordered by their texts.
  using Product = std::vector<SizeExpr>;
  struct ByTexts {
    bool operator()(const Product &lhs, const Product &rhs) const {
      return std::lexicographical_compare(lhs.begin(), lhs.end(), rhs.begin(),
                                          rhs.end(), ByText());
    }
  };
  /// What each product is multiplied by, not 0; the empty product is 1.
  using Terms = std::map<Product, int64_t, ByTexts>;

  Terms getTerms() const;
  static OpenNumber make(Terms terms);

  int64_t number = 0;
  std::shared_ptr<const Terms> terms; ///< Null if it is a number.
};

/// Numbers none of which is unknown.
inline std::vector<int64_t> toKnown(std::span<const OpenNumber> numbers) {
  return {numbers.begin(), numbers.end()};
}

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COMMON_OPENNUMBER_H
