//===- CellGradient.h - Products of backward weights -----------*- C++ -*--===//
//
// Each warp has 16 output channels of 64 and the sums of all pieces that they
// meet. Both factors are transposed on their way out of shared memory: the
// pieces are rows, the channels columns, and 16 pixels a reduction. Of f32,
// which no ldmatrix transposes, lanes load their elements; of tf32 8 pixels are
// a reduction. Several warps may have the same channels and share the pixels,
// which leaves fewer parts than as many workgroups would; at last one of them
// adds their sums.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_AMPERE_CELLGRADIENT_H
#define TESSERA_COMPILER_CONVERSION_AMPERE_CELLGRADIENT_H

#include "compiler/Conversion/Ampere/CellKernel.h"

namespace tessera {

/// Plain data.
struct CellGradient {
  static constexpr int64_t kSums = 4;        ///< Of one instruction, in a lane.
  static constexpr int64_t kBuffers = 2;     ///< Of blocks of pixels.
  static constexpr int64_t kMostSharing = 2; ///< Warps, of a block's pixels.

  ImageTile input, output; ///< With taps; of the channels of the result.
  CellTile cells;
  int64_t sharing = 1;      ///< Warps of the same channels.
  int64_t partialBegin = 0; ///< Of the memory that they pass sums through.

  /// Channels of the filter's group are the result's last dimension. Fails
  /// after an error unless the program has steps of a block of pixels, tiles of
  /// 64 channels by all taps of as many, and stores sums alone.
  static mlir::FailureOr<CellGradient> match(TileProgram &program);

  /// Instructions for a cell: two pieces each.
  int64_t countPairs() const {
    return llvm::divideCeilSigned(cells.countPieces(), 2);
  }
  /// Of a lane.
  int64_t countSums() const { return kCells * countPairs() * kSums; }
  /// Instructions for the pixels of a block.
  int64_t countFragments() const {
    return llvm::divideCeilSigned(output.countResults(), cells.getReduction());
  }
  /// Of a slot: what is read of the input, and behind it the output.
  int64_t getBlockBytes() const { return input.getBytes() + output.getBytes(); }
  int64_t getPartialBytes() const;
  /// Whether every block is full, and fills its last instruction.
  bool isEven() const {
    return output.countResults() % cells.getReduction() == 0 &&
           output.numLines.getFactor() % output.height == 0 &&
           output.numColumns.getFactor() % output.width == 0;
  }
};

/// Emits the products of a workgroup, and what becomes of their sums.
class GradientProduct {
public:
  /// Of [cell][pair][sum], flat.
  using Sums = llvm::SmallVector<mlir::Value>;

  GradientProduct(CellKernel &kernel, const CellGradient &plan);

  /// The number of the warp among those that share its channels.
  mlir::Value getShare() const { return share; }
  /// What the pixels of one instruction from `pixel` on add, of the blocks
  /// where `findSlot` says; without those outside of the image if they are
  /// `block`, which may be null, of the group.
  Sums multiply(mlir::Value pixel, llvm::function_ref<mlir::Value()> findSlot,
                mlir::Value block, const Sums &sums);
  void store(const Sums &sums);
  /// Between these two all warps meet.
  void sendShares(const Sums &sums);
  void storeAll(const Sums &sums);

private:
  /// Where a lane's pixels lie: of f32 two neighbours of each 8; of 16 bits
  /// those that it points ldmatrix to.
  struct PixelPlaces {
    llvm::SmallVector<mlir::Value> input, output;
  };
  PixelPlaces locatePixels(mlir::Value first, mlir::Value slot);
  llvm::SmallVector<mlir::Value> emitMasks(mlir::Value pixel,
                                           mlir::Value block);
  mlir::Value emitIsPixel(mlir::Value pixel,
                          llvm::ArrayRef<mlir::Value> origin);
  mlir::Value loadElement(mlir::Value place);
  llvm::SmallVector<mlir::Value> readChannels(const PixelPlaces &places);
  llvm::SmallVector<mlir::Value> readPieces(const PixelPlaces &places,
                                            int64_t cell, int64_t pair);
  mlir::Value getSumPlace(mlir::Value sharer, int64_t sum);

  CellKernel &k;
  Emitter &e;
  const CellGradient &plan;
  mlir::Value warp;  ///< Which 16 channels.
  mlir::Value share; ///< Which pixels of a block.
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_AMPERE_CELLGRADIENT_H
