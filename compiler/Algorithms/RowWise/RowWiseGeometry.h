//===- RowWiseGeometry.h - The shape of a row-wise operation ---*- C++ -*--===//
//
// One class that is made of a RowWiseProblem, for the cost model, or of a
// dnn.row_wise op, for the program, since both must agree about vectors and
// blocks.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_ROWWISE_ROWWISEGEOMETRY_H
#define TESSERA_COMPILER_ALGORITHMS_ROWWISE_ROWWISEGEOMETRY_H

#include "dialect/IR/Dnn.h"
#include "runtime/Base/Problem.h"

#include "llvm/ADT/SmallVector.h"

namespace tessera {

/// The number of threads whose partial results, of `words` registers each, a
/// thread combines at once. It is limited by the registers that hold them.
int64_t getRowWiseFanIn(int64_t words);

struct RowWiseTensor {
  RowRole role;
  int64_t elementBytes;
  int64_t words; ///< Registers of a widened element.
  llvm::SmallVector<int64_t, kMaxRowRank> strides; ///< 0: broadcast.
};

/// The iteration space and its vector dimension. A thread has blocks of
/// neighbours along the latter; sizes that depend on the block are given in
/// blocks.
class RowWiseGeometry {
public:
  explicit RowWiseGeometry(const Problem &problem); ///< Of a RowWiseProblem.
  explicit RowWiseGeometry(dnn::RowWiseOp op);

  llvm::SmallVector<int64_t, kMaxRowRank> lengths;
  llvm::SmallVector<bool, kMaxRowRank> reduced;
  llvm::SmallVector<RowWiseTensor> tensors;
  /// For each reduction, in their order, the number of its words.
  llvm::SmallVector<int64_t> reductions;
  /// The dimension along which most bytes are contiguous, or, of equal ones,
  /// the one with the smallest strides.
  int vectorDim = 0;
  /// Up to two dimensions along which rows share inputs, most bytes first.
  /// Empty if a tensor has an element for each element of the space, whose
  /// loads outweigh what is shared, or if a reduction keeps more than a sum or
  /// such.
  llvm::SmallVector<int, 2> sharedDims;
  /// Whether a block is moved by one access for each element. It matters to the
  /// model only, so it is always false if made of an op.
  bool isUnaligned = false;

  int getRank() const { return static_cast<int>(lengths.size()); }
  int64_t getElements() const;
  /// The partial results that a thread has of a row.
  int64_t countSums() const;
  int64_t getRows() const;
  int64_t getRowLength() const;
  /// Whether a block has elements of one row, and not one element of each of
  /// several rows.
  bool isVectorInRow() const { return reduced[vectorDim]; }

  /// The number of blocks of `vector` elements in a row, and the number of rows
  /// or, if not isVectorInRow(), of blocks of rows.
  int64_t getBlocksOfRow(int64_t vector) const;
  int64_t getRowBlocks(int64_t vector) const;
  /// Whether a tensor has one element a row.
  bool isOnePerRow(const RowWiseTensor &tensor) const;

  /// Whether a thread that takes every `step`-th block of a row keeps its
  /// blocks in registers from one pass over the row to the next.
  bool isKept(int64_t vector, int64_t step) const;
  /// The number of elements of the largest useful block: its widest accesses
  /// have 16 bytes.
  int64_t getWidestVector() const;

  /// The bytes of all tensors that have an element for each element of the
  /// space.
  double getBytesOfElements() const;
  /// The same without outputs.
  double getInputBytesOfElements() const;
  double getSmallBytes() const; ///< The bytes of all other tensors.

private:
  bool hasPlainFolds = true; ///< No moments and no indices.
  void addReduction(mlir::ArrayRef<dnn::ReduceKind> kinds);
  void chooseVectorDim();
  void findSharedDims();
  bool isFull(const RowWiseTensor &tensor) const;
  int64_t countElements(const RowWiseTensor &tensor) const;
};

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_ROWWISE_ROWWISEGEOMETRY_H
