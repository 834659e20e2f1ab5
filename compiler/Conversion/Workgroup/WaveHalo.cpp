//===- WaveHalo.cpp - Loops of waves whose taps share pixels --------------===//
//
// A block of channels is written out over its taps, each a step with a slot of
// the filter. The pixels of the block ahead come meanwhile, a part with each
// step:
//
// - directly to LDS: the loop is over blocks, whose slots are swapped. Work-
//   groups go from tile to tile without waiting for memory: the block ahead of
//   a tile's last is the first of the next. Results wait in LDS, if that has
//   space, and leave with the steps of the next tile.
// - through registers, from planes: an iteration is two blocks, one for each
//   slot, so that slots are constants. The filter comes two steps ahead.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Workgroup/WaveWriter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

DenseI64ArrayAttr WaveWriter::getPart(int64_t part, int64_t parts) {
  return e.b.getDenseI64ArrayAttr({part, parts});
}

/// The products of a tap: `fragments` are the first ones.
Value WaveWriter::multiplyTap(const Sides &fragments, int64_t slotM,
                              int64_t slotN, const SharedPlace &place,
                              Value sums) {
  SmallVector<Sides> all = {fragments};
  for (int64_t part = 1; part < parts; ++part) {
    Value ofM = load(/*isM=*/true, slotM, part, place);
    all.push_back({ofM, load(/*isM=*/false, slotN, part)});
  }
  for (const Sides &part : all)
    sums = multiply(part, sums);
  return sums;
}

//===----------------------------------------------------------------------===//
// Directly to LDS
//===----------------------------------------------------------------------===//

/// A block that is multiplied, and the one that comes meanwhile.
struct WaveWriter::Turn {
  Value tile; ///< Whose rows are read.
  Value block;
  Value slot, otherSlot; ///< Bytes of LDS, of their pixels.
  Value filter, at;      ///< Of this block.
  Sides ahead;           ///< Of the other one.
  Value atAhead;
  Value before, hasBefore; ///< Results that leave; null if they are stored.
};

/// Steps that may be on their way when the next one is needed: those that have
/// slots, and half a block's, whose pixels come in the other half.
int64_t WaveWriter::getStepsInFlight() const {
  return std::min(program.buffers - 2, countTaps() / 2);
}

void WaveWriter::emitFirstBlock(const Position &at) {
  Value none = e.constant(0);
  Sides tiles = makeTiles(at);
  fill(tiles.m, none, /*isM=*/true, 0);
  for (int64_t step = 0; step < program.buffers; ++step) {
    fill(setTap(tiles.n, e.constant(step)), none, /*isM=*/false, step);
    wg::CommitOp::create(e.b, e.loc);
  }
  emitBarrier(getStepsInFlight() + 1);
}

/// Behind the barrier the filter of the step that takes this one's slot is
/// brought, and some of the pixels of the block ahead: those are waited for
/// with the block's last step, by when so many steps may still be on their way.
/// The last step lets no results leave: behind its barrier, LDS is free.
void WaveWriter::emitHaloStep(State &state, int64_t tap, const Turn &turn) {
  const int64_t slots = program.buffers, taps = countTaps();
  const int64_t next = (tap + 1) % taps, refilled = tap + slots;
  wg::StepOp step = makeStep(TypeRange(ValueRange(state.flatten())));
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(&step.getBody().front());
  State inside = state;
  inside.sums = multiplyTap(state.fragments, 0, tap % slots,
                            {turn.tile, tap, turn.slot}, state.sums);
  emitBarrier(getStepsInFlight());
  inside.fragments.m =
      load(/*isM=*/true, 0, 0,
           {turn.tile, next, next == 0 ? turn.otherSlot : turn.slot});
  inside.fragments.n = load(/*isM=*/false, next % slots, 0);
  const bool isHere = refilled < taps;
  fill(setTap(isHere ? turn.filter : turn.ahead.n, e.constant(refilled % taps)),
       isHere ? turn.at : turn.atAhead, /*isM=*/false, tap % slots);
  const int64_t steps = taps - 1 - getStepsInFlight();
  if (tap < steps)
    fill(turn.ahead.m, turn.atAhead, /*isM=*/true, 0, turn.otherSlot,
         getPart(tap, steps));
  wg::CommitOp::create(e.b, e.loc);
  if (turn.before && tap < taps - 1)
    wg::FlushOp::create(
        e.b, e.loc, turn.before, turn.block,
        e.b.getDenseI64ArrayAttr({tap, taps - 1, countBlocks()}),
        turn.hasBefore);
  wg::YieldOp::create(e.b, e.loc, inside.flatten());
  state.unflatten(step.getResults());
}

/// The blocks of `tile`, whose first one lies in the slot that begins at
/// `slot`; then the first one of the next tile lies there. The loop carries the
/// tile along, though it changes behind the last block only: what follows from
/// it would be computed in front of the loop otherwise, an address for each
/// tap, and spilled.
WaveWriter::State WaveWriter::emitBlocks(Value tile, Value before,
                                         Value &slot) {
  Turn turn;
  turn.hasBefore =
      arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ne, before, tile);
  turn.tile = makeTile(/*isM=*/true, locate(tile));
  Value next = findNextTile(tile);
  State state;
  state.sums = zero();
  state.fragments.m = load(/*isM=*/true, 0, 0, {turn.tile, 0, slot});
  state.fragments.n = load(/*isM=*/false, 0, 0);
  SmallVector<Value> carried = state.flatten();
  llvm::append_values(carried, slot, tile);
  auto loop =
      scf::ForOp::create(e.b, e.loc, e.constant(0), e.constant(countBlocks()),
                         e.constant(1), carried);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  ValueRange args = loop.getRegionIterArgs();
  state.unflatten(args);
  turn.slot = args.drop_back().back();
  turn.block = loop.getInductionVar();
  auto type = cast<wg::BufferType>(buffers.m.getType());
  turn.otherSlot = arith::SubIOp::create(
      e.b, e.loc, e.constant(type.getSlotBytes()), turn.slot);
  Value isLast =
      arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, turn.block,
                            e.constant(countBlocks() - 1));
  Value tileAhead = e.select(isLast, next, args.back());
  turn.filter = makeTile(/*isM=*/false, locate(args.back()));
  turn.at = e.mul(turn.block, stepBytes);
  Value blockAhead = e.select(isLast, e.constant(0), e.add(turn.block, 1));
  const Position ahead = locate(tileAhead);
  turn.ahead.m = makeTile(/*isM=*/true, ahead);
  turn.atAhead = e.mul(blockAhead, stepBytes);
  turn.ahead.n = makeTile(/*isM=*/false, ahead);
  if (staging)
    turn.before = makeResult(locate(before));
  for (int64_t tap = 0; tap < countTaps(); ++tap)
    emitHaloStep(state, tap, turn);
  SmallVector<Value> yielded = state.flatten();
  llvm::append_values(yielded, turn.otherSlot, tileAhead);
  scf::YieldOp::create(e.b, e.loc, yielded);
  ValueRange results = loop.getResults();
  state.unflatten(results);
  slot = results.drop_back().back();
  return state;
}

/// The tiles of a workgroup, one after the other. Behind the last tile its own
/// first block is brought again.
void WaveWriter::emitHaloTiles() {
  if (program.staged)
    staging = allocate(1, program.rowsM, program.rowsN, {wg::Layout::Mixed, 0});
  Value id = frame.getBody().front().getArgument(0);
  emitFirstBlock(locate(id));
  // In LDS, where the tile's first pixels are; and the tile before.
  auto loop = scf::ForOp::create(
      e.b, e.loc, id, e.constant(program.countTiles()),
      e.constant(program.getWorkgroups()), {e.constant(0), id});
  {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(loop.getBody());
    Value tile = loop.getInductionVar(), slot = loop.getRegionIterArg(0);
    State state = emitBlocks(tile, loop.getRegionIterArg(1), slot);
    store(locate(tile), state.sums);
    scf::YieldOp::create(e.b, e.loc, {slot, tile});
  }
  if (staging) {
    wg::BarrierOp::create(e.b, e.loc, IntegerAttr());
    wg::FlushOp::create(e.b, e.loc, makeResult(locate(loop.getResult(1))),
                        Value(), DenseI64ArrayAttr(), Value());
  }
  wg::FlushOp::create(e.b, e.loc);
}

//===----------------------------------------------------------------------===//
// Through registers
//===----------------------------------------------------------------------===//

/// The tiles, and the place of each block of an iteration, and of the one
/// behind it, in the walk.
struct WaveWriter::Planes {
  Sides tiles;
  Value at[HaloLds::kBuffers + 1];
};

/// What was loaded of the filter a step ago goes to LDS, and the step after the
/// next comes. The pixels of the next block are loaded evenly over all steps of
/// a block but the last, and written in the step behind.
void WaveWriter::emitPlaneStep(State &state, int64_t step,
                               const Planes &planes) {
  constexpr int64_t kSlots = HaloLds::kBuffers;
  const int64_t taps = countTaps(), block = step / taps, tap = step % taps;
  auto loadTap = [&](int64_t of) {
    return Sides{load(/*isM=*/true, of / taps % kSlots, 0,
                      {planes.tiles.m, of % taps, Value()}),
                 load(/*isM=*/false, of % kSlots, 0)};
  };
  const bool fetches = tap + 1 < taps;
  SmallVector<Type> types = {acc, getPiecesType(planes.tiles.n), fragmentM,
                             fragmentN};
  if (fetches)
    types.insert(types.begin() + 1, getPiecesType(planes.tiles.m));
  wg::StepOp op = makeStep(types);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(&op.getBody().front());
  const int64_t ahead = step + 2, slotM = (block + 1) % kSlots;
  State inside;
  put(state.pieces.n, /*isM=*/false, (step + 1) % kSlots);
  inside.pieces.n = fetch(setTap(planes.tiles.n, e.constant(ahead % taps)),
                          planes.at[ahead / taps]);
  if (fetches)
    inside.pieces.m = fetch(planes.tiles.m, planes.at[block + 1],
                            getPart(tap, taps - 1), state.pieces.m);
  if (tap > 0)
    put(state.pieces.m, /*isM=*/true, slotM, getPart(tap - 1, taps - 1));
  inside.sums = multiplyTap(state.fragments, block % kSlots, step % kSlots,
                            {planes.tiles.m, tap, Value()}, state.sums);
  emitBarrier(0);
  inside.fragments = loadTap(step + 1);
  wg::YieldOp::create(e.b, e.loc, inside.flatten());
  state = inside;
  state.unflatten(op.getResults());
}

/// Behind the last block the first one is brought again. Two blocks are one
/// iteration, of which LLVM would make a straight line, and the tools judge
/// loops: no workgroup has a number so high that a further iteration would
/// follow, but LLVM does not know.
void WaveWriter::emitPlaneHalo() {
  constexpr int64_t kSignBit = 31;
  Value id = frame.getBody().front().getArgument(0), none = e.constant(0);
  const Position at = locate(id);
  Planes planes{makeTiles(at), {}};
  State state;
  state.sums = zero();
  Value pixels = fetch(planes.tiles.m, none);
  Value filter = fetch(setTap(planes.tiles.n, none), none);
  state.pieces.n = fetch(setTap(planes.tiles.n, e.constant(1)), none);
  put({pixels, filter}, 0);
  emitBarrier(0);
  state.fragments.m = load(/*isM=*/true, 0, 0, {planes.tiles.m, 0, Value()});
  state.fragments.n = load(/*isM=*/false, 0, 0);
  Value end = e.add(e.shru(id, kSignBit), countBlocks());
  auto loop = scf::ForOp::create(
      e.b, e.loc, none, end, e.constant(HaloLds::kBuffers), state.flatten());
  {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(loop.getBody());
    state.unflatten(loop.getRegionIterArgs());
    Value block = loop.getInductionVar();
    Value behind = e.add(block, HaloLds::kBuffers);
    behind = e.select(e.ult(behind, countBlocks()), behind, none);
    for (int64_t i = 0; i <= HaloLds::kBuffers; ++i)
      planes.at[i] =
          e.mul(i == HaloLds::kBuffers ? behind : e.add(block, i), stepBytes);
    for (int64_t step = 0; step < HaloLds::kBuffers * countTaps(); ++step)
      emitPlaneStep(state, step, planes);
    scf::YieldOp::create(e.b, e.loc, state.flatten());
  }
  state.unflatten(loop.getResults());
  store(at, state.sums);
}
