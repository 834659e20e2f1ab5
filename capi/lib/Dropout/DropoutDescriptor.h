//===- DropoutDescriptor.h - Dropout for other operations ------*- C++ -*--===//

#ifndef TESSERA_CAPI_LIB_DROPOUT_DROPOUTDESCRIPTOR_H
#define TESSERA_CAPI_LIB_DROPOUT_DROPOUTDESCRIPTOR_H

#include "capi/lib/Common/ErrorGuard.h"
#include "capi/lib/Handle/HandleState.h"
#include "capi/lib/Tensor/TensorDescriptor.h"

#include <miopen/dropout.h>

/// Rate and generator. Owned by the client; the states are borrowed.
struct miopenDropoutDescriptor {
  tessera::capi::ObjectTag tag = {};
  float rate = 0;
  void *states = nullptr;
  size_t stateBytes = 0;
  unsigned long long seed = 0;
  bool useMask = false;
  bool stateEvolution = false;
  miopenRNGType_t generator = MIOPEN_RNG_PSEUDO_XORWOW;
};

namespace tessera::capi {

/// Drops elements of a packed tensor, writes the mask that says which, and
/// advances the states, so that the next call drops others.
ApiResult dropElements(miopenHandle &handle,
                       const miopenDropoutDescriptor &dropout,
                       const miopenTensorDescriptor &tensor, const void *x,
                       void *y, void *mask);

/// Drops the elements that `mask` says. x and y may be the same memory.
ApiResult dropMasked(miopenHandle &handle,
                     const miopenDropoutDescriptor &dropout,
                     const miopenTensorDescriptor &tensor, const void *x,
                     void *y, void *mask);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_DROPOUT_DROPOUTDESCRIPTOR_H
