//===- Descriptors.cpp - Own what MIOpen's API hands out ------------------===//

#include "tools/dnn-driver/Descriptors.h"

using namespace tessera;
using namespace tessera::driver;

static miopenDataType_t getApiType(DataType type) {
  switch (type) {
#define DATA_TYPE(NAME, TEXT, BYTES, DRIVER, MIOPEN, ...)                      \
  case DataType::NAME:                                                         \
    return MIOPEN;
#include "runtime/Base/DataTypes.def"
  }
  __builtin_unreachable();
}

static miopenTensorLayout_t getApiLayout(Layout layout, bool hasDepth) {
  if (layout == Layout::NHWC)
    return hasDepth ? miopenTensorNDHWC : miopenTensorNHWC;
  return hasDepth ? miopenTensorNCDHW : miopenTensorNCHW;
}

template <typename Number>
static std::vector<Number> toList(int64_t n, int64_t c, int64_t d, int64_t h,
                                  int64_t w, bool hasDepth) {
  std::vector<Number> list{static_cast<Number>(n), static_cast<Number>(c)};
  if (hasDepth)
    list.push_back(static_cast<Number>(d));
  list.push_back(static_cast<Number>(h));
  list.push_back(static_cast<Number>(w));
  return list;
}

std::vector<int> driver::toInts(const TensorLengths &l, bool hasDepth) {
  return toList<int>(l.n, l.c, l.d, l.h, l.w, hasDepth);
}

ErrorOr<TensorDesc> driver::makeTensor(DataType type, Layout layout,
                                       const Strides &s, const TensorLengths &l,
                                       bool hasDepth) {
  auto desc = driver::create<TensorDesc>(miopenCreateTensorDescriptor);
  if (!desc)
    return desc;
  Status status;
  if (layout == Layout::Strided) {
    const auto lengths = toList<size_t>(l.n, l.c, l.d, l.h, l.w, hasDepth);
    const auto strides = toList<size_t>(s.n, s.c, s.d, s.h, s.w, hasDepth);
    status = check(miopenSetTensorDescriptorV2(desc->get(), getApiType(type),
                                               static_cast<int>(lengths.size()),
                                               lengths.data(), strides.data()));
  } else {
    const std::vector<int> lengths = toInts(l, hasDepth);
    status = check(miopenSetNdTensorDescriptorWithLayout(
        desc->get(), getApiType(type), getApiLayout(layout, hasDepth),
        lengths.data(), static_cast<int>(lengths.size())));
  }
  if (!status.isOk())
    return status;
  return desc;
}
