//===- HopperShape.h - Warpgroups and shared memory of a tile --*- C++ -*--===//
//
// One warpgroup, the producer, has its thread 0 fill a ring of stages; the
// consumers multiply. They share a tile's rows (cooperative), or take tiles in
// turn so that one's epilogue hides behind the other's products (ping-pong).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_HOPPERSHAPE_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_HOPPERSHAPE_H

#include "compiler/Conversion/Cooperative/TileProgram.h"
#include "compiler/Conversion/Nvidia/SharedMemory.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

namespace tessera {

/// The instruction of operands of f16 and bf16, and of f32 rounded to tf32.
inline constexpr llvm::StringLiteral kWgmma = "wgmma";
inline constexpr llvm::StringLiteral kWgmmaTf32 = "wgmma_tf32";
/// Of f32 that is not rounded: six products of terms of bf16, into which both
/// factors are split on their way (SplitOperands.h).
inline constexpr llvm::StringLiteral kWgmmaSplit = "wgmma_bf16x6";
/// Rows of one wgmma, threads of the group that issues it.
inline constexpr int64_t kWgmmaRows = 64;
inline constexpr int64_t kWarpgroup = 128;
inline constexpr int64_t kBarrierBytes = 8;

/// Buffers of their own for the pixels that all taps of a step's channels see.
struct HaloShape {
  int64_t buffers = 0; ///< None if each tap brings its own pixels.
  int64_t rows = 0;    ///< Of a buffer.
  /// Whether they are chunks, read one behind the other, with a mirror of the
  /// first behind the last; else each has all that a step needs.
  bool slides = false;
  bool isOfB = false;           ///< Whose pixels they are: else A's.
  int64_t rowBytes = kRowBytes; ///< Of those of B.

  /// Those in shared memory.
  int64_t countPlaces() const { return buffers + (slides ? 1 : 0); }
};

struct HopperShape {
  int64_t tileM, tileN;
  int64_t stages;
  int64_t consumers;
  bool isPingPong;
  int64_t blocks;  ///< wgmmas of a consumer along their rows.
  int64_t stagers; ///< Staging buffers of a warp for the result.
  int64_t blocksPerSm;
  int64_t resultBytes; ///< Of an element.
  /// Of what a step has of a row, if the reduction lies together: 128, or fewer
  /// where channels are few (docs/design/0025-narrow-channels.md). The swizzle
  /// spans as many.
  int64_t rowBytes = kRowBytes;
  int64_t storeRowBytes = kRowBytes; ///< The same of a staged result.
  /// Whether A goes through registers, and three warps of the producer's group,
  /// all but the producer's own, change B before it is multiplied: tf32 that is
  /// read by pixels (PixelOperands.h), and f32 that is split (SplitOperands.h).
  bool preparesB = false;
  static constexpr int64_t kPreparers = 3;
  /// Whether f32 are split into terms.
  bool splitsF32 = false;
  int64_t wavesN = 1; ///< Consumers side by side.
  HaloShape halo = {};
  /// Whether the rows of a wgmma are columns of the tile, and its columns rows
  /// of it (docs/design/0016).
  bool isSwapped = false;
  /// Whether neighbours of the result in memory are rows of the tile
  /// (docs/design/0026): then staged rows are its columns.
  bool isColumnMajor = false;
  /// Steps after which accumulators are added to sums in further registers; 0
  /// if they are the sums.
  int64_t promote = 0;
  /// Workgroups that share a tile's reduction (ClusterSum.h).
  int64_t cluster = 1;
  /// The side of the tile whose operand two workgroups copy together
  /// (docs/design/0031).
  std::optional<dnn::TileDim> multicast = {};
  /// Whether a consumer's thread makes all copies before the products begin, as
  /// each workgroup has one tile, whose steps all have a stage.
  bool copiesFirst = false;
  /// Slots of sums in tensor memory (wg.load_sums); none if they are wgmma's.
  int64_t sumSlots = 0;
  /// Registers that knobs give a thread of the producer, and of a consumer.
  std::optional<int64_t> producerRegisters = {}, consumerRegisters = {};

  /// From the first row of a warp to that of the next one.
  int64_t getWarpRows() const {
    return sumSlots > 0 ? 2 * kStoreRows : kStoreRows;
  }
  /// Workgroups of a cluster that read what one of them has copied.
  int64_t countSharers() const { return multicast ? 2 : 1; }
  int64_t getClusterSize() const { return cluster * countSharers(); }
  /// Along which of dnn.for_each_tile's counts tiles that share an operand are
  /// neighbours: rows if they share columns.
  unsigned getPairDim() const {
    constexpr unsigned kRows = 1, kColumns = 2;
    return *multicast == dnn::TileDim::N ? kRows : kColumns;
  }

  /// Of the tile, a consumer's.
  int64_t getRows() const { return isPingPong ? tileM : tileM / getWavesM(); }
  int64_t getColumns() const { return tileN / wavesN; }
  int64_t getWavesM() const { return wavesN > 1 ? 1 : consumers; }
  /// Of a wgmma.
  int64_t getProductColumns() const {
    return isSwapped ? getRows() : getColumns();
  }

  /// Whether staged rows are the columns of wgmma.
  bool stagesTransposed() const { return isSwapped != isColumnMajor; }
  /// Elements of a staged row.
  int64_t getStagedElements() const { return storeRowBytes / resultBytes; }
  /// Columns and rows of the result that a consumer stores at once.
  int64_t getStoreColumns() const {
    return isColumnMajor ? std::min(kWgmmaRows, getColumns())
                         : getStagedElements();
  }
  /// Warps of a consumer that have staged rows to store: of a column-major tile
  /// each has 16 columns.
  int64_t countStoringWarps() const {
    constexpr int64_t kWarps = kWarpgroup / 32;
    return isColumnMajor ? getStoreColumns() / kStoreRows : kWarps;
  }
  int64_t getStoreRows() const {
    return isColumnMajor ? getStagedElements() : kWgmmaRows;
  }

  /// Columns of a consumer that a copy out may have: all, or a tap's channels.
  int64_t countTogether() const {
    constexpr int64_t kOperandBytes = 2;
    return hasHaloB() ? halo.rowBytes / kOperandBytes : getColumns();
  }

  bool hasHaloA() const { return halo.buffers > 0 && !halo.isOfB; }
  bool hasHaloB() const { return halo.buffers > 0 && halo.isOfB; }

  // Bytes from the aligned begin of shared memory.
  int64_t getBytesA() const {
    return llvm::alignTo((hasHaloA() ? halo.rows : tileM) * rowBytes,
                         kSharedAlignment);
  }
  /// Transposed columns come in blocks of 64. Terms of f32 take twice the space
  /// of what they are split from, half of it where that was.
  int64_t getBytesB() const {
    constexpr int64_t kBlock = 64;
    if (hasHaloB())
      return halo.rows * halo.rowBytes;
    return llvm::alignTo(tileN, kBlock) * rowBytes * (splitsF32 ? 2 : 1);
  }
  int64_t getOffsetB() const {
    return (hasHaloA() ? halo.countPlaces() : stages) * getBytesA();
  }
  int64_t getOffsetStaging() const {
    return getOffsetB() +
           (hasHaloB() ? halo.countPlaces() : stages) * getBytesB();
  }
  /// Columns of a tile that a workgroup stores: its share of what a cluster
  /// adds, of which wgmma's fragments allow no less than 16.
  int64_t getShareColumns() const {
    constexpr int64_t kLeast = 16;
    return cluster == 1 ? tileN : std::max(kLeast, tileN / cluster);
  }
  int64_t countShares() const { return tileN / getShareColumns(); }
  /// Where there are fewer shares than workgroups, so many of them share the
  /// warps of each consumer, which have rows of their own.
  int64_t countWarpParts() const {
    constexpr int64_t kWarps = kWarpgroup / 32;
    return std::min<int64_t>(kWarps, llvm::bit_floor(static_cast<uint64_t>(
                                         cluster / countShares())));
  }
  /// The shape of what is stored.
  HopperShape getStored() const {
    HopperShape stored = *this;
    stored.tileN = getShareColumns();
    return stored;
  }
  /// A workgroup's share of the accumulators of all workgroups of a cluster.
  int64_t getExchangeBytes() const {
    constexpr int64_t kSumBytes = 4;
    return cluster == 1 ? 0 : cluster * tileM * getShareColumns() * kSumBytes;
  }
  int64_t getWarps() const { return consumers * (kWarpgroup / 32); }
  int64_t getOffsetExchange() const {
    return getOffsetStaging() + getWarps() * stagers * kStoreRows * kRowBytes;
  }
  int64_t getOffsetBarriers() const {
    return getOffsetExchange() + getExchangeBytes();
  }
  /// Of a stage (TmaRing.h).
  int64_t countBarriers() const { return preparesB ? 3 : 2; }
  /// Of the buffers for the halo, behind those of the stages.
  int64_t getOffsetHaloBarriers() const {
    return getOffsetBarriers() + stages * countBarriers() * kBarrierBytes;
  }
  /// What a launch asks for: the base is aligned in the kernel.
  int64_t getSharedBytes() const {
    return getOffsetHaloBarriers() + 2 * halo.buffers * kBarrierBytes +
           getBytesOfSums() + kSharedAlignment;
  }
  /// The barriers of sums in tensor memory, and its address.
  int64_t getBytesOfSums() const {
    return sumSlots == 0 ? 0 : (2 * sumSlots + 1) * kBarrierBytes;
  }
  /// Whether consumers issue their products in turns (Wgmma.h).
  bool takesTurns() const { return isPingPong || (splitsF32 && consumers > 1); }
  /// Consumers that read a stage: each, or, in turns, one.
  int64_t countReaders() const { return isPingPong ? 1 : consumers; }
  int64_t countCopiers() const { return copiesFirst ? 0 : 1; }
  int64_t getThreads() const {
    return (consumers + countCopiers()) * kWarpgroup;
  }

  /// Pieces in which getStoreRows() are staged, `columns` at a time. The last
  /// one overlaps the one before it where they do not divide the tile: it
  /// stores the same values again.
  int64_t countPieces(int64_t columns) const {
    return (getColumns() + columns - 1) / columns;
  }
  int64_t getPieceColumn(int64_t piece, int64_t columns) const {
    return std::min(piece * columns, getColumns() - columns);
  }
  /// Pieces of the rows of a consumer, and where each begins; exchanged, the
  /// last one may overlap the one before it, too.
  int64_t countRowPieces() const {
    return (getRows() + getStoreRows() - 1) / getStoreRows();
  }
  int64_t getPieceRow(int64_t piece) const {
    if (sumSlots > 0)
      return piece * kStoreRows;
    return std::min(piece * getStoreRows(), getRows() - getStoreRows());
  }

  /// What the first row of every piece of every tile is a multiple of.
  int64_t getStagedRowStep() const {
    int64_t step = std::gcd(tileM, getRows());
    for (int64_t piece = 0; piece < countRowPieces(); ++piece)
      step = std::gcd(step, getPieceRow(piece));
    return step;
  }

  /// Registers of a thread for A and its terms.
  int64_t countFragments() const {
    constexpr int64_t kFragment = 16, kTerms = 32;
    return !preparesB ? 0 : blocks * kFragment + (splitsF32 ? kTerms : 0);
  }
  /// Whether the sums leave a thread registers for what an epilogue reads.
  bool hasSpareRegisters() const {
    constexpr int64_t kManySums = 128;
    return blocks * getProductColumns() / 2 <= kManySums;
  }

  /// Registers of a thread of the producer and of a consumer after they have
  /// shared out anew what the launch gave (setmaxnreg, multiples of 8).
  int64_t getProducerRegisters() const;
  int64_t getConsumerRegisters() const;
};

/// Whether neighbours along the rows of `result` are closer in memory than
/// those along its columns. A single row has no neighbour.
bool isColumnMajor(dnn::ViewOp result);

/// The shape of a tile program with copy tma; fails after an error at the op
/// that no Hopper kernel can be made of. `halo` is that of the program, if it
/// has one.
llvm::FailureOr<HopperShape> getHopperShape(TileProgram &program,
                                            const GpuTarget &target,
                                            const HaloShape &halo);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_HOPPERSHAPE_H
