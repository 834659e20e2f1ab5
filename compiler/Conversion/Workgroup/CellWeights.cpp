//===- CellWeights.cpp - Programs of backward weights ---------------------===//
//
// A workgroup has the filter of 64 output channels, and a run of blocks of
// pixels to reduce. The next block comes while one is multiplied: through
// registers if there are as many, as what is read once, since these kernels
// write next to nothing; else by cp_async, whose cache hint is an illegal
// instruction in some kernels (ptxas 13.0 and driver 580, seen on an H100).
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Workgroup/CellWriter.h"

using namespace mlir;
using namespace tessera;

/// All of a block, or zeros behind the part's end.
CellWriter::Pieces CellWriter::fetchBlock(Value block, Value end) {
  Value exists = e.ult(block, end);
  auto fetch = [&](Value tile) -> Value {
    auto type = cast<wg::BoxType>(tile.getType());
    return wg::FetchOp::create(
        e.b, e.loc,
        wg::PiecesType::get(e.b.getContext(), type.getRows(), type.getColumns(),
                            type.getElementType()),
        tile, block, DenseI64ArrayAttr(), Value(), exists);
  };
  Value input = fetch(tileN);
  return {fetch(tileM), input};
}

void CellWriter::putBlock(const Pieces &pieces, int64_t slot) {
  for (auto [from, to] :
       {std::pair(pieces.input, bufferN), {pieces.output, bufferM}})
    wg::PutOp::create(e.b, e.loc, from, to, e.b.getI64IntegerAttr(slot),
                      DenseI64ArrayAttr());
}

/// All of a block, or nothing behind the part's end.
void CellWriter::fillBlock(Value block, Value end, int64_t slot) {
  emitWhere(e.ult(block, end), [&] {
    fill(tileN, block, slot);
    fill(tileM, block, slot);
  });
}

Value CellWriter::multiplyPixels(Value block, Value sums) {
  const int64_t pixels = gradient.cells.getReduction();
  const bool isEven = gradient.isEven();
  auto loadOf = [&](bool isM, Value pixel) {
    return load(isM, 0, isM ? kWarpChannels : program.rowsN, pixels, pixel,
                isEven ? Value()
                : isM  ? tileM
                       : tileN,
                isEven ? Value() : block);
  };
  return loop(getWave(dnn::TileDim::N), e.constant(gradient.countFragments()),
              gradient.sharing, sums,
              [&](Value fragment, ValueRange carried) -> SmallVector<Value> {
                Value pixel = e.mul(fragment, pixels);
                return step(1, [&]() -> SmallVector<Value> {
                  Value a = loadOf(/*isM=*/true, pixel);
                  Value b = loadOf(/*isM=*/false, pixel);
                  return {multiply(a, b, carried[0])};
                });
              })[0];
}

void CellWriter::emitGradient(const CellGradient &plan, bool isStreamed) {
  gradient = plan;
  const int64_t splits = static_cast<int64_t>(*program.pipeline.getSplits());
  const OpenNumber blocks = plan.output.blockSpace.getExtent();
  acc = wg::AccType::get(e.b.getContext(), program.rowsM, program.rowsN,
                         /*isSwapped=*/false);
  bufferM = allocate(CellGradient::kBuffers, program.rowsM, wg::Layout::Pixels,
                     plan.output.countResults());
  bufferN = allocate(CellGradient::kBuffers, program.rowsN, wg::Layout::Pixels,
                     plan.input.countLines() * plan.input.countColumns());
  Value partial;
  if (plan.sharing > 1)
    partial = wg::AllocOp::create(
        e.b, e.loc,
        wg::BufferType::get(e.b.getContext(), 1, 1, plan.getPartialBytes() / 4,
                            e.b.getF32Type(), wg::Layout::Plain, 0,
                            /*isSplit=*/false, /*isMirrored=*/false),
        bufferN, e.b.getI64IntegerAttr(0));
  tileN = makeTile(/*isM=*/false, id, e.constant(0));
  tileM = makeTile(/*isM=*/true, id, e.constant(0));
  const OpenNumber share =
      blocks.isKnown()
          ? OpenNumber(llvm::divideCeilSigned(int64_t(blocks), splits))
          : OpenNumber(ceilDiv(blocks.toExpr(), SizeExpr(splits)));
  const int64_t perPart = program.tiles.getCounts()[0] / splits;
  Value first = e.mul(e.divu(id, perPart), share);
  Value end = arith::MinUIOp::create(e.b, e.loc, e.add(first, share),
                                     e.constant(blocks));
  if (isStreamed) {
    putBlock(fetchBlock(first, end), 0);
    meet(std::nullopt);
  } else {
    fillBlock(first, end, 0);
    commit();
  }
  Value sums =
      loop(first, end, 1, zero(),
           [&](Value block, ValueRange carried) -> SmallVector<Value> {
             Value next = e.add(block, 1);
             Pieces pieces;
             if (isStreamed) {
               pieces = fetchBlock(next, end);
             } else {
               fillBlock(next, end, 1);
               commit();
               meet(/*ahead=*/1);
             }
             Value all = multiplyPixels(block, carried[0]);
             // The next one goes where the one before was, with which all are
             // done; or the block behind it is copied over this one.
             if (isStreamed)
               putBlock(pieces, 1);
             meet(std::nullopt);
             wg::RotateOp::create(e.b, e.loc, ValueRange{bufferM, bufferN},
                                  e.b.getI64IntegerAttr(1));
             return {all};
           })[0];
  if (partial)
    sums = wg::ReduceOp::create(e.b, e.loc, acc, sums, partial);
  store(sums, makeResult({id, e.constant(0)}, Value()));
}
