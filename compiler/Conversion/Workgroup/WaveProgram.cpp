//===- WaveProgram.cpp - Main loops that all waves of a workgroup share ---===//
//
// What a tile program of waves becomes, and main loops without a halo
// (WaveHalo.cpp and WaveWindows.cpp have what else there is): several slots of
// LDS, and a loop whose iteration is a step for each, so that every slot is a
// constant. The first fragments of a step are loaded behind the barrier of the
// step before. There is no peeled last step: copies run ahead past the end, out
// of range. Two ways to copy:
//
// - through registers: two slots; loads run two steps ahead of the products,
//   and each step writes what was loaded a step before;
// - directly to LDS: a slot is filled again behind the barrier of the step that
//   reads it, so that copies run as many steps ahead as there are slots.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Cooperative/PlaneCopy.h"
#include "compiler/Conversion/Workgroup/ProgramWriter.h"
#include "compiler/Conversion/Workgroup/WaveWriter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

WaveWriter::WaveWriter(TileProgram &program, const WaveChoices &choices,
                       OpBuilder &b, wg::ProgramOp frame,
                       const DeviceOps &device)
    : e(b, program.function.getLoc(), &frame.getBody().front(), device),
      program(program), choices(choices),
      sizes(program.function, &frame.getBody().front()), frame(frame),
      accessM(program.viewM), accessN(program.viewN),
      m(chooseFactor(program, device.getTarget(), accessM, program.rowsM)),
      n(chooseFactor(program, device.getTarget(), accessN, program.rowsN)),
      stepBytes(program.step * accessM.getElementBytes()),
      parts(TileMma::countChunkReads(program.instruction, m.lds)),
      acc(wg::AccType::get(b.getContext(), program.rowsM, program.rowsN,
                           !program.lanesAlongN)) {
  e.sizes = &sizes;
  auto getFragment = [&](int64_t rows, int64_t waves) {
    return wg::FragmentType::get(b.getContext(), rows / waves,
                                 program.step / parts, accessM.getElementType(),
                                 /*isSplit=*/false);
  };
  fragmentM = getFragment(program.rowsM, program.waves[0]);
  fragmentN = getFragment(program.rowsN, program.waves[1]);
}

SmallVector<Value> WaveWriter::State::flatten() const {
  SmallVector<Value> all = {sums};
  for (Value value :
       {pieces.m, pieces.n, later.m, later.n, fragments.m, fragments.n})
    if (value)
      all.push_back(value);
  return all;
}

void WaveWriter::State::unflatten(ValueRange values) {
  size_t next = 0;
  for (Value *into : {&sums, &pieces.m, &pieces.n, &later.m, &later.n,
                      &fragments.m, &fragments.n})
    if (*into)
      *into = values[next++];
}

//===----------------------------------------------------------------------===//
// Positions and shared memory
//===----------------------------------------------------------------------===//

/// Columns fastest, or rows.
WaveWriter::Position WaveWriter::locate(Value id) {
  ArrayRef<int64_t> counts = program.tiles.getCounts();
  const OpenNumber columns = counts[2], rows = program.countTilesM();
  const OpenNumber &fast = choices.hasRowsFirst ? rows : columns;
  const OpenNumber &slow = choices.hasRowsFirst ? columns : rows;
  const bool isOneGroup = counts[0] == 1;
  Value column = e.remu(id, fast);
  Value rest = e.divu(id, fast);
  Value row = isOneGroup && !slow.isKnown() ? rest : e.remu(rest, slow);
  Value group = isOneGroup ? e.constant(0) : e.divu(rest, slow);
  if (choices.hasRowsFirst)
    std::swap(row, column);
  return {group, e.mul(row, program.rowsM), e.mul(column, program.rowsN)};
}

Value WaveWriter::allocate(int64_t slots, int64_t rows, int64_t columns,
                           std::pair<wg::Layout, int64_t> layout) {
  return wg::AllocOp::create(
      e.b, e.loc,
      wg::BufferType::get(e.b.getContext(), slots, rows, columns,
                          accessM.getElementType(), layout.first, layout.second,
                          /*isSplit=*/false, /*isMirrored=*/false));
}

/// Null if the operand has no table.
Value WaveWriter::allocateTable(const ViewAccess &access) {
  const int64_t bytes = program.walk.plane > 0
                            ? PlaneCopy::countTableBytes(access, program.walk)
                            : 0;
  if (bytes == 0)
    return {};
  return allocate(1, 1, bytes / access.getElementBytes(),
                  {wg::Layout::Plain, 0});
}

Value WaveWriter::makeTile(bool isM, const Position &at) {
  const ReductionWalk &walk = program.walk;
  const TileFactor &factor = isM ? m : n;
  const int64_t taps = factor.access.getNumColumnDims() - walk.innerDims;
  return wg::TileOp::create(
      e.b, e.loc,
      wg::BoxType::get(e.b.getContext(), factor.lds.rows, program.step,
                       factor.access.getElementType()),
      isM ? program.viewM : program.viewN, at.group, isM ? at.row : at.column,
      isM ? buffers.m : buffers.n,
      walk.hasTaps() ? e.b.getI64IntegerAttr(taps) : IntegerAttr(),
      walk.plane > 0, isM ? tables.m : tables.n);
}

WaveWriter::Sides WaveWriter::makeTiles(const Position &at) {
  Value tileM = makeTile(/*isM=*/true, at);
  return {tileM, makeTile(/*isM=*/false, at)};
}

Value WaveWriter::setTap(Value tile, Value tap) {
  return wg::TapOp::create(e.b, e.loc, tile.getType(), tile, tap);
}

WaveWriter::Sides WaveWriter::setTap(const Sides &tiles, Value tap) {
  Value tapM = setTap(tiles.m, tap);
  return {tapM, setTap(tiles.n, tap)};
}

/// Splits are runs of groups.
Value WaveWriter::findFirst(const Position &at) {
  const std::optional<uint64_t> splits = program.pipeline.getSplits();
  if (!splits)
    return {};
  const int64_t groups = program.tiles.getCounts()[0] / int64_t(*splits);
  return e.mul(e.divu(at.group, groups),
               program.walk.inner * accessM.getElementBytes());
}

//===----------------------------------------------------------------------===//
// What steps are written of
//===----------------------------------------------------------------------===//

Value WaveWriter::zero() { return wg::ZeroOp::create(e.b, e.loc, acc); }

Value WaveWriter::load(bool isM, int64_t slot, int64_t part,
                       const SharedPlace &place) {
  const wg::FragmentType type = isM ? fragmentM : fragmentN;
  return wg::LoadOp::create(
      e.b, e.loc, type, isM ? buffers.m : buffers.n,
      e.b.getDenseI64ArrayAttr({slot, part * type.getColumns()}), place.behind,
      place.tile, place.tile ? e.b.getI64IntegerAttr(place.tap) : IntegerAttr(),
      Value(), Value(), Value());
}

WaveWriter::Sides WaveWriter::loadFragments(int64_t slot, int64_t part) {
  Value ofM = load(/*isM=*/true, slot, part);
  return {ofM, load(/*isM=*/false, slot, part)};
}

wg::PiecesType WaveWriter::getPiecesType(Value tile) {
  auto box = cast<wg::BoxType>(tile.getType());
  return wg::PiecesType::get(box.getContext(), box.getRows(), box.getColumns(),
                             box.getElementType());
}

Value WaveWriter::fetch(Value tile, Value at, DenseI64ArrayAttr part,
                        Value before) {
  return wg::FetchOp::create(e.b, e.loc, getPiecesType(tile), tile, at, part,
                             before, Value());
}

WaveWriter::Sides WaveWriter::fetch(const Sides &tiles, Value at) {
  Value ofM = fetch(tiles.m, at);
  return {ofM, fetch(tiles.n, at)};
}

void WaveWriter::put(Value pieces, bool isM, int64_t slot,
                     DenseI64ArrayAttr part) {
  wg::PutOp::create(e.b, e.loc, pieces, isM ? buffers.m : buffers.n,
                    e.b.getI64IntegerAttr(slot), part);
}

void WaveWriter::put(const Sides &pieces, int64_t slot) {
  put(pieces.m, /*isM=*/true, slot);
  put(pieces.n, /*isM=*/false, slot);
}

void WaveWriter::fill(Value tile, Value at, bool isM, int64_t slot,
                      Value behind, DenseI64ArrayAttr part) {
  wg::FillOp::create(e.b, e.loc, tile, at, isM ? buffers.m : buffers.n,
                     e.b.getI64IntegerAttr(slot), behind, part, IntegerAttr());
}

void WaveWriter::fill(const Sides &tiles, Value at, int64_t slot) {
  fill(tiles.m, at, /*isM=*/true, slot);
  fill(tiles.n, at, /*isM=*/false, slot);
  wg::CommitOp::create(e.b, e.loc);
}

void WaveWriter::emitBarrier(int64_t stepsInFlight) {
  wg::BarrierOp::create(e.b, e.loc,
                        program.isDirect ? e.b.getI64IntegerAttr(stepsInFlight)
                                         : IntegerAttr());
}

Value WaveWriter::multiply(const Sides &fragments, Value sums) {
  return wg::MmaOp::create(e.b, e.loc, acc, fragments.m, fragments.n, sums,
                           DenseI64ArrayAttr(),
                           e.b.getStringAttr(program.instructionName));
}

/// A step that leaves values of these types.
wg::StepOp WaveWriter::makeStep(TypeRange types) {
  auto step = wg::StepOp::create(e.b, e.loc, types,
                                 program.pipeline.getSchedule() ==
                                     dnn::ScheduleKind::Pinned);
  step.getBody().emplaceBlock();
  return step;
}

/// In a stepped walk, the tap of the step at `position` bytes of the whole
/// reduction, null in another walk, and the position within it. A step of
/// planes is known by its first chunk.
std::pair<Value, Value> WaveWriter::locateStep(Value position) {
  const ReductionWalk &walk = program.walk;
  if (walk.kind != ReductionWalk::Kind::Stepped)
    return {Value(), position};
  const int64_t bytes = walk.plane > 0
                            ? kChunkBytes
                            : int64_t(walk.inner) * accessM.getElementBytes();
  Value tap = e.divu(position, bytes);
  return {tap, e.remu(position, bytes)};
}

/// The tiles under the tap of a step, and the position within it.
std::pair<WaveWriter::Sides, Value> WaveWriter::enterStep(const Sides &tiles,
                                                          Value position) {
  const auto [tap, at] = locateStep(position);
  return {tap ? setTap(tiles, tap) : tiles, at};
}

/// What the copies of a step fetch: at `position`, and, if lines are fetched,
/// a step behind it. Of planes the two have taps of their own, which the step
/// enters just before it copies.
WaveWriter::Next WaveWriter::findNext(const Sides &tiles, Value position,
                                      bool fetchesBoth) {
  Next next;
  if (!fetchesBoth || program.walk.plane == 0) {
    std::tie(next.taps, next.at) = enterStep(tiles, position);
    next.laterTaps = next.taps;
    if (fetchesBoth)
      next.laterAt = e.add(next.at, stepBytes);
    return next;
  }
  std::tie(next.tap, next.at) = locateStep(position);
  std::tie(next.laterTap, next.laterAt) =
      locateStep(e.add(position, stepBytes));
  return next;
}

/// Of a step that leaves `into`, which copies run through registers: puts what
/// came for the next step into its slot, and fetches `next`. Lines are fetched
/// in one step of an iteration, and the other one fetches nothing.
void WaveWriter::copyNext(bool isM, int64_t slot, const State &state,
                          const Next &next, State &into) {
  auto get = [=](auto &sides) -> auto & { return isM ? sides.m : sides.n; };
  put(get(state.pieces), isM, (slot + 1) % program.buffers);
  if (get(state.later))
    return;
  get(into.pieces) = fetch(get(next.taps), next.at);
  if (fetchesLines(isM))
    get(into.later) = fetch(get(next.laterTaps), next.laterAt);
}

/// What a step leaves.
SmallVector<Type> WaveWriter::getStepTypes(const State &state) {
  SmallVector<Type> types = {acc}, later;
  for (bool isM : {true, false}) {
    Value pieces = isM ? state.pieces.m : state.pieces.n;
    if (!pieces || (isM ? state.later.m : state.later.n))
      continue;
    types.push_back(pieces.getType());
    if (fetchesLines(isM))
      later.push_back(pieces.getType());
  }
  llvm::append_range(types, later);
  types.append({fragmentM, fragmentN});
  return types;
}

/// Multiplies the step in `slot`, and brings the one at `position` on its way:
/// to the registers whose content goes to the other slot, or to this slot once
/// it is read.
void WaveWriter::emitStep(State &state, int64_t slot, const Sides &tiles,
                          Value position) {
  const int64_t nextSlot = (slot + 1) % program.buffers;
  Next next;
  if (!state.later.m || !state.later.n)
    next = findNext(tiles, position,
                    (choices.linesM && !state.later.m) ||
                        (choices.linesN && !state.later.n));
  wg::StepOp step = makeStep(getStepTypes(state));
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(&step.getBody().front());
  if (next.tap && !state.later.m) {
    next.taps.m = setTap(tiles.m, next.tap);
    next.laterTaps.m = setTap(tiles.m, next.laterTap);
  }
  if (next.tap && !state.later.n) {
    next.taps.n = setTap(tiles.n, next.tap);
    next.laterTaps.n = setTap(tiles.n, next.laterTap);
  }
  State inside;
  inside.sums = state.sums;
  SmallVector<Sides> fragments = {state.fragments};
  for (int64_t part = 1; part < parts; ++part)
    fragments.push_back(loadFragments(slot, part));
  if (!program.isDirect)
    for (bool isM : {true, false})
      copyNext(isM, slot, state, next, inside);
  for (const Sides &part : fragments)
    inside.sums = multiply(part, inside.sums);
  emitBarrier(program.buffers - 2);
  inside.fragments = loadFragments(nextSlot, 0);
  if (program.isDirect)
    fill(next.taps, next.at, slot);
  wg::YieldOp::create(e.b, e.loc, inside.flatten());
  inside.unflatten(step.getResults());
  if (state.later.m)
    inside.pieces.m = state.later.m;
  if (state.later.n)
    inside.pieces.n = state.later.n;
  state = inside;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Step 0 in LDS and step 1 in registers, or all slots on their way. Of planes,
/// which begin anywhere in a line, the first steps of M's lines are even and of
/// N's odd: so no step fetches both, and L2 gives as much in one as in another.
void WaveWriter::copyFirstSteps(const Sides &tiles, State &state) {
  auto enter = [&](int64_t step) {
    Value position = e.constant(step * stepBytes);
    return enterStep(tiles, addFirst(position));
  };
  if (program.isDirect) {
    for (int64_t step = 0; step < program.buffers; ++step) {
      const auto [taps, at] = enter(step);
      fill(taps, at, step);
    }
    return;
  }
  const auto [taps, at] = enter(0);
  put(fetch(taps, at), 0);
  const auto [nextTaps, nextAt] = enter(1);
  state.pieces = fetch(nextTaps, nextAt);
  if (choices.linesN && program.walk.plane > 0) {
    const auto [tap, at] = locateStep(addFirst(e.constant(2 * stepBytes)));
    state.later.n = fetch(setTap(tiles.n, tap), at);
  }
}

/// The steps ahead on their way, and the first fragments of step 0.
WaveWriter::State WaveWriter::emitPrologue(const Sides &tiles, Value sums) {
  State state;
  state.sums = sums;
  copyFirstSteps(program.walk.kind == ReductionWalk::Kind::Nested
                     ? setTap(tiles, e.constant(0))
                     : tiles,
                 state);
  emitBarrier(program.buffers - 1);
  state.fragments = loadFragments(0, 0);
  return state;
}

/// for position = from, from + an iteration's steps, ... below to
WaveWriter::State WaveWriter::emitInnerLoop(State state, const Sides &tiles,
                                            Value from, Value to) {
  auto loop = scf::ForOp::create(e.b, e.loc, from, to,
                                 e.constant(program.buffers * stepBytes),
                                 state.flatten());
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  state.unflatten(loop.getRegionIterArgs());
  for (int64_t step = 0; step < program.buffers; ++step)
    emitStep(state, step, tiles,
             e.add(loop.getInductionVar(), step * stepBytes));
  scf::YieldOp::create(e.b, e.loc, state.flatten());
  state.unflatten(loop.getResults());
  return state;
}

/// One loop over all steps, filled up to whole iterations; the one past the end
/// loads nothing.
WaveWriter::State WaveWriter::emitFlatLoop(State state, const Sides &tiles) {
  const int64_t ahead = program.buffers * stepBytes;
  OpenNumber bytes =
      program.walk.outer * program.walk.inner * accessM.getElementBytes();
  if (bytes.isKnown())
    bytes = llvm::alignTo(bytes, ahead);
  return emitInnerLoop(std::move(state), tiles, addFirst(e.constant(ahead)),
                       addFirst(e.constant(bytes + ahead)));
}

/// The first `taps` taps x channels. The copies are an iteration ahead, so tap
/// 0 starts there and a last one, past the last tap, loads nothing. A tap that
/// does not exist for this workgroup has no steps; those of tap 0 that have
/// been loaded hold zeros then. The upper bound is written as lower + count,
/// without wrap, so that LLVM sees where the inner loop runs at least once and
/// makes no copy of it.
WaveWriter::State WaveWriter::emitNestedLoop(State state, const Sides &tiles,
                                             int64_t taps) {
  const ReductionWalk &walk = program.walk;
  const OpenNumber bytes = walk.inner * accessM.getElementBytes();
  Value none = e.constant(0), one = e.constant(1);
  const int64_t turn = program.buffers * stepBytes;
  Value ahead = e.constant(turn);
  auto loop = scf::ForOp::create(e.b, e.loc, none, e.constant(taps), one,
                                 state.flatten());
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  state.unflatten(loop.getRegionIterArgs());
  Value tap = loop.getInductionVar();
  Sides here = setTap(tiles, tap);
  Value isFirst =
      arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, tap, none);
  Value isTap = e.ult(tap, walk.outer);
  Value count = e.select(isFirst, e.constant(bytes - turn), e.constant(bytes));
  auto hasTap = [&](const ViewAccess &access, Value tile) -> Value {
    if (!TileCopy::mayLackTaps(access, walk))
      return {};
    return wg::HasTapOp::create(e.b, e.loc, e.b.getI1Type(), tile, tap);
  };
  Value exists = hasTap(accessM, tiles.m);
  count = e.select(e.both(exists, hasTap(accessN, tiles.n)), count, none);
  count = e.select(isTap, count, ahead);
  Value from = addFirst(e.select(isFirst, ahead, none));
  Value to = arith::AddIOp::create(e.b, e.loc, from, count,
                                   arith::IntegerOverflowFlags::nsw |
                                       arith::IntegerOverflowFlags::nuw);
  state = emitInnerLoop(std::move(state), here, from, to);
  scf::YieldOp::create(e.b, e.loc, state.flatten());
  state.unflatten(loop.getResults());
  return state;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

void WaveWriter::emit() {
  if (program.hasWindows())
    return emitWindows();
  auto allocateTiles = [&](const TileFactor &factor) {
    return allocate(program.buffers, factor.lds.rows, program.step,
                    getLayout(factor));
  };
  if (program.findHalo()) {
    const HaloLines &halo = *program.findHalo();
    buffers.m = allocate(
        HaloLds::kBuffers, program.rowsM, program.step,
        {program.isDirect ? wg::Layout::Halo : wg::Layout::Planes, halo.lines});
    buffers.n = allocateTiles(n);
    return program.isDirect ? emitHaloTiles() : emitPlaneHalo();
  }
  buffers.m = allocateTiles(m);
  buffers.n = allocateTiles(n);
  tables.m = allocateTable(accessM);
  tables.n = allocateTable(accessN);
  if (program.tiles.getPersistent())
    emitTilesInTurn();
  else
    emitOneTile();
}

LogicalResult tessera::writeWaveProgram(TileProgram &program,
                                        const DeviceOps &device) {
  const FailureOr<WaveChoices> choices =
      chooseWaves(program, device.getTarget());
  if (failed(choices))
    return failure();
  OpBuilder b(program.tiles);
  const Location loc = program.tiles.getLoc();
  const bool isOpen = program.hasUnknownSizes();
  auto frame = wg::ProgramOp::create(
      b, loc, b.getI64IntegerAttr(isOpen ? 0 : program.getWorkgroups()),
      isOpen ? b.getStringAttr(program.countOpenTiles().toText())
             : StringAttr(),
      choices->resident ? b.getI64IntegerAttr(*choices->resident)
                        : IntegerAttr(),
      IntegerAttr(), b.getDenseI64ArrayAttr(program.waves));
  b.createBlock(&frame.getBody(), {}, {b.getI32Type(), b.getI32Type()},
                {loc, loc});
  WaveWriter(program, *choices, b, frame, device).emit();
  program.tiles.erase();
  return success();
}
