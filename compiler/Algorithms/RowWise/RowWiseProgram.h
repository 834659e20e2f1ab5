//===- RowWiseProgram.h - Building blocks of row-wise programs -*- C++ -*--===//
//
// A thread processes blocks of elements of its row, or of as many neighbouring
// rows as a block has lanes. This class loads and stores blocks and evaluates
// the regions of the op on them; the algorithms decide which thread takes which
// blocks.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_ROWWISE_ROWWISEPROGRAM_H
#define TESSERA_COMPILER_ALGORITHMS_ROWWISE_ROWWISEPROGRAM_H

#include "compiler/Algorithms/Common/PointBuilder.h"
#include "compiler/Algorithms/RowWise/RowWiseFold.h"
#include "compiler/Algorithms/RowWise/RowWiseGeometry.h"

#include <vector>

namespace tessera {

/// The values of the lanes of a block, or of the rows of a thread: one for all,
/// or one for each. A block has `vector` lanes of each row, row by row.
using Lanes = llvm::SmallVector<mlir::Value, 8>;

inline mlir::Value getLane(const Lanes &lanes, int64_t lane) {
  return lanes.size() == 1 ? lanes.front() : lanes[lane];
}

/// A block of elements of the thread's row or rows.
struct RowWiseBlock {
  PointBuilder::Values coordinates; ///< The first element, in the space.
  /// Whether the block is inside the row; null if it always is.
  mlir::Value valid;
  llvm::SmallVector<Lanes> inputs; ///< Widened; empty before they are loaded.
};

/// Writes one kernel of an op.
class RowWiseProgram {
public:
  using Value = mlir::Value;

  /// `arguments` of the kernel function begin with those of the op's function.
  /// `shared`: rows of a thread along each of the geometry's sharedDims.
  RowWiseProgram(PointBuilder &p, dnn::RowWiseOp op, mlir::ValueRange arguments,
                 int64_t vector, mlir::ArrayRef<int> shared = {});

  PointBuilder &p;
  dnn::RowWiseOp op;
  const RowWiseGeometry g;
  const int64_t vector; ///< Elements of a block, of each row.
  /// Along each dimension, the rows that a thread has and loads for together; 1
  /// in most.
  llvm::SmallVector<int64_t, kMaxRowRank> rowsAlong;

  /// The results of reductions, in their order, and then the row's values.
  llvm::SmallVector<Lanes> results;

  /// The number of rows that a thread has.
  int64_t getRowLanes() const {
    return g.isVectorInRow() ? getSharedRows() : vector;
  }
  /// The number of rows that share loads.
  int64_t getSharedRows() const;
  int64_t getBlockLanes() const { return getSharedRows() * vector; }
  /// The number, of those that a thread has, of the row of a block's lane.
  int64_t getRowOfLane(int64_t lane) const {
    return g.isVectorInRow() ? lane / vector : lane;
  }

  //===--------------------------------------------------------------------===//
  // Coordinates
  //===--------------------------------------------------------------------===//

  /// The dimensions that count rows, or those that count blocks of a row,
  /// outermost first; and their sizes, the vector dimension's in blocks.
  llvm::SmallVector<int> getDims(bool ofRows) const;
  llvm::SmallVector<Size> getSizes(mlir::ArrayRef<int> dims) const;
  /// The length of the space, which may be unknown.
  Size getLength(int dim) const;
  /// The number of rows or of blocks of rows.
  Size getRowBlocks() const;

  /// Begins block `number` of rows. If `valid` is false, the thread stores
  /// nothing; null means true.
  void enterRow(Value number, Value valid);
  /// The same, with the coordinates in getDims(true), which count blocks.
  void enterRowAt(mlir::ValueRange steps);
  /// Enters row `number`, an index, of those that a thread of `program` has.
  void enterRowOf(const RowWiseProgram &program, Value number);
  /// Block `number` of the row; `isKnown` says that the row always has it.
  RowWiseBlock getBlock(Value number, bool isKnown);
  RowWiseBlock getBlockAt(mlir::ValueRange steps);

  //===--------------------------------------------------------------------===//
  // Elements
  //===--------------------------------------------------------------------===//

  /// Loads those inputs of a block that `region` uses.
  void load(RowWiseBlock &block, mlir::Region &region);
  /// Evaluates `region` for each lane of the block, or, if `block` is null, of
  /// the thread's rows, and returns what it yields.
  llvm::SmallVector<Lanes> evaluate(mlir::Region &region,
                                    const RowWiseBlock *block);
  /// The index in its row of an element of the block, as an i32.
  Value getIndexInRow(const RowWiseBlock &block, int64_t lane);

  /// Evaluates region `row`, if there is one, adds its values to `results` and
  /// returns those that storeRowOutputs() takes.
  llvm::SmallVector<Lanes> finishRow();
  void storeRowOutputs(mlir::ArrayRef<Lanes> values);
  /// Evaluates region `map` for the block and stores the outputs.
  void storeOutputs(RowWiseBlock &block);

  /// The arithmetic of each kind of reduction `reduction`.
  std::vector<RowWiseFold> getFolds(size_t reduction);

private:
  Value getArgument(Value operand) const;
  Value getScalar(Value scalar);
  PointBuilder::Values getCoordinates(Value number, mlir::ArrayRef<int> dims);
  void loadRowInputs();
  bool isReduced(size_t input);
  int64_t getBlockOfRows(int dim) const;
  llvm::SmallVector<int64_t> getRowOffset(int64_t row) const;
  Lanes loadLanes(Value tensor, mlir::ValueRange coordinates,
                  mlir::ArrayRef<int> checked);
  Lanes loadRow(Value tensor, mlir::ValueRange coordinates,
                mlir::ArrayRef<int> checked);
  void storeLanes(const Lanes &lanes, Value tensor,
                  mlir::ValueRange coordinates, mlir::ArrayRef<int> checked);
  Value getCoordinate(const RowWiseBlock &block, int dim, int64_t lane);
  Value getElementIndex(const RowWiseBlock &block, int64_t lane);

  mlir::ValueRange arguments;
  PointBuilder::Values rowCoordinates; ///< In the space; 0 where reduced.
  Value rowValid;
  llvm::SmallVector<Lanes> rowInputs; ///< Inputs with one element a row.
};

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_ROWWISE_ROWWISEPROGRAM_H
