//===- CxxNames.cpp - What MIOpen exports with names mangled as C++ -------===//
//
// Its own driver and tests call these six (ROCm/MIOpen, driver/
// tensor_driver.hpp) and declare them themselves: no header for clients does.
//
//===----------------------------------------------------------------------===//

#include "capi/lib/Common/Objects.h"
#include "capi/lib/Tensor/TensorDescriptor.h"

#include <climits>
#include <initializer_list>
#include <vector>

using namespace tessera;
using namespace tessera::capi;

/// Writes as many of `from` as there are places; all of them must fit.
static ApiResult copy(const std::vector<int64_t> &from,
                      std::initializer_list<int *> to) {
  if (from.size() != to.size())
    return invalidArgument("the tensor has " + std::to_string(from.size()) +
                           " dimensions, not " + std::to_string(to.size()));
  for (int64_t number : from)
    if (number > INT_MAX)
      return invalidArgument(std::to_string(number) +
                             " does not fit in an int");
  auto place = to.begin();
  for (int64_t number : from)
    **place++ = static_cast<int>(number);
  return Status::ok();
}

MIOPEN_EXPORT miopenStatus_t miopenGet4dTensorDescriptorLengths(
    miopenTensorDescriptor_t tensorDesc, int *n, int *c, int *h, int *w) {
  return guard(__func__, REQUIRED(tensorDesc, n, c, h, w), [&]() -> ApiResult {
    return copy(tensorDesc->lengths, {n, c, h, w});
  });
}

MIOPEN_EXPORT miopenStatus_t miopenGet4dTensorDescriptorStrides(
    miopenTensorDescriptor_t tensorDesc, int *n, int *c, int *h, int *w) {
  return guard(__func__, REQUIRED(tensorDesc, n, c, h, w), [&]() -> ApiResult {
    return copy(tensorDesc->strides, {n, c, h, w});
  });
}

MIOPEN_EXPORT miopenStatus_t
miopenGet5dTensorDescriptorLengths(miopenTensorDescriptor_t tensorDesc, int *n,
                                   int *c, int *d, int *h, int *w) {
  return guard(__func__, REQUIRED(tensorDesc, n, c, d, h, w),
               [&]() -> ApiResult {
                 return copy(tensorDesc->lengths, {n, c, d, h, w});
               });
}

MIOPEN_EXPORT miopenStatus_t
miopenGet5dTensorDescriptorStrides(miopenTensorDescriptor_t tensorDesc, int *n,
                                   int *c, int *d, int *h, int *w) {
  return guard(__func__, REQUIRED(tensorDesc, n, c, d, h, w),
               [&]() -> ApiResult {
                 return copy(tensorDesc->strides, {n, c, d, h, w});
               });
}

/// 1: there are no descriptors of vectors.
MIOPEN_EXPORT miopenStatus_t miopenGetNdTensorDescriptorVectorLength(
    miopenTensorDescriptor_t tensorDesc, size_t *vectorLength) {
  return guard(__func__, REQUIRED(tensorDesc, vectorLength),
               [&]() -> ApiResult {
                 *vectorLength = 1;
                 return Status::ok();
               });
}

/// How many elements the tensor has; 0 for no descriptor, or if they do not fit
/// in an int.
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
