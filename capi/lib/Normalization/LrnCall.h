//===- LrnCall.h - A local response normalisation as launches --*- C++ -*--===//

#ifndef TESSERA_CAPI_LIB_NORMALIZATION_LRNCALL_H
#define TESSERA_CAPI_LIB_NORMALIZATION_LRNCALL_H

#include "capi/lib/Common/ErrorGuard.h"
#include "capi/lib/Handle/HandleState.h"
#include "capi/lib/Tensor/TensorDescriptor.h"

#include <miopen/lrn.h>

/// Window and parameters. Owned by the client; any number of threads may read
/// it at once.
struct miopenLRNDescriptor {
  tessera::capi::ObjectTag tag = {};
  miopenLRNMode_t mode = miopenLRNWithinChannel;
  unsigned window = 1;
  double alpha = 0;
  double beta = 0;
  double k = 1;
};

namespace tessera::capi {

/// Tensors and memory of a forward call; borrowed.
struct LrnForwardData {
  const miopenTensorDescriptor &xDesc;
  const void *x;
  const miopenTensorDescriptor &yDesc;
  void *y;
  void *scale; ///< Has the layout of y; null if it is not kept.
};

struct LrnBackwardData {
  const miopenTensorDescriptor &yDesc;
  const void *y;
  const miopenTensorDescriptor &dyDesc;
  const void *dy;
  const miopenTensorDescriptor &xDesc;
  const void *x;
  const miopenTensorDescriptor &dxDesc;
  void *dx;
  const void *scale;
};

ApiResult runLrnForward(miopenHandle &handle, const miopenLRNDescriptor &lrn,
                        const LrnForwardData &data);
ApiResult runLrnBackward(miopenHandle &handle, const miopenLRNDescriptor &lrn,
                         const LrnBackwardData &data);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_NORMALIZATION_LRNCALL_H
