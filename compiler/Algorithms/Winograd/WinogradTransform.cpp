//===- WinogradTransform.cpp - Small matrices around a tile ---------------===//

#include "compiler/Algorithms/Winograd/WinogradTransform.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tessera;

// F(2 x 2, 3 x 3). All elements are dyadic, so that sums of small integers stay
// exact.
static constexpr double kInput2[] = {1, 0,  -1, 0, 0, 1, 1, 0,
                                     0, -1, 1,  0, 0, 1, 0, -1};
static constexpr double kFilter2[] = {1,   0,    0,   0.5, 0.5, 0.5,
                                      0.5, -0.5, 0.5, 0,   0,   1};
static constexpr double kOutput2[] = {1, 1, 1, 0, 0, 1, -1, -1};

// F(4 x 4, 3 x 3).
// clang-format off
static constexpr double kInput4[] = {4,  0, -5,  0, 1, 0,
                                     0, -4, -4,  1, 1, 0,
                                     0,  4, -4, -1, 1, 0,
                                     0, -2, -1,  2, 1, 0,
                                     0,  2, -1, -2, 1, 0,
                                     0,  4,  0, -5, 0, 1};
static constexpr double kFilter4[] = {1. / 4,  0,        0,
                                      -1. / 6, -1. / 6,  -1. / 6,
                                      -1. / 6, 1. / 6,   -1. / 6,
                                      1. / 24, 1. / 12,  1. / 6,
                                      1. / 24, -1. / 12, 1. / 6,
                                      0,       0,        1};
static constexpr double kOutput4[] = {1, 1,  1, 1,  1, 0,
                                      0, 1, -1, 2, -2, 0,
                                      0, 1,  1, 4,  4, 0,
                                      0, 1, -1, 8, -8, 1};
// clang-format on

TransformMatrix tessera::getInputTransform(int64_t outputs) {
  return outputs == 2 ? TransformMatrix{4, 4, kInput2}
                      : TransformMatrix{6, 6, kInput4};
}

TransformMatrix tessera::getFilterTransform(int64_t outputs) {
  return outputs == 2 ? TransformMatrix{4, 3, kFilter2}
                      : TransformMatrix{6, 3, kFilter4};
}

TransformMatrix tessera::getOutputTransform(int64_t outputs) {
  return outputs == 2 ? TransformMatrix{2, 4, kOutput2}
                      : TransformMatrix{4, 6, kOutput4};
}

SmallVector<double> TransformMatrix::getRow(int64_t row) const {
  SmallVector<double> values;
  for (int64_t column = 0; column < columns; ++column)
    values.push_back(
        elements[isTransposed ? column * rows + row : row * columns + column]);
  return values;
}

/// `value` in each element of a block like `block`.
static Value makeConstant(PointBuilder &p, double value, Value block) {
  Type element = getElementTypeOrSelf(block.getType());
  Value scalar =
      arith::ConstantOp::create(p.b, p.loc, p.b.getFloatAttr(element, value));
  return p.splat(scalar, PointBuilder::getBlockSize(block));
}

/// One element of the sum: `term` is added to, subtracted from, or added as a
/// multiple to `sum`, which is null at first.
static Value addTerm(PointBuilder &p, Value sum, double coefficient,
                     Value term) {
  if (!sum && coefficient == 1)
    return term;
  if (sum && coefficient == 1)
    return arith::AddFOp::create(p.b, p.loc, sum, term);
  if (sum && coefficient == -1)
    return arith::SubFOp::create(p.b, p.loc, sum, term);
  Value scale = makeConstant(p, coefficient, term);
  if (!sum)
    return arith::MulFOp::create(p.b, p.loc, scale, term);
  return math::FmaOp::create(p.b, p.loc, scale, term, sum);
}

/// The sum of `values`, a distance of `stride` apart, times `coefficients`.
static Value combine(PointBuilder &p, ArrayRef<double> coefficients,
                     ArrayRef<Value> values, int64_t stride) {
  // A term without a product comes first, so that all others are fused.
  const auto *one = llvm::find(coefficients, 1.0);
  const int64_t first =
      one == coefficients.end() ? 0 : one - coefficients.begin();
  Value sum;
  const auto count = static_cast<int64_t>(coefficients.size());
  for (int64_t n = 0; n < count; ++n) {
    const int64_t i = (first + n) % count;
    if (coefficients[i] != 0)
      sum = addTerm(p, sum, coefficients[i], values[i * stride]);
  }
  return sum;
}

PointBuilder::Values tessera::transformTile(PointBuilder &p,
                                            const TransformMatrix &matrix,
                                            ArrayRef<Value> values) {
  const int64_t rows = matrix.rows, columns = matrix.columns;
  PointBuilder::Values half, result;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      half.push_back(combine(p, matrix.getRow(row), values.drop_front(column),
                             /*stride=*/columns));
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < rows; ++column)
      result.push_back(combine(p, matrix.getRow(column),
                               ArrayRef(half).slice(row * columns, columns),
                               /*stride=*/1));
  return result;
}
