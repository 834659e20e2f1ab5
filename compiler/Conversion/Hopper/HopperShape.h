//===- HopperShape.h - Warpgroups and shared memory of a tile --*- C++ -*-===//
//
// One warpgroup, the producer, has its thread 0 fill a ring of stages; the
// consumers multiply. They share a tile's rows (cooperative), or take tiles in
// turn so that one's epilogue hides behind the other's products (ping-pong).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_HOPPERSHAPE_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_HOPPERSHAPE_H

#include "compiler/Conversion/TileProgram.h"

namespace tessera {

/// The instruction of factors of f16 and bf16, and of f32 rounded to tf32.
inline constexpr llvm::StringLiteral kWgmma = "wgmma";
inline constexpr llvm::StringLiteral kWgmmaTf32 = "wgmma_tf32";
/// Rows of one wgmma, threads of the group that issues it.
inline constexpr int64_t kWgmmaRows = 64;
inline constexpr int64_t kWarpgroup = 128;
/// Bytes of a row of a stage, and of a row of a staged result: what the
/// swizzle spans.
inline constexpr int64_t kRowBytes = 128;
/// Rows of the result that a warp stores at once.
inline constexpr int64_t kStoreRows = 16;

struct HopperShape {
  int64_t tileM, tileN;
  int64_t stages;
  int64_t consumers;
  bool isPingPong;
  int64_t blocks;  ///< wgmmas of a consumer along m.
  int64_t stagers; ///< Staging buffers of a warp for the result.
  int64_t blocksPerSm;
  int64_t resultBytes; ///< Of an element.
  /// Whether factors are read by pixels (PixelFactors.h): three warps of the
  /// producer's group, all but the producer's own, transpose B.
  bool transposesPixels = false;
  static constexpr int64_t kTransposers = 3;

  /// Columns of the result that a warp stores at once.
  int64_t getStoreColumns() const { return kRowBytes / resultBytes; }

  // Bytes from the aligned begin of shared memory.
  int64_t getBytesA() const { return tileM * kRowBytes; }
  /// Transposed columns come in blocks of 64.
  int64_t getBytesB() const {
    constexpr int64_t kBlock = 64;
    return (tileN + kBlock - 1) / kBlock * kBlock * kRowBytes;
  }
  int64_t getOffsetB() const { return stages * getBytesA(); }
  int64_t getOffsetStaging() const {
    return getOffsetB() + stages * getBytesB();
  }
  int64_t getWarps() const { return consumers * (kWarpgroup / 32); }
  int64_t getOffsetBarriers() const {
    return getOffsetStaging() + getWarps() * stagers * kStoreRows * kRowBytes;
  }
  /// Of a stage (TmaRing.h).
  int64_t countBarriers() const { return transposesPixels ? 3 : 2; }
  /// What a launch asks for: the base is aligned in the kernel.
  int64_t getSharedBytes() const {
    constexpr int64_t kAlignment = 1024, kBarrierBytes = 8;
    return getOffsetBarriers() + stages * countBarriers() * kBarrierBytes +
           kAlignment;
  }
  int64_t getThreads() const { return (consumers + 1) * kWarpgroup; }

  /// Pieces in which 64 rows of sums are staged, `columns` at a time. The last
  /// one overlaps the one before it where they do not divide the tile: it
  /// stores the same values again.
  int64_t countPieces(int64_t columns) const {
    return (tileN + columns - 1) / columns;
  }
  int64_t getPieceColumn(int64_t piece, int64_t columns) const {
    return std::min(piece * columns, tileN - columns);
  }

  /// Whether the sums leave a thread registers for what an epilogue reads.
  bool hasSpareRegisters() const {
    constexpr int64_t kManySums = 128;
    return blocks * tileN / 2 <= kManySums;
  }

  /// Registers of a thread of the producer and of a consumer after they have
  /// shared out anew what the launch gave (setmaxnreg, multiples of 8).
  int64_t getProducerRegisters() const;
  int64_t getConsumerRegisters() const;
};

/// The shape of a tile program with copy tma; fails after an error at the op
/// that no Hopper kernel can be made of.
llvm::FailureOr<HopperShape> getHopperShape(TileProgram &program,
                                            const GpuTarget &target);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_HOPPERSHAPE_H
