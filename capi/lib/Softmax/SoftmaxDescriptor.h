//===- SoftmaxDescriptor.h - What stands behind two handles ----*- C++ -*-===//

#ifndef TESSERA_CAPI_LIB_SOFTMAXDESCRIPTOR_H
#define TESSERA_CAPI_LIB_SOFTMAXDESCRIPTOR_H

#include "capi/lib/Common/ObjectTag.h"

#include <miopen/find2.h>
#include <miopen/softmax.h>

/// Owned by the client; any number of threads may read it at once.
struct miopenSoftmaxDescriptor {
  tessera::capi::ObjectTag tag = {};
  float alpha = 1;
  float beta = 0;
  miopenSoftmaxAlgorithm_t algorithm = MIOPEN_SOFTMAX_ACCURATE;
  miopenSoftmaxMode_t mode = MIOPEN_SOFTMAX_MODE_CHANNEL;
};

/// An attention. Owned and read likewise.
struct miopenMhaDescriptor {
  tessera::capi::ObjectTag tag = {};
  float scale = 1;
};

#endif // TESSERA_CAPI_LIB_SOFTMAXDESCRIPTOR_H
