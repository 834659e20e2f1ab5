//===- CheckCells.cpp - Slots in programs of narrow groups ----------------===//
//
// What such programs have beside the others of waves (CheckSlots.cpp): memory
// that buffers share, slots that are numbered from one that moves, loops that
// waves share, and copies that are made only if an iteration comes that reads
// them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Workgroup/SlotChecker.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tessera;

/// Other slots in the memory of `slot`. A buffer that lies over a slot lies
/// over all behind it, too, of both operands; once slots have other numbers,
/// over any. Results lie over both operands, whatever their layouts.
SmallVector<Slot> SlotChecker::findOverlaps(Slot slot) {
  SmallVector<Slot> overlaps;
  for (wg::AllocOp over : buffers) {
    if (!over.getBase())
      continue;
    const int64_t first = state.isSwapped ? 0 : *over.getSlot();
    const bool isOver = slot.first == getSlot(over, 0).first;
    const bool isOfResults = over.getType().getLayout() == wg::Layout::Mixed;
    for (wg::AllocOp under : buffers) {
      if (under == over ||
          (!isOfResults &&
           under.getType().getLayout() != over.getBase().getType().getLayout()))
        continue;
      if (!isOver && slot.first == getSlot(under, 0).first &&
          slot.second >= first)
        overlaps.push_back(getSlot(over, 0));
      for (int64_t i = first; isOver && i < under.getType().getSlots(); ++i)
        overlaps.push_back(getSlot(under, i));
    }
  }
  return overlaps;
}

void SlotChecker::rotate(wg::RotateOp op) {
  for (Value buffer : op.getBuffers()) {
    const int64_t slots = cast<wg::BufferType>(buffer.getType()).getSlots();
    const Slot own = getSlot(buffer, 0);
    state.rename([&](Slot slot) {
      if (slot.first != own.first)
        return slot;
      return Slot(slot.first,
                  (slot.second + slots - static_cast<int64_t>(op.getSteps())) %
                      slots);
    });
  }
}

/// Waves write what the first of them reads behind the barrier in it.
LogicalResult SlotChecker::reduce(wg::ReduceOp op) {
  const Slot slot = getSlot(op.getBuffer(), 0);
  if (failed(write(op, slot)))
    return failure();
  state.read.clear();
  state.written.clear();
  state.read.insert(slot);
  return success();
}

/// Waves have other iterations of a loop that they share, so that nothing may
/// be in it that they do together.
LogicalResult SlotChecker::visitShared(scf::ForOp loop) {
  if (!loop.getLowerBound().getDefiningOp<wg::WaveOp>())
    return visitLoop(loop);
  WalkResult walked = loop.walk([&](Operation *op) -> WalkResult {
    return isa<wg::BarrierOp, wg::CommitOp, wg::TileOp, wg::FillOp, wg::FetchOp,
               wg::PutOp, wg::RotateOp, wg::ReduceOp, scf::IfOp>(op)
               ? op->emitOpError("is what all waves do, but in a loop of which "
                                 "each has other iterations")
               : WalkResult::advance();
  });
  return walked.wasInterrupted() ? failure() : visitLoop(loop);
}

static bool areEqual(Value one, Value other) {
  IntegerAttr a, b;
  return one == other || (matchPattern(one, m_Constant(&a)) &&
                          matchPattern(other, m_Constant(&b)) && a == b);
}

/// The iteration that comes where the branch is taken: `ult` of its number and
/// of the end of a loop around, or of one behind.
static std::optional<WhenComes> findIteration(scf::IfOp branch) {
  auto compare = branch.getCondition().getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::ult)
    return std::nullopt;
  Value number = compare.getLhs(), end = compare.getRhs();
  IntegerAttr step;
  for (auto loop = branch->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>()) {
    const KnownNumber sum = KnownNumber::of(number);
    if (areEqual(loop.getUpperBound(), end) &&
        sum.base == loop.getInductionVar() &&
        matchPattern(loop.getStep(), m_Constant(&step)) && sum.more > 0 &&
        sum.more % step.getInt() == 0)
      return WhenComes{loop, sum.more / step.getInt()};
  }
  for (Operation *op = branch->getNextNode(); op; op = op->getNextNode())
    if (auto loop = dyn_cast<scf::ForOp>(op);
        loop && areEqual(loop.getUpperBound(), end) &&
        areEqual(loop.getLowerBound(), number))
      return WhenComes{loop, 1};
  return std::nullopt;
}

/// What is copied in a branch is there in iterations that come if it is taken.
LogicalResult SlotChecker::visitBranch(scf::IfOp branch) {
  condition = findIteration(branch);
  if (!condition)
    return branch.emitOpError(
        "needs a condition by which an iteration of a loop comes that reads "
        "what is copied: arith.cmpi ult of its number and of the loop's end");
  for (Operation &op : branch.getThenRegion().front()) {
    if (!isa<wg::TileOp, wg::FillOp, scf::YieldOp>(op) &&
        !isa<arith::ArithDialect>(op.getDialect()))
      return op.emitOpError("is no copy, and is in a branch");
    if (failed(visit(&op)))
      return failure();
  }
  condition.reset();
  return success();
}

int64_t tessera::findLineScale(scf::ForOp loop) {
  int64_t scale = 0;
  loop.walk([&](wg::FillOp fill) {
    const KnownNumber line = KnownNumber::of(fill.getAt());
    if (fill.getLines() && line.base == loop.getInductionVar())
      scale = line.scale;
  });
  return scale;
}
