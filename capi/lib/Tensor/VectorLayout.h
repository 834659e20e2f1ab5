//===- VectorLayout.h - Tensors with blocks of channels --------*- C++ -*--===//
//
// NCHWc4, NCHWc8, CHWNc4 and CHWNc8 have no stride for a channel, so problems
// do not know them: they end here (docs/design/0003-problem-space.md).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_LIB_TENSOR_VECTORLAYOUT_H
#define TESSERA_CAPI_LIB_TENSOR_VECTORLAYOUT_H

#include "capi/lib/Handle/HandleState.h"
#include "capi/lib/Tensor/TensorDescriptor.h"

namespace tessera::capi {

/// A descriptor in other words: `given` itself, which it borrows, if that has
/// no blocks of channels.
class OtherWords {
public:
  /// The same tensor, N, C, H, W, in packed NHWC.
  static OtherWords asChannelsLast(const miopenTensorDescriptor &given);
  /// The same memory as packed NHWC images whose channels do not meet: each
  /// block of channels is an image of its own, and with the batch last, the
  /// batch is among the channels.
  static OtherWords asImages(const miopenTensorDescriptor &given);

  const miopenTensorDescriptor &get() const { return given ? *given : other; }

private:
  /// Null if `other` is it. Copies keep it right.
  const miopenTensorDescriptor *given = nullptr;
  miopenTensorDescriptor other;
};

/// Copies a tensor with blocks of channels to packed NHWC, or back, on the
/// handle's stream.
Status copyToChannelsLast(miopenHandle &handle,
                          const miopenTensorDescriptor &tensor,
                          const void *from, void *to);
Status copyFromChannelsLast(miopenHandle &handle,
                            const miopenTensorDescriptor &tensor,
                            const void *from, void *to);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_TENSOR_VECTORLAYOUT_H
