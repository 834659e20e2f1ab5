//===- CtcLoss.cpp - The CTC loss of miopen/loss.h ------------------------===//

#include "capi/lib/Common/Objects.h"
#include "capi/lib/Loss/CtcCall.h"

using namespace tessera;
using namespace tessera::capi;

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

miopenStatus_t miopenGetCTCLossWorkspaceSize(
    miopenHandle_t handle, const miopenTensorDescriptor_t probsDesc,
    const miopenTensorDescriptor_t gradientsDesc, const int *labels,
    const int *labelLengths, const int *inputLengths, miopenCTCLossAlgo_t algo,
    const miopenCTCLossDescriptor_t ctcLossDesc, size_t *workSpaceSize) {
  return guard(__func__,
               REQUIRED(handle, probsDesc, gradientsDesc, labels, labelLengths,
                        inputLengths, ctcLossDesc, workSpaceSize),
               [&]() -> ApiResult {
                 if (Status status = checkEnum(
                         algo, MIOPEN_CTC_LOSS_ALGO_DETERMINISTIC, "algorithm");
                     !status.isOk())
                   return status;
                 const ErrorOr<size_t> bytes = getCtcWorkspaceBytes(
                     {*handle, *ctcLossDesc, *probsDesc, *gradientsDesc, labels,
                      labelLengths, inputLengths});
                 if (bytes)
                   *workSpaceSize = *bytes;
                 return bytes.getStatus();
               });
}

miopenStatus_t miopenCTCLoss(miopenHandle_t handle,
                             const miopenTensorDescriptor_t probsDesc,
                             const void *probs, const int *labels,
                             const int *labelLengths, const int *inputLengths,
                             void *losses,
                             const miopenTensorDescriptor_t gradientsDesc,
                             void *gradients, miopenCTCLossAlgo_t algo,
                             const miopenCTCLossDescriptor_t ctcLossDesc,
                             void *workSpace, size_t workSpaceSize) {
  return guard(
      __func__,
      REQUIRED(handle, probsDesc, probs, labels, labelLengths, inputLengths,
               losses, gradientsDesc, gradients, ctcLossDesc, workSpace),
      [&]() -> ApiResult {
        if (Status status = checkEnum(algo, MIOPEN_CTC_LOSS_ALGO_DETERMINISTIC,
                                      "algorithm");
            !status.isOk())
          return status;
        return runCtcLoss({*handle, *ctcLossDesc, *probsDesc, *gradientsDesc,
                           labels, labelLengths, inputLengths},
                          probs, losses, gradients, workSpace, workSpaceSize);
      });
}

} // extern "C"
