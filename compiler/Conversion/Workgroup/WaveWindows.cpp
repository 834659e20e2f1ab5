//===- WaveWindows.cpp - Tiles that waves multiply at once ----------------===//
//
// With both operands in LDS as a whole there is no loop over the reduction: one
// step has all products. What hides the time of bringing the operands there is
// the next workgroup on the same compute unit. Or a workgroup takes tiles in
// turn: the filter stays, and windows come while those of the tile before are
// multiplied.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Workgroup/WaveWriter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

/// Whether a lane has registers for all fragments of the filter beside its
/// sums. On an H100 three workgroups of 128 threads then share a
/// multiprocessor.
bool WaveWriter::holdsFilter() const {
  constexpr int64_t kMaxRegisters = 128, kRegisterBytes = 4;
  const MatrixInstruction &row = program.instruction;
  const bool isP = program.lanesAlongN;
  const int64_t rows = program.rowsN / program.waves[1] /
                       (isP ? row.rows : row.columns) *
                       (isP ? row.pRows : row.qRows); // Of a lane.
  return program.getAccumulatorRegisters() +
             rows * stepBytes / row.getLaneChunks() / kRegisterBytes <=
         kMaxRegisters;
}

/// Part by part, so that a thread has a few elements of it at a time.
void WaveWriter::copyFilter(const Position &at) {
  const int64_t count =
      llvm::divideCeil(program.step, e.device.getTarget().waveSize);
  Value tile = makeTile(/*isM=*/false, at), pieces;
  for (int64_t i = 0; i < count; ++i) {
    pieces = fetch(tile, e.constant(0), getPart(i, count), pieces);
    put(pieces, /*isM=*/false, 0, getPart(i, count));
  }
}

/// The products of a tile, with `filter` in registers if there is any.
Value WaveWriter::multiplyWhole(Value sums, ArrayRef<Value> filter) {
  wg::StepOp step = makeStep(acc);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(&step.getBody().front());
  for (int64_t part = 0; part < parts; ++part) {
    Value ofM = load(/*isM=*/true, 0, part);
    Value ofN = filter.empty() ? load(/*isM=*/false, 0, part) : filter[part];
    sums = multiply({ofM, ofN}, sums);
  }
  wg::YieldOp::create(e.b, e.loc, sums);
  return step.getResult(0);
}

/// The tiles of a workgroup one after another, from `id` on. Behind the last
/// one there are no images, and nothing is loaded.
void WaveWriter::emitWindowTiles(Value id) {
  const Position first = locate(id);
  copyFilter(first);
  emitBarrier(0);
  Value sums = zero();
  SmallVector<Value> filter;
  for (int64_t part = 0; holdsFilter() && part < parts; ++part)
    filter.push_back(load(/*isM=*/false, 0, part));
  auto loop =
      scf::ForOp::create(e.b, e.loc, id, e.constant(program.countTiles()),
                         e.constant(program.getWorkgroups()),
                         fetch(makeTile(/*isM=*/true, first), e.constant(0)));
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  Value tile = loop.getInductionVar();
  put(loop.getRegionIterArg(0), /*isM=*/true, 0);
  emitBarrier(0);
  const Position ahead = locate(e.add(tile, program.getWorkgroups()));
  Value next = fetch(makeTile(/*isM=*/true, ahead), e.constant(0));
  const Position here = locate(tile);
  sums = multiplyWhole(sums, filter);
  emitBarrier(0);
  store(here, sums);
  scf::YieldOp::create(e.b, e.loc, next);
}

void WaveWriter::emitWindows() {
  buffers.m = allocate(1, program.rowsM, program.step,
                       {wg::Layout::Windows, program.window.getElements()});
  buffers.n = allocate(1, program.rowsN, program.step, {wg::Layout::Padded, 0});
  Value id = frame.getBody().front().getArgument(0);
  if (program.tiles.getPersistent())
    return emitWindowTiles(id);
  const Position at = locate(id);
  put(fetch(makeTile(/*isM=*/true, at), e.constant(0)), /*isM=*/true, 0);
  copyFilter(at);
  emitBarrier(0);
  store(at, multiplyWhole(zero(), {}));
}
