//===- BatchNormCall.h - One batch normalisation of any kind ---*- C++ -*-===//
//
// The many functions of miopen/batchnorm.h, and fusion plans, are three calls:
// training, inference and the gradient, each perhaps with an activation.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_LIB_BATCHNORMCALL_H
#define TESSERA_CAPI_LIB_BATCHNORMCALL_H

#include "capi/lib/Activation/ActivationDescriptor.h"
#include "capi/lib/RowWise/RowCall.h"

#include <miopen/batchnorm.h>

namespace tessera::capi {

/// A tensor with its memory. Borrows both.
struct TensorArg {
  const miopenTensorDescriptor &desc;
  const void *memory;
};

/// What all three have. The activation is none by default.
struct BatchNormCall {
  miopenBatchNormMode_t mode;
  TensorArg x;
  TensorArg scale;
  double epsilon;
  miopenActivationDescriptor activation = {};
};

/// Statistics that are given, or null; those of the wrong half of a pair are
/// ignored, as MIOpen does it.
struct StatisticPair {
  const void *mean = nullptr;
  const void *variance = nullptr;

  bool isThere() const { return mean && variance; }
};

struct BatchNormTraining {
  TensorArg y;
  TensorArg bias;
  /// Of all statistics.
  const miopenTensorDescriptor &meanDesc;
  const miopenTensorDescriptor &varianceDesc;
  double factor;         ///< What part of a running statistic is new.
  StatisticPair running; ///< As it was.
  StatisticPair updated; ///< As it will be; may be the same memory.
  StatisticPair saved;   ///< Mean and inverse of the deviation.
};

struct BatchNormInference {
  TensorArg y;
  TensorArg bias;
  TensorArg mean;
  TensorArg variance;
  bool takesInverse = false; ///< The variance is 1 / sqrt(v + epsilon).
};

struct BatchNormBackward {
  TensorArg dy;
  TensorArg dx;
  TensorArg bias; ///< Read with an activation only.
  void *scaleGradient;
  void *biasGradient;
  const miopenTensorDescriptor &meanDesc;
  const miopenTensorDescriptor &varianceDesc;
  StatisticPair saved; ///< Mean and inverse of the deviation.
};

ApiResult run(miopenHandle &handle, const BatchNormCall &call,
              const BatchNormTraining &training);
ApiResult run(miopenHandle &handle, const BatchNormCall &call,
              const BatchNormInference &inference);
ApiResult run(miopenHandle &handle, const BatchNormCall &call,
              const BatchNormBackward &backward);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_BATCHNORMCALL_H
