//===- BatchNormCall.h - One batch normalisation of any kind ---*- C++ -*--===//
//
// The functions of miopen/batchnorm.h and fusion plans make one of three calls:
// training, inference or the gradient, each with an optional activation.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_LIB_NORMALIZATION_BATCHNORMCALL_H
#define TESSERA_CAPI_LIB_NORMALIZATION_BATCHNORMCALL_H

#include "capi/lib/Activation/ActivationDescriptor.h"
#include "capi/lib/RowWise/RowWiseCall.h"

#include <miopen/batchnorm.h>

namespace tessera::capi {

/// A tensor with its memory. Borrows both.
struct TensorArg {
  const miopenTensorDescriptor &desc;
  const void *memory;
};

/// The arguments that all three calls have. Without an activation it is
/// PASTHRU.
struct BatchNormCall {
  miopenBatchNormMode_t mode;
  TensorArg x;
  TensorArg scale;
  double epsilon;
  miopenActivationDescriptor activation = {};
};

/// A mean and a variance that the client gave, or null. If only one of them is
/// given, both are ignored, as in MIOpen.
struct StatisticPair {
  const void *mean = nullptr;
  const void *variance = nullptr;

  bool isThere() const { return mean && variance; }
};

struct BatchNormTraining {
  TensorArg y;
  TensorArg bias;
  /// Describe all statistics.
  const miopenTensorDescriptor &meanDesc;
  const miopenTensorDescriptor &varianceDesc;
  double factor;         ///< expAvgFactor: share of the new value.
  StatisticPair running; ///< Values before the call.
  StatisticPair updated; ///< Values after it; may be the same memory.
  StatisticPair saved;   ///< Mean and 1 / sqrt(variance + epsilon).
};

struct BatchNormInference {
  TensorArg y;
  TensorArg bias;
  TensorArg mean;
  TensorArg variance;
  bool takesInverse = false; ///< `variance` is 1 / sqrt(v + epsilon).
};

struct BatchNormBackward {
  TensorArg dy;
  TensorArg dx;
  TensorArg bias; ///< Read with an activation only.
  void *scaleGradient;
  void *biasGradient;
  const miopenTensorDescriptor &meanDesc;
  const miopenTensorDescriptor &varianceDesc;
  StatisticPair saved; ///< Mean and 1 / sqrt(variance + epsilon).
};

ApiResult run(miopenHandle &handle, const BatchNormCall &call,
              const BatchNormTraining &training);
ApiResult run(miopenHandle &handle, const BatchNormCall &call,
              const BatchNormInference &inference);
ApiResult run(miopenHandle &handle, const BatchNormCall &call,
              const BatchNormBackward &backward);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_NORMALIZATION_BATCHNORMCALL_H
