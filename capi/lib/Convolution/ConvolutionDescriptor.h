//===- ConvolutionDescriptor.h - A convolution descriptor ------*- C++ -*--===//

#ifndef TESSERA_CAPI_LIB_CONVOLUTION_CONVOLUTIONDESCRIPTOR_H
#define TESSERA_CAPI_LIB_CONVOLUTION_CONVOLUTIONDESCRIPTOR_H

#include "capi/lib/Tensor/TensorDescriptor.h"
#include "runtime/Base/ErrorOr.h"

#include <miopen/convolution.h>

#include <array>
#include <cstdint>

/// Window, groups and attributes. Owned by the client through its handle; any
/// number of threads may read it at once.
struct miopenConvolutionDescriptor {
  tessera::capi::ObjectTag tag = {};
  static constexpr int kMaxSpatialRank = 3;
  /// One number for each spatial dimension; the rest is unused.
  using PerDimension = std::array<int, kMaxSpatialRank>;

  /// miopenConvolution or miopenTranspose; the group count replaces other
  /// modes.
  miopenConvolutionMode_t mode = miopenConvolution;
  int spatialRank = 2;
  PerDimension pads{0, 0, 0};
  PerDimension strides{1, 1, 1};
  PerDimension dilations{1, 1, 1};
  PerDimension outputPads{0, 0, 0}; ///< Used by transposed ones only.
  /// The number that the client gave; getForwardOutputLengths() checks it.
  int groups = 1;
  /// Stored for the client without effect, like the rounding mode. In MIOpen -1
  /// leaves the choice to the library.
  int fp16AltImplementation = -1;
  int fp8RoundingMode = 0;
  int deterministic = 0;
  /// A miopenMathType_t. MIOpen starts with pedantic; its miopenMathDefault is
  /// the value that allows tf32.
  int mathType = miopenMathPedantic;
  int winograd = 1; ///< TESSERA_CONVOLUTION_ATTRIB_WINOGRAD.
  miopenConvolutionFindMode_t findMode = miopenConvolutionFindModeDefault;
};

namespace tessera::capi {

/// Lengths of y, in the order N, C, [D,] H, W. An array instead of a vector,
/// because every execution checks them and must not allocate.
struct OutputLengths {
  std::array<int64_t, miopenConvolutionDescriptor::kMaxSpatialRank + 2> lengths;
  int rank;
};

/// The lengths of y = conv(x, w). InvalidArgument if the three are
/// inconsistent.
ErrorOr<OutputLengths>
getForwardOutputLengths(const miopenConvolutionDescriptor &conv,
                        const miopenTensorDescriptor &x,
                        const miopenTensorDescriptor &w);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_CONVOLUTION_CONVOLUTIONDESCRIPTOR_H
