//===- Tensor.cpp - Elements and strides ----------------------------------===//

#include "dialect/Reference/Tensor.h"
#include "dialect/Reference/SmallFloat.h"

#include <cstring>

using namespace tessera::reference;

int64_t tessera::reference::getByteSize(ElementType type) {
  return type == ElementType::F32 ? 4 : 2;
}

std::string_view tessera::reference::getName(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return "f16";
  case ElementType::BF16:
    return "bf16";
  case ElementType::F32:
    return "f32";
  }
  return "?";
}

Strides tessera::reference::getNchwStrides(const Coord &sizes) {
  const int64_t image = sizes.row * sizes.column;
  return {sizes.channel * image, image, sizes.column, 1};
}

Strides tessera::reference::getNhwcStrides(const Coord &sizes) {
  const int64_t line = sizes.column * sizes.channel;
  return {sizes.row * line, 1, line, sizes.channel};
}

template <typename T>
static T loadBits(const void *data, int64_t index) {
  T bits;
  std::memcpy(&bits, static_cast<const char *>(data) + index * sizeof(T),
              sizeof(T));
  return bits;
}

float tessera::reference::loadElement(ElementType type, const void *data,
                                      int64_t index) {
  switch (type) {
  case ElementType::F16:
    return decodeF16(loadBits<uint16_t>(data, index));
  case ElementType::BF16:
    return decodeBF16(loadBits<uint16_t>(data, index));
  case ElementType::F32:
    return loadBits<float>(data, index);
  }
  return NAN;
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
  }
}

double tessera::reference::roundTo(ElementType type, double value) {
  switch (type) {
  case ElementType::F16:
    return decodeF16(encodeF16(value));
  case ElementType::BF16:
    return decodeBF16(encodeBF16(value));
  case ElementType::F32:
    return static_cast<float>(value);
  }
  return value;
}

float TensorView::load(const Coord &at) const {
  return loadElement(type, data, strides.getOffset(at));
}
