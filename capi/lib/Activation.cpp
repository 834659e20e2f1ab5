//===- Activation.cpp - The descriptor of miopen/activation.h -------------===//

#include "capi/lib/ActivationDescriptor.h"
#include "capi/lib/Objects.h"

using namespace tessera;
using namespace tessera::capi;

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
    *activDesc = {mode, activAlpha, activBeta, activGamma};
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

} // extern "C"
