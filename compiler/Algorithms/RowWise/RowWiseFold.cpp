//===- RowWiseFold.cpp - The arithmetic of one kind of reduction ----------===//

#include "compiler/Algorithms/RowWise/RowWiseFold.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace tessera;
using dnn::ReduceKind;

SmallVector<Type, 2> RowWiseFold::getTypes() {
  if (hasPivot())
    return {type, type};
  if (hasIndex())
    return {type, p.b.getI32Type()};
  return {type};
}

bool RowWiseFold::isMax() const {
  return kind == ReduceKind::Max || kind == ReduceKind::MaxNum ||
         kind == ReduceKind::ArgMax;
}

Value RowWiseFold::constant(double value) {
  return arith::ConstantOp::create(
      p.b, p.loc, cast<TypedAttr>(p.b.getFloatAttr(type, value)));
}

/// The neutral element of the kind. For maxnum it is a NaN, which loses even
/// against an infinity.
Value RowWiseFold::getNeutral() {
  auto getInteger = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(p.b, p.loc,
                                     p.b.getIntegerAttr(type, value));
  };
  const bool isInteger = isa<IntegerType>(type);
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Moments:
    return isInteger ? getInteger(0) : constant(0);
  case ReduceKind::Product:
    return isInteger ? getInteger(1) : constant(1);
  case ReduceKind::MaxNum:
  case ReduceKind::MinNum:
    if (!isInteger)
      return constant(std::numeric_limits<double>::quiet_NaN());
    [[fallthrough]];
  case ReduceKind::Max:
  case ReduceKind::Min:
  case ReduceKind::ArgMax:
  case ReduceKind::ArgMin:
    if (!isInteger)
      return constant(isMax() ? -INFINITY : INFINITY);
    const unsigned bits = type.getIntOrFloatBitWidth();
    return getInteger(isMax() ? llvm::minIntN(bits) : llvm::maxIntN(bits));
  }
  llvm_unreachable("every kind has a case");
}

RowWiseFold::Words RowWiseFold::start() {
  Value neutral = getNeutral();
  if (hasPivot())
    return {neutral, neutral};
  if (hasIndex()) // Beyond every index, so that an infinity wins against it.
    return {neutral, arith::ConstantIntOp::create(
                         p.b, p.loc, std::numeric_limits<int32_t>::max(), 32)};
  return {neutral};
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

/// The larger or the smaller of two values. The result is a NaN if any of them
/// is one (`keepsNan`), or only if both are. Uses the ops of arith in f32 only,
/// since not every chip has their instructions in f64.
static Value chooseFloat(PointBuilder &p, Value lhs, Value rhs, bool isMax,
                         bool keepsNan) {
  if (lhs.getType().isF32()) {
    if (keepsNan)
      return isMax ? arith::MaximumFOp::create(p.b, p.loc, lhs, rhs).getResult()
                   : arith::MinimumFOp::create(p.b, p.loc, lhs, rhs);
    return isMax ? arith::MaxNumFOp::create(p.b, p.loc, lhs, rhs).getResult()
                 : arith::MinNumFOp::create(p.b, p.loc, lhs, rhs);
  }
  Value wins = arith::CmpFOp::create(
      p.b, p.loc, isMax ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT,
      lhs, rhs);
  Value checked = keepsNan ? lhs : rhs;
  Value isNan = arith::CmpFOp::create(p.b, p.loc, arith::CmpFPredicate::UNO,
                                      checked, checked);
  Value takesLhs = arith::OrIOp::create(p.b, p.loc, wins, isNan);
  return arith::SelectOp::create(p.b, p.loc, takesLhs, lhs, rhs);
}

Value RowWiseFold::combinePair(Value lhs, Value rhs) {
  const bool isInteger = isa<IntegerType>(type);
  switch (kind) {
  case ReduceKind::Sum:
    return p.addBlocks(lhs, rhs);
  case ReduceKind::Product:
    return isInteger ? arith::MulIOp::create(p.b, p.loc, lhs, rhs).getResult()
                     : arith::MulFOp::create(p.b, p.loc, lhs, rhs);
  case ReduceKind::Max:
  case ReduceKind::Min:
  case ReduceKind::MaxNum:
  case ReduceKind::MinNum:
    if (!isInteger)
      return chooseFloat(p, lhs, rhs, isMax(),
                         kind == ReduceKind::Max || kind == ReduceKind::Min);
    return isMax() ? arith::MaxSIOp::create(p.b, p.loc, lhs, rhs).getResult()
                   : arith::MinSIOp::create(p.b, p.loc, lhs, rhs);
  case ReduceKind::Moments:
  case ReduceKind::ArgMax:
  case ReduceKind::ArgMin:
    break;
  }
  llvm_unreachable("kinds of two words are combined by other functions");
}

/// Takes the right one if it is better, or if it is equal and has the smaller
/// index.
RowWiseFold::Words RowWiseFold::combineWithIndex(const Words &lhs,
                                                 const Words &rhs) {
  auto both = [&](Value a, Value b) -> Value {
    return arith::AndIOp::create(p.b, p.loc, a, b);
  };
  auto either = [&](Value a, Value b) -> Value {
    return arith::OrIOp::create(p.b, p.loc, a, b);
  };
  Value isBetter, isAsGood;
  if (isa<IntegerType>(type)) {
    isBetter = arith::CmpIOp::create(p.b, p.loc,
                                     isMax() ? arith::CmpIPredicate::sgt
                                             : arith::CmpIPredicate::slt,
                                     rhs[0], lhs[0]);
    isAsGood = arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::eq,
                                     rhs[0], lhs[0]);
  } else {
    auto compare = [&](arith::CmpFPredicate predicate, Value a,
                       Value b) -> Value {
      return arith::CmpFOp::create(p.b, p.loc, predicate, a, b);
    };
    using enum arith::CmpFPredicate;
    Value lhsIsNan = compare(UNO, lhs[0], lhs[0]);
    Value rhsIsNan = compare(UNO, rhs[0], rhs[0]);
    // Unordered comparisons are true where either is a NaN, so that a NaN on
    // the right wins; one on the left always stays.
    Value notLhsNan = compare(ORD, lhs[0], lhs[0]);
    isBetter = both(compare(isMax() ? UGT : ULT, rhs[0], lhs[0]), notLhsNan);
    isAsGood = either(compare(OEQ, rhs[0], lhs[0]), both(lhsIsNan, rhsIsNan));
  }
  Value isEarlier = arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::slt,
                                          rhs[1], lhs[1]);
  Value takesRhs = either(isBetter, both(isAsGood, isEarlier));
  Words result;
  for (auto [left, right] : llvm::zip_equal(lhs, rhs))
    result.push_back(
        arith::SelectOp::create(p.b, p.loc, takesRhs, right, left));
  return result;
}

//===----------------------------------------------------------------------===//
// Fold and combine
//===----------------------------------------------------------------------===//

RowWiseFold::Words RowWiseFold::fold(const Words &words, Value value,
                                     Value index, Value pivot, Value valid) {
  auto orElse = [&](Value chosen, Value other) -> Value {
    return valid ? arith::SelectOp::create(p.b, p.loc, valid, chosen, other)
                       .getResult()
                 : chosen;
  };
  if (hasPivot()) {
    Value difference =
        orElse(arith::SubFOp::create(p.b, p.loc, value, pivot), constant(0));
    return {p.addBlocks(words[0], difference),
            p.mulAdd(difference, difference, words[1])};
  }
  Words added = start();
  added[0] = orElse(value, added[0]);
  if (!hasIndex())
    return {combinePair(words[0], added[0])};
  added[1] = orElse(index, added[1]);
  return combineWithIndex(words, added);
}

Value RowWiseFold::atLeastOne(Value count) {
  Value one = constant(1);
  Value isMore =
      arith::CmpFOp::create(p.b, p.loc, arith::CmpFPredicate::OGT, count, one);
  return arith::SelectOp::create(p.b, p.loc, isMore, count, one);
}

RowWiseFold::Words RowWiseFold::finish(const Words &words, Value pivot,
                                       Value count) {
  if (!hasPivot())
    return words;
  Value divisor = atLeastOne(count); // The sums of no values are zero.
  Value shift = arith::DivFOp::create(p.b, p.loc, words[0], divisor);
  Value cross = arith::MulFOp::create(p.b, p.loc, words[0], shift);
  Value squares = arith::SubFOp::create(p.b, p.loc, words[1], cross);
  return {arith::AddFOp::create(p.b, p.loc, pivot, shift), squares};
}

/// Chan's formula, generalized to several partial results at the cost of a
/// second pass over them, needs one division for all.
RowWiseFold::Words RowWiseFold::combineMoments(ArrayRef<Words> partials,
                                               ArrayRef<Value> counts) {
  auto sub = [&](Value a, Value b) -> Value {
    return arith::SubFOp::create(p.b, p.loc, a, b);
  };
  Value first = partials[0][0], total = counts[0], shift;
  Value squares = partials[0][1];
  for (size_t i = 1; i < partials.size(); ++i) {
    Value difference = arith::MulFOp::create(p.b, p.loc, counts[i],
                                             sub(partials[i][0], first));
    shift = shift ? p.addBlocks(shift, difference) : difference;
    total = p.addBlocks(total, counts[i]);
    squares = p.addBlocks(squares, partials[i][1]);
  }
  if (!shift)
    return partials[0];
  Value divisor = atLeastOne(total);
  Value mean =
      p.addBlocks(first, arith::DivFOp::create(p.b, p.loc, shift, divisor));
  for (auto [partial, count] : llvm::zip_equal(partials, counts)) {
    Value difference = sub(partial[0], mean);
    squares = p.mulAdd(arith::MulFOp::create(p.b, p.loc, count, difference),
                       difference, squares);
  }
  return {mean, squares};
}

RowWiseFold::Words RowWiseFold::combine(ArrayRef<Words> partials,
                                        ArrayRef<Value> counts) {
  if (hasPivot())
    return combineMoments(partials, counts);
  // A balanced tree: rounding errors grow with the logarithm of the number.
  SmallVector<Words> level(partials);
  while (level.size() > 1) {
    SmallVector<Words> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2)
      next.push_back(hasIndex()
                         ? combineWithIndex(level[i], level[i + 1])
                         : Words{combinePair(level[i][0], level[i + 1][0])});
    if (level.size() % 2)
      next.push_back(level.back());
    level = std::move(next);
  }
  return level.front();
}
