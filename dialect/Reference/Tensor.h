//===- Tensor.h - Tensors as the reference sees them -----------*- C++ -*-===//
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

enum class ElementType { F16, BF16, F32 };

int64_t getByteSize(ElementType type);
std::string_view getName(ElementType type);

/// A coordinate, or the sizes, of a tensor with four dimensions: image,
/// channel, row and column of an activation; output channel, input channel,
/// row and column of a filter.
struct Coord {
  int64_t outer = 0;
  int64_t channel = 0;
  int64_t row = 0;
  int64_t column = 0;

  int64_t getProduct() const { return outer * channel * row * column; }
  friend bool operator==(const Coord &, const Coord &) = default;
};

/// Distance in elements of neighbours in each dimension.
struct Strides {
  int64_t outer = 0;
  int64_t channel = 0;
  int64_t row = 0;
  int64_t column = 0;

  int64_t getOffset(const Coord &at) const {
    return at.outer * outer + at.channel * channel + at.row * row +
           at.column * column;
  }
};

/// Strides of a packed tensor of `sizes` whose channels come before the rows.
Strides getNchwStrides(const Coord &sizes);
/// The same with the channels last.
Strides getNhwcStrides(const Coord &sizes);

/// Someone else's elements. Does not own them.
struct TensorView {
  ElementType type = ElementType::F32;
  const void *data = nullptr;
  Strides strides;

  float load(const Coord &at) const;
};

/// `value` rounded once to `type` (to nearest, ties to even).
double roundTo(ElementType type, double value);

/// Element `index` of an array of `type`. Every value of the types is a float.
float loadElement(ElementType type, const void *data, int64_t index);
/// Stores `value` rounded once.
void storeElement(ElementType type, void *data, int64_t index, double value);

} // namespace tessera::reference

#endif // TESSERA_DIALECT_REFERENCE_TENSOR_H
