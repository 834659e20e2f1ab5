//===- SoftmaxCall.cpp - The functions of miopen/softmax.h that run -------===//

#include <miopen/softmax.h>

#include "capi/lib/Common/Objects.h"
#include "capi/lib/Softmax/SoftmaxCall.h"

using namespace tessera;
using namespace tessera::capi;

static Status checkAlike(const SoftmaxOperand &tensor,
                         const SoftmaxOperand &other) {
  if (Status status =
          checkSameType(tensor.name, tensor.desc, other.name, other.desc);
      !status.isOk())
    return status;
  return checkSameLengths(tensor.name, tensor.desc, other.name, other.desc);
}

ErrorOr<RowWiseCall>
capi::makeSoftmaxCall(miopenHandle &handle, RowWiseKind op,
                      const miopenSoftmaxDescriptor &softmax,
                      std::span<const SoftmaxOperand> inputs,
                      const SoftmaxOperand &output) {
  Status status =
      checkEnum(softmax.algorithm, MIOPEN_SOFTMAX_LOG, "softmax algorithm");
  if (status.isOk())
    status =
        checkEnum(softmax.mode, MIOPEN_SOFTMAX_MODE_CHANNEL, "softmax mode");
  for (const SoftmaxOperand &input : inputs)
    if (status.isOk())
      status = checkAlike(input, output);
  const int rank = output.desc.getRank();
  if (status.isOk() && (rank < 2 || rank > kMaxRowRank))
    status = invalidArgument(std::string(output.name) + " has " +
                             std::to_string(rank) + " dimensions, not 2 to 5");
  if (!status.isOk())
    return status;

  RowWiseCall call(handle, op, static_cast<uint32_t>(softmax.algorithm),
                   output.desc.lengths);
  const int last = softmax.mode == MIOPEN_SOFTMAX_MODE_CHANNEL ? 1 : rank - 1;
  for (int dim = 1; dim <= last; ++dim)
    call.reduce(dim);
  for (const SoftmaxOperand &input : inputs)
    call.add(RowRole::Input, input.name, input.desc, input.data);
  if (softmax.beta != 0)
    call.add(RowRole::Input, output.name, output.desc, output.data);
  call.add(RowRole::Output, output.name, output.desc, output.data);
  call.scalar(softmax.alpha).scalar(softmax.beta);
  return call;
}

/// In these functions MIOpen's scale factors are floats for all data types.
static ApiResult runSoftmax(miopenHandle &handle, RowWiseKind op,
                            const void *alpha,
                            std::initializer_list<SoftmaxOperand> inputs,
                            const void *beta, const SoftmaxOperand &output,
                            miopenSoftmaxAlgorithm_t algorithm,
                            miopenSoftmaxMode_t mode) {
  const ErrorOr<RowWiseCall> call =
      makeSoftmaxCall(handle, op,
                      {{},
                       *static_cast<const float *>(alpha),
                       *static_cast<const float *>(beta),
                       algorithm,
                       mode},
                      inputs, output);
  return call ? call->run() : ApiResult(call.getStatus());
}

extern "C" {

miopenStatus_t miopenSoftmaxForward_V2(miopenHandle_t handle, const void *alpha,
                                       const miopenTensorDescriptor_t xDesc,
                                       const void *x, const void *beta,
                                       const miopenTensorDescriptor_t yDesc,
                                       void *y,
                                       miopenSoftmaxAlgorithm_t algorithm,
                                       miopenSoftmaxMode_t mode) {
  return guard(__func__, REQUIRED(handle, alpha, xDesc, x, beta, yDesc, y),
               [&]() -> ApiResult {
                 return runSoftmax(*handle, RowWiseKind::SoftmaxForward, alpha,
                                   {{"x", *xDesc, x}}, beta, {"y", *yDesc, y},
                                   algorithm, mode);
               });
}

miopenStatus_t miopenSoftmaxForward(miopenHandle_t handle, const void *alpha,
                                    const miopenTensorDescriptor_t xDesc,
                                    const void *x, const void *beta,
                                    const miopenTensorDescriptor_t yDesc,
                                    void *y) {
  return miopenSoftmaxForward_V2(handle, alpha, xDesc, x, beta, yDesc, y,
                                 MIOPEN_SOFTMAX_ACCURATE,
                                 MIOPEN_SOFTMAX_MODE_CHANNEL);
}

miopenStatus_t miopenSoftmaxBackward_V2(
    miopenHandle_t handle, const void *alpha,
    const miopenTensorDescriptor_t yDesc, const void *y,
    const miopenTensorDescriptor_t dyDesc, const void *dy, const void *beta,
    const miopenTensorDescriptor_t dxDesc, void *dx,
    miopenSoftmaxAlgorithm_t algorithm, miopenSoftmaxMode_t mode) {
  return guard(__func__,
               REQUIRED(handle, alpha, yDesc, y, dyDesc, dy, beta, dxDesc, dx),
               [&]() -> ApiResult {
                 return runSoftmax(*handle, RowWiseKind::SoftmaxBackward, alpha,
                                   {{"y", *yDesc, y}, {"dy", *dyDesc, dy}},
                                   beta, {"dx", *dxDesc, dx}, algorithm, mode);
               });
}

miopenStatus_t miopenSoftmaxBackward(miopenHandle_t handle, const void *alpha,
                                     const miopenTensorDescriptor_t yDesc,
                                     const void *y,
                                     const miopenTensorDescriptor_t dyDesc,
                                     const void *dy, const void *beta,
                                     const miopenTensorDescriptor_t dxDesc,
                                     void *dx) {
  return miopenSoftmaxBackward_V2(handle, alpha, yDesc, y, dyDesc, dy, beta,
                                  dxDesc, dx, MIOPEN_SOFTMAX_ACCURATE,
                                  MIOPEN_SOFTMAX_MODE_CHANNEL);
}

} // extern "C"
