//===- HaloLoop.cpp - A main loop whose taps share pixels -----------------===//

#include "compiler/Conversion/Cooperative/HaloLoop.h"
#include "compiler/Conversion/Common/LdsPointer.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

/// Fragments are numbered those of m first, then those of n.
Value HaloLoop::readFragment(int64_t index, int64_t chunk, int64_t tap) {
  bool isM = index < mma.getM().count;
  return mma.readFragment(isM, isM ? index : index - mma.getM().count, chunk,
                          isM ? lds : buffers[tap % getSteps()]);
}

/// Waits for all but the youngest `stepsInFlight` steps.
void HaloLoop::emitBarrier(int64_t stepsInFlight) {
  e.device.waitForDirectGroups(e, stepsInFlight, /*loads=*/0);
  e.device.emitBareBarrier(e);
}

/// Brings a pass of the filter of tap `tap`, whose offsets are found with the
/// first one.
void HaloLoop::loadFilter(HaloBlock &block, int64_t tap, unsigned pass) {
  if (pass == 0)
    block.filter->setTap(e.constant(tap));
  Values none;
  block.filter->load(pass, /*part=*/0, block.position,
                     buffers[tap % getSteps()], none);
}

/// Behind the barrier of a step: the filter of the step that takes its buffer,
/// and some of the pixels of the block ahead. Those are waited for with the
/// block's last step, by when so many steps may still be on their way.
StepBody::Actions HaloLoop::makeRefills(int64_t tap, Turn &turn) {
  StepBody::Actions actions;
  auto addLoad = [&](std::function<void()> emit) {
    actions.push_back({StepBody::Kind::GlobalLoad, std::move(emit)});
  };
  int64_t refilled = tap + getSteps();
  HaloBlock &block = refilled < countTaps() ? turn.here : turn.ahead;
  for (unsigned pass = 0; pass < block.filter->getPasses(); ++pass)
    addLoad(
        [=, this, &block] { loadFilter(block, refilled % countTaps(), pass); });
  int64_t passes = turn.ahead.pixels.getPasses();
  int64_t steps = countTaps() - 1 - getStepsInFlight();
  for (int64_t pass = passes * tap / steps;
       pass < std::min(passes, passes * (tap + 1) / steps); ++pass)
    addLoad([=, this, &turn] {
      turn.ahead.pixels.load(pass, lds, turn.otherBuffer);
    });
  addLoad([this] { e.device.endDirectGroup(e); });
  return actions;
}

/// A step's share of the pieces around its refills: read before and stored
/// behind them. The last step has none: behind its barrier, LDS is free.
StepBody::Actions HaloLoop::carryPieces(int64_t tap, Turn &turn,
                                        StepBody::Actions refills) {
  const HaloPieces &pieces = turn.pieces;
  StepBody::Actions reads, stores;
  auto words = std::make_shared<Values>();
  auto getFirst = [&](int64_t ofTap) {
    return llvm::divideCeil(pieces.perBlock * ofTap, countTaps() - 1);
  };
  int64_t last = std::min<int64_t>(pieces.perBlock, getFirst(tap + 1));
  for (int64_t piece = getFirst(tap); piece < last; ++piece) {
    size_t at = reads.size();
    reads.push_back({StepBody::Kind::LdsRead, [=, &turn, &pieces] {
                       words->push_back(pieces.read(turn.block, piece));
                     }});
    stores.push_back({StepBody::Kind::Other, [=, &turn, &pieces] {
                        pieces.store((*words)[at], turn.block, piece);
                      }});
  }
  llvm::append_range(reads, refills);
  llvm::append_range(reads, stores);
  return reads;
}

void HaloLoop::emitStep(State &state, int64_t tap, Turn &turn) {
  int64_t next = (tap + 1) % countTaps();
  StepBody::Parts splits;
  splits.read = [&](int64_t index, int64_t chunk) {
    return readFragment(index, chunk, tap);
  };
  splits.readNext = [&](int64_t index) { return readFragment(index, 0, next); };
  splits.emitBarrier = [&] {
    emitBarrier(getStepsInFlight());
    source.enterTap(next, next == 0 ? turn.otherBuffer : turn.buffer);
  };
  splits.refills = carryPieces(tap, turn, makeRefills(tap, turn));
  state.fragments = body.emit(state.accumulators, std::move(state.fragments),
                              std::move(splits));
}

void HaloLoop::emitFirst(Value tile, Value thread) {
  Value zero = e.constant(0);
  HaloBlock first = makeBlock(tile, zero);
  for (unsigned pass = 0; pass < first.pixels.getPasses(); ++pass)
    first.pixels.load(pass, lds, zero);
  for (int64_t step = 0; step < getSteps(); ++step) {
    for (unsigned pass = 0; pass < first.filter->getPasses(); ++pass)
      loadFilter(first, step, pass);
    e.device.endDirectGroup(e);
  }
  Value chunk = e.mul(e.remu(thread, halo.getChunks()), kChunkBytes);
  auto type = VectorType::get(kChunkBytes / 4, e.b.getI32Type());
  LLVM::StoreOp::create(
      e.b, e.loc, e.constant(cast<TypedAttr>(e.b.getZeroAttr(type))),
      emitLdsPointer(e, lds, e.add(chunk, halo.getZeroOffset())));
  emitBarrier(getSteps() - 1);
}

/// The loop carries the tile along, though it changes behind the last block
/// only: what follows from it would be computed in front of the loop
/// otherwise, an address for each tap, and spilled.
HaloLoop::Values HaloLoop::emitTile(Value tile, Value next, Value &buffer,
                                    const HaloPieces &pieces) {
  Values carried(mma.getAccumulators(), mma.makeZeroAccumulator());
  source.enterTap(0, buffer);
  for (int64_t index = 0; index < body.getFragments(); ++index)
    carried.push_back(readFragment(index, /*chunk=*/0, /*tap=*/0));
  llvm::append_values(carried, buffer, tile);
  auto loop = scf::ForOp::create(e.b, e.loc, e.constant(0), e.constant(blocks),
                                 e.constant(1), carried);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  ValueRange args = loop.getRegionIterArgs();
  State state;
  state.accumulators = args.take_front(mma.getAccumulators());
  state.fragments =
      args.drop_front(mma.getAccumulators()).take_front(body.getFragments());
  Value here = args.drop_back().back(), block = loop.getInductionVar();
  Value other = arith::SubIOp::create(e.b, e.loc,
                                      e.constant(halo.getBufferBytes()), here);
  Value isLast = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq,
                                       block, e.constant(blocks - 1));
  Value tileAhead = e.select(isLast, next, args.back());
  Turn turn{
      block,
      here,
      other,
      makeBlock(args.back(), block),
      makeBlock(tileAhead, e.select(isLast, e.constant(0), e.add(block, 1))),
      pieces};
  source.enterTap(0, here);
  for (int64_t tap = 0; tap < countTaps(); ++tap)
    emitStep(state, tap, turn);
  Values yielded(state.accumulators);
  llvm::append_range(yielded, state.fragments);
  llvm::append_values(yielded, other, tileAhead);
  scf::YieldOp::create(e.b, e.loc, yielded);
  ValueRange results = loop.getResults();
  buffer = results.drop_back().back();
  return results.take_front(mma.getAccumulators());
}
