//===- RowFormulas.h - The formulas of row-wise operations -----*- C++ -*-===//
//
// Each family of operations has a file here with a function that returns the
// formulas of a problem's regions. RowsFrontend.cpp calls these functions and
// builds the op. docs/spec/rows.md specifies the formulas.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_FRONTEND_ROWS_ROWFORMULAS_H
#define TESSERA_COMPILER_FRONTEND_ROWS_ROWFORMULAS_H

#include "compiler/Frontend/FloatBuilder.h"
#include "dialect/IR/Dnn.h"
#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/RowProblem.h"

#include <functional>

namespace tessera {

/// A region that is being built: its arguments, and arithmetic in the compute
/// type.
class RowRegion : public FloatBuilder {
public:
  /// The arguments of the region. An input that the region does not take is
  /// null.
  struct Args {
    llvm::SmallVector<Value> inputs;
    llvm::SmallVector<Value> scalars;
    llvm::SmallVector<Value> results;   ///< Of the reductions so far, in order.
    llvm::SmallVector<Value> rowValues; ///< Values that `row` yields for `map`.
  };

  RowRegion(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type,
            const RowProblem &problem, Args args)
      : FloatBuilder(b, loc, type), problem(problem), args(std::move(args)) {}

  /// The widened element of a tensor: a float of the compute type, i32 or i64.
  Value input(int tensor) { return args.inputs[tensor]; }
  /// The element in the compute type.
  Value get(int tensor) { return convert(input(tensor)); }
  Value scalar(int number) { return args.scalars[number]; }
  Value result(int number) { return args.results[number]; }
  Value rowValue(int number) { return args.rowValues[number]; }

  Value rowIndex();     ///< i32.
  Value elementIndex(); ///< i64.

  /// Converts a float of any type to the nearest integer, ties to even,
  /// saturating; a NaN becomes zero.
  Value round(Value value, DataType type);
  /// An integer of `type` whose value is in three scalars of 22 bits each, the
  /// upper ones first, since an f32 holds no larger integers exactly.
  Value integerOfPieces(int first, mlir::Type type);
  /// Converts a float to the type that a region yields for `tensor`, which
  /// rounds it if this is an integer.
  Value toTensor(int tensor, Value value);
  /// The activation `problem.mode`, with parameters from scalar `first` on.
  Value activateByMode(int first, Value value);

private:
  const RowProblem &problem;
  Args args;
};

/// Returns the values that the region yields.
using RegionFormula =
    std::function<llvm::SmallVector<mlir::Value>(RowRegion &)>;

struct RowReduction {
  llvm::SmallVector<dnn::ReduceKind> kinds;
  RegionFormula formula;
};

/// The formulas of an operation. A region without a formula does not exist.
struct RowFormulas {
  int scalarCount = 0;
  llvm::SmallVector<RowReduction> reductions;
  RegionFormula row;
  RegionFormula map;
};

/// Fails with InvalidArgument unless the roles of the problem's tensors are
/// `roles`, one letter each: i(nput), r(ow output), o(utput).
Status expectTensors(const RowProblem &problem, std::string_view roles);

/// Fails with InvalidArgument unless the mode is one of 0, 1, ..., `count` - 1.
Status expectMode(const RowProblem &problem, uint32_t count);

// The formulas of the operations of each family.
ErrorOr<RowFormulas> getActivationFormulas(const RowProblem &problem);
ErrorOr<RowFormulas> getDropoutFormulas(const RowProblem &problem);
ErrorOr<RowFormulas> getElementwiseFormulas(const RowProblem &problem);
ErrorOr<RowFormulas> getGluFormulas(const RowProblem &problem);
ErrorOr<RowFormulas> getBatchNormFormulas(const RowProblem &problem);
ErrorOr<RowFormulas> getLrnFormulas(const RowProblem &problem);
ErrorOr<RowFormulas> getNormFormulas(const RowProblem &problem);
ErrorOr<RowFormulas> getPReluFormulas(const RowProblem &problem);
ErrorOr<RowFormulas> getRopeFormulas(const RowProblem &problem);
ErrorOr<RowFormulas> getReduceFormulas(const RowProblem &problem);
ErrorOr<RowFormulas> getSoftmaxFormulas(const RowProblem &problem);

} // namespace tessera

#endif // TESSERA_COMPILER_FRONTEND_ROWS_ROWFORMULAS_H
