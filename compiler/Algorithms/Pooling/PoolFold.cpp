//===- PoolFold.cpp - How pixels are reduced to an output -----------------===//

#include "compiler/Algorithms/Pooling/PoolFold.h"

using namespace mlir;
using namespace tessera;

static Value compare(PoolBuilder &p, arith::CmpFPredicate predicate, Value lhs,
                     Value rhs) {
  return arith::CmpFOp::create(p.b, p.loc, predicate, lhs, rhs);
}

static Value isNan(PoolBuilder &p, Value value) {
  return compare(p, arith::CmpFPredicate::UNO, value, value);
}

PoolFold::PoolFold(dnn::PoolOp op, const PoolGeometry &geometry,
                   int64_t channels, bool inF32)
    : g(geometry), y(op.getY(), op.getYLayout(), g.y, channels),
      math(g, y, inF32) {
  if (g.hasIndices())
    indices.emplace(op.getIndices(), op.getYLayout(), g.indices, channels);
}

PoolReduction PoolFold::start(PoolBuilder &p) const {
  PoolReduction result{math.getStart(p), nullptr};
  if (g.hasIndices())
    result.index = p.splat(math.getIndexType(), int64_t(0));
  return result;
}

Value PoolFold::getMaximum(PoolBuilder &p, Value lhs, Value rhs) const {
  if (g.choosesNan())
    return arith::MaximumFOp::create(p.b, p.loc, lhs, rhs);
  return arith::MaxNumFOp::create(p.b, p.loc, lhs, rhs);
}

PoolReduction PoolFold::fold(PoolBuilder &p, PoolReduction partial, Value pixel,
                             Value index) const {
  if (!g.isMax())
    return {arith::AddFOp::create(p.b, p.loc, partial.value, pixel), nullptr};
  if (!g.hasIndices())
    return {getMaximum(p, partial.value, pixel), nullptr};
  Value wins = compare(p, arith::CmpFPredicate::OGT, pixel, partial.value);
  if (g.choosesNan())
    wins = arith::OrIOp::create(p.b, p.loc, wins, isNan(p, pixel));
  return {arith::SelectOp::create(p.b, p.loc, wins, pixel, partial.value),
          arith::SelectOp::create(p.b, p.loc, wins, index, partial.index)};
}

Value PoolFold::getIndex(PoolBuilder &p, const PoolCoordinates &at,
                         const std::array<Value, 3> &position) const {
  if (!g.hasIndices())
    return nullptr;
  bool isMask = g.indexMode == dnn::IndexMode::Mask;
  return math.broadcast(
      p, isMask ? math.getLinearIndex(p, position, g.dims.window)
                : math.getLinearIndex(p, {at[kDepth], at[kRow], at[kColumn]},
                                      g.dims.in));
}

Value PoolFold::getIndex(PoolBuilder &p, Value origin,
                         const std::array<int64_t, 3> &offset,
                         const std::array<int64_t, 3> &position) const {
  if (!g.hasIndices())
    return nullptr;
  if (g.indexMode == dnn::IndexMode::Mask)
    return p.splat(math.getIndexType(),
                   getLinearIndex(position, g.dims.window));
  return math.broadcast(p, p.add(origin, math.getDistance(p, offset)));
}

/// The value of `output`. Its coordinates decide by how many pixels an average
/// is divided.
Value PoolFold::finish(PoolBuilder &p, PoolReduction result,
                       const std::array<Value, 3> &output) const {
  if (!g.isMax())
    result.value = arith::MulFOp::create(p.b, p.loc, result.value,
                                         math.getReciprocal(p, output));
  return math.narrow(p, result.value);
}

void PoolFold::store(PoolBuilder &p, ArrayRef<PoolReduction> row,
                     const PoolCoordinates &at) const {
  SmallVector<Value> values, found;
  for (auto [i, result] : llvm::enumerate(row)) {
    values.push_back(
        finish(p, result, {at[kDepth], at[kRow], p.add(at[kColumn], i)}));
    if (indices)
      found.push_back(
          math.resizeIndices(p, result.index, indices->getElementType()));
  }
  y.storeRow(p, values, at);
  if (indices)
    indices->storeRow(p, found, at);
}

PoolReduction PoolFold::merge(PoolBuilder &p, PoolReduction one,
                              PoolReduction other) const {
  if (!g.hasIndices())
    return fold(p, one, other.value, nullptr);
  auto both = [&](Value lhs, Value rhs) {
    return arith::AndIOp::create(p.b, p.loc, lhs, rhs);
  };
  auto either = [&](Value lhs, Value rhs) {
    return arith::OrIOp::create(p.b, p.loc, lhs, rhs);
  };
  auto isBefore = [&](const PoolReduction &lhs, const PoolReduction &rhs) {
    return arith::CmpIOp::create(p.b, p.loc, arith::CmpIPredicate::ult,
                                 lhs.index, rhs.index);
  };
  Value isGreater =
      compare(p, arith::CmpFPredicate::OGT, other.value, one.value);
  Value isEqual = compare(p, arith::CmpFPredicate::OEQ, other.value, one.value);
  Value wins = either(isGreater, both(isEqual, isBefore(other, one)));
  if (g.choosesNan()) {
    // Of NaNs the last one wins, as in fold().
    Value isNumber =
        compare(p, arith::CmpFPredicate::ORD, one.value, one.value);
    Value isNanThatWins =
        both(isNan(p, other.value), either(isNumber, isBefore(one, other)));
    wins = either(wins, isNanThatWins);
  }
  return {arith::SelectOp::create(p.b, p.loc, wins, other.value, one.value),
          arith::SelectOp::create(p.b, p.loc, wins, other.index, one.index)};
}

PoolReduction tessera::foldInside(PoolBuilder &p, const PoolFold &fold,
                                  const PoolTensor &x,
                                  const PoolCoordinates &first,
                                  const std::array<Value, 3> &position,
                                  PoolReduction partial) {
  PoolCoordinates at = first;
  for (int dim = 0; dim < 3; ++dim)
    at[kDepth + dim] = p.add(first[kDepth + dim], position[dim]);
  Value pixel = fold.getMath().extend(p, x.load(p, at, {kDepth, kRow, kColumn}),
                                      /*mayBeOutside=*/false);
  return fold.fold(p, partial, pixel, fold.getIndex(p, at, position));
}
