//===- WaveTiles.cpp - The tiles of a workgroup, and their results --------===//
//
// One tile around its main loop (WaveProgram.cpp), or several in turn, and the
// way that results take to memory.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Cooperative/StagedStore.h"
#include "compiler/Conversion/Workgroup/ProgramWriter.h"
#include "compiler/Conversion/Workgroup/WaveWriter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

Value WaveWriter::makeResult(const Position &at) {
  SmallVector<Value> extras(program.store.getExtras());
  return wg::ResultOp::create(e.b, e.loc, wg::ResultType::get(e.b.getContext()),
                              program.viewD, at.group, at.row, at.column,
                              staging, IntegerAttr(), /*byRows=*/false,
                              program.isAtomic, extras, Value());
}

/// With the epilogue of the tile program.
void WaveWriter::store(const Position &at, Value sums) {
  copyEpilogue(e, program.store,
               wg::StoreOp::create(e.b, e.loc, sums, makeResult(at),
                                   program.store.getStatistics(),
                                   program.store.getNormTensors(),
                                   program.store.getNormNumbers(),
                                   IntegerAttr()));
}

void WaveWriter::stageOverOperands() {
  if (!choices.isStaged)
    return;
  const StagedTile tile =
      makeStagedTile(program.rowsM, program.rowsN, program.viewD,
                     program.threads, program.lanesAlongN);
  staging = wg::AllocOp::create(
      e.b, e.loc,
      wg::BufferType::get(e.b.getContext(), 1, tile.rows, tile.columns,
                          accessM.getElementType(), wg::Layout::Mixed, 0,
                          /*isSplit=*/false, /*isMirrored=*/false),
      buffers.m, e.b.getI64IntegerAttr(0));
}

void WaveWriter::emitOneTile() {
  stageOverOperands();
  const Position at = locate(frame.getBody().front().getArgument(0));
  Sides tiles = makeTiles(at);
  if (program.walk.plane > 0)
    wg::BarrierOp::create(e.b, e.loc, IntegerAttr()); // Of their tables.
  Value sums = zero();
  first = findFirst(at);
  State state = emitPrologue(tiles, sums);
  state = program.walk.kind == ReductionWalk::Kind::Nested
              ? emitNestedLoop(std::move(state), tiles, program.walk.outer + 1)
              : emitFlatLoop(std::move(state), tiles);
  if (!staging)
    return store(at, state.sums);
  wg::BarrierOp::create(e.b, e.loc, IntegerAttr());
  store(at, state.sums);
  wg::BarrierOp::create(e.b, e.loc, IntegerAttr());
  wg::FlushOp::create(e.b, e.loc, makeResult(at), Value(), DenseI64ArrayAttr(),
                      Value());
}

/// Behind the last tile of a workgroup it is that again.
Value WaveWriter::findNextTile(Value tile) {
  Value behind = e.add(tile, program.getWorkgroups());
  return e.select(e.ult(behind, program.countTiles()), behind, tile);
}

/// The tiles of a workgroup one after the other, the next one's first steps
/// brought while the last ones of a tile are multiplied. Behind the last tile
/// that is its own again.
void WaveWriter::emitTilesInTurn() {
  Value id = frame.getBody().front().getArgument(0), sums = zero();
  Value count = e.constant(program.countTiles());
  Value workgroups = e.constant(program.getWorkgroups());
  Sides fragments = emitPrologue(makeTiles(locate(id)), sums).fragments;
  auto loop = scf::ForOp::create(e.b, e.loc, id, count, workgroups,
                                 {fragments.m, fragments.n});
  {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(loop.getBody());
    Value tile = loop.getInductionVar();
    State state;
    state.sums = sums;
    state.fragments = {loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
    Sides tiles = makeTiles(locate(tile));
    state = emitNestedLoop(std::move(state), tiles, program.walk.outer);
    Sides ahead = setTap(makeTiles(locate(findNextTile(tile))), e.constant(0));
    state = emitInnerLoop(std::move(state), ahead, e.constant(0),
                          e.constant(program.buffers * stepBytes));
    store(locate(tile), state.sums);
    scf::YieldOp::create(e.b, e.loc,
                         ValueRange{state.fragments.m, state.fragments.n});
  }
  wg::FlushOp::create(e.b, e.loc);
}
