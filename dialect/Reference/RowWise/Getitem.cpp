//===- Getitem.cpp - The gradient of indexing -----------------------------===//

#include "dialect/Reference/RowWise/RowWiseEvaluators.h"

using namespace tessera::reference;

void tessera::reference::evaluateNumber(Row &row) {
  for (int64_t i = 0; i < row.getLength(); ++i)
    row.set(0, i, static_cast<double>(row.getElementNumber(i)));
}

/// The tensors are dy, pairs of an index and the number of the row's element,
/// the old gradient and the new one; the scalars are the lengths that negative
/// indices count from.
void tessera::reference::evaluateGetitemBackward(Row &row) {
  const int pairs = static_cast<int>(row.getMode());
  ApproxSum sum;
  for (int64_t i = 0; i < row.getLength(); ++i) {
    bool isHere = true;
    for (int pair = 0; pair < pairs; ++pair) {
      const double index = row.get(1 + 2 * pair, i),
                   number = row.get(2 + 2 * pair);
      isHere &= (index < 0 ? index + row.getScalar(pair) : index) == number;
    }
    if (isHere)
      sum.add(row.get(0, i));
  }
  sum.add(row.get(1 + 2 * pairs));
  row.set(2 + 2 * pairs, sum.get());
}

/// The tensors are the indices, the old error and the new one; the scalar is
/// the length of the dimension.
void tessera::reference::evaluateGetitemError(Row &row) {
  double error = row.get(1);
  for (int64_t i = 0; i < row.getLength(); ++i)
    if (row.get(0, i) < -row.getScalar(0) || row.get(0, i) >= row.getScalar(0))
      error = -1;
  row.set(2, error);
}
