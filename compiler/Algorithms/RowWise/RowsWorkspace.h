//===- RowsWorkspace.h - What launches for rows tell each other -*- C++ -*-===//
//
// A workspace of words, one of each kind for every row: of each part of a
// reduction, of each result, of each value that `row` hands to `map`. Words of
// all types have the bits of one integer type, so that there is one memref.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_ROWSWORKSPACE_H
#define TESSERA_COMPILER_ALGORITHMS_ROWSWORKSPACE_H

#include "compiler/Algorithms/RowWise/RowsProgram.h"
#include "compiler/Algorithms/RowWise/RowsTeam.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera {

class RowsWorkspace {
public:
  using Value = mlir::Value;

  RowsWorkspace(dnn::RowsOp op, int64_t parts);

  /// Gives the function of the op the workspace, its last argument.
  void addTo(mlir::func::FuncOp function);

  // `row` is the thread's block of rows, of the program of `kernel`.

  /// Results of the reductions before `reduction`, and behind the last one the
  /// row's values, to those of the program.
  void loadResults(RowsProgram &program, mlir::func::FuncOp kernel, Value row,
                   size_t reduction);
  /// The last reduction has no one to store the row's values but this: all of
  /// the program's results from that reduction on, of which `count` are results
  /// of reductions.
  void storeResults(RowsProgram &program, mlir::func::FuncOp kernel, Value row,
                    size_t reduction, size_t count);
  void storeParts(RowsProgram &program, mlir::func::FuncOp kernel, Value row,
                  Value valid, size_t reduction, Value part,
                  mlir::ArrayRef<RowsTeam::LaneWords> words);
  RowsFold::Words loadPart(RowsProgram &program, mlir::func::FuncOp kernel,
                           Value row, size_t reduction, size_t kind,
                           Value part);

private:
  Lanes load(RowsProgram &program, mlir::func::FuncOp kernel, Value slot,
             Value row, mlir::Type type);
  void store(RowsProgram &program, mlir::func::FuncOp kernel,
             const Lanes &lanes, Value slot, Value row, Value valid);
  Value toBits(PointBuilder &p, Value block);
  Value fromBits(PointBuilder &p, Value block, mlir::Type type);

  /// Where a word of a fold has its slots: as many as parts, then its result.
  struct Word {
    size_t reduction;
    size_t kind;
    mlir::Type type;
    int64_t slot;
  };

  int64_t parts;
  int64_t rows;
  int64_t slots = 0;
  mlir::Type bits; ///< i32, or i64 if any word needs it.
  llvm::SmallVector<Word> words;
  llvm::SmallVector<Word> values; ///< Of the row.
};

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_ROWSWORKSPACE_H
