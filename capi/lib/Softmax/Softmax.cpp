//===- Softmax.cpp - The descriptors of softmax and attention -------------===//
//
// Both descriptors are only used to describe problems of Find 2.0. MIOpen has
// no functions that destroy them, so that those are extensions of this library.
//
//===----------------------------------------------------------------------===//

#include "capi/lib/Softmax/SoftmaxDescriptor.h"

#include "capi/lib/Common/Objects.h"

#include <tessera/tessera.h>

using namespace tessera;
using namespace tessera::capi;

extern "C" {

miopenStatus_t
miopenCreateSoftmaxDescriptor(miopenSoftmaxDescriptor_t *softmaxDesc) {
  return createObject(__func__, REQUIRED(softmaxDesc), softmaxDesc);
}

miopenStatus_t miopenSetSoftmaxDescriptor(miopenSoftmaxDescriptor_t softmaxDesc,
                                          float alpha, float beta,
                                          miopenSoftmaxAlgorithm_t algorithm,
                                          miopenSoftmaxMode_t mode) {
  return guard(__func__, REQUIRED(softmaxDesc), [&]() -> ApiResult {
    Status status =
        checkEnum(algorithm, MIOPEN_SOFTMAX_LOG, "softmax algorithm");
    if (status.isOk())
      status = checkEnum(mode, MIOPEN_SOFTMAX_MODE_CHANNEL, "softmax mode");
    if (status.isOk())
      *softmaxDesc = {{}, alpha, beta, algorithm, mode};
    return status;
  });
}

miopenStatus_t miopenGetSoftmaxDescriptor(
    const miopenSoftmaxDescriptor_t softmaxDesc, float *alpha, float *beta,
    miopenSoftmaxAlgorithm_t *algorithm, miopenSoftmaxMode_t *mode) {
  return guard(__func__, REQUIRED(softmaxDesc), [&]() -> ApiResult {
    setIfWanted(alpha, softmaxDesc->alpha);
    setIfWanted(beta, softmaxDesc->beta);
    setIfWanted(algorithm, softmaxDesc->algorithm);
    setIfWanted(mode, softmaxDesc->mode);
    return Status::ok();
  });
}

miopenStatus_t
tesseraDestroySoftmaxDescriptor(miopenSoftmaxDescriptor_t softmaxDesc) {
  return destroyObject(__func__, REQUIRED(softmaxDesc), softmaxDesc);
}

miopenStatus_t miopenCreateMhaDescriptor(miopenMhaDescriptor_t *mhaDesc) {
  return createObject(__func__, REQUIRED(mhaDesc), mhaDesc);
}

miopenStatus_t miopenSetMhaDescriptor(miopenMhaDescriptor_t mhaDesc,
                                      float scale) {
  return guard(__func__, REQUIRED(mhaDesc), [&]() -> ApiResult {
    mhaDesc->scale = scale;
    return Status::ok();
  });
}

miopenStatus_t miopenGetMhaDescriptor(miopenMhaDescriptor_t mhaDesc,
                                      float *scale) {
  return guard(__func__, REQUIRED(mhaDesc, scale), [&]() -> ApiResult {
    *scale = mhaDesc->scale;
    return Status::ok();
  });
}

miopenStatus_t tesseraDestroyMhaDescriptor(miopenMhaDescriptor_t mhaDesc) {
  return destroyObject(__func__, REQUIRED(mhaDesc), mhaDesc);
}

} // extern "C"
