//===- SplitOperands.h - f32 operands in terms of bf16 ---------*- C++ -*--===//
//
// TMA brings f32. A consumer loads the fragments of A and splits them in
// registers; free warps of the producer's group split B, and write its terms
// where it lay and behind that (docs/design/0027-splits-in-registers.md).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_SPLITOPERANDS_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_SPLITOPERANDS_H

#include "compiler/Conversion/Hopper/PixelOperands.h"
#include "compiler/Conversion/Nvidia/SplitPair.h"

namespace tessera {

/// wgmmas along the reduction of a step of 32 f32.
inline constexpr int64_t kSplitShares = 2;

/// Where a B of `shape` has a term: bytes behind the begin of its buffer.
/// `isTransposed` says whether its columns lie together.
int64_t getTermOffset(const HopperShape &shape, SplitPair::Term term,
                      bool isTransposed);

/// The fragments of A of a consumer's warp, where the reduction lies together.
class ChannelFragments {
public:
  /// As those of PixelFragments.
  ChannelFragments(Emitter &e, const HopperShape &shape, mlir::Value warp,
                   mlir::Value lane, mlir::Value firstRow);

  /// In the order of PixelFragments::load(): of each 8 k of each wgmma along m
  /// the rows g and g + 8 at a lane's first k, then at its second one. f32s.
  llvm::SmallVector<mlir::Value> load(mlir::Value buffer) const;

private:
  static constexpr int64_t kEights = 4; ///< Of a step's 32 k.
  Emitter &e;
  const HopperShape &shape;
  mlir::Value offsets[kEights];
};

/// The terms of A of a consumer's warp, as Wgmma::multiplyTerms() takes them;
/// `isTransposed` says whether A's rows lie together. The others as those of
/// PixelFragments.
llvm::SmallVector<llvm::SmallVector<SplitPair>>
loadTerms(Emitter &e, const HopperShape &shape, bool isTransposed,
          mlir::Value warp, mlir::Value lane, mlir::Value firstRow,
          mlir::Value buffer);

/// Splits B in pieces of 8 rows of its buffer (of 64 columns, if these lie
/// together). For all lanes of a warp.
class TermWriter {
public:
  /// `isTransposed` says whether B's columns lie together in memory.
  TermWriter(Emitter &e, const HopperShape &shape, bool isTransposed,
             mlir::Value lane);

  int64_t countPieces() const;
  /// Splits the pieces `first` (i32) and the one behind it of the B in
  /// `buffer`.
  void emit(mlir::Value buffer, mlir::Value first) const;
  static constexpr int64_t kPiecesAtOnce = 2;
  /// Splits a warp's share, two pieces at a time.
  void emitShare(mlir::Value buffer, const WarpShare &share) const;

private:
  mlir::Value getPiece(mlir::Value buffer, mlir::Value piece) const;
  void store(mlir::Value piece, llvm::ArrayRef<SplitPair> pairs) const;

  Emitter &e;
  const HopperShape &shape;
  bool isTransposed;
  llvm::SmallVector<mlir::Value> reads;  ///< Bytes of each four f32.
  llvm::SmallVector<mlir::Value> writes; ///< Of each eight bf16.
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_SPLITOPERANDS_H
