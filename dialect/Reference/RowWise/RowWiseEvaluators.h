//===- RowWiseEvaluators.h - The reference's operations on rows *- C++ -*--===//

#ifndef TESSERA_DIALECT_REFERENCE_ROWWISE_ROWWISEEVALUATORS_H
#define TESSERA_DIALECT_REFERENCE_ROWWISE_ROWWISEEVALUATORS_H

#include "dialect/Reference/Epilogue.h"
#include "dialect/Reference/RowWiseReference.h"

namespace tessera::reference {

#define TESSERA_ROW_EVALUATOR(word, function) void function(Row &row);
#include "dialect/Reference/RowWise/RowWiseEvaluators.def"

/// The activation of a number that has an error.
Approx activate(Activation activation, const std::array<double, 3> &parameters,
                Approx value);

/// The derivative, with MIOpen's values where there is none.
Approx differentiate(Activation activation,
                     const std::array<double, 3> &parameters, Approx x);

/// Applies the activation that is the row's mode. Its parameters begin at
/// scalar `first`.
Approx activateByMode(const Row &row, int first, Approx value);

} // namespace tessera::reference

#endif // TESSERA_DIALECT_REFERENCE_ROWWISE_ROWWISEEVALUATORS_H
