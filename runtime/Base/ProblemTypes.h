//===- ProblemTypes.h - Words that all problems share ----------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_BASE_PROBLEMTYPES_H
#define TESSERA_RUNTIME_BASE_PROBLEMTYPES_H

#include <cstdint>
#include <limits>
#include <string_view>

namespace tessera {

/// A size that a problem leaves open, "?" in texts. It is MLIR's
/// ShapedType::kDynamic.
inline constexpr int64_t kUnknownSize = std::numeric_limits<int64_t>::min();

enum class Direction : uint8_t { Forward, BackwardData, BackwardWeights };

/// The rows of DataTypes.def.
enum class DataType : uint8_t {
#define DATA_TYPE(NAME, ...) NAME,
#include "runtime/Base/DataTypes.def"
};

inline constexpr DataType kDataTypes[] = {
#define DATA_TYPE(NAME, ...) DataType::NAME,
#include "runtime/Base/DataTypes.def"
};

/// Whether it is a float of 8 bits.
constexpr bool isFloat8(DataType type) {
  switch (type) {
#define DATA_TYPE(NAME, ...)
#define FLOAT8_TYPE(NAME, ...) case DataType::NAME:
#include "runtime/Base/DataTypes.def"
    return true;
  default:
    return false;
  }
}

/// Whether products of it are added in f32.
constexpr bool hasF32Sums(DataType type) {
  return type == DataType::F16 || type == DataType::BF16 ||
         type == DataType::F32 || isFloat8(type);
}

/// How f32 may be multiplied. Exact is f32; Tf32 allows operands with ten bits
/// of mantissa where a chip has a faster way for them, and demands nothing.
enum class MathType : uint8_t { Exact, Tf32 };

/// Order of the dimensions in memory. The filter's layout uses the same names:
/// NCHW means K,C,Y,X and NHWC means K,Y,X,C (C per group). The depth, if there
/// is one, comes before the height: NCDHW, NDHWC. Strided is everything else,
/// gaps included; a tensor of that layout has Strides.
enum class Layout : uint8_t { NCHW, NHWC, Strided };

/// Strides in elements along each dimension; all 0 unless the layout is
/// Strided. For a filter, n is the output channel and c the input channel.
struct Strides {
  int64_t n = 0;
  int64_t c = 0;
  int64_t d = 0;
  int64_t h = 0;
  int64_t w = 0;

  friend bool operator==(const Strides &, const Strides &) = default;
};

/// One number for each spatial dimension. A problem without depth leaves d
/// neutral.
template <int64_t neutral>
struct Lengths {
  int64_t h = neutral;
  int64_t w = neutral;
  int64_t d = neutral;

  friend bool operator==(const Lengths &, const Lengths &) = default;
};

/// Sizes, strides, dilations.
using Spatial = Lengths<1>;
/// Padding, the same at both ends unless it says which end.
using Pads = Lengths<0>;

inline Pads operator+(const Pads &a, const Pads &b) {
  return {a.h + b.h, a.w + b.w, a.d + b.d};
}
inline Pads operator-(const Pads &a, const Pads &b) {
  return {a.h - b.h, a.w - b.w, a.d - b.d};
}

/// The lengths of one tensor, by meaning; see Strides for a filter.
struct TensorLengths {
  int64_t n = 1;
  int64_t c = 1;
  int64_t d = 1;
  int64_t h = 1;
  int64_t w = 1;

  int64_t getElements() const { return n * c * d * h * w; }
};

/// The strides of a packed tensor of `layout` (NCHW or NHWC).
Strides getPackedStrides(Layout layout, const TensorLengths &lengths);

/// The number of elements from the first one to the last one, both included.
int64_t getSpan(const Strides &strides, const TensorLengths &lengths);

/// Returns the layout of `strides` if it is a packed one (NCHW if both are) and
/// sets `strides` to zero. Else returns Strided and sets the strides of
/// dimensions of length 1, which mean nothing, to 1. So equal tensors have
/// equal texts.
Layout canonicalizeLayout(Strides &strides, const TensorLengths &lengths);

/// Bytes of one element.
constexpr int64_t getByteSize(DataType type) {
  switch (type) {
#define DATA_TYPE(NAME, TEXT, BYTES, ...)                                      \
  case DataType::NAME:                                                         \
    return BYTES;
#include "runtime/Base/DataTypes.def"
  }
  __builtin_unreachable();
}

/// Lower-case names used in every text: "f16", "nhwc", "fwd".
std::string_view getName(DataType type);
/// The end of an operation's name in MIOpenDriver: "fp16"; empty for f32.
std::string_view getDriverWord(DataType type);
std::string_view getName(Layout layout);
std::string_view getName(Direction direction);

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_PROBLEMTYPES_H
