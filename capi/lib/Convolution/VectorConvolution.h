//===- VectorConvolution.h - Convolutions of blocks of channels -*- C++ -*-===//

#ifndef TESSERA_CAPI_LIB_CONVOLUTION_VECTORCONVOLUTION_H
#define TESSERA_CAPI_LIB_CONVOLUTION_VECTORCONVOLUTION_H

#include "capi/lib/Convolution/ConvolutionCall.h"
#include "capi/lib/Tensor/VectorLayout.h"

namespace tessera::capi {

/// Whether a tensor has blocks of channels.
bool hasVectors(const ConvolutionOperands &operands);

/// The same convolution with such tensors in packed NHWC, which lie at the
/// beginning of the workspace. Borrows the call.
class VectorConvolution {
public:
  explicit VectorConvolution(const ConvolutionCall &call);

  ConvolutionOperands getOperands() const {
    return {x.get(), w.get(), call.operands.conv, y.get()};
  }

  /// Bytes of the copies: a multiple of 256.
  size_t getCopyBytes() const { return copyBytes; }

  /// InvalidArgument unless the workspace has space for the copies.
  Status checkWorkspace(const ConvolutionData &data) const;

  /// The copies, and what follows them of the workspace.
  ConvolutionData getData(const ConvolutionData &data) const;

  /// Copies what is read; the result, too, if its old values are.
  Status copyOperands(const ConvolutionData &data, bool readsResult) const;
  Status copyResult(const ConvolutionData &data) const;

private:
  const ConvolutionCall &call;
  OtherWords x, w, y;
  size_t wOffset = 0, yOffset = 0, copyBytes = 0;
};

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_CONVOLUTION_VECTORCONVOLUTION_H
