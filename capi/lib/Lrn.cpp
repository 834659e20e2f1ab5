//===- Lrn.cpp - The descriptor of miopen/lrn.h ---------------------------===//

#include <miopen/lrn.h>

#include "capi/lib/Objects.h"

using namespace tessera;
using namespace tessera::capi;

/// Window and parameters. Owned by the client; any number of threads may read
/// it at once.
struct miopenLRNDescriptor {
  miopenLRNMode_t mode = miopenLRNWithinChannel;
  unsigned window = 1;
  double alpha = 0;
  double beta = 0;
  double k = 1;
};

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
    *lrnDesc = {mode, lrnN, lrnAlpha, lrnBeta, lrnK};
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

miopenStatus_t miopenDestroyLRNDescriptor(miopenLRNDescriptor_t lrnDesc) {
  return destroyObject(__func__, REQUIRED(lrnDesc), lrnDesc);
}

} // extern "C"
