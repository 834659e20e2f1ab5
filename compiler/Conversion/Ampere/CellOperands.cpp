//===- CellOperands.cpp - What narrow groups are multiplied of ------------===//

#include "compiler/Conversion/Ampere/CellOperands.h"
#include "compiler/Conversion/Nvidia/WarpMatrix.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tessera;

LogicalResult tessera::checkCells(TileProgram &program,
                                  const GpuTarget &target) {
  if (target.matrixUnit != MatrixUnit::MmaSm80)
    return program.opLoop->emitOpError()
           << "needs cp_async, but " << target.name
           << " copies through registers or directly to LDS";
  const bool isF32 = program.viewM.getType().getElementType().isF32();
  const StringRef instruction = program.instructionName;
  if (isF32 ? instruction != "mma8_tf32" && instruction != kSplitCells
            : instruction != "mma8")
    return program.opMma->emitOpError()
           << "names '" << instruction
           << "', but tiles that cp_async copies are multiplied by "
           << (isF32 ? "'mma8_tf32' or 'mma8_bf16x6'" : "'mma8'");
  if (program.isAtomic)
    return program.opStore->emitOpError(
        "adds atomically, but what cp_async copies is stored");
  return success();
}

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
                  program.viewM.getType().getElementType().isF32(),
                  program.instructionName == kSplitCells};
}

FailureOr<CellOperands> CellOperands::match(TileProgram &program) {
  FailureOr<ImageTile> image = matchImageTile(program.opM, program.viewM,
                                              /*pixels=*/1, /*hasTaps=*/true);
  if (failed(image))
    return failure();
  FailureOr<CellTile> cells = matchCells(
      program, program.opLoop, program.viewM.getCoords().getSpace(2).back(),
      image->countTaps());
  if (failed(cells))
    return failure();
  FailureOr<CellFilter> filter =
      CellFilter::match(program.opN, program.viewN, *cells);
  if (failed(filter))
    return failure();
  return CellOperands{*image, *cells, std::move(*filter)};
}

SmallVector<Value> tessera::readFragment(Emitter &e, const CellTile &cells,
                                         const ImageTile &image,
                                         const LanePlace &place, Value shared,
                                         const CellRead &wanted) {
  const auto [piece, pieces, cell, isShared] = wanted;
  auto getBytes = [&](int64_t i) { return cells.getPieceBytes(i, image); };
  Value isSecond = e.divu(place.lane, kWarpSize / 2);
  auto read = [&](int64_t begin, int64_t step) {
    Value bytes = e.add(e.mul(isSecond, step), begin);
    return readMatrices(e,
                        LLVM::GEPOp::create(e.b, e.loc, shared.getType(),
                                            e.b.getI8Type(), shared, bytes),
                        /*isTransposed=*/false);
  };
  SmallVector<Value> a;
  if (!cells.isF32) {
    a = read(getBytes(piece), pieces > 1 ? getBytes(piece + 1) - getBytes(piece)
                              : isShared ? ImageTile::kChunkBytes
                                         : 0);
    a.truncate(pieces > 1 || isShared ? 4 : 2);
    return a;
  }
  for (int64_t i = piece; i < piece + pieces; ++i)
    a.append(read(getBytes(i), ImageTile::kChunkBytes));
  return cells.prepare(e, a, /*perPiece=*/4);
}

SmallVector<CellRead> tessera::listReads(const CellTile &cells, int64_t pieces,
                                         bool isShared) {
  const int64_t atOnce = cells.countAtOnce();
  SmallVector<CellRead> reads;
  for (int64_t piece = 0; piece < pieces; piece += atOnce) {
    const int64_t count = std::min(atOnce, pieces - piece);
    const bool both = isShared && count < atOnce && !cells.isF32;
    if (both || !cells.hasOwnPieces())
      reads.push_back({piece, count, std::nullopt, both});
    else
      for (int64_t cell = 0; cell < kCells; ++cell)
        reads.push_back({piece, count, cell});
  }
  return reads;
}

bool CellOperands::fitTiles(TileProgram &program) const {
  ArrayRef<int64_t> waves = program.waves;
  return program.rowsM == image.countResults() &&
         program.rowsN == kBlockChannels &&
         program.viewD.getType().getShape()[2] == kBlockChannels &&
         waves[0] <= kMostPixelWarps && waves[1] == kBlockWarps &&
         program.step == image.countTaps() * kBlockChannels;
}
