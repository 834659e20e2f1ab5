//===- Arguments.h - Arguments of the reference's kernels -------*- C++ -*-===//
//
// Two compilers read this file: that of the host, and the one that compiles
// Reference.hip while the program runs. Therefore it includes nothing, and
// every field has eight bytes.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_REFERENCE_ARGUMENTS_H
#define TESSERA_RUNTIME_REFERENCE_ARGUMENTS_H

namespace tessera::ondevice {

/// One number for each dimension of a tensor: lengths, strides in elements, or
/// coordinates. For a filter, n is the output and c the input channel.
struct Extents {
  long long n, c, d, h, w;
};

/// One number for each spatial dimension.
struct Spatials {
  long long d, h, w;
};

/// Where results are stored: one for each element, in the order channel,
/// column, row, depth, outer dimension (the channel varies fastest).
struct Results {
  double *values;
  double *magnitudes;          ///< Sums of the terms' absolute values.
  unsigned long long *indices; ///< For a forward maximum; otherwise null.
  /// The number of threads: each computes every `step`-th element.
  long long step;
};

struct ConvArguments {
  Results results;
  const void *x, *w, *y; ///< The tensor that is computed is not read.
  Extents xLengths, wLengths, yLengths;
  Extents xStrides, wStrides, yStrides;
  Spatials pad, stride, dilation;
  long long groups;
};

struct PoolArguments {
  Results results;
  const void *x, *y;   ///< The tensor that is computed is not read.
  const void *indices; ///< Read by a backward maximum.
  long long indexBytes;
  Extents xLengths, yLengths;
  Extents xStrides, yStrides, indexStrides;
  Spatials window, pad, stride;
  /// Booleans
  long long isMax, choosesNan, countsPadding, indexesImage;
};

} // namespace tessera::ondevice

#endif // TESSERA_RUNTIME_REFERENCE_ARGUMENTS_H
