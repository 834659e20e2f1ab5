//===- LinearForm.cpp - What an index is made of --------------------------===//

#include "compiler/Conversion/Common/LinearForm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include <algorithm>

using namespace mlir;
using namespace tessera;

static std::optional<int64_t> getConstantIndex(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

void LinearForm::add(Value value, int64_t factor) {
  if (factor == 0)
    return;
  if (auto number = getConstantIndex(value)) {
    constant += factor * *number;
    return;
  }
  Operation *op = value.getDefiningOp();
  if (isa_and_present<arith::AddIOp, arith::SubIOp>(op)) {
    add(op->getOperand(0), factor);
    add(op->getOperand(1), isa<arith::AddIOp>(op) ? factor : -factor);
    return;
  }
  if (isa_and_present<arith::MulIOp>(op))
    for (unsigned i : {0, 1})
      if (auto number = getConstantIndex(op->getOperand(i))) {
        add(op->getOperand(1 - i), factor * *number);
        return;
      }
  auto same = llvm::find_if(
      terms, [&](const Term &term) { return term.value == value; });
  if (same == terms.end())
    terms.push_back({value, factor});
  else
    same->factor += factor;
}

/// In how many loops `value` may change.
static int getLoopDepth(Value value) {
  int depth = 0;
  for (Operation *op = value.getParentBlock()->getParentOp(); op;
       op = op->getParentOp())
    depth += isa<LoopLikeOpInterface>(op);
  return depth;
}

SmallVector<LinearForm::Term> LinearForm::getTermsOutermostFirst() const {
  SmallVector<Term> sorted;
  for (const Term &term : terms) {
    if (term.factor == 0)
      continue;
    int depth = getLoopDepth(term.value);
    auto *place = llvm::find_if(sorted, [&](const Term &other) {
      return getLoopDepth(other.value) > depth;
    });
    sorted.insert(place, term);
  }
  return sorted;
}

/// The counter of a loop of constant bounds.
static std::optional<IndexRange> getLoopRange(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument
                  ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                  : scf::ForOp();
  if (!loop || loop.getInductionVar() != value)
    return std::nullopt;
  auto low = getConstantIndex(loop.getLowerBound());
  auto end = getConstantIndex(loop.getUpperBound());
  if (!low || !end)
    return std::nullopt;
  return IndexRange{*low, std::max(*low, *end - 1), /*isUniform=*/true};
}

/// The quotient or the remainder of a form and a positive constant.
static std::optional<IndexRange> getDivisionRange(Value value,
                                                  const KnownRanges &known) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_present<arith::DivUIOp, arith::RemUIOp>(op))
    return std::nullopt;
  auto divisor = getConstantIndex(op->getOperand(1));
  LinearForm form;
  form.add(op->getOperand(0), 1);
  auto range = form.getRange(known);
  if (!divisor || *divisor <= 0 || !range || range->low < 0)
    return std::nullopt;
  if (isa<arith::DivUIOp>(op))
    return IndexRange{range->low / *divisor, range->high / *divisor,
                      range->isUniform};
  return IndexRange{0, std::min(range->high, *divisor - 1), range->isUniform};
}

/// One of two forms, whichever a select takes.
static std::optional<IndexRange> getSelectRange(Value value,
                                                const KnownRanges &known) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  if (!select)
    return std::nullopt;
  LinearForm ifTrue, ifFalse;
  ifTrue.add(select.getTrueValue(), 1);
  ifFalse.add(select.getFalseValue(), 1);
  auto first = ifTrue.getRange(known), second = ifFalse.getRange(known);
  if (!first || !second)
    return std::nullopt;
  // Lanes may take different ones.
  return IndexRange{std::min(first->low, second->low),
                    std::max(first->high, second->high), /*isUniform=*/false};
}

static std::optional<IndexRange> findRange(Value value,
                                           const KnownRanges &known) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  if (auto range = getLoopRange(value))
    return range;
  if (auto range = getSelectRange(value, known))
    return range;
  return getDivisionRange(value, known);
}

std::optional<IndexRange> LinearForm::getRange(const KnownRanges &known) const {
  IndexRange range{constant, constant, /*isUniform=*/true};
  for (const Term &term : terms) {
    auto values = findRange(term.value, known);
    if (!values)
      return std::nullopt;
    int64_t ends[] = {term.factor * values->low, term.factor * values->high};
    range.low += std::min(ends[0], ends[1]);
    range.high += std::max(ends[0], ends[1]);
    range.isUniform &= values->isUniform;
  }
  return range;
}

bool LinearForm::isUniform(const KnownRanges &known) const {
  auto range = getRange(known);
  return range && range->isUniform;
}

bool LinearForm::hasPositiveTerms(const KnownRanges &known) const {
  return llvm::all_of(terms, [&](const Term &term) {
    auto values = findRange(term.value, known);
    return values && values->low >= 0 && term.factor >= 0;
  });
}
