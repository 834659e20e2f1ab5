//===- RowsProgram.h - What programs for rows are written in ---*- C++ -*-===//
//
// A thread is in a row, or in as many neighbouring rows as its blocks have
// lanes, and meets blocks of elements. This class knows where they are in
// memory and what the regions of the op make of them; who walks which blocks,
// the algorithms say.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_ROWSPROGRAM_H
#define TESSERA_COMPILER_ALGORITHMS_ROWSPROGRAM_H

#include "compiler/Algorithms/Common/PointBuilder.h"
#include "compiler/Algorithms/RowWise/RowsFold.h"
#include "compiler/Algorithms/RowWise/RowsGeometry.h"

#include <vector>

namespace tessera {

/// One value for all lanes of a block, or one for each.
using Lanes = llvm::SmallVector<mlir::Value, 8>;

inline mlir::Value getLane(const Lanes &lanes, int64_t lane) {
  return lanes.size() == 1 ? lanes.front() : lanes[lane];
}

/// A block of elements of the thread's row.
struct RowsBlock {
  PointBuilder::Values coordinates; ///< Of the first element, in the space.
  /// Whether the row has the block; null if that is known.
  mlir::Value valid;
  llvm::SmallVector<Lanes> inputs; ///< Widened; empty before they are loaded.
};

/// Writes one kernel of an op.
class RowsProgram {
public:
  using Value = mlir::Value;

  /// `arguments` of the kernel function begin with those of the op's function.
  RowsProgram(PointBuilder &p, dnn::RowsOp op, mlir::ValueRange arguments,
              int64_t vector);

  PointBuilder &p;
  dnn::RowsOp op;
  const RowsGeometry g;
  const int64_t vector; ///< Elements of a block.

  /// Results of reductions, in their order, and then the row's values.
  llvm::SmallVector<Lanes> results;

  /// Rows that the thread has.
  int64_t getRowLanes() const { return g.isVectorInRow() ? 1 : vector; }

  //===--------------------------------------------------------------------===//
  // Places
  //===--------------------------------------------------------------------===//

  /// Dimensions of rows, or of blocks of a row, outermost first, and how many
  /// steps of a thread each has.
  llvm::SmallVector<int> getDims(bool ofRows) const;
  llvm::SmallVector<int64_t> getSizes(mlir::ArrayRef<int> dims) const;

  /// The thread is in block `number` of rows. Where `valid` is false, it stores
  /// nothing; null means true.
  void enterRow(Value number, Value valid);
  /// The same, by the coordinates in getDims(true), in steps.
  void enterRowAt(mlir::ValueRange steps);
  /// Block `number` of the row, of which `isKnown` says that the row has it.
  RowsBlock getBlock(Value number, bool isKnown);
  RowsBlock getBlockAt(mlir::ValueRange steps);

  //===--------------------------------------------------------------------===//
  // Elements
  //===--------------------------------------------------------------------===//

  /// Loads what `region` takes of a block.
  void load(RowsBlock &block, mlir::Region &region);
  /// What `region` yields, for each lane of the block; of a row, null.
  llvm::SmallVector<Lanes> evaluate(mlir::Region &region,
                                    const RowsBlock *block);
  /// The number of a block's element in its row, as an i32.
  Value getPlaceInRow(const RowsBlock &block, int64_t lane);

  /// Computes region `row`, if there is one, and adds its values to `results`;
  /// what goes to the row outputs is returned.
  llvm::SmallVector<Lanes> finishRow();
  void storeRowOutputs(mlir::ArrayRef<Lanes> values);
  /// Computes region `map` of the block and stores the outputs.
  void storeOutputs(RowsBlock &block);

  /// The arithmetic of each kind of a reduction.
  std::vector<RowsFold> getFolds(size_t reduction);

private:
  Value getArgument(Value operand) const;
  Value getScalar(Value scalar);
  PointBuilder::Values getCoordinates(Value number, mlir::ArrayRef<int> dims);
  void loadRowInputs();
  Lanes loadLanes(Value tensor, mlir::ValueRange coordinates,
                  mlir::ArrayRef<int> checked);
  void storeLanes(const Lanes &lanes, Value tensor,
                  mlir::ValueRange coordinates, mlir::ArrayRef<int> checked);
  Value getElementNumber(const RowsBlock &block, int64_t lane);

  mlir::ValueRange arguments;
  PointBuilder::Values rowCoordinates; ///< In the space; 0 where reduced.
  Value rowValid;
  llvm::SmallVector<Lanes> rowInputs; ///< Of inputs with one element a row.
};

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_ROWSPROGRAM_H
