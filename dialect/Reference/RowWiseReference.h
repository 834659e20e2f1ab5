//===- RowWiseReference.h - Row-wise operations: reduce and map *- C++ -*--===//
//
// docs/spec/row-wise.md in code: element-wise, reducing and normalising
// operations in double, on host tensors with strides. An operation is a
// function that walks one row as its formula says; it does not know kernels or
// dnn.row_wise. Each family has a file in Rows/.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_REFERENCE_ROWWISEREFERENCE_H
#define TESSERA_DIALECT_REFERENCE_ROWWISEREFERENCE_H

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
/// One number for each dimension: lengths, strides or coordinates.
using RowDims = std::array<int64_t, kMaxRowRank>;

/// A tensor of the space. A stride of 0 means that the same element is used all
/// along that dimension.
struct RowOperand {
  ElementType type = ElementType::F32;
  RowRole role = RowRole::Input;
  RowDims strides{};
  /// Not owned. evaluateRows() reads inputs only.
  const void *data = nullptr;

  int64_t getOffset(const RowDims &at) const;
};

/// An operation on the rows of a space, in the terms of the spec.
struct RowShape {
  std::string_view operation{}; ///< for example "softmax_fwd"
  uint32_t mode = 0;
  int rank = 1;
  RowDims lengths{1, 1, 1, 1, 1};
  uint32_t reduced = 0; ///< Bit i: dimension i is reduced.
  std::vector<RowOperand> tensors{};
  std::vector<double> scalars{};

  bool isReduced(int dim) const { return reduced >> dim & 1; }
  int64_t getRowCount() const;
  int64_t getRowLength() const;
  /// Returns the coordinates of element `element` of row `row`. In both the
  /// last dimension varies fastest.
  RowDims getCoords(int64_t row, int64_t element) const;
  /// The unit roundoff of the arithmetic: that of f64 if any tensor is f64,
  /// else that of f32.
  double getUnitRoundoff() const;
};

/// Bits of the mode of a whole step of a recurrent network: dimension 0 of the
/// space is the steps, and the first one is the last along it.
inline constexpr uint32_t kAllStepsBit = 8, kDescendingBit = 16;

/// An input that is, from the second step on, what the step before it has
/// written: one output, or several that lie one behind the other.
struct CarriedTensors {
  int input;
  std::vector<int> outputs;
};

/// What steps hand on, by the numbers of tensors; empty unless the problem has
/// steps.
std::vector<CarriedTensors> findCarried(std::string_view operation,
                                        uint32_t mode);

/// What one output should hold.
struct RowExpected {
  int tensor = 0;
  /// The values of the requested rows, row after row. Row outputs have one
  /// element a row.
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
  /// Returns element `element` of the row of an input. Where that is what the
  /// step before has written, it is what that step's outputs hold, which are a
  /// kernel's results; NaN if they hold only the last step's.
  double get(int tensor, int64_t element = 0) const;
  /// The same of an input with one element for each row. If only the last
  /// step's is kept, the step before is computed again, and what it was rounded
  /// to is off by that.
  Approx getState(int tensor) const;
  /// Returns the number of an element in the space, with the last dimension
  /// fastest.
  int64_t getElementNumber(int64_t element) const;
  /// The overload without `element` is for row outputs.
  void set(int tensor, int64_t element, Approx value);
  void set(int tensor, Approx value) { set(tensor, 0, value); }

private:
  Approx getBefore(int output) const;
  double getCarried(const CarriedTensors &carried, RowDims at) const;

  friend std::vector<RowExpected> evaluateRows(const RowShape &,
                                               const std::vector<int64_t> &);
  const RowShape &shape;
  int64_t number;
  std::vector<std::vector<Approx>> outputs; ///< one for each tensor
};

/// Computes one row.
using RowWiseEvaluator = void (*)(Row &row);

/// Returns the evaluator of the operation with that name, or null.
RowWiseEvaluator findRowEvaluator(std::string_view operation);

/// Computes the outputs of these rows, or of all; the operation must be known.
std::vector<RowExpected> evaluateRows(const RowShape &shape,
                                      const std::vector<int64_t> &rows = {});

/// Compares the operands' data, which are a kernel's results, with the results
/// of evaluateRows() for the same rows. Of outputs that keep only the last
/// step's, these are compared. Returns an empty string if they are
/// right, otherwise a message.
std::string compareRows(const RowShape &shape,
                        const std::vector<RowExpected> &expected,
                        const std::vector<int64_t> &rows = {});

} // namespace tessera::reference

#endif // TESSERA_DIALECT_REFERENCE_ROWWISEREFERENCE_H
