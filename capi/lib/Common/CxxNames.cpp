//===- CxxNames.cpp - What MIOpen exports with names mangled as C++ -------===//
//
// MIOpen's own driver and tests call these six functions and declare them
// themselves (ROCm/MIOpen, driver/tensor_driver.hpp), because no header for
// clients does.
//
//===----------------------------------------------------------------------===//

#include "capi/lib/Common/Objects.h"
#include "capi/lib/Tensor/TensorDescriptor.h"

#include <climits>
#include <initializer_list>
#include <vector>

using namespace tessera;
using namespace tessera::capi;

/// Writes each number of `from` to the pointer with the same index in `to`.
/// Fails unless there are as many of both and every number fits in an int.
static ApiResult copy(const std::vector<int64_t> &from,
                      std::initializer_list<int *> to) {
  if (from.size() != to.size())
    return invalidArgument("the tensor has " + std::to_string(from.size()) +
                           " dimensions, not " + std::to_string(to.size()));
  for (int64_t number : from)
    if (number > INT_MAX)
      return invalidArgument(std::to_string(number) +
                             " does not fit in an int");
  auto result = to.begin();
  for (int64_t number : from)
    **result++ = static_cast<int>(number);
  return Status::ok();
}

MIOPEN_EXPORT miopenStatus_t miopenGet4dTensorDescriptorLengths(
    miopenTensorDescriptor_t tensorDesc, int *n, int *c, int *h, int *w) {
  return guard(__func__, REQUIRED(anyLayout(tensorDesc), n, c, h, w),
               [&]() -> ApiResult {
                 return copy(tensorDesc->lengths, {n, c, h, w});
               });
}

MIOPEN_EXPORT miopenStatus_t miopenGet4dTensorDescriptorStrides(
    miopenTensorDescriptor_t tensorDesc, int *n, int *c, int *h, int *w) {
  return guard(__func__, REQUIRED(anyLayout(tensorDesc), n, c, h, w),
               [&]() -> ApiResult {
                 return copy(tensorDesc->strides, {n, c, h, w});
               });
}

MIOPEN_EXPORT miopenStatus_t
miopenGet5dTensorDescriptorLengths(miopenTensorDescriptor_t tensorDesc, int *n,
                                   int *c, int *d, int *h, int *w) {
  return guard(__func__, REQUIRED(anyLayout(tensorDesc), n, c, d, h, w),
               [&]() -> ApiResult {
                 return copy(tensorDesc->lengths, {n, c, d, h, w});
               });
}

MIOPEN_EXPORT miopenStatus_t
miopenGet5dTensorDescriptorStrides(miopenTensorDescriptor_t tensorDesc, int *n,
                                   int *c, int *d, int *h, int *w) {
  return guard(__func__, REQUIRED(anyLayout(tensorDesc), n, c, d, h, w),
               [&]() -> ApiResult {
                 return copy(tensorDesc->strides, {n, c, d, h, w});
               });
}

/// How many channels of a block lie together; 1 of layouts without blocks.
MIOPEN_EXPORT miopenStatus_t miopenGetNdTensorDescriptorVectorLength(
    miopenTensorDescriptor_t tensorDesc, size_t *vectorLength) {
  return guard(__func__, REQUIRED(anyLayout(tensorDesc), vectorLength),
               [&]() -> ApiResult {
                 *vectorLength = tensorDesc->vectorLength;
                 return Status::ok();
               });
}

/// The number of elements; 0 if there is no descriptor or the number does not
/// fit in an int.
MIOPEN_EXPORT int
miopenGetTensorDescriptorElementSize(miopenTensorDescriptor_t tensorDesc) {
  if (!tensorDesc)
    return 0;
  int elements = 1;
  for (int64_t length : tensorDesc->lengths)
    if (__builtin_mul_overflow(elements, length, &elements))
      return 0;
  return elements;
}
