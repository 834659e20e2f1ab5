//===- OpenNumber.cpp - A number that may have unknown sizes --------------===//

#include "compiler/Conversion/Common/OpenNumber.h"

#include <algorithm>
#include <iterator>
#include <numeric>

using namespace tessera;

OpenNumber::OpenNumber(const SizeExpr &size) {
  if (const std::optional<int64_t> known = size.getNumber())
    number = *known;
  else
    terms = std::make_shared<Terms>(Terms{{Product{size}, 1}});
}

OpenNumber::Terms OpenNumber::getTerms() const {
  if (terms)
    return *terms;
  return number == 0 ? Terms() : Terms{{Product(), number}};
}

OpenNumber OpenNumber::make(Terms terms) {
  std::erase_if(terms, [](const auto &term) { return term.second == 0; });
  if (terms.empty())
    return 0;
  if (terms.size() == 1 && terms.begin()->first.empty())
    return terms.begin()->second;
  OpenNumber result;
  result.terms = std::make_shared<Terms>(std::move(terms));
  return result;
}

OpenNumber tessera::operator+(const OpenNumber &lhs, const OpenNumber &rhs) {
  if (lhs.isKnown() && rhs.isKnown())
    return lhs.number + rhs.number;
  OpenNumber::Terms sum = lhs.getTerms();
  for (const auto &[product, factor] : rhs.getTerms())
    sum[product] += factor;
  return OpenNumber::make(std::move(sum));
}

OpenNumber tessera::operator*(const OpenNumber &lhs, const OpenNumber &rhs) {
  if (lhs.isKnown() && rhs.isKnown())
    return lhs.number * rhs.number;
  OpenNumber::Terms result;
  for (const auto &[product, factor] : lhs.getTerms())
    for (const auto &[otherProduct, otherFactor] : rhs.getTerms()) {
      OpenNumber::Product both;
      std::ranges::merge(product, otherProduct, std::back_inserter(both),
                         OpenNumber::ByText());
      result[both] += factor * otherFactor;
    }
  return OpenNumber::make(std::move(result));
}

bool tessera::operator==(const OpenNumber &lhs, const OpenNumber &rhs) {
  if (lhs.isKnown() || rhs.isKnown())
    return lhs.isKnown() && rhs.isKnown() && lhs.number == rhs.number;
  return *lhs.terms == *rhs.terms;
}

int64_t OpenNumber::getFactor() const {
  int64_t factor = number;
  if (terms)
    for (const auto &[product, own] : *terms)
      factor = std::gcd(factor, own);
  return std::abs(factor);
}

std::pair<SizeExpr, SizeExpr> OpenNumber::toExprs() const {
  std::pair<SizeExpr, SizeExpr> result;
  for (const auto &[product, factor] : getTerms()) {
    SizeExpr value = std::abs(factor);
    for (const SizeExpr &size : product)
      value = value * size;
    SizeExpr &sum = factor > 0 ? result.first : result.second;
    sum = sum == SizeExpr() ? value : sum + value;
  }
  return result;
}

SizeExpr OpenNumber::toExpr() const {
  auto [added, subtracted] = toExprs();
  assert(subtracted == SizeExpr() && "an expression that may be negative");
  return added;
}
