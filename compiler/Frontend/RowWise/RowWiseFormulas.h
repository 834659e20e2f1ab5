//===- RowFormulas.h - The formulas of row-wise operations -----*- C++ -*--===//
//
// Each family of operations has a file here with a function that returns the
// formulas of a problem's regions. RowWiseFrontend.cpp calls these functions
// and builds the op. docs/spec/row-wise.md specifies the formulas.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_FRONTEND_ROWWISE_ROWWISEFORMULAS_H
#define TESSERA_COMPILER_FRONTEND_ROWWISE_ROWWISEFORMULAS_H

#include "compiler/Frontend/FloatBuilder.h"
#include "dialect/IR/Dnn.h"
#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/RowWiseProblem.h"

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
            const RowWiseProblem &problem, Args args)
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
  const RowWiseProblem &problem;
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
struct RowWiseFormulas {
  int scalarCount = 0;
  llvm::SmallVector<RowReduction> reductions;
  RegionFormula row;
  RegionFormula map;
  /// Of a launch that makes all steps of a recurrent network: what each hands
  /// on, an input and the row outputs that take its place, by their numbers
  /// among inputs and among row outputs.
  llvm::SmallVector<llvm::SmallVector<int64_t>> carried;
};

/// Fails with InvalidArgument unless the roles of the problem's tensors are
/// `roles`, one letter each: i(nput), r(ow output), o(utput).
Status expectTensors(const RowWiseProblem &problem, std::string_view roles);

/// Fails with InvalidArgument unless the mode is one of 0, 1, ..., `count` - 1.
Status expectMode(const RowWiseProblem &problem, uint32_t count);

bool isInteger(DataType type);
bool hasIntegers(const RowWiseProblem &problem);

/// Fails with NotSupported if a tensor is of i64.
Status rejectI64(const RowWiseProblem &problem);

/// The type in which a formula with scale factors computes: f64 if there are
/// integers, because it holds every i32 exactly, else that of the region.
FloatBuilder getArithmetic(RowRegion &r, bool hasIntegers);

// The formulas of the operations of each family.
ErrorOr<RowWiseFormulas> getActivationFormulas(const RowWiseProblem &problem);
ErrorOr<RowWiseFormulas> getAdamFormulas(const RowWiseProblem &problem);
ErrorOr<RowWiseFormulas> getCtcFormulas(const RowWiseProblem &problem);
ErrorOr<RowWiseFormulas> getDropoutFormulas(const RowWiseProblem &problem);
ErrorOr<RowWiseFormulas> getElementwiseFormulas(const RowWiseProblem &problem);
ErrorOr<RowWiseFormulas> getGetitemFormulas(const RowWiseProblem &problem);
ErrorOr<RowWiseFormulas> getGluFormulas(const RowWiseProblem &problem);
ErrorOr<RowWiseFormulas> getBatchNormFormulas(const RowWiseProblem &problem);
ErrorOr<RowWiseFormulas> getKthValueFormulas(const RowWiseProblem &problem);
ErrorOr<RowWiseFormulas> getLrnFormulas(const RowWiseProblem &problem);
ErrorOr<RowWiseFormulas> getMarginFormulas(const RowWiseProblem &problem);
ErrorOr<RowWiseFormulas> getNormFormulas(const RowWiseProblem &problem);
ErrorOr<RowWiseFormulas> getPReluFormulas(const RowWiseProblem &problem);
ErrorOr<RowWiseFormulas> getRnnFormulas(const RowWiseProblem &problem);
ErrorOr<RowWiseFormulas> getRopeFormulas(const RowWiseProblem &problem);
ErrorOr<RowWiseFormulas> getReduceFormulas(const RowWiseProblem &problem);
ErrorOr<RowWiseFormulas> getSoftmaxFormulas(const RowWiseProblem &problem);

} // namespace tessera

#endif // TESSERA_COMPILER_FRONTEND_ROWWISE_ROWWISEFORMULAS_H
