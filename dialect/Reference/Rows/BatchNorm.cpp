//===- BatchNorm.cpp - Rows are what shares a mean and a variance ---------===//

#include "dialect/Reference/Rows/RowEvaluators.h"

using namespace tessera::reference;

/// Tensors x, mean, variance, scale, bias, y; scalars epsilon and those of the
/// activation, which is the mode.
void tessera::reference::evaluateBatchNormInference(Row &row) {
  for (int64_t i = 0; i < row.getLength(); ++i) {
    const Approx inverse = rsqrt(Approx(row.get(2, i)) + row.getScalar(0));
    const Approx normal = (Approx(row.get(0, i)) - row.get(1, i)) * inverse;
    const Approx result = normal * row.get(3, i) + row.get(4, i);
    row.set(5, i, activateByMode(row, 1, result));
  }
}
