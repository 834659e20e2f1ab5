//===- Steps.h - Row-wise operations whose rows are steps ------*- C++ -*--===//
//
// A dnn.row_wise with the attribute `dnn.steps` makes all time steps of a
// recurrent network: dimension 0 of its space is time, and what a step reads of
// the one before it is an output of that one (docs/spec/row-wise.md).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_IR_STEPS_H
#define TESSERA_DIALECT_IR_STEPS_H

#include "dialect/IR/Dnn.h"

#include <optional>

namespace tessera::dnn {

/// The attribute of a dnn.row_wise that lists what steps hand on: arrays of an
/// input and of the row outputs that take its place from the second step on.
inline constexpr llvm::StringLiteral kStepsAttrName = "dnn.steps";

/// The unit attribute of such an op whose first step is the last one along
/// dimension 0.
inline constexpr llvm::StringLiteral kDescendingAttrName = "dnn.descending";

/// What one input is from the second step on: row outputs of the step before,
/// one behind the other along the reduced dimension if there are several.
struct Carried {
  int64_t input;
  llvm::SmallVector<int64_t> outputs;
};

/// The list of an op with `dnn.steps`; nothing of one without. The op is valid.
std::optional<llvm::SmallVector<Carried>> getCarried(RowWiseOp op);

} // namespace tessera::dnn

#endif // TESSERA_DIALECT_IR_STEPS_H
