//===- RowsGeometry.h - Sizes of an operation on rows ----------*- C++ -*-===//
//
// What the algorithms for rows ask before they know whether there is an op:
// the model sees a RowProblem, the program a dnn.rows.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_ROWSGEOMETRY_H
#define TESSERA_COMPILER_ALGORITHMS_ROWSGEOMETRY_H

#include "dialect/IR/Dnn.h"
#include "runtime/Base/Problem.h"

#include "llvm/ADT/SmallVector.h"

namespace tessera {

/// Blocks of a row that a thread loads at once, unless it keeps them all.
inline constexpr int64_t kRowBlocksAtOnce = 4;

/// Threads whose words for one slot, `words` registers, a thread combines at
/// once: what it reads together stays in registers.
int64_t getRowsFanIn(int64_t words);

struct RowsTensor {
  RowRole role;
  int64_t elementBytes;
  int64_t words; ///< Registers of an element, widened.
  llvm::SmallVector<int64_t, kMaxRowRank> strides; ///< 0: broadcast.
};

/// The space, which of its dimensions is the vector dimension, along which a
/// thread has a block of neighbours, and what is counted in such blocks.
class RowsGeometry {
public:
  explicit RowsGeometry(const Problem &problem); ///< Of rows.
  explicit RowsGeometry(dnn::RowsOp op);

  llvm::SmallVector<int64_t, kMaxRowRank> lengths;
  llvm::SmallVector<bool, kMaxRowRank> reduced;
  llvm::SmallVector<RowsTensor> tensors;
  /// That a row goes through, one after the other: words that each keeps.
  llvm::SmallVector<int64_t> reductions;
  /// Contiguous for most bytes; else that of the smallest distances.
  int vectorDim = 0;
  /// Whether a block is moved by an access for each element; of an op, which is
  /// the same program either way, always false.
  bool isUnaligned = false;

  int getRank() const { return static_cast<int>(lengths.size()); }
  int64_t getElements() const;
  int64_t getRows() const;
  int64_t getRowLength() const;
  /// Whether a block is of one row, and not of as many rows.
  bool isVectorInRow() const { return reduced[vectorDim]; }

  /// Blocks of `vector` elements in a row; rows, or blocks of rows, that are
  /// walked side by side.
  int64_t getBlocksOfRow(int64_t vector) const;
  int64_t getRowBlocks(int64_t vector) const;
  /// Whether a tensor has one element a row.
  bool isOneARow(const RowsTensor &tensor) const;

  /// Whether a thread that takes each `step`th block of a row keeps its blocks
  /// in registers from one walk to the next.
  bool isKept(int64_t vector, int64_t step) const;
  /// Elements of the largest block whose parts are accesses of 16 bytes.
  int64_t getWidestVector() const;

  /// Of memory that each element of the space moves once: those of tensors that
  /// have one for each.
  double getBytesOfElements() const;
  /// The same without outputs.
  double getInputBytesOfElements() const;
  double getSmallBytes() const; ///< Of all other tensors.

private:
  void addReduction(mlir::ArrayRef<dnn::ReduceKind> kinds);
  void chooseVectorDim();
  bool isFull(const RowsTensor &tensor) const;
};

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_ROWSGEOMETRY_H
