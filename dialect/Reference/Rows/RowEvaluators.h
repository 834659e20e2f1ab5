//===- RowEvaluators.h - The reference's operations on rows ----*- C++ -*-===//

#ifndef TESSERA_DIALECT_REFERENCE_ROWS_ROWEVALUATORS_H
#define TESSERA_DIALECT_REFERENCE_ROWS_ROWEVALUATORS_H

#include "dialect/Reference/Epilogue.h"
#include "dialect/Reference/RowReference.h"

namespace tessera::reference {

#define TESSERA_ROW_EVALUATOR(word, function) void function(Row &row);
#include "dialect/Reference/Rows/RowEvaluators.def"

/// The activation of a number that may be off.
Approx activate(Activation activation, const std::array<double, 3> &parameters,
                Approx value);

/// Its derivative, as MIOpen has it where there is none.
Approx differentiate(Activation activation,
                     const std::array<double, 3> &parameters, Approx x);

/// The activation that is the row's mode, with its parameters from scalar
/// `first` on.
Approx activateByMode(const Row &row, int first, Approx value);

} // namespace tessera::reference

#endif // TESSERA_DIALECT_REFERENCE_ROWS_ROWEVALUATORS_H
