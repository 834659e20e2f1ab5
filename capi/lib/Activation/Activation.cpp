//===- Activation.cpp - miopen/activation.h -------------------------------===//

#include "capi/lib/Activation/ActivationDescriptor.h"
#include "capi/lib/Common/Objects.h"
#include "capi/lib/Fusion/FusedConvolution.h"
#include "capi/lib/RowWise/RowWiseCall.h"

using namespace tessera;
using namespace tessera::capi;

/// A tensor of a call, with the name that the header gives it.
namespace {
struct Operand {
  const char *name;
  const miopenTensorDescriptor &desc;
  const void *data;
};
} // namespace

/// Runs an activation whose last operand is written. All operands must have the
/// same lengths and data type; strides may differ.
static ApiResult runActivation(miopenHandle &handle, RowWiseKind op,
                               const miopenActivationDescriptor &activation,
                               std::initializer_list<Operand> operands) {
  const Operand &result = *(operands.end() - 1);
  RowWiseCall call(handle, op,
                   static_cast<uint32_t>(getActivation(activation.mode)),
                   result.desc.lengths);
  for (const Operand &operand : operands) {
    Status status =
        checkSameLengths(operand.name, operand.desc, result.name, result.desc);
    if (status.isOk())
      status =
          checkSameType(operand.name, operand.desc, result.name, result.desc);
    if (!status.isOk())
      return status;
    const bool isResult = &operand == &result;
    call.add(isResult ? RowRole::Output : RowRole::Input, operand.name,
             operand.desc, operand.data);
  }
  return call.scalar(activation.alpha)
      .scalar(activation.beta)
      .scalar(activation.gamma)
      .run();
}

extern "C" {

miopenStatus_t
miopenCreateActivationDescriptor(miopenActivationDescriptor_t *activDesc) {
  return createObject(__func__, REQUIRED(activDesc), activDesc);
}

miopenStatus_t
miopenSetActivationDescriptor(const miopenActivationDescriptor_t activDesc,
                              miopenActivationMode_t mode, double activAlpha,
                              double activBeta, double activGamma) {
  return guard(__func__, REQUIRED(activDesc), [&]() -> ApiResult {
    if (Status status = checkEnum(mode, miopenActivationELU, "activation");
        !status.isOk())
      return status;
    *activDesc = {{}, mode, activAlpha, activBeta, activGamma};
    return Status::ok();
  });
}

miopenStatus_t
miopenGetActivationDescriptor(const miopenActivationDescriptor_t activDesc,
                              miopenActivationMode_t *mode, double *activAlpha,
                              double *activBeta, double *activGamma) {
  return guard(__func__,
               REQUIRED(activDesc, mode, activAlpha, activBeta, activGamma),
               [&]() -> ApiResult {
                 *mode = activDesc->mode;
                 *activAlpha = activDesc->alpha;
                 *activBeta = activDesc->beta;
                 *activGamma = activDesc->gamma;
                 return Status::ok();
               });
}

miopenStatus_t
miopenDestroyActivationDescriptor(miopenActivationDescriptor_t activDesc) {
  return destroyObject(__func__, REQUIRED(activDesc), activDesc);
}

miopenStatus_t miopenActivationForward(
    miopenHandle_t handle, const miopenActivationDescriptor_t activDesc,
    const void *alpha, const miopenTensorDescriptor_t xDesc, const void *x,
    const void *beta, const miopenTensorDescriptor_t yDesc, void *y) {
  return guard(
      __func__, REQUIRED(handle, activDesc, alpha, xDesc, x, beta, yDesc, y),
      [&]() -> ApiResult {
        ApiResult result = checkFactors(xDesc->dataType, alpha, beta);
        if (result.getStatus() != miopenStatusSuccess)
          return result;
        return runActivation(*handle, RowWiseKind::ActivationForward,
                             *activDesc, {{"x", *xDesc, x}, {"y", *yDesc, y}});
      });
}

miopenStatus_t miopenActivationBackward(
    miopenHandle_t handle, const miopenActivationDescriptor_t activDesc,
    const void *alpha, const miopenTensorDescriptor_t yDesc, const void *y,
    const miopenTensorDescriptor_t dyDesc, const void *dy,
    const miopenTensorDescriptor_t xDesc, const void *x, const void *beta,
    const miopenTensorDescriptor_t dxDesc, void *dx) {
  return guard(__func__,
               REQUIRED(handle, activDesc, alpha, yDesc, y, dyDesc, dy, xDesc,
                        x, beta, dxDesc, dx),
               [&]() -> ApiResult {
                 ApiResult result = checkFactors(xDesc->dataType, alpha, beta);
                 if (result.getStatus() != miopenStatusSuccess)
                   return result;
                 return runActivation(*handle, RowWiseKind::ActivationBackward,
                                      *activDesc,
                                      {{"x", *xDesc, x},
                                       {"y", *yDesc, y},
                                       {"dy", *dyDesc, dy},
                                       {"dx", *dxDesc, dx}});
               });
}

} // extern "C"
