//===- SoftmaxCall.cpp - The functions of miopen/softmax.h that run -------===//

#include <miopen/softmax.h>

#include "capi/lib/Objects.h"
#include "capi/lib/RowCall.h"

using namespace tessera;
using namespace tessera::capi;

namespace {
/// A tensor of a call: what it is called, how it lies, where it is.
struct Operand {
  const char *name;
  const miopenTensorDescriptor &desc;
  const void *data;
};
} // namespace

static Status checkAlike(const Operand &tensor, const Operand &other) {
  if (Status status =
          checkSameType(tensor.name, tensor.desc, other.name, other.desc);
      !status.isOk())
    return status;
  return checkSameLengths(tensor.name, tensor.desc, other.name, other.desc);
}

/// Of `inputs` with the result `output`. MIOpen's factors are floats here,
/// whatever the data.
static ApiResult runSoftmax(miopenHandle &handle, RowOp op, const void *alpha,
                            std::initializer_list<Operand> inputs,
                            const void *beta, const Operand &output,
                            miopenSoftmaxAlgorithm_t algorithm,
                            miopenSoftmaxMode_t mode) {
  Status status = checkEnum(algorithm, MIOPEN_SOFTMAX_LOG, "softmax algorithm");
  if (status.isOk())
    status = checkEnum(mode, MIOPEN_SOFTMAX_MODE_CHANNEL, "softmax mode");
  for (const Operand &input : inputs)
    if (status.isOk())
      status = checkAlike(input, output);
  const int rank = output.desc.getRank();
  if (status.isOk() && (rank < 2 || rank > kMaxRowRank))
    status = invalidArgument(std::string(output.name) + " has " +
                             std::to_string(rank) + " dimensions, not 2 to 5");
  if (!status.isOk())
    return status;

  RowCall call(handle, op, static_cast<uint32_t>(algorithm),
               output.desc.lengths);
  const int last = mode == MIOPEN_SOFTMAX_MODE_CHANNEL ? 1 : rank - 1;
  for (int dim = 1; dim <= last; ++dim)
    call.reduce(dim);
  const double before = readFactor(miopenFloat, beta);
  for (const Operand &input : inputs)
    call.add(RowRole::Input, input.name, input.desc, input.data);
  if (before != 0)
    call.add(RowRole::Input, output.name, output.desc, output.data);
  call.add(RowRole::Output, output.name, output.desc, output.data);
  return call.scalar(readFactor(miopenFloat, alpha)).scalar(before).run();
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
                 return runSoftmax(*handle, RowOp::SoftmaxForward, alpha,
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
                 return runSoftmax(*handle, RowOp::SoftmaxBackward, alpha,
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
