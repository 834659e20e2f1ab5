//===- PRelu.cpp - miopenPReLUBackward() ----------------------------------===//

#define MIOPEN_BETA_API 1
#include <miopen/tensor_operations.h>

#include "capi/lib/RowWise/RowWiseCall.h"

using namespace tessera;
using namespace tessera::capi;

namespace {
/// Arguments of a call. Refers to the client's objects; a result that is not
/// wanted is null.
struct PReluCall {
  miopenHandle &handle;
  const miopenTensorDescriptor &input, &weight, &doutput, &dinput, &dweight;
  const void *x, *w, *dy, *dx, *dw;

  /// Whether each channel has a slope of its own.
  bool hasChannels() const { return weight.lengths[0] != 1; }
  /// The strides of slopes in the dimensions of the input.
  std::vector<int64_t> getStrides(const miopenTensorDescriptor &slopes) const {
    std::vector<int64_t> strides(input.lengths.size(), 0);
    if (hasChannels())
      strides[1] = slopes.strides[0];
    return strides;
  }
};
} // namespace

static Status checkCall(const PReluCall &call) {
  const auto &channels = call.input.lengths;
  const auto &slopes = call.weight.lengths;
  if (slopes.size() != 1 ||
      (slopes[0] != 1 && (channels.size() < 2 || slopes[0] != channels[1])))
    return invalidArgument("weight must have one dimension, 1 or as long as "
                           "the second one of input");
  Status status =
      checkSameLengths("doutput", call.doutput, "input", call.input);
  if (status.isOk())
    status = checkSameType("weight", call.weight, "input", call.input);
  if (status.isOk() && call.dx) {
    status = checkSameLengths("dinput", call.dinput, "input", call.input);
    if (status.isOk())
      status = checkSameType("dinput", call.dinput, "input", call.input);
  }
  if (status.isOk() && call.dw) {
    status = checkSameLengths("dweight", call.dweight, "weight", call.weight);
    if (status.isOk())
      status = checkSameType("dweight", call.dweight, "weight", call.weight);
  }
  if (status.isOk())
    status = checkFloat(call.input);
  return status;
}

static ApiResult run(const PReluCall &call) {
  if (Status status = checkCall(call); !status.isOk())
    return status;
  if (!call.dx && !call.dw)
    return Status::ok();
  const ErrorOr<DataType> type = getRowType(call.input.dataType);
  if (!type)
    return type.getStatus();
  RowWiseCall rowCall(call.handle, RowWiseKind::PReluBackward, 0,
                      call.input.lengths);
  if (call.dw)
    for (int dim = 0; dim < call.input.getRank(); ++dim)
      if (dim != 1 || !call.hasChannels())
        rowCall.reduce(dim);
  rowCall.add(RowRole::Input, "input", call.input, call.x)
      .add(RowRole::Input, "weight", *type, call.getStrides(call.weight),
           call.w)
      .add(RowRole::Input, "doutput", call.doutput, call.dy);
  if (call.dw)
    rowCall.add(RowRole::RowOutput, "dweight", *type,
                call.getStrides(call.dweight), call.dw);
  if (call.dx)
    rowCall.add(RowRole::Output, "dinput", call.dinput, call.dx);
  return rowCall.run();
}

extern "C" {

miopenStatus_t miopenGetPReLUBackwardWorkspaceSize(
    miopenHandle_t handle, miopenTensorDescriptor_t inputDesc,
    miopenTensorDescriptor_t weightDesc, size_t *sizeInBytes) {
  return guard(__func__, REQUIRED(handle, inputDesc, weightDesc, sizeInBytes),
               [&]() -> ApiResult {
                 *sizeInBytes = 0;
                 return Status::ok();
               });
}

miopenStatus_t
miopenPReLUBackward(miopenHandle_t handle, void *, size_t,
                    miopenTensorDescriptor_t inputDesc, const void *input,
                    miopenTensorDescriptor_t weightDesc, const void *weight,
                    miopenTensorDescriptor_t doutputDesc, const void *doutput,
                    miopenTensorDescriptor_t dinputDesc, void *dinput,
                    miopenTensorDescriptor_t dweightDesc, void *dweight) {
  return guard(__func__,
               REQUIRED(handle, inputDesc, input, weightDesc, weight,
                        doutputDesc, doutput, dinputDesc, dweightDesc),
               [&]() -> ApiResult {
                 return run({*handle, *inputDesc, *weightDesc, *doutputDesc,
                             *dinputDesc, *dweightDesc, input, weight, doutput,
                             dinput, dweight});
               });
}

} // extern "C"
