//===- MainLoop.cpp - The software pipeline over the reduction ------------===//

#include "compiler/Conversion/Cooperative/MainLoop.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

MainLoop::Values MainLoop::State::flatten() const {
  Values all(accumulators);
  for (const Values &pieces : staged)
    llvm::append_range(all, pieces);
  llvm::append_range(all, fragments);
  return all;
}

void MainLoop::State::unflatten(ValueRange values) {
  auto take = [&](Values &into) {
    size_t count = into.size();
    into.assign(values.begin(), values.begin() + count);
    values = values.drop_front(count);
  };
  take(accumulators);
  for (Values &pieces : staged)
    take(pieces);
  take(fragments);
}

std::pair<TileCopy &, unsigned> MainLoop::getPass(unsigned index) {
  if (index < copyM.getPasses())
    return {copyM, index};
  return {copyN, index - copyM.getPasses()};
}

/// Fragments are numbered those of m first, then those of n.
Value MainLoop::readFragment(int64_t index, int64_t chunk, unsigned buffer) {
  bool isM = index < mma.getM().count;
  return mma.readFragment(isM, isM ? index : index - mma.getM().count, chunk,
                          isM ? buffers.m[buffer] : buffers.n[buffer]);
}

//===----------------------------------------------------------------------===//
// The parts of one step
//===----------------------------------------------------------------------===//

/// Each staged piece goes to LDS, and the piece of the step after the next
/// takes its registers.
StepBody::Actions MainLoop::makeCopies(const State &state,
                                       SmallVector<Values> &loaded,
                                       unsigned next, Value position) {
  StepBody::Actions actions;
  for (unsigned pass = 0; pass < getPasses(); ++pass) {
    TileCopy &copy = getPass(pass).first;
    for (unsigned part = 0; part < copy.getWriteParts(); ++part)
      actions.push_back({StepBody::Kind::LdsWrite, [=, this, &state] {
                           auto [copy, own] = getPass(pass);
                           copy.write(own, part, state.staged[pass],
                                      getBuffer(pass, next));
                         }});
    for (unsigned part = 0; part < copy.getLoadParts(); ++part)
      actions.push_back({StepBody::Kind::GlobalLoad, [=, this, &loaded] {
                           auto [copy, own] = getPass(pass);
                           copy.load(own, part, position, Value(),
                                     loaded[pass]);
                         }});
  }
  return actions;
}

/// Direct copies: the buffer that this step has read takes the step that lies
/// a turn of the loop ahead.
StepBody::Actions MainLoop::makeRefills(unsigned current, Value position) {
  StepBody::Actions actions;
  for (unsigned pass = 0; pass < getPasses(); ++pass)
    actions.push_back({StepBody::Kind::GlobalLoad, [=, this] {
                         auto [copy, own] = getPass(pass);
                         Values none;
                         copy.load(own, 0, position, getBuffer(pass, current),
                                   none);
                         if (pass + 1 == getPasses())
                           e.device.endDirectGroup(e);
                       }});
  return actions;
}

/// Waits for LDS and, of direct copies, for the loads of all but the youngest
/// `stepsInFlight` steps.
void MainLoop::emitBarrier(int64_t stepsInFlight) {
  if (!isDirect()) {
    e.device.emitLdsBarrier(e);
    return;
  }
  e.device.waitForDirectGroups(e, stepsInFlight, getPasses());
  e.device.emitOrderPin(e);
  e.device.emitBareBarrier(e);
}

//===----------------------------------------------------------------------===//
// Steps and loops
//===----------------------------------------------------------------------===//

/// Multiplies the step in LDS buffer `current`, and brings the step at
/// `position` on its way: to the registers whose content goes to the other
/// buffer, or to this buffer once it is read.
void MainLoop::emitStep(State &state, unsigned current, Value position) {
  unsigned next = (current + 1) % getSteps();
  SmallVector<Values> loaded(isDirect() ? 0 : getPasses());
  StepBody::Parts splits;
  splits.read = [&](int64_t index, int64_t chunk) {
    return readFragment(index, chunk, current);
  };
  splits.readNext = [&](int64_t index) { return readFragment(index, 0, next); };
  splits.emitBarrier = [&] { emitBarrier(getSteps() - 2); };
  if (isDirect())
    splits.refills = makeRefills(current, position);
  else
    splits.copies = makeCopies(state, loaded, next, position);
  state.fragments = body.emit(state.accumulators, std::move(state.fragments),
                              std::move(splits));
  state.staged = std::move(loaded);
}

/// In a stepped walk, the offsets of the tap of the step at `position` bytes of
/// the whole reduction; returns the position within the tap. A step of planes
/// is known by its first chunk.
Value MainLoop::enterStep(Value position) {
  if (walk.kind != ReductionWalk::Kind::Stepped)
    return position;
  int64_t bytes = walk.plane > 0
                      ? kChunkBytes
                      : int64_t(walk.inner) * (stepBytes / mma.getM().lds.step);
  Value tap = e.divu(position, bytes);
  copyM.setTap(tap);
  copyN.setTap(tap);
  return e.remu(position, bytes);
}

/// What the loads of the step at `position` give, or nothing if they go to LDS
/// buffer `buffer`.
SmallVector<MainLoop::Values> MainLoop::loadStep(Value position,
                                                 unsigned buffer) {
  position = enterStep(position);
  SmallVector<Values> loaded(getPasses());
  for (unsigned pass = 0; pass < getPasses(); ++pass) {
    auto [copy, own] = getPass(pass);
    for (unsigned part = 0; part < copy.getLoadParts(); ++part)
      copy.load(own, part, position, getBuffer(pass, buffer), loaded[pass]);
  }
  return loaded;
}

/// Step 0 in LDS, step 1 staged.
void MainLoop::stageFirstSteps(State &state) {
  SmallVector<Values> first = loadStep(addFirst(e.constant(0)), 0);
  for (unsigned pass = 0; pass < getPasses(); ++pass) {
    auto [copy, own] = getPass(pass);
    for (unsigned part = 0; part < copy.getWriteParts(); ++part)
      copy.write(own, part, first[pass], getBuffer(pass, 0));
  }
  state.staged = loadStep(addFirst(e.constant(stepBytes)), 1);
}

/// Every buffer on its way.
void MainLoop::fillBuffers() {
  for (int64_t step = 0; step < getSteps(); ++step) {
    loadStep(e.constant(step * stepBytes), step);
    e.device.endDirectGroup(e);
  }
}

/// Step 0 in LDS, the steps ahead loaded, the first fragments of step 0 read.
MainLoop::State MainLoop::emitPrologue() {
  Value zero = e.constant(0);
  if (walk.kind == ReductionWalk::Kind::Nested) {
    copyM.setTap(zero);
    copyN.setTap(zero);
  }
  State state;
  state.accumulators.assign(mma.getAccumulators(), mma.makeZeroAccumulator());
  if (isDirect())
    fillBuffers();
  else
    stageFirstSteps(state);
  emitBarrier(getSteps() - 1);
  if (pinned)
    e.device.emitOrderPin(e);
  for (int64_t index = 0; index < body.getFragments(); ++index)
    state.fragments.push_back(readFragment(index, 0, 0));
  return state;
}

/// for position = from, from + a turn, ... below to
MainLoop::State MainLoop::emitInnerLoop(State state, Value from, Value to) {
  auto loop =
      scf::ForOp::create(e.b, e.loc, from, to,
                         e.constant(getSteps() * stepBytes), state.flatten());
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  state.unflatten(loop.getRegionIterArgs());
  for (int64_t step = 0; step < getSteps(); ++step)
    emitStep(state, step,
             enterStep(e.add(loop.getInductionVar(), step * stepBytes)));
  scf::YieldOp::create(e.b, e.loc, state.flatten());
  state.unflatten(loop.getResults());
  return state;
}

/// One loop over all steps, filled up to whole turns; the turn past the end
/// loads nothing.
MainLoop::State MainLoop::emitFlatLoop(State state) {
  int64_t turn = getSteps() * stepBytes;
  OpenNumber bytes =
      walk.outer * walk.inner * (stepBytes / mma.getM().lds.step);
  if (bytes.isKnown())
    bytes = llvm::alignTo(bytes, turn);
  return emitInnerLoop(std::move(state), addFirst(e.constant(turn)),
                       addFirst(e.constant(bytes + turn)));
}

/// The first `taps` taps x channels. The loads are a turn ahead, so tap 0
/// starts there and a last turn, past the last tap, loads nothing. A tap that
/// does not exist for this workgroup has no steps; those of tap 0 that have
/// been loaded hold zeros then. The upper bound is written as lower + count,
/// without wrap, so that LLVM sees where the inner loop runs at least once and
/// makes no copy of it.
MainLoop::State MainLoop::emitNestedLoop(State state, int64_t taps) {
  OpenNumber bytes = walk.inner * (stepBytes / mma.getM().lds.step);
  Value zero = e.constant(0), one = e.constant(1);
  int64_t turn = getSteps() * stepBytes;
  Value ahead = e.constant(turn);
  auto loop = scf::ForOp::create(e.b, e.loc, zero, e.constant(taps), one,
                                 state.flatten());
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  state.unflatten(loop.getRegionIterArgs());
  Value tap = loop.getInductionVar();
  copyM.setTap(tap);
  copyN.setTap(tap);
  Value isFirst =
      arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, tap, zero);
  Value isTap = e.ult(tap, walk.outer);
  Value count = e.select(isFirst, e.constant(bytes - turn), e.constant(bytes));
  Value exists = e.both(copyM.emitTapExists(tap), copyN.emitTapExists(tap));
  count = e.select(exists, count, zero);
  count = e.select(isTap, count, ahead);
  Value from = addFirst(e.select(isFirst, ahead, zero));
  Value to = arith::AddIOp::create(e.b, e.loc, from, count,
                                   arith::IntegerOverflowFlags::nsw |
                                       arith::IntegerOverflowFlags::nuw);
  state = emitInnerLoop(std::move(state), from, to);
  scf::YieldOp::create(e.b, e.loc, state.flatten());
  state.unflatten(loop.getResults());
  return state;
}

MainLoop::Values MainLoop::emit() {
  State state = emitPrologue();
  state = walk.kind == ReductionWalk::Kind::Nested
              ? emitNestedLoop(std::move(state), walk.outer + 1)
              : emitFlatLoop(std::move(state));
  return state.accumulators;
}

MainLoop::Values MainLoop::emitFirstTurn() { return emitPrologue().fragments; }

/// The turn past the last tap brings the next tile's first, so that no
/// workgroup waits for memory between two tiles.
MainLoop::Values MainLoop::emitTile(Values &fragments,
                                    llvm::function_ref<MainLoop()> makeNext) {
  State state;
  state.accumulators.assign(mma.getAccumulators(), mma.makeZeroAccumulator());
  state.fragments = fragments;
  state = emitNestedLoop(std::move(state), walk.outer);
  MainLoop next = makeNext();
  Value zero = e.constant(0);
  next.copyM.setTap(zero);
  next.copyN.setTap(zero);
  state = next.emitInnerLoop(std::move(state), zero,
                             e.constant(getSteps() * stepBytes));
  fragments = state.fragments;
  return state.accumulators;
}
