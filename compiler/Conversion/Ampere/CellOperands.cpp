//===- CellOperands.cpp - What narrow groups are multiplied of ------------===//

#include "compiler/Conversion/Ampere/CellOperands.h"
#include "compiler/Conversion/Nvidia/WarpMatrix.h"

using namespace mlir;
using namespace tessera;

FailureOr<CellTile> tessera::matchCells(Operation *op, int64_t channels,
                                        int64_t taps) {
  const bool fits =
      channels < kWarpChannels
          ? kCellChannels % channels == 0 && channels % 2 == 0
          : channels % kWarpChannels == 0 && channels < kBlockChannels;
  if (!fits)
    return op->emitOpError()
           << "is copied by cp_async, which needs groups of 2, 4, 8, 16 or 32 "
              "channels, but has "
           << channels;
  return CellTile{taps, channels};
}

FailureOr<CellOperands> CellOperands::match(TileProgram &program) {
  FailureOr<ImageTile> image =
      matchImageTile(program.loadM, /*pixels=*/1, /*hasTaps=*/true);
  if (failed(image))
    return failure();
  FailureOr<CellTile> cells =
      matchCells(program.pipeline, program.pipeline.getReduce().back(),
                 image->countTaps());
  if (failed(cells))
    return failure();
  cells->isTf32 = program.loadM.getType().getElementType().isF32();
  FailureOr<CellFilter> filter = CellFilter::match(program.loadN, *cells);
  if (failed(filter))
    return failure();
  return CellOperands{*image, *cells, std::move(*filter)};
}

SmallVector<Value> tessera::readFragment(Emitter &e, const CellTile &cells,
                                         Value pointer) {
  SmallVector<Value> a = readMatrices(e, pointer, /*isTransposed=*/false);
  if (cells.isTf32)
    for (Value &value : a)
      value = roundToTf32(e, value);
  return a;
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
