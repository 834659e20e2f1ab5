//===- WorkgroupControl.cpp - Loops and branches of a role ----------------===//
//
// Beside what a program's loops carry, they carry the places of the role in the
// rings that it moves in.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Workgroup/WorkgroupLowering.h"

using namespace mlir;
using namespace tessera;

static bool movesPlace(Operation *op, Value ring) {
  return llvm::any_of(ring.getUsers(), [&](Operation *user) {
    return isa<wg::NextOp, wg::LeaveOp>(user) && op->isAncestor(user);
  });
}

/// Whether `block` releases the stage of `ring` that was before the place at
/// its begin. On a condition on which it has gone on, it does not.
static bool releasesPrevious(Block &block, Value ring) {
  llvm::SmallDenseSet<Value> conditions;
  for (Operation &op : block) {
    auto branch = dyn_cast<scf::IfOp>(op);
    if (branch && conditions.contains(branch.getCondition()))
      continue;
    if (isa<wg::NextOp, wg::LeaveOp>(op) && op.getOperand(0) == ring)
      return false;
    if (isa<wg::ReleaseOp>(op) && op.getOperand(0) == ring)
      return true;
    for (Region &region : op.getRegions())
      if (isa<scf::ForOp, scf::IfOp>(op) && !region.empty() &&
          releasesPrevious(region.front(), ring))
        return true;
    if (branch && movesPlace(branch, ring))
      conditions.insert(branch.getCondition());
  }
  return false;
}

/// What `loop` carries of places. Stages that slide have what consumers have
/// yet to release behind all else.
FailureOr<SmallVector<Value *>>
WorkgroupLowering::findCarried(scf::ForOp loop) {
  SmallVector<Value *> carried, behind;
  const bool anySlides =
      llvm::any_of(plan.rings, [](wg::StagesOp ring) { return ring.slides(); });
  for (auto [stages, place] : llvm::zip(plan.rings, places)) {
    if (!movesPlace(loop, stages))
      continue;
    carried.append({&place.at.stage, &place.at.parity});
    const bool slides = stages.slides() && place.held > 0;
    if (!slides && !releasesPrevious(*loop.getBody(), stages)) {
      place.previous = Value();
      continue;
    }
    if (!place.previous)
      return loop.emitOpError("releases a stage before its first wg.next");
    (anySlides ? behind : carried).push_back(&place.previous);
  }
  carried.append(behind);
  return carried;
}

void WorkgroupLowering::forget(scf::ForOp loop) {
  for (auto [stages, place] : llvm::zip(plan.rings, places))
    if (movesPlace(loop, stages))
      place.previous = Value();
}

/// Whether a branch does nothing but go on in the ring.
static bool isPassingBy(scf::IfOp branch) {
  return branch.getElseRegion().empty() &&
         llvm::all_of(branch.getThenRegion().front(), [](Operation &op) {
           return isa<wg::NextOp, wg::WalkOp, scf::YieldOp>(op) ||
                  isa<arith::ArithDialect>(op.getDialect());
         });
}

/// The place is chosen, and so is the stage before it.
void WorkgroupLowering::lowerPassingBy(scf::IfOp branch) {
  const SmallVector<Place> before = places;
  (void)lower(branch.getThenRegion().front());
  Value passes = get(branch.getCondition());
  for (auto [place, old] : llvm::zip(places, before)) {
    if (place.at.stage == old.at.stage)
      continue;
    place.at = {e.select(passes, place.at.stage, old.at.stage),
                e.select(passes, place.at.parity, old.at.parity)};
    if (old.previous)
      place.previous = e.select(passes, place.previous, old.previous);
  }
}

LogicalResult WorkgroupLowering::lowerBranch(scf::IfOp branch) {
  if (isPassingBy(branch)) {
    lowerPassingBy(branch);
    return success();
  }
  SmallVector<Place *> moved;
  for (auto [stages, place] : llvm::zip(plan.rings, places))
    if (movesPlace(branch, stages))
      moved.push_back(&place);
  const size_t results = getTypes(branch.getResultTypes()).size();
  SmallVector<Type> types = getTypes(branch.getResultTypes());
  types.append(2 * moved.size(), e.b.getI32Type());
  const bool hasElse = !branch.getElseRegion().empty() || !moved.empty();
  auto to =
      scf::IfOp::create(e.b, e.loc, types, get(branch.getCondition()), hasElse);
  const SmallVector<Place> before = places;
  auto fill = [&](Region &from, Block *block) -> LogicalResult {
    OpBuilder::InsertionGuard guard(e.b);
    if (!block->empty())
      block->back().erase();
    e.b.setInsertionPointToStart(block);
    llvm::copy(before, places.begin());
    if (!from.empty() && failed(lower(from.front())))
      return failure();
    SmallVector<Value> yielded;
    if (!from.empty())
      yielded = getAll(from.front().getTerminator()->getOperands());
    for (Place *place : moved)
      yielded.append({place->at.stage, place->at.parity});
    scf::YieldOp::create(e.b, e.loc, yielded);
    return success();
  };
  if (failed(fill(branch.getThenRegion(), to.thenBlock())) ||
      (hasElse && failed(fill(branch.getElseRegion(), to.elseBlock()))))
    return failure();
  mapResults(branch.getResults(), to.getResults().take_front(results));
  for (auto [i, place] : llvm::enumerate(moved))
    *place = {
        {to.getResult(results + 2 * i), to.getResult(results + 2 * i + 1)},
        Value()};
  return success();
}
