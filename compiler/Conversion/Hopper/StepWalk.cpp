//===- StepWalk.cpp - The steps of a tile's reduction ---------------------===//

#include "compiler/Conversion/Hopper/StepWalk.h"
#include "compiler/Conversion/Common/ViewAccess.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <numeric>

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// What a group leaves of the taps
//===----------------------------------------------------------------------===//

StepWalk::StepWalk(dnn::TileLoadOp a, dnn::TileLoadOp b, OpenNumber steps)
    : steps(std::move(steps)) {
  for (dnn::TileLoadOp load : {a, b}) {
    auto view = load.getView().getDefiningOp<dnn::ViewOp>();
    groups = llvm::to_vector(view.getCoords().getSpace(0));
    sizes = llvm::to_vector(view.getCoords().getSpace(2));
    addLimits(view);
  }
  sizes.back() =
      llvm::divideCeilSigned(sizes.back(), a.getType().getShape()[1]);
}

/// Coordinates that the group and one tap decide, and no row.
void StepWalk::addLimits(dnn::ViewOp view) {
  dnn::CoordsAttr coords = view.getCoords();
  ArrayRef<int64_t> lengths =
      cast<MemRefType>(view.getSource().getType()).getShape();
  const size_t rows = coords.getFirstDim(1), columns = coords.getFirstDim(2);
  auto isMoved = [](int64_t factor) { return factor != 0; };
  for (auto [expr, length] : llvm::zip(coords.getMap().getResults(), lengths)) {
    LinearExpr linear = getLinearExpr(expr, coords.getSizes().size());
    // A tap alone is one, too; a group alone is none.
    for (size_t d = 0; d < columns; ++d)
      if (coords.getSizes()[d] == 1)
        linear.factors[d] = 0;
    ArrayRef<int64_t> factors = linear.factors;
    ArrayRef<int64_t> group = factors.take_front(rows);
    ArrayRef<int64_t> taps = factors.drop_front(columns).drop_back();
    if (llvm::none_of(group, isMoved) ||
        llvm::any_of(factors.slice(rows, columns - rows), isMoved) ||
        llvm::count_if(taps, isMoved) != 1 || factors.back() != 0)
      continue;
    const auto *tap = llvm::find_if(taps, isMoved);
    const auto dim = static_cast<unsigned>(tap - taps.begin());
    if (!findLimit(dim))
      limits.push_back(
          {dim, length, linear.constant, *tap, SmallVector<int64_t>(group)});
  }
}

const StepWalk::Limit *StepWalk::findLimit(unsigned dim) const {
  const auto *limit =
      llvm::find_if(limits, [&](const Limit &l) { return l.dim == dim; });
  return limit == limits.end() ? nullptr : limit;
}

/// What getRange() computes in the kernel, for a group that is known.
int64_t StepWalk::countSteps(int64_t group) const {
  int64_t left = steps;
  for (const Limit &limit : limits) {
    int64_t place = limit.constant, rest = group, count = 0;
    for (int64_t d = groups.size() - 1; d >= 0; rest /= groups[d], --d)
      place += rest % groups[d] * limit.groupFactors[d];
    for (int64_t tap = 0; tap < sizes[limit.dim]; ++tap, place += limit.factor)
      count += place >= 0 && place < limit.size;
    left = left / sizes[limit.dim] * count;
  }
  return left;
}

bool StepWalk::canBeEmpty() const {
  if (!hasLimits())
    return false;
  for (int64_t group = 0, e = getGroups(); group < e; ++group)
    if (countSteps(group) == 0)
      return true;
  return false;
}

bool StepWalk::growsWithGroup() const {
  return hasLimits() && countSteps(0) < countSteps(getGroups() - 1);
}

int64_t StepWalk::getGroups() const {
  return std::accumulate(groups.begin(), groups.end(), int64_t(1),
                         std::multiplies<>());
}

//===----------------------------------------------------------------------===//
// The same in the kernel
//===----------------------------------------------------------------------===//

/// Taps that exist are neighbours: how many lie before them, and how many they
/// are. They are few, so each is looked at.
StepWalk::Range StepWalk::getRange(Emitter &e, unsigned dim,
                                   Value group) const {
  const Limit *limit = findLimit(dim);
  if (!limit)
    return {e.constant(0), e.constant(sizes[dim])};
  Value begin = e.constant(limit->constant);
  for (int64_t d = groups.size() - 1; d >= 0; --d) {
    Value digit = d == 0 ? group : e.remu(group, groups[d]);
    begin = e.add(e.mul(digit, limit->groupFactors[d]), begin);
    group = e.divu(group, groups[d]);
  }
  Type i32 = e.b.getI32Type();
  Range range{e.constant(0), e.constant(0)};
  for (int64_t tap = 0; tap < sizes[dim]; ++tap) {
    Value place = e.add(begin, tap * limit->factor);
    Value isInside = e.ult(place, limit->size);
    Value isBefore = arith::CmpIOp::create(
        e.b, e.loc,
        limit->factor > 0 ? arith::CmpIPredicate::slt
                          : arith::CmpIPredicate::sge,
        place, e.constant(limit->factor > 0 ? 0 : limit->size));
    auto count = [&](Value sum, Value condition) {
      return e.add(sum, arith::ExtUIOp::create(e.b, e.loc, i32, condition));
    };
    range.first = count(range.first, isBefore);
    range.count = count(range.count, isInside);
  }
  return range;
}

Value StepWalk::countSteps(Emitter &e, Value group) const {
  if (!hasLimits())
    return e.constant(steps);
  int64_t whole = steps;
  Value counts;
  for (const Limit &limit : limits) {
    whole /= sizes[limit.dim];
    Value count = getRange(e, limit.dim, group).count;
    counts = counts ? arith::MulIOp::create(e.b, e.loc, counts, count) : count;
  }
  return e.mul(counts, whole);
}

int64_t StepWalk::getWeight(unsigned dim) const {
  return std::accumulate(sizes.begin() + dim + 1, sizes.end(), int64_t(1),
                         std::multiplies<>());
}

/// A loop for each dimension down to the last one that has a limit. What is
/// further inside is walked as one with it.
SmallVector<Value> StepWalk::emitLoop(Emitter &e, unsigned dim, Value group,
                                      Value base, ValueRange carried,
                                      Body body) const {
  const bool isInnermost = llvm::all_of(
      limits, [&](const Limit &limit) { return limit.dim <= dim; });
  const int64_t weight = getWeight(dim);
  Range range = getRange(e, dim, group);
  Value first = range.first, count = range.count;
  if (limits.empty()) {
    count = e.constant(steps);
  } else if (isInnermost) {
    first = e.add(base, e.mul(first, weight));
    count = e.mul(count, weight);
  }
  auto loop = scf::ForOp::create(e.b, e.loc, first, e.add(first, count),
                                 e.constant(1), carried);
  if (carried.empty()) // Else the loop has no terminator yet.
    loop.getBody()->getTerminator()->erase();
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  Value place = loop.getInductionVar();
  ValueRange args = loop.getRegionIterArgs();
  scf::YieldOp::create(e.b, e.loc,
                       isInnermost ? body(place, args)
                                   : emitLoop(e, dim + 1, group,
                                              e.add(base, e.mul(place, weight)),
                                              args, body));
  return llvm::to_vector_of<Value>(loop.getResults());
}

SmallVector<Value> StepWalk::forEachStep(Emitter &e, Value group,
                                         ValueRange carried, Body body) const {
  return emitLoop(e, /*dim=*/0, group, e.constant(0), carried, body);
}
