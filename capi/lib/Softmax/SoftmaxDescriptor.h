//===- SoftmaxDescriptor.h - Softmax and attention descriptors -*- C++ -*--===//

#ifndef TESSERA_CAPI_LIB_SOFTMAX_SOFTMAXDESCRIPTOR_H
#define TESSERA_CAPI_LIB_SOFTMAX_SOFTMAXDESCRIPTOR_H

#include "capi/lib/Common/ObjectTag.h"

#include <miopen/find2.h>
#include <miopen/softmax.h>

/// A softmax. Owned by the client; any number of threads may read it at once.
struct miopenSoftmaxDescriptor {
  tessera::capi::ObjectTag tag = {};
  float alpha = 1;
  float beta = 0;
  miopenSoftmaxAlgorithm_t algorithm = MIOPEN_SOFTMAX_ACCURATE;
  miopenSoftmaxMode_t mode = MIOPEN_SOFTMAX_MODE_CHANNEL;
};

/// An attention. Owned by the client; any number of threads may read it at
/// once.
struct miopenMhaDescriptor {
  tessera::capi::ObjectTag tag = {};
  float scale = 1;
};

#endif // TESSERA_CAPI_LIB_SOFTMAX_SOFTMAXDESCRIPTOR_H
