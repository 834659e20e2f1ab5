/*===- loss.h - Loss functions -------------------------------------------===*\
|*
|* The descriptor of the CTC loss holds what it was given. No loss runs yet:
|* all other functions answer miopenStatusNotImplemented.
|*
\*===----------------------------------------------------------------------===*/

#ifndef MIOPEN_LOSS_H
#define MIOPEN_LOSS_H

#include <miopen/export.h>
#include <miopen/handle.h>
#include <miopen/tensor.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

MIOPEN_DECLARE_OBJECT(miopenCTCLossDescriptor);

typedef enum { MIOPEN_CTC_LOSS_ALGO_DETERMINISTIC = 0 } miopenCTCLossAlgo_t;

#ifdef MIOPEN_BETA_API

typedef enum {
  MIOPEN_LOSS_REDUCTION_NONE = 0,
  MIOPEN_LOSS_REDUCTION_SUM = 1,
  MIOPEN_LOSS_REDUCTION_MEAN = 2
} miopenLossReductionMode_t;

#endif /* MIOPEN_BETA_API */

/** Creates a descriptor; release it with miopenDestroyCTCLossDescriptor(). */
MIOPEN_EXPORT miopenStatus_t
miopenCreateCTCLossDescriptor(miopenCTCLossDescriptor_t *ctcLossDesc);

/** Reads what was set; a pointer that is NULL is left out. */
MIOPEN_EXPORT miopenStatus_t miopenGetCTCLossDescriptor(
    miopenCTCLossDescriptor_t ctcLossDesc, miopenDataType_t *dataType,
    int *blank_label_id, bool *apply_softmax_layer);

/** Destroys a descriptor. */
MIOPEN_EXPORT miopenStatus_t
miopenDestroyCTCLossDescriptor(miopenCTCLossDescriptor_t ctcLossDesc);

/** Sets type, blank label and whether a softmax comes first. */
MIOPEN_EXPORT miopenStatus_t miopenSetCTCLossDescriptor(
    miopenCTCLossDescriptor_t ctcLossDesc, miopenDataType_t dataType,
    const int blank_label_id, bool apply_softmax_layer);

/** Bytes of workspace. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenGetCTCLossWorkspaceSize(
    miopenHandle_t handle, const miopenTensorDescriptor_t probsDesc,
    const miopenTensorDescriptor_t gradientsDesc, const int *labels,
    const int *labelLengths, const int *inputLengths, miopenCTCLossAlgo_t algo,
    const miopenCTCLossDescriptor_t ctcLossDesc, size_t *workSpaceSize);

/** Losses and gradients. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenCTCLoss(
    miopenHandle_t handle, const miopenTensorDescriptor_t probsDesc,
    const void *probs, const int *labels, const int *labelLengths,
    const int *inputLengths, void *losses,
    const miopenTensorDescriptor_t gradientsDesc, void *gradients,
    miopenCTCLossAlgo_t algo, const miopenCTCLossDescriptor_t ctcLossDesc,
    void *workSpace, size_t workSpaceSize);

#ifdef MIOPEN_BETA_API

/** Bytes of workspace. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenGetSoftMarginLossForwardWorkspaceSize(
    miopenHandle_t handle, miopenTensorDescriptor_t inputDesc,
    miopenTensorDescriptor_t targetDesc, miopenTensorDescriptor_t outputDesc,
    miopenLossReductionMode_t reduction, size_t *sizeInBytes);

/** Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenSoftMarginLossForward(
    miopenHandle_t handle, miopenTensorDescriptor_t inputDesc,
    const void *input, miopenTensorDescriptor_t targetDesc, const void *target,
    miopenTensorDescriptor_t outputDesc, void *output,
    miopenLossReductionMode_t reduction,
    void *workspace MIOPEN_DEFAULT(nullptr),
    size_t workspaceSizeInBytes MIOPEN_DEFAULT(0));

/** Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenSoftMarginLossBackward(
    miopenHandle_t handle, miopenTensorDescriptor_t inputDesc,
    const void *input, miopenTensorDescriptor_t targetDesc, const void *target,
    miopenTensorDescriptor_t doutputDesc, const void *doutput,
    miopenTensorDescriptor_t dinputDesc, void *dinput,
    miopenLossReductionMode_t reduction);

/** Bytes of workspace. Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenGetMultiMarginLossForwardWorkspaceSize(
    miopenHandle_t handle, miopenTensorDescriptor_t inputDesc,
    miopenTensorDescriptor_t targetDesc, miopenTensorDescriptor_t weightDesc,
    miopenTensorDescriptor_t outputDesc, long p, float margin,
    miopenLossReductionMode_t reduction, size_t *sizeInBytes);

/** Not implemented. */
MIOPEN_EXPORT miopenStatus_t miopenMultiMarginLossForward(
    miopenHandle_t handle, miopenTensorDescriptor_t inputDesc,
    const void *input, miopenTensorDescriptor_t targetDesc, const void *target,
    miopenTensorDescriptor_t weightDesc, const void *weight,
    miopenTensorDescriptor_t outputDesc, void *output, long p, float margin,
    miopenLossReductionMode_t reduction, void *workspace,
    size_t workspaceSizeInBytes);

#endif /* MIOPEN_BETA_API */

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_LOSS_H */
