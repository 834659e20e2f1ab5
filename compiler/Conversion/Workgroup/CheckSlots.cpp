//===- CheckSlots.cpp - Whether waves agree about the slots of LDS --------===//
//
// All waves run the same ops, and a barrier is where they meet. So what a wave
// does between two barriers may happen in any order to what the others do
// there. Follows the ops in their order and keeps what has been done to each
// slot since the last barrier. Loops are followed until what they begin with
// includes what they end with.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Workgroup/WaveProgram.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <map>
#include <set>

using namespace mlir;
using namespace tessera;

namespace {
/// A slot of a buffer, by its number.
using Slot = std::pair<void *, int64_t>;

/// What is true of slots on all ways to a place, or, of what is a danger, on
/// some.
struct SlotState {
  std::set<Slot> full;                ///< For all waves.
  std::set<Slot> written, read;       ///< Since the last barrier.
  std::set<Slot> copied;              ///< Directly, and in no group yet.
  std::vector<std::set<Slot>> groups; ///< On their way, the oldest first.
  std::set<void *> tables;            ///< Of tiles, since the last barrier.

  bool operator==(const SlotState &) const = default;
  bool isUnderWay(Slot slot) const {
    return copied.count(slot) ||
           llvm::any_of(groups, [&](const std::set<Slot> &group) {
             return group.count(slot) > 0;
           });
  }
  void join(const SlotState &other) {
    std::erase_if(full, [&](Slot slot) { return !other.full.count(slot); });
    written.insert(other.written.begin(), other.written.end());
    read.insert(other.read.begin(), other.read.end());
    tables.insert(other.tables.begin(), other.tables.end());
  }
};

class SlotChecker {
public:
  explicit SlotChecker(wg::ProgramOp program) {
    auto buffers = program.getBody().getOps<wg::AllocOp>();
    bufferA = *buffers.begin();
  }
  LogicalResult visit(Block &block);

private:
  /// What a fragment is of: of A or of B, from which column on.
  using Part = std::pair<bool, int64_t>;

  LogicalResult visit(Operation *op);
  LogicalResult visitLoop(scf::ForOp loop);
  LogicalResult write(Operation *op, Slot slot);
  LogicalResult load(wg::LoadOp op);
  LogicalResult multiply(wg::MmaOp op);
  void meet(wg::BarrierOp barrier);
  LogicalResult take(Operation *op, ValueRange into, ValueRange from);

  Value bufferA;
  SlotState state;
  llvm::DenseMap<Value, Part> parts;
};
} // namespace

static Slot getSlot(Value buffer, int64_t slot) {
  return {buffer.getAsOpaquePointer(), slot};
}

/// By threads, or by a direct copy.
LogicalResult SlotChecker::write(Operation *op, Slot slot) {
  if (state.read.count(slot))
    return op->emitOpError("overwrites a slot that other waves may still read; "
                           "it needs a wg.barrier in front");
  if (state.written.count(slot) || state.isUnderWay(slot))
    return op->emitOpError("fills a slot that is being filled");
  state.full.erase(slot);
  return success();
}

LogicalResult SlotChecker::load(wg::LoadOp op) {
  ArrayRef<int64_t> at = *op.getAt();
  const Slot slot = getSlot(op.getBuffer(), at[0]);
  if (state.written.count(slot))
    return op.emitOpError("reads a slot that other waves may still write; it "
                          "needs a wg.barrier in front");
  if (state.isUnderWay(slot))
    return op.emitOpError("reads a slot whose copy may still be under way; it "
                          "needs a wg.barrier ahead of fewer groups");
  if (!state.full.count(slot))
    return op.emitOpError("reads a slot that nothing has been copied to");
  state.read.insert(slot);
  parts[op] = {op.getBuffer() == bufferA, at[1]};
  return success();
}

LogicalResult SlotChecker::multiply(wg::MmaOp op) {
  const Part a = parts.lookup(op.getA()), b = parts.lookup(op.getB());
  if (!a.first || b.first)
    return op.emitOpError("needs a fragment of the first buffer for A, and one "
                          "of the second for B");
  if (a.second != b.second)
    return op.emitOpError() << "multiplies columns of A from " << a.second
                            << " on by those of B from " << b.second << " on";
  return success();
}

/// All groups but the youngest ones are there, for all waves.
void SlotChecker::meet(wg::BarrierOp barrier) {
  state.full.insert(state.written.begin(), state.written.end());
  state.written.clear();
  state.read.clear();
  state.tables.clear();
  if (!barrier.getAhead())
    return;
  while (state.groups.size() > *barrier.getAhead()) {
    std::set<Slot> &oldest = state.groups.front();
    state.full.insert(oldest.begin(), oldest.end());
    state.groups.erase(state.groups.begin());
  }
}

/// Fragments that `into` is of what `from` is.
LogicalResult SlotChecker::take(Operation *op, ValueRange into,
                                ValueRange from) {
  for (auto [to, value] : llvm::zip_equal(into, from)) {
    auto found = parts.find(value);
    if (found == parts.end())
      continue;
    const Part part = found->second;
    auto [known, isNew] = parts.insert({to, part});
    if (!isNew && known->second != part)
      return op->emitOpError("carries a fragment of other columns, or of the "
                             "other operand, than it begins with");
  }
  return success();
}

LogicalResult SlotChecker::visitLoop(scf::ForOp loop) {
  if (failed(take(loop, loop.getRegionIterArgs(), loop.getInitArgs())))
    return failure();
  Operation *yield = loop.getBody()->getTerminator();
  while (true) {
    const SlotState before = state;
    if (failed(visit(*loop.getBody())) ||
        failed(take(loop, loop.getRegionIterArgs(), yield->getOperands())))
      return failure();
    if (state.groups != before.groups || state.copied != before.copied)
      return loop.emitOpError("leaves other copies on their way than it finds");
    SlotState joined = before;
    joined.join(state);
    state = joined;
    if (state == before)
      return take(loop, loop.getResults(), loop.getRegionIterArgs());
  }
}

LogicalResult SlotChecker::visit(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitLoop(loop);
  if (auto step = dyn_cast<wg::StepOp>(op)) {
    Block &body = step.getBody().front();
    return success(succeeded(visit(body)) &&
                   succeeded(take(step, step.getResults(),
                                  body.getTerminator()->getOperands())));
  }
  if (auto put = dyn_cast<wg::PutOp>(op)) {
    const Slot slot = getSlot(put.getBuffer(), put.getSlot());
    if (failed(write(put, slot)))
      return failure();
    state.written.insert(slot);
  } else if (auto fill = dyn_cast<wg::FillOp>(op)) {
    const Slot slot = getSlot(fill.getBuffer(), fill.getSlot());
    if (failed(write(fill, slot)))
      return failure();
    state.copied.insert(slot);
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
  } else if (isa<wg::FlushOp>(op)) {
    state.groups.clear();
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
