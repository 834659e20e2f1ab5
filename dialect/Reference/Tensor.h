//===- Tensor.h - Tensors as the reference sees them -----------*- C++ -*--===//
//
// The reference works on logical coordinates and element strides, so that one
// evaluator serves every layout and no layout's arithmetic is trusted twice.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_REFERENCE_TENSOR_H
#define TESSERA_DIALECT_REFERENCE_TENSOR_H

#include <cstdint>
#include <string_view>

namespace tessera::reference {

enum class ElementType {
  F16,
  BF16,
  F32,
  F64,
  I8,
  I32,
  I64,
  E4M3FNUZ,
  E5M2FNUZ,
  E4M3FN,
  E5M2
};

int64_t getByteSize(ElementType type);
std::string_view getName(ElementType type);
bool isInteger(ElementType type);

/// The coordinates of an element: image, channel, row and column of an
/// activation; output channel, input channel, row and column of a filter. Depth
/// is the last field, so that code for two spatial dimensions need not name it.
struct Coord {
  int64_t outer = 0;
  int64_t channel = 0;
  int64_t row = 0;
  int64_t column = 0;
  int64_t depth = 0;

  friend bool operator==(const Coord &, const Coord &) = default;
};

/// The length of each dimension.
struct Sizes {
  int64_t outer = 1;
  int64_t channel = 1;
  int64_t row = 1;
  int64_t column = 1;
  int64_t depth = 1;

  int64_t getProduct() const { return outer * channel * row * column * depth; }
  /// The flat index numbers the elements in one order, whatever the layout in
  /// memory: the channel varies fastest, then column, row, depth, and the outer
  /// dimension.
  Coord getCoord(int64_t flatIndex) const;
  int64_t getFlatIndex(const Coord &at) const;
  /// Advances `at` to the next flat index.
  void advance(Coord &at) const;

  friend bool operator==(const Sizes &, const Sizes &) = default;
};

/// The distance, in elements, of neighbours in each dimension.
struct Strides {
  int64_t outer = 0;
  int64_t channel = 0;
  int64_t row = 0;
  int64_t column = 0;
  int64_t depth = 0;

  int64_t getOffset(const Coord &at) const {
    return at.outer * outer + at.channel * channel + at.depth * depth +
           at.row * row + at.column * column;
  }
  friend bool operator==(const Strides &, const Strides &) = default;
};

/// Strides of a packed tensor of `sizes` whose channels come before depth, rows
/// and columns.
Strides getNchwStrides(const Sizes &sizes);
/// The same with the channels last.
Strides getNhwcStrides(const Sizes &sizes);

/// A view of elements that it does not own.
struct TensorView {
  ElementType type = ElementType::F32;
  const void *data = nullptr;
  Strides strides{};

  double load(const Coord &at) const;
};

/// Rounds `value` once to `type`: to nearest, ties to even; integers and floats
/// of 8 bits saturate.
double roundTo(ElementType type, double value);

/// Returns element `index` of an array of `type`. Every value of the types is a
/// double, except that i64 beyond 2^53 is rounded.
double loadElement(ElementType type, const void *data, int64_t index);
/// Stores `value` rounded once.
void storeElement(ElementType type, void *data, int64_t index, double value);

} // namespace tessera::reference

#endif // TESSERA_DIALECT_REFERENCE_TENSOR_H
