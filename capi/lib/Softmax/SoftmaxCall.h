//===- SoftmaxCall.h - A softmax on rows -----------------------*- C++ -*-===//

#ifndef TESSERA_CAPI_LIB_SOFTMAXCALL_H
#define TESSERA_CAPI_LIB_SOFTMAXCALL_H

#include "capi/lib/RowWise/RowCall.h"
#include "capi/lib/Softmax/SoftmaxDescriptor.h"

namespace tessera::capi {

/// A tensor of a call: what it is called, how it lies, where it is.
struct SoftmaxOperand {
  const char *name;
  const miopenTensorDescriptor &desc;
  const void *data;
};

/// SoftmaxForward of x, or SoftmaxBackward of y and dy, with the result
/// `output`, which is also the last input if beta is not 0.
ErrorOr<RowCall> makeSoftmaxCall(miopenHandle &handle, RowOp op,
                                 const miopenSoftmaxDescriptor &softmax,
                                 std::span<const SoftmaxOperand> inputs,
                                 const SoftmaxOperand &output);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_SOFTMAXCALL_H
