//===- SoftmaxCall.h - A softmax as a row-wise operation -------*- C++ -*--===//

#ifndef TESSERA_CAPI_LIB_SOFTMAX_SOFTMAXCALL_H
#define TESSERA_CAPI_LIB_SOFTMAX_SOFTMAXCALL_H

#include "capi/lib/RowWise/RowWiseCall.h"
#include "capi/lib/Softmax/SoftmaxDescriptor.h"

namespace tessera::capi {

/// A tensor of a call: its name in messages, its descriptor and its memory.
struct SoftmaxOperand {
  const char *name;
  const miopenTensorDescriptor &desc;
  const void *data;
};

/// Makes SoftmaxForward of x, or SoftmaxBackward of y and dy. The result
/// `output` is also the last input if beta is not 0.
ErrorOr<RowWiseCall> makeSoftmaxCall(miopenHandle &handle, RowWiseKind op,
                                     const miopenSoftmaxDescriptor &softmax,
                                     std::span<const SoftmaxOperand> inputs,
                                     const SoftmaxOperand &output);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_SOFTMAX_SOFTMAXCALL_H
