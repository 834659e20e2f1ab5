//===- ConvolutionProblem.h - From descriptors to a problem ----*- C++ -*--===//

#ifndef TESSERA_CAPI_LIB_CONVOLUTION_CONVOLUTIONPROBLEM_H
#define TESSERA_CAPI_LIB_CONVOLUTION_CONVOLUTIONPROBLEM_H

#include "capi/lib/Convolution/ConvolutionDescriptor.h"
#include "runtime/Base/Problem.h"

namespace tessera::capi {

/// The descriptors of a call, by their roles in y = conv(x, w); in a gradient,
/// x, w and y stand for dx, dw and dy. Borrows all four.
struct ConvolutionOperands {
  const miopenTensorDescriptor &x;
  const miopenTensorDescriptor &w;
  const miopenConvolutionDescriptor &conv;
  const miopenTensorDescriptor &y;

  /// Whether x and y are swapped: a transposed convolution is backward data of
  /// the convolution whose x is this y. Problems and kernels know no transposed
  /// convolutions.
  bool areSwapped() const { return conv.mode == miopenTranspose; }
};

/// Makes the canonical problem that computes y, dx or dw. `direction` is that
/// of the API's function. InvalidArgument if the descriptors are inconsistent,
/// NotSupported if no kernel can do what they ask for. It runs on every
/// execution, and therefore allocates nothing unless it fails.
ErrorOr<ConvProblem> makeConvProblem(Direction direction,
                                     const ConvolutionOperands &operands);

/// The scale factors of a call and the epilogue that they need.
struct Scaling {
  double alpha = 1;
  double beta = 0;
  Epilogue epilogue;
};

/// Reads alpha and beta, which are doubles for double data, else floats.
/// NotSupported where MIOpen takes only 1 and 0.
ErrorOr<Scaling> readScaling(const ConvolutionOperands &operands,
                             const void *alpha, const void *beta);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_CONVOLUTION_CONVOLUTIONPROBLEM_H
