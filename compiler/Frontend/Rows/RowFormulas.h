//===- RowFormulas.h - What an operation on rows computes ------*- C++ -*-===//
//
// A family of operations is a file here: a function that gives the formulas of
// a problem's regions. RowsFrontend.cpp knows the functions and builds the op.
// docs/spec/rows.md says the same in words.
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

/// One region while its formula is written: arithmetic in the compute type, and
/// what the region takes.
class RowRegion : public FloatBuilder {
public:
  /// What the region takes. An input that has no element in it is null.
  struct Args {
    llvm::SmallVector<Value> inputs;
    llvm::SmallVector<Value> scalars;
    llvm::SmallVector<Value> results;   ///< Of all reductions so far, in order.
    llvm::SmallVector<Value> rowValues; ///< What `row` hands to `map`.
  };

  RowRegion(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type,
            const RowProblem &problem, Args args)
      : FloatBuilder(b, loc, type), problem(problem), args(std::move(args)) {}

  /// The element of a tensor as it is widened: a float of the compute type, i32
  /// or i64.
  Value input(int tensor) { return args.inputs[tensor]; }
  /// The element in the compute type.
  Value get(int tensor) { return convert(input(tensor)); }
  Value scalar(int number) { return args.scalars[number]; }
  Value result(int number) { return args.results[number]; }
  Value rowValue(int number) { return args.rowValues[number]; }

  Value rowIndex();     ///< i32.
  Value elementIndex(); ///< i64.

  /// A float of any type to the nearest integer, ties to even, saturating; a
  /// NaN to zero.
  Value round(Value value, DataType type);
  /// An integer of `type` whose value is in three scalars, 22 bits each, the
  /// upper ones first: an f32 holds no larger ones.
  Value integerOfPieces(int first, mlir::Type type);
  /// What a region yields for `tensor`, from a float: itself, or round().
  Value toTensor(int tensor, Value value);
  /// The activation `problem.mode`, with parameters from scalar `first` on.
  Value activateByMode(int first, Value value);

private:
  const RowProblem &problem;
  Args args;
};

/// Gives what the region yields.
using RegionFormula =
    std::function<llvm::SmallVector<mlir::Value>(RowRegion &)>;

struct RowReduction {
  llvm::SmallVector<dnn::ReduceKind> kinds;
  RegionFormula formula;
};

/// A region without a formula is left out.
struct RowFormulas {
  int scalarCount = 0;
  llvm::SmallVector<RowReduction> reductions;
  RegionFormula row;
  RegionFormula map;
};

/// InvalidArgument unless the roles of the problem's tensors are `roles`, one
/// letter each: i, r, o.
Status expectTensors(const RowProblem &problem, std::string_view roles);

/// InvalidArgument unless the mode is one of 0, 1, ..., `count` - 1.
Status expectMode(const RowProblem &problem, uint32_t count);

/// Every operation of a family.
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
