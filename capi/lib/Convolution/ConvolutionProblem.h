//===- ConvolutionProblem.h - From descriptors to a problem ----*- C++ -*-===//

#ifndef TESSERA_CAPI_LIB_CONVOLUTIONPROBLEM_H
#define TESSERA_CAPI_LIB_CONVOLUTIONPROBLEM_H

#include "capi/lib/Convolution/ConvolutionDescriptor.h"
#include "runtime/Base/Problem.h"

namespace tessera::capi {

/// The descriptors of one call, in the roles that they have in y = conv(x, w):
/// of a gradient, x, w and y stand for dx, dw and dy. Borrows all four.
struct ConvolutionOperands {
  const miopenTensorDescriptor &x;
  const miopenTensorDescriptor &w;
  const miopenConvolutionDescriptor &conv;
  const miopenTensorDescriptor &y;

  /// A transposed convolution is backward data of the convolution whose x is
  /// this y; from here on nobody else needs to know.
  bool areExchanged() const { return conv.mode == miopenTranspose; }
};

/// The canonical problem that computes y, dx or dw. `direction` is that of the
/// API's function. InvalidArgument if the descriptors are inconsistent,
/// NotSupported if they ask for what no kernel of ours can do. Runs on every
/// execution: allocates nothing unless it fails.
ErrorOr<ConvProblem> makeConvProblem(Direction direction,
                                     const ConvolutionOperands &operands);

/// What alpha and beta, as the client points to them, ask of the kernel: both
/// double for double data, else float. NotSupported where MIOpen has only 1
/// and 0.
struct Scaling {
  double alpha = 1;
  double beta = 0;
  Epilogue epilogue;
};
ErrorOr<Scaling> readScaling(const ConvolutionOperands &operands,
                             const void *alpha, const void *beta);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_CONVOLUTIONPROBLEM_H
