//===- RowWiseWorkspace.h - The workspace of split rows --------*- C++ -*--===//
//
// The launches of a split operation pass values through a workspace, a matrix
// of slots by rows. There are slots for the partial results of each reduction,
// one for each split, for each result, and for each value that `row` passes to
// `map`. Words of all types are stored as the bits of one integer type, so that
// one memref is enough.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_ROWWISE_ROWWISEWORKSPACE_H
#define TESSERA_COMPILER_ALGORITHMS_ROWWISE_ROWWISEWORKSPACE_H

#include "compiler/Algorithms/RowWise/RowGroup.h"
#include "compiler/Algorithms/RowWise/RowWiseProgram.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera {

class RowWiseWorkspace {
public:
  using Value = mlir::Value;

  RowWiseWorkspace(dnn::RowWiseOp op, int64_t splits);

  /// Gives the function of the op the workspace, its last argument.
  void addTo(mlir::func::FuncOp function);

  // In the following, `row` is the thread's block of rows in the program of
  // `kernel`.

  /// Loads the results of the reductions before `reduction`, and after the last
  /// one also the row's values, and adds them to those of the program.
  void loadResults(RowWiseProgram &program, mlir::func::FuncOp kernel,
                   Value row, size_t reduction);
  /// Stores the results of `reduction`, the last of the first `count` results
  /// of the program, and those from `count` on, which are the row's values
  /// (after the last reduction only).
  void storeResults(RowWiseProgram &program, mlir::func::FuncOp kernel,
                    Value row, size_t reduction, size_t count);
  void storeSplits(RowWiseProgram &program, mlir::func::FuncOp kernel,
                   Value row, Value valid, size_t reduction, Value split,
                   mlir::ArrayRef<RowGroup::LaneWords> words);
  RowWiseFold::Words loadSplit(RowWiseProgram &program,
                               mlir::func::FuncOp kernel, Value row,
                               size_t reduction, size_t kind, Value split);

private:
  Lanes load(RowWiseProgram &program, mlir::func::FuncOp kernel, Value slot,
             Value row, mlir::Type type);
  void store(RowWiseProgram &program, mlir::func::FuncOp kernel,
             const Lanes &lanes, Value slot, Value row, Value valid);
  Value toBits(PointBuilder &p, Value block);
  Value fromBits(PointBuilder &p, Value block, mlir::Type type);

  /// A word of a fold. Its slots begin with one for each split; the slot of its
  /// result follows.
  struct Word {
    size_t reduction;
    size_t kind;
    mlir::Type type;
    int64_t slot;
  };

  int64_t splits;
  int64_t rows;
  int64_t slots = 0;
  mlir::Type bits; ///< i32, or i64 if any word needs it.
  llvm::SmallVector<Word> words;
  llvm::SmallVector<Word> values; ///< The row's values, with one slot each.
};

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_ROWWISE_ROWWISEWORKSPACE_H
