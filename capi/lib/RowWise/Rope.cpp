//===- Rope.cpp - Rotary positional embedding -----------------------------===//
//
// Neighbours are rotated in pairs. The first elements of all pairs are one
// tensor and the second elements another, both with a stride of 2 elements.
//
//===----------------------------------------------------------------------===//

#define MIOPEN_BETA_API 1
#include <miopen/tensor_operations.h>

#include "capi/lib/RowWise/RowWiseCall.h"

#include <array>

using namespace tessera;
using namespace tessera::capi;

namespace {
/// Arguments of a call. Refers to the client's objects.
struct RopeCall {
  miopenHandle &handle;
  uint32_t mode; ///< Mode of RowWiseKind::Rope: 1 is the gradient.
  const miopenTensorDescriptor &xDesc, &cosDesc, &sinDesc, &yDesc;
  const void *x, *cos, *sin, *y;
};
} // namespace

static Status checkPacked(const miopenTensorDescriptor &desc) {
  int64_t stride = 1;
  for (size_t dim = desc.lengths.size(); dim-- > 0;) {
    if (desc.lengths[dim] != 1 && desc.strides[dim] != stride)
      return notSupported("tensors with gaps or another order are not "
                          "implemented here");
    stride *= desc.lengths[dim];
  }
  return Status::ok();
}

static int64_t countElements(const miopenTensorDescriptor &desc) {
  int64_t elements = 1;
  for (int64_t length : desc.lengths)
    elements *= length;
  return elements;
}

static Status checkCall(const RopeCall &call) {
  Status status = checkSameLengths("x", call.xDesc, "y", call.yDesc);
  if (status.isOk())
    status = checkSameLengths("cos", call.cosDesc, "sin", call.sinDesc);
  for (const miopenTensorDescriptor *desc :
       {&call.xDesc, &call.cosDesc, &call.sinDesc, &call.yDesc}) {
    if (status.isOk())
      status = checkFloat(*desc);
    if (status.isOk())
      status = checkPacked(*desc);
  }
  if (!status.isOk())
    return status;
  const int64_t angles = countElements(call.cosDesc);
  if (angles % 2 != 0 || countElements(call.xDesc) % angles != 0)
    return invalidArgument("cos has " + std::to_string(angles) +
                           " elements, but must have an even number that "
                           "divides that of x");
  return Status::ok();
}

static ApiResult run(const RopeCall &call) {
  if (Status status = checkCall(call); !status.isOk())
    return status;
  const int64_t angles = countElements(call.cosDesc);
  const std::array lengths = {countElements(call.xDesc) / angles, angles / 2};
  const std::array<int64_t, 2> all = {angles, 2}, again = {0, 2};
  RowWiseCall rowCall(call.handle, RowWiseKind::Rope, call.mode, lengths);
  auto addPair = [&](RowRole role, const char *name,
                     const miopenTensorDescriptor &desc, const void *data,
                     std::span<const int64_t> strides) {
    const DataType type = *getRowType(desc.dataType); // Checked before.
    const auto *second =
        static_cast<const char *>(data) + getElementBytes(desc.dataType);
    rowCall.add(role, name, type, strides, data)
        .add(role, name, type, strides, second);
  };
  addPair(RowRole::Input, "x", call.xDesc, call.x, all);
  addPair(RowRole::Input, "cos", call.cosDesc, call.cos, again);
  addPair(RowRole::Input, "sin", call.sinDesc, call.sin, again);
  addPair(RowRole::Output, "y", call.yDesc, call.y, all);
  return rowCall.run();
}

extern "C" {

miopenStatus_t
miopenRoPEForward(miopenHandle_t handle, const miopenTensorDescriptor_t xDesc,
                  const void *x, const miopenTensorDescriptor_t cosDesc,
                  const void *cos, const miopenTensorDescriptor_t sinDesc,
                  const void *sin, const miopenTensorDescriptor_t yDesc,
                  void *y) {
  return guard(__func__,
               REQUIRED(handle, xDesc, x, cosDesc, cos, sinDesc, sin, yDesc, y),
               [&]() -> ApiResult {
                 return run({*handle, 0, *xDesc, *cosDesc, *sinDesc, *yDesc, x,
                             cos, sin, y});
               });
}

miopenStatus_t
miopenRoPEBackward(miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
                   const void *dy, const miopenTensorDescriptor_t cosDesc,
                   const void *cos, const miopenTensorDescriptor_t sinDesc,
                   const void *sin, const miopenTensorDescriptor_t dxDesc,
                   void *dx) {
  return guard(
      __func__,
      REQUIRED(handle, dyDesc, dy, cosDesc, cos, sinDesc, sin, dxDesc, dx),
      [&]() -> ApiResult {
        return run({*handle, 1, *dyDesc, *cosDesc, *sinDesc, *dxDesc, dy, cos,
                    sin, dx});
      });
}

} // extern "C"
