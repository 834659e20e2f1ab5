//===- RowReference.h - What rows give when reduced and mapped -*- C++ -*-===//
//
// docs/spec/rows.md in code: element-wise, reducing and normalising operations
// in double, on host tensors with strides. An operation is a function that
// walks one row as its formula says; it knows neither kernels nor dnn.rows.
// One file a family in Rows/.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_REFERENCE_ROWREFERENCE_H
#define TESSERA_DIALECT_REFERENCE_ROWREFERENCE_H

#include "dialect/Reference/Approx.h"
#include "dialect/Reference/Tensor.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::reference {

enum class RowRole { Input, RowOutput, Output };

inline constexpr int kMaxRowRank = 5;
using RowPlace = std::array<int64_t, kMaxRowRank>;

/// A tensor of the space. A stride of 0: the same element all along that
/// dimension.
struct RowOperand {
  ElementType type = ElementType::F32;
  RowRole role = RowRole::Input;
  RowPlace strides{};
  /// Of an input: someone else's elements. Of others not read by evaluate().
  const void *data = nullptr;

  int64_t getOffset(const RowPlace &at) const;
};

/// An operation on the rows of a space, in the words of the spec.
struct RowShape {
  std::string_view operation{}; ///< "softmax_fwd", ...
  uint32_t mode = 0;
  int rank = 1;
  RowPlace lengths{1, 1, 1, 1, 1};
  uint32_t reduced = 0; ///< Bit i: dimension i is reduced.
  std::vector<RowOperand> tensors{};
  std::vector<double> scalars{};

  bool isReduced(int dim) const { return reduced >> dim & 1; }
  int64_t getRowCount() const;
  int64_t getRowLength() const;
  /// Where element `element` of row `row` is. Both count with the last
  /// dimension fastest.
  RowPlace getPlace(int64_t row, int64_t element) const;
  /// The unit roundoff of the arithmetic: of f64 if any tensor is, else of f32.
  double getUnitRoundoff() const;
};

/// What one output should hold.
struct RowExpected {
  int tensor = 0;
  /// Row after row, of the rows asked for; one element a row of a row output.
  std::vector<Approx> values;
};

/// One row, as the function of an operation sees it.
class Row {
public:
  Row(const RowShape &shape, int64_t number) : shape(shape), number(number) {}

  uint32_t getMode() const { return shape.mode; }
  int64_t getLength() const { return shape.getRowLength(); }
  int getTensorCount() const { return static_cast<int>(shape.tensors.size()); }
  const RowOperand &getTensor(int tensor) const {
    return shape.tensors[tensor];
  }
  double getScalar(int scalar) const { return shape.scalars[scalar]; }
  /// Element `element` of the row of an input.
  double get(int tensor, int64_t element = 0) const;
  /// The number of an element in the space, last dimension fastest.
  int64_t getElementNumber(int64_t element) const;
  /// Of a row output, without `element`.
  void set(int tensor, int64_t element, Approx value);
  void set(int tensor, Approx value) { set(tensor, 0, value); }

private:
  friend std::vector<RowExpected> evaluateRows(const RowShape &,
                                               const std::vector<int64_t> &);
  const RowShape &shape;
  int64_t number;
  std::vector<std::vector<Approx>> outputs; ///< One for each tensor.
};

/// Computes one row.
using RowEvaluator = void (*)(Row &row);

/// Of the operation with that word, or null.
RowEvaluator findRowEvaluator(std::string_view operation);

/// The outputs of these rows, or of all; the operation must be a known one.
std::vector<RowExpected> evaluateRows(const RowShape &shape,
                                      const std::vector<int64_t> &rows = {});

/// Compares the operands' data, which are results now, with what evaluateRows()
/// has found for the same rows: empty if right, else a sentence.
std::string compareRows(const RowShape &shape,
                        const std::vector<RowExpected> &expected,
                        const std::vector<int64_t> &rows = {});

} // namespace tessera::reference

#endif // TESSERA_DIALECT_REFERENCE_ROWREFERENCE_H
