//===- CtcCall.h - One CTC loss --------------------------------*- C++ -*--===//

#ifndef TESSERA_CAPI_LIB_LOSS_CTCCALL_H
#define TESSERA_CAPI_LIB_LOSS_CTCCALL_H

#include "capi/lib/Common/ErrorGuard.h"
#include "capi/lib/Common/ObjectTag.h"
#include "capi/lib/Handle/HandleState.h"
#include "capi/lib/Tensor/TensorDescriptor.h"

#include <miopen/loss.h>

/// Type and blank label. Owned by the client; any number of threads may read
/// it at once.
struct miopenCTCLossDescriptor {
  tessera::capi::ObjectTag tag = {};
  miopenDataType_t dataType = miopenFloat;
  int blankLabel = 0;
  bool applySoftmax = true;
};

namespace tessera::capi {

/// The arguments that determine a loss. Refers to the client's objects; labels
/// and lengths are in host or device memory.
struct CtcCall {
  miopenHandle &handle;
  const miopenCTCLossDescriptor &loss;
  const miopenTensorDescriptor &probs, &gradients;
  const int *labels, *labelLengths, *inputLengths;
};

/// The bytes of workspace that runCtcLoss() needs.
ErrorOr<size_t> getCtcWorkspaceBytes(const CtcCall &call);

/// Computes losses and gradients.
ApiResult runCtcLoss(const CtcCall &call, const void *probs, void *losses,
                     void *gradients, void *workspace, size_t workspaceBytes);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_LOSS_CTCCALL_H
