//===- AdamCall.h - One step of Adam or AdamW ------------------*- C++ -*--===//

#ifndef TESSERA_CAPI_LIB_OPTIMIZER_ADAMCALL_H
#define TESSERA_CAPI_LIB_OPTIMIZER_ADAMCALL_H

#include "capi/lib/RowWise/RowWiseCall.h"

namespace tessera::capi {

/// A tensor of the client, which may be left out if it is optional. Borrowed.
struct AdamTensor {
  const miopenTensorDescriptor *desc = nullptr;
  const void *data = nullptr;

  bool isThere() const { return desc && data; }
};

/// A step from old values to new ones, which may share memory.
struct AdamCall {
  AdamTensor param, newParam, newHalf, gradient;
  AdamTensor mean, newMean, square, newSquare, most, newMost;
  AdamTensor step, newStep, scale, flag;
  unsigned stepNumber; ///< Where no tensor has it.
  float rate, beta1, beta2, decay, epsilon;
  bool isAmsgrad = false, isMaximizing = false, isDecoupled = false;
  /// As the Transformers library defines it: `stepSize`, if it is not negative,
  /// instead of the rate, and the decay after the step.
  bool isTransformers = false, correctsBias = true;
  float stepSize = -1;
};

/// Launches the step, with a launch before it if the number of steps, the scale
/// or the flag is in device memory, and one behind it for the copy in half.
ApiResult runAdam(miopenHandle &handle, const AdamCall &call);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_OPTIMIZER_ADAMCALL_H
