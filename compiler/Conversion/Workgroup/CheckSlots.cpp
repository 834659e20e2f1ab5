//===- CheckSlots.cpp - Whether waves agree about the slots of LDS --------===//
//
// All waves run the same ops, and a barrier is where they meet. So what a wave
// does between two barriers may happen in any order to what the others do
// there. Follows the ops in their order and keeps what has been done to each
// slot since the last barrier. Loops are followed until what they begin with
// includes what they end with.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Workgroup/SlotChecker.h"
#include "compiler/Conversion/Workgroup/WaveProgram.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tessera;

/// The slot that an op means; fails after an error if that is not known.
FailureOr<Slot> SlotChecker::locate(Operation *op, Value buffer, int64_t number,
                                    Value behind) {
  const bool canTurn = isShared() && buffer == bufferA;
  std::optional<int64_t> place = number;
  if (behind)
    place = places.find(behind, state.isSwapped);
  else if (canTurn && state.isSwapped)
    place = std::nullopt;
  if (place)
    return getSlot(buffer, *place);
  return op->emitOpError("needs a slot that is known here: by its number or a "
                         "constant if slots are not swapped, else by what "
                         "a loop carries, or the last slot's begin less that");
}

//===----------------------------------------------------------------------===//
// What ops do to slots
//===----------------------------------------------------------------------===//

/// Parts come one after the other.
LogicalResult SlotChecker::follow(Operation *op, Slot slot,
                                  ArrayRef<int64_t> part) {
  auto found = state.begun.find(slot);
  const NextPart expected =
      found == state.begun.end() ? NextPart(0, part[1]) : found->second;
  if (expected != NextPart(part[0], part[1]))
    return op->emitOpError()
           << "is part " << part[0] << " of " << part[1] << ", but part "
           << expected.first << " of " << expected.second << " comes next";
  if (part[0] + 1 == part[1])
    state.begun.erase(slot);
  else
    state.begun[slot] = {part[0] + 1, part[1]};
  return success();
}

/// By threads, or by a direct copy.
LogicalResult SlotChecker::write(Operation *op, Slot slot,
                                 std::optional<ArrayRef<int64_t>> part) {
  const bool isBegun = state.begun.count(slot) > 0;
  SmallVector<Slot> memory = findOverlaps(slot);
  memory.push_back(slot);
  for (Slot part : memory)
    if (state.read.count(part))
      return op->emitOpError(
          "overwrites a slot that other waves may still read; "
          "it needs a wg.barrier in front");
  for (Slot other : memory) {
    if (isBegun ? !part : state.written.count(other) || state.isUnderWay(other))
      return op->emitOpError("fills a slot that is being filled");
    state.full.erase(other);
    state.taps.erase(other);
    state.blocks.erase(other);
    state.awaited.erase(other);
  }
  return part ? follow(op, slot, *part) : success();
}

/// The tap that is located, if that is a constant and taps share A's rows.
std::optional<int64_t> SlotChecker::findTap(Value box) {
  auto tap = box.getDefiningOp<wg::TapOp>();
  IntegerAttr number;
  if (!tap || !isShared() || !matchPattern(tap.getTap(), m_Constant(&number)))
    return std::nullopt;
  return number.getInt();
}

void SlotChecker::fetch(wg::FetchOp op) {
  NextPart next = {1, 1};
  if (std::optional<ArrayRef<int64_t>> part = op.getPart())
    next = {(*part)[0] + 1, (*part)[1]};
  parts[op] = {wg::findTile(op.getBox()).getBuffer() == bufferA, 0,
               findTap(op.getBox()), next};
  if (isCellProgram())
    parts[op].block = KnownNumber::of(op.getAt());
}

LogicalResult SlotChecker::put(wg::PutOp op) {
  const Slot slot = getSlot(op.getBuffer(), op.getSlot());
  const Part pieces = parts.lookup(op.getPieces());
  std::optional<ArrayRef<int64_t>> part = op.getPart();
  const int64_t needed = part ? (*part)[0] + 1 : pieces.next.second;
  if (pieces.isOfA != (op.getBuffer() == bufferA) ||
      pieces.next.first < needed || (part && pieces.next.second != (*part)[1]))
    return op.emitOpError("writes pieces of the other operand, or parts that "
                          "have not been loaded");
  if (failed(write(op, slot, part)))
    return failure();
  state.written.insert(slot);
  if (isCellProgram())
    state.blocks[slot] = pieces.block;
  if (pieces.tap)
    state.taps[slot] = *pieces.tap;
  return success();
}

LogicalResult SlotChecker::fill(wg::FillOp op) {
  const int64_t slots = op.getBuffer().getType().getSlots();
  for (int64_t line = 0; line < static_cast<int64_t>(op.getLines().value_or(1));
       ++line) {
    FailureOr<Slot> slot = locate(
        op, op.getBuffer(), (static_cast<int64_t>(op.getSlot()) + line) % slots,
        op.getBehind());
    if (failed(slot) || failed(write(op, *slot, op.getPart())))
      return failure();
    state.copied.insert(*slot);
    if (op.getBuffer().getType().isOfCells() &&
        op.getBuffer().getType().getLayout() != wg::Layout::Diagonal) {
      KnownNumber &block = state.blocks[*slot];
      block = KnownNumber::of(op.getAt());
      block.more += line;
    }
    if (condition)
      state.awaited[*slot] = *condition;
    if (std::optional<int64_t> tap = findTap(op.getBox()))
      state.taps[*slot] = *tap;
  }
  return success();
}

static bool isLine(wg::LoadOp op) {
  return op.getBuffer().getType().getLayout() == wg::Layout::Circular;
}

LogicalResult SlotChecker::load(wg::LoadOp op) {
  ArrayRef<int64_t> at = *op.getAt();
  FailureOr<Slot> slot = locate(op, op.getBuffer(), at[0], op.getBehind());
  if (failed(slot))
    return failure();
  if (state.written.count(*slot))
    return op.emitOpError("reads a slot that other waves may still write; it "
                          "needs a wg.barrier in front");
  if (state.isUnderWay(*slot))
    return op.emitOpError("reads a slot whose copy may still be under way; it "
                          "needs a wg.barrier ahead of fewer groups");
  if (state.begun.count(*slot))
    return op.emitOpError("reads a slot of which parts have not been copied");
  if (!state.full.count(*slot))
    return op.emitOpError("reads a slot that nothing has been copied to");
  if (state.awaited.count(*slot))
    return op.emitOpError("reads a slot that is filled only if a later "
                          "iteration comes");
  const auto known = state.blocks.find(*slot);
  const KnownNumber block =
      known == state.blocks.end() ? KnownNumber() : known->second;
  if (const auto zero = state.blocks.find(getSlot(op.getBuffer(), 0));
      isLine(op) && zero != state.blocks.end()) {
    KnownNumber wanted = zero->second;
    wanted.more += at[0];
    if (known != state.blocks.end() && block != wanted)
      return op.emitOpError() << "reads a slot that has not the line " << at[0]
                              << " behind that of slot 0";
  }
  if (op.getBlock() && KnownNumber::of(op.getBlock()) != block)
    return op.emitOpError("is within another block than that which has been "
                          "copied to its slot");
  state.read.insert(*slot);
  std::optional<int64_t> tap = op.getTap();
  if (auto found = state.taps.find(*slot); found != state.taps.end())
    tap = found->second;
  parts[op] = {op.getBuffer() == bufferA, at[1], tap, {1, 1}, block};
  return success();
}

/// Whether both operands are pixels, which are reduced.
static bool arePixels(wg::MmaOp op) {
  auto b = op.getB().getDefiningOp<wg::LoadOp>();
  return b && b.getPixel();
}

LogicalResult SlotChecker::multiply(wg::MmaOp op) {
  const Part a = parts.lookup(op.getA()), b = parts.lookup(op.getB());
  if (!a.isOfA || b.isOfA)
    return op.emitOpError("needs a fragment of the first buffer for A, and one "
                          "of the second for B");
  auto type = cast<wg::BufferType>(bufferA.getType());
  if (a.column != b.column && type.getLayout() != wg::Layout::Circular)
    return op.emitOpError() << "multiplies columns of A from " << a.column
                            << " on by those of B from " << b.column << " on";
  if (a.tap && b.tap && *a.tap != *b.tap)
    return op.emitOpError() << "multiplies what tap " << *a.tap
                            << " sees by the filter of tap " << *b.tap;
  if (type.getLayout() == wg::Layout::Pixels && arePixels(op) &&
      a.block != b.block)
    return op.emitOpError("multiplies pixels of one block by those of another");
  return success();
}

/// Results leave a buffer that is written once they have left it.
LogicalResult SlotChecker::flush(wg::FlushOp op) {
  if (!op.getResult()) {
    state.groups.clear();
    return success();
  }
  auto result = op.getResult().getDefiningOp<wg::ResultOp>();
  const Slot slot = getSlot(result.getStaging(), 0);
  if (state.written.count(slot))
    return op.emitOpError("reads results that other waves may still write; it "
                          "needs a wg.barrier in front");
  state.read.insert(slot);
  std::optional<ArrayRef<int64_t>> share = op.getShare();
  if (!share)
    return success();
  auto block = dyn_cast<BlockArgument>(op.getBlock());
  auto loop = block ? dyn_cast<scf::ForOp>(block.getOwner()->getParentOp())
                    : scf::ForOp();
  if (!loop || block != loop.getInductionVar() ||
      !isConstantIntValue(loop.getLowerBound(), 0) ||
      !isConstantIntValue(loop.getUpperBound(), (*share)[2]) ||
      !isConstantIntValue(loop.getStep(), 1))
    return op.emitOpError()
           << "needs the block of a loop from 0 to " << (*share)[2];
  return follow(op, slot, share->take_front(2));
}

/// All groups but the youngest ones are there, for all waves.
void SlotChecker::meet(wg::BarrierOp barrier) {
  std::set<Slot> here = std::exchange(state.written, {});
  state.read.clear();
  state.tables.clear();
  while (barrier.getAhead() && state.groups.size() > *barrier.getAhead()) {
    std::set<Slot> &oldest = state.groups.front();
    here.insert(oldest.begin(), oldest.end());
    state.groups.erase(state.groups.begin());
  }
  for (Slot slot : here)
    if (!state.begun.count(slot) && !state.isUnderWay(slot))
      state.full.insert(slot);
}

/// Fragments and pieces that `into` is of what `from` is.
LogicalResult SlotChecker::take(Operation *op, ValueRange into,
                                ValueRange from) {
  for (auto [to, value] : llvm::zip_equal(into, from)) {
    auto found = parts.find(value);
    if (found == parts.end())
      continue;
    Part part = found->second;
    part.block = {}; // Another one's in each iteration.
    auto [known, isNew] = parts.insert({to, part});
    if (!isNew && known->second != part)
      return op->emitOpError("carries a fragment of other columns, or of the "
                             "other operand, than it begins with");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The order of ops
//===----------------------------------------------------------------------===//

/// An iteration of a loop whose arguments say `carried` slots. Behind it, they
/// are known by these names again.
LogicalResult SlotChecker::visitBody(scf::ForOp loop,
                                     ArrayRef<int64_t> carried) {
  places.name(loop.getRegionIterArgs(), carried);
  state.beginIteration(loop);
  Operation *yield = loop.getBody()->getTerminator();
  if (failed(visit(*loop.getBody())) ||
      failed(take(loop, loop.getRegionIterArgs(), yield->getOperands())))
    return failure();
  std::optional<bool> swaps; // Of all, or of none.
  for (auto [value, place] : llvm::zip_equal(yield->getOperands(), carried)) {
    if (place < 0)
      continue;
    std::optional<int64_t> now = places.find(value, state.isSwapped);
    if (!now || swaps.value_or(*now != place) != (*now != place))
      return loop.emitOpError("carries on what is no begin of a slot, or "
                              "another slot's than its other arguments");
    swaps = *now != place;
  }
  if (swaps.value_or(false)) {
    const Slot one = getSlot(bufferA, 0), other = getSlot(bufferA, 1);
    state.rename([&](Slot slot) {
      return slot == one ? other : slot == other ? one : slot;
    });
    places.forget();
  }
  state.endIteration(loop);
  places.name(loop.getResults(), carried);
  return success();
}

/// A loop that runs at least once leaves what its iterations do.
LogicalResult SlotChecker::visitLoop(scf::ForOp loop) {
  if (failed(take(loop, loop.getRegionIterArgs(), loop.getInitArgs())))
    return failure();
  const SmallVector<int64_t> carried =
      places.findCarried(loop, state.isSwapped);
  IntegerAttr from, to;
  const bool runs = matchPattern(loop.getLowerBound(), m_Constant(&from)) &&
                    matchPattern(loop.getUpperBound(), m_Constant(&to)) &&
                    from.getInt() < to.getInt();
  state.enter(loop, findLineScale(loop));
  // What is there when a loop begins may be under way later on, once.
  bool canWeaken = true;
  while (true) {
    const SlotState began = state;
    SlotState before = state;
    if (failed(visitBody(loop, carried)))
      return failure();
    const size_t found = before.groups.size();
    if (!before.weaken(state) ||
        (before.groups.size() != found && !canWeaken) ||
        state.copied != before.copied)
      return loop.emitOpError("leaves other copies on their way than it finds");
    canWeaken &= before.groups.size() == found;
    if (isCellProgram() && began.differs(state))
      return loop.emitOpError("leaves other lines, or another block, in slots "
                              "than it finds there");
    if (state.begun != before.begun)
      return loop.emitOpError("leaves other parts to be done than it finds");
    SlotState joined = before;
    joined.join(state);
    if (joined == began) {
      if (!runs)
        state = std::move(joined);
      state.leave(loop);
      return take(loop, loop.getResults(), loop.getRegionIterArgs());
    }
    state = std::move(joined);
  }
}

LogicalResult SlotChecker::visit(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitShared(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return visitBranch(branch);
  if (auto reduceOp = dyn_cast<wg::ReduceOp>(op))
    return reduce(reduceOp);
  if (auto step = dyn_cast<wg::StepOp>(op)) {
    Block &body = step.getBody().front();
    return success(succeeded(visit(body)) &&
                   succeeded(take(step, step.getResults(),
                                  body.getTerminator()->getOperands())));
  }
  if (auto putOp = dyn_cast<wg::PutOp>(op))
    return put(putOp);
  if (auto fillOp = dyn_cast<wg::FillOp>(op))
    return fill(fillOp);
  if (auto flushOp = dyn_cast<wg::FlushOp>(op))
    return flush(flushOp);
  if (auto fetchOp = dyn_cast<wg::FetchOp>(op)) {
    fetch(fetchOp);
  } else if (auto rotateOp = dyn_cast<wg::RotateOp>(op)) {
    rotate(rotateOp);
  } else if (auto columns = dyn_cast<wg::ColumnsOp>(op)) {
    parts[columns] = parts.lookup(columns.getFragment());
    parts[columns].column += static_cast<int64_t>(columns.getFirst());
  } else if (isa<wg::CommitOp>(op)) {
    state.groups.push_back(std::exchange(state.copied, {}));
  } else if (auto barrier = dyn_cast<wg::BarrierOp>(op)) {
    meet(barrier);
  } else if (auto tile = dyn_cast<wg::TileOp>(op); tile && tile.getTable()) {
    state.tables.insert(op);
  } else if (auto tap = dyn_cast<wg::TapOp>(op)) {
    if (state.tables.count(wg::findTile(tap)))
      return tap.emitOpError("reads a table that other waves may still write; "
                             "it needs a wg.barrier in front");
  } else if (auto loadOp = dyn_cast<wg::LoadOp>(op)) {
    return load(loadOp);
  } else if (auto mma = dyn_cast<wg::MmaOp>(op)) {
    return multiply(mma);
  } else if (auto store = dyn_cast<wg::StoreOp>(op)) {
    auto result = store.getResult().getDefiningOp<wg::ResultOp>();
    if (!result.getStaging())
      return success();
    const Slot slot = getSlot(result.getStaging(), 0);
    if (failed(write(op, slot)))
      return failure();
    state.written.insert(slot);
  }
  return success();
}

LogicalResult SlotChecker::visit(Block &block) {
  for (Operation &op : block)
    if (failed(visit(&op)))
      return failure();
  return success();
}

LogicalResult tessera::checkSlots(wg::ProgramOp program) {
  return SlotChecker(program).visit(program.getBody().front());
}
