//===- Descriptors.h - Own what MIOpen's API hands out ---------*- C++ -*--===//

#ifndef TESSERA_TOOLS_DNN_DRIVER_DESCRIPTORS_H
#define TESSERA_TOOLS_DNN_DRIVER_DESCRIPTORS_H

#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/ProblemTypes.h"

#include <miopen/miopen.h>
#include <tessera/tessera.h>

#include <memory>
#include <vector>

namespace tessera::driver {

/// Returns ok, or the name of the status followed by the library's own
/// sentence.
inline Status check(miopenStatus_t status) {
  if (status == miopenStatusSuccess)
    return Status::ok();
  return internalError(std::string(miopenGetErrorString(status)) + ": " +
                       tesseraGetLastErrorMessage());
}

/// A deleter that calls a function of the API.
template <auto destroy>
struct Destroyer {
  template <typename Object>
  void operator()(Object *object) const {
    (void)destroy(object);
  }
};

using Handle = std::unique_ptr<miopenHandle, Destroyer<miopenDestroy>>;
using TensorDesc = std::unique_ptr<miopenTensorDescriptor,
                                   Destroyer<miopenDestroyTensorDescriptor>>;
using ConvDesc = std::unique_ptr<miopenConvolutionDescriptor,
                                 Destroyer<miopenDestroyConvolutionDescriptor>>;

/// Creates an object with the API function `create`.
template <typename Owner, typename Object>
ErrorOr<Owner> create(miopenStatus_t (*make)(Object **)) {
  Object *object = nullptr;
  if (Status status = check(make(&object)); !status.isOk())
    return status;
  return Owner(object);
}

/// Makes a tensor descriptor, by a layout's word if there is one.
ErrorOr<TensorDesc> makeTensor(DataType type, Layout layout,
                               const Strides &strides,
                               const TensorLengths &lengths, bool hasDepth);

/// Converts the lengths to n, c, [d,] h, w.
std::vector<int> toInts(const TensorLengths &lengths, bool hasDepth);

/// Converts the lengths to [d,] h, w.
template <int64_t neutral>
std::vector<int> toInts(const Lengths<neutral> &lengths, bool hasDepth) {
  std::vector<int> ints;
  if (hasDepth)
    ints.push_back(static_cast<int>(lengths.d));
  ints.push_back(static_cast<int>(lengths.h));
  ints.push_back(static_cast<int>(lengths.w));
  return ints;
}

} // namespace tessera::driver

#endif // TESSERA_TOOLS_DNN_DRIVER_DESCRIPTORS_H
