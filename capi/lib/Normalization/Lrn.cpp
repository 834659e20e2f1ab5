//===- Lrn.cpp - miopen/lrn.h ---------------------------------------------===//

#include "capi/lib/Normalization/LrnCall.h"
#include "capi/lib/Common/Objects.h"

using namespace tessera;
using namespace tessera::capi;

extern "C" {

miopenStatus_t miopenCreateLRNDescriptor(miopenLRNDescriptor_t *lrnDesc) {
  return createObject(__func__, REQUIRED(lrnDesc), lrnDesc);
}

miopenStatus_t miopenSetLRNDescriptor(const miopenLRNDescriptor_t lrnDesc,
                                      miopenLRNMode_t mode, unsigned int lrnN,
                                      double lrnAlpha, double lrnBeta,
                                      double lrnK) {
  return guard(__func__, REQUIRED(lrnDesc), [&]() -> ApiResult {
    if (Status status = checkEnum(mode, miopenLRNCrossChannel, "LRN mode");
        !status.isOk())
      return status;
    *lrnDesc = {{}, mode, lrnN, lrnAlpha, lrnBeta, lrnK};
    return Status::ok();
  });
}

miopenStatus_t miopenGetLRNDescriptor(const miopenLRNDescriptor_t lrnDesc,
                                      miopenLRNMode_t *mode, unsigned int *lrnN,
                                      double *lrnAlpha, double *lrnBeta,
                                      double *lrnK) {
  return guard(__func__, REQUIRED(lrnDesc, mode, lrnN, lrnAlpha, lrnBeta, lrnK),
               [&]() -> ApiResult {
                 *mode = lrnDesc->mode;
                 *lrnN = lrnDesc->window;
                 *lrnAlpha = lrnDesc->alpha;
                 *lrnBeta = lrnDesc->beta;
                 *lrnK = lrnDesc->k;
                 return Status::ok();
               });
}

miopenStatus_t miopenLRNGetWorkSpaceSize(const miopenTensorDescriptor_t yDesc,
                                         size_t *workSpaceSize) {
  return guard(__func__, REQUIRED(yDesc, workSpaceSize), [&]() -> ApiResult {
    size_t elements = 1;
    for (int64_t length : yDesc->lengths)
      elements *= static_cast<size_t>(length);
    *workSpaceSize = elements * getElementBytes(yDesc->dataType);
    return Status::ok();
  });
}

miopenStatus_t miopenLRNForward(miopenHandle_t handle,
                                const miopenLRNDescriptor_t lrnDesc,
                                const void *alpha,
                                const miopenTensorDescriptor_t xDesc,
                                const void *x, const void *beta,
                                const miopenTensorDescriptor_t yDesc, void *y,
                                bool do_backward, void *workSpace) {
  return guard(
      __func__, REQUIRED(handle, lrnDesc, alpha, xDesc, x, beta, yDesc, y),
      [&]() -> ApiResult {
        if (do_backward && !workSpace)
          return invalidArgument("workSpace is NULL, but do_backward needs it");
        return runLrnForward(
            *handle, *lrnDesc,
            {*xDesc, x, *yDesc, y, do_backward ? workSpace : nullptr});
      });
}

miopenStatus_t miopenLRNBackward(
    miopenHandle_t handle, const miopenLRNDescriptor_t lrnDesc,
    const void *alpha, const miopenTensorDescriptor_t yDesc, const void *y,
    const miopenTensorDescriptor_t dyDesc, const void *dy,
    const miopenTensorDescriptor_t xDesc, const void *x, const void *beta,
    const miopenTensorDescriptor_t dxDesc, void *dx, const void *workSpace) {
  return guard(__func__,
               REQUIRED(handle, lrnDesc, alpha, yDesc, y, dyDesc, dy, xDesc, x,
                        beta, dxDesc, dx, workSpace),
               [&]() -> ApiResult {
                 return runLrnBackward(*handle, *lrnDesc,
                                       {*yDesc, y, *dyDesc, dy, *xDesc, x,
                                        *dxDesc, dx, workSpace});
               });
}

miopenStatus_t miopenDestroyLRNDescriptor(miopenLRNDescriptor_t lrnDesc) {
  return destroyObject(__func__, REQUIRED(lrnDesc), lrnDesc);
}

} // extern "C"
