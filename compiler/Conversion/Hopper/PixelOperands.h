//===- PixelOperands.h - tf32 operands that are read by pixels -*- C++ -*--===//
//
// In backward weights the reduction is pixels, but what lies together in memory
// is channels, and wgmma reads f32 from shared memory only with the reduction
// together. TMA brings blocks of 32 pixels by 32 channels. Of A a consumer
// loads the fragments of its rows from them, since wgmma also takes A in
// registers; of B the free warps of the producer's group transpose each block
// where it lies (docs/design/0011-tf32.md).
//
// Which pixel is which k of a product is ours to say, if both operands agree:
// of 8 pixels the even ones come first. With it no access has bank conflicts.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_PIXELOPERANDS_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_PIXELOPERANDS_H

#include "compiler/Conversion/Hopper/HopperShape.h"
#include "compiler/Conversion/Nvidia/SharedMemory.h"

namespace tessera {

/// Channels of a block: 128 bytes. As many pixels.
inline constexpr int64_t kPixelBlock = 32;
inline constexpr int64_t kPixelBlockBytes = kPixelBlock * kRowBytes;

/// The fragments of A of a consumer's warp.
class PixelFragments {
public:
  /// `warp` is the warp's number in its warpgroup, `firstRow` the consumer's
  /// first row in the tile.
  PixelFragments(Emitter &e, const HopperShape &shape, mlir::Value warp,
                 mlir::Value lane, mlir::Value firstRow);

  /// Four registers (i32) of each 8 pixels of each wgmma along m, that of the
  /// first wgmma first. `buffer` is the stage's A.
  llvm::SmallVector<mlir::Value> load(mlir::Value buffer) const;

private:
  static constexpr int64_t kRegisters = 4;
  Emitter &e;
  const HopperShape &shape;
  mlir::Value offsets[kRegisters]; ///< Bytes, of the first 8 pixels.
};

/// `warp` (i32) is one of `count` that share out work, from `first` on.
struct WarpShare {
  mlir::Value warp;
  int64_t first, count;
};

/// Transposes a block where it lies. For all lanes of a warp.
class PixelTranspose {
public:
  PixelTranspose(Emitter &e, mlir::Value lane);

  void emit(mlir::Value block);
  /// A warp's share of those of `columns` at `buffer`.
  void emitShare(mlir::Value buffer, int64_t columns, const WarpShare &share);

private:
  static constexpr int64_t kSide = 4; ///< Of what a lane transposes at once.
  Emitter &e;
  mlir::Value reads[kSide], writes[kSide]; ///< Bytes, of the lane's first.
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_PIXELOPERANDS_H
