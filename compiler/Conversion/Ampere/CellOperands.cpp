//===- CellOperands.cpp - What narrow groups are multiplied of ------------===//

#include "compiler/Conversion/Ampere/CellOperands.h"
#include "compiler/Conversion/Nvidia/WarpMatrix.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tessera;

FailureOr<CellTile> tessera::matchCells(TileProgram &program, Operation *op,
                                        int64_t channels, int64_t taps) {
  const bool fits =
      channels < kWarpChannels
          ? kCellChannels % channels == 0 && channels % 2 == 0
          : channels % kWarpChannels == 0 && channels < kBlockChannels;
  if (!fits)
    return op->emitOpError()
           << "is copied by cp_async, which needs groups of 2, 4, 8, 16 or 32 "
              "channels, but has "
           << channels;
  return CellTile{taps, channels,
                  program.loadM.getType().getElementType().isF32(),
                  program.mma.getInstruction() == kSplitCells};
}

FailureOr<CellOperands> CellOperands::match(TileProgram &program) {
  FailureOr<ImageTile> image =
      matchImageTile(program.loadM, /*pixels=*/1, /*hasTaps=*/true);
  if (failed(image))
    return failure();
  FailureOr<CellTile> cells =
      matchCells(program, program.pipeline, program.pipeline.getReduce().back(),
                 image->countTaps());
  if (failed(cells))
    return failure();
  FailureOr<CellFilter> filter = CellFilter::match(program.loadN, *cells);
  if (failed(filter))
    return failure();
  return CellOperands{*image, *cells, std::move(*filter)};
}

SmallVector<Value> tessera::readFragment(Emitter &e, const CellTile &cells,
                                         const ImageTile &image,
                                         const LanePlace &place, Value shared,
                                         int64_t piece, int64_t pieces,
                                         int64_t other) {
  auto getBytes = [&](int64_t i) { return cells.getPieceBytes(i, image); };
  Value isSecond = e.divu(place.lane, kWarpSize / 2);
  auto read = [&](int64_t begin, int64_t step) {
    Value bytes = e.add(e.mul(isSecond, step), begin);
    return readMatrices(e,
                        LLVM::GEPOp::create(e.b, e.loc, shared.getType(),
                                            e.b.getI8Type(), shared, bytes),
                        /*isTransposed=*/false);
  };
  if (!cells.isF32)
    return read(getBytes(piece),
                pieces > 1 ? getBytes(piece + 1) - getBytes(piece) : other);
  SmallVector<Value> a;
  for (int64_t i = piece; i < piece + pieces; ++i)
    a.append(read(getBytes(i), ImageTile::kChunkBytes));
  return cells.prepare(e, a, /*perPiece=*/4);
}

bool CellOperands::fitTiles(TileProgram &program) const {
  ArrayRef<int64_t> waves = program.mma.getWaves();
  ArrayRef<int64_t> tile = program.tiles.getTile();
  return tile[0] == image.countResults() && tile[1] == kBlockChannels &&
         program.tiles.getCounts()[2] == 1 && waves[0] <= kMostPixelWarps &&
         waves[1] == kBlockWarps &&
         static_cast<int64_t>(program.pipeline.getStep()) ==
             image.countTaps() * kBlockChannels;
}
