//===- CtcLoss.cpp - The descriptor of miopen/loss.h ----------------------===//

#include <miopen/loss.h>

#include "capi/lib/Common/Objects.h"
#include "capi/lib/Tensor/TensorDescriptor.h"

using namespace tessera;
using namespace tessera::capi;

/// Type and blank label. Owned by the client; any number of threads may read
/// it at once.
struct miopenCTCLossDescriptor {
  tessera::capi::ObjectTag tag = {};
  miopenDataType_t dataType = miopenFloat;
  int blankLabel = 0;
  bool applySoftmax = true;
};

extern "C" {

miopenStatus_t
miopenCreateCTCLossDescriptor(miopenCTCLossDescriptor_t *ctcLossDesc) {
  return createObject(__func__, REQUIRED(ctcLossDesc), ctcLossDesc);
}

miopenStatus_t miopenGetCTCLossDescriptor(miopenCTCLossDescriptor_t ctcLossDesc,
                                          miopenDataType_t *dataType,
                                          int *blank_label_id,
                                          bool *apply_softmax_layer) {
  return guard(__func__, REQUIRED(ctcLossDesc), [&]() -> ApiResult {
    setIfWanted(dataType, ctcLossDesc->dataType);
    setIfWanted(blank_label_id, ctcLossDesc->blankLabel);
    setIfWanted(apply_softmax_layer, ctcLossDesc->applySoftmax);
    return Status::ok();
  });
}

miopenStatus_t
miopenDestroyCTCLossDescriptor(miopenCTCLossDescriptor_t ctcLossDesc) {
  return destroyObject(__func__, REQUIRED(ctcLossDesc), ctcLossDesc);
}

miopenStatus_t miopenSetCTCLossDescriptor(miopenCTCLossDescriptor_t ctcLossDesc,
                                          miopenDataType_t dataType,
                                          const int blank_label_id,
                                          bool apply_softmax_layer) {
  return guard(__func__, REQUIRED(ctcLossDesc), [&]() -> ApiResult {
    if (Status status = checkDataType(dataType); !status.isOk())
      return status;
    *ctcLossDesc = {{}, dataType, blank_label_id, apply_softmax_layer};
    return Status::ok();
  });
}

} // extern "C"
