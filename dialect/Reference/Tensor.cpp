//===- Tensor.cpp - Elements and strides ----------------------------------===//

#include "dialect/Reference/Tensor.h"
#include "dialect/Reference/SmallFloat.h"

#include <cstring>
#include <limits>

using namespace tessera::reference;

int64_t tessera::reference::getByteSize(ElementType type) {
  switch (type) {
  case ElementType::I8:
  case ElementType::E4M3FNUZ:
  case ElementType::E5M2FNUZ:
  case ElementType::E4M3FN:
  case ElementType::E5M2:
    return 1;
  case ElementType::F16:
  case ElementType::BF16:
    return 2;
  case ElementType::F32:
  case ElementType::I32:
    return 4;
  case ElementType::F64:
  case ElementType::I64:
    return 8;
  }
  __builtin_unreachable();
}

std::string_view tessera::reference::getName(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return "f16";
  case ElementType::BF16:
    return "bf16";
  case ElementType::F32:
    return "f32";
  case ElementType::F64:
    return "f64";
  case ElementType::I8:
    return "i8";
  case ElementType::I32:
    return "i32";
  case ElementType::I64:
    return "i64";
  case ElementType::E4M3FNUZ:
    return "e4m3fnuz";
  case ElementType::E5M2FNUZ:
    return "e5m2fnuz";
  case ElementType::E4M3FN:
    return "e4m3fn";
  case ElementType::E5M2:
    return "e5m2";
  }
  __builtin_unreachable();
}

/// The numbers of a float of 8 bits.
static const Float8Numbers &getFloat8(ElementType type) {
  static const Float8Numbers kE4M3Fnuz(kE4M3FnuzFormat),
      kE5M2Fnuz(kE5M2FnuzFormat), kE4M3Fn(kE4M3FnFormat), kE5M2(kE5M2Format);
  switch (type) {
  case ElementType::E4M3FNUZ:
    return kE4M3Fnuz;
  case ElementType::E5M2FNUZ:
    return kE5M2Fnuz;
  case ElementType::E4M3FN:
    return kE4M3Fn;
  default:
    return kE5M2;
  }
}

bool tessera::reference::isInteger(ElementType type) {
  return type == ElementType::I8 || type == ElementType::I32 ||
         type == ElementType::I64;
}

Coord Sizes::getCoord(int64_t flatIndex) const {
  Coord at;
  at.channel = flatIndex % channel;
  flatIndex /= channel;
  at.column = flatIndex % column;
  flatIndex /= column;
  at.row = flatIndex % row;
  flatIndex /= row;
  at.depth = flatIndex % depth;
  at.outer = flatIndex / depth;
  return at;
}

int64_t Sizes::getFlatIndex(const Coord &at) const {
  const int64_t plane = at.outer * depth + at.depth;
  return ((plane * row + at.row) * column + at.column) * channel + at.channel;
}

void Sizes::advance(Coord &at) const {
  if (++at.channel < channel)
    return;
  at.channel = 0;
  if (++at.column < column)
    return;
  at.column = 0;
  if (++at.row < row)
    return;
  at.row = 0;
  if (++at.depth < depth)
    return;
  at.depth = 0;
  ++at.outer;
}

Strides tessera::reference::getNchwStrides(const Sizes &sizes) {
  Strides strides;
  strides.column = 1;
  strides.row = sizes.column;
  strides.depth = strides.row * sizes.row;
  strides.channel = strides.depth * sizes.depth;
  strides.outer = strides.channel * sizes.channel;
  return strides;
}

Strides tessera::reference::getNhwcStrides(const Sizes &sizes) {
  Strides strides;
  strides.channel = 1;
  strides.column = sizes.channel;
  strides.row = strides.column * sizes.column;
  strides.depth = strides.row * sizes.row;
  strides.outer = strides.depth * sizes.depth;
  return strides;
}

template <typename T>
static T loadBits(const void *data, int64_t index) {
  T bits;
  std::memcpy(&bits, static_cast<const char *>(data) + index * sizeof(T),
              sizeof(T));
  return bits;
}

double tessera::reference::loadElement(ElementType type, const void *data,
                                       int64_t index) {
  switch (type) {
  case ElementType::F16:
    return decodeF16(loadBits<uint16_t>(data, index));
  case ElementType::BF16:
    return decodeBF16(loadBits<uint16_t>(data, index));
  case ElementType::F32:
    return loadBits<float>(data, index);
  case ElementType::F64:
    return loadBits<double>(data, index);
  case ElementType::I8:
    return loadBits<int8_t>(data, index);
  case ElementType::I32:
    return loadBits<int32_t>(data, index);
  case ElementType::I64:
    return static_cast<double>(loadBits<int64_t>(data, index));
  case ElementType::E4M3FNUZ:
  case ElementType::E5M2FNUZ:
  case ElementType::E4M3FN:
  case ElementType::E5M2:
    return getFloat8(type).decode(loadBits<uint8_t>(data, index));
  }
  __builtin_unreachable();
}

/// NaN becomes the least integer. The upper bound must be a double, so for i64
/// it is less than 2^63 - 1.
template <typename T>
static double roundToInteger(double value) {
  constexpr double kLeast = std::numeric_limits<T>::min();
  constexpr double kMost =
      sizeof(T) == 8 ? 0x1p63 - 1024 : double(std::numeric_limits<T>::max());
  return std::fmin(std::fmax(std::nearbyint(value), kLeast), kMost);
}

double tessera::reference::roundTo(ElementType type, double value) {
  switch (type) {
  case ElementType::F16:
    return decodeF16(encodeF16(value));
  case ElementType::BF16:
    return decodeBF16(encodeBF16(value));
  case ElementType::F32:
    return static_cast<float>(value);
  case ElementType::F64:
    return value;
  case ElementType::I8:
    return roundToInteger<int8_t>(value);
  case ElementType::I32:
    return roundToInteger<int32_t>(value);
  case ElementType::I64:
    return roundToInteger<int64_t>(value);
  case ElementType::E4M3FNUZ:
  case ElementType::E5M2FNUZ:
  case ElementType::E4M3FN:
  case ElementType::E5M2:
    return getFloat8(type).decode(getFloat8(type).encode(value));
  }
  __builtin_unreachable();
}

template <typename T>
static void storeBits(void *data, int64_t index, T bits) {
  std::memcpy(static_cast<char *>(data) + index * sizeof(T), &bits, sizeof(T));
}

void tessera::reference::storeElement(ElementType type, void *data,
                                      int64_t index, double value) {
  switch (type) {
  case ElementType::F16:
    return storeBits(data, index, encodeF16(value));
  case ElementType::BF16:
    return storeBits(data, index, encodeBF16(value));
  case ElementType::F32:
    return storeBits(data, index, static_cast<float>(value));
  case ElementType::F64:
    return storeBits(data, index, value);
  case ElementType::I8:
    return storeBits(data, index, static_cast<int8_t>(roundTo(type, value)));
  case ElementType::I32:
    return storeBits(data, index, static_cast<int32_t>(roundTo(type, value)));
  case ElementType::I64:
    return storeBits(data, index, static_cast<int64_t>(roundTo(type, value)));
  case ElementType::E4M3FNUZ:
  case ElementType::E5M2FNUZ:
  case ElementType::E4M3FN:
  case ElementType::E5M2:
    return storeBits(data, index, getFloat8(type).encode(value));
  }
}

double TensorView::load(const Coord &at) const {
  return loadElement(type, data, strides.getOffset(at));
}
