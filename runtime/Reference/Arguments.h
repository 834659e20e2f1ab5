//===- Arguments.h - What the reference's kernels are told -----*- C++ -*-===//
//
// Read by two compilers: that of the host, and the one that compiles
// Reference.hip while the program runs. So it includes nothing, and every field
// has eight bytes.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_REFERENCE_ARGUMENTS_H
#define TESSERA_RUNTIME_REFERENCE_ARGUMENTS_H

namespace tessera::ondevice {

/// One number for each dimension of a tensor: lengths, distances of neighbours
/// in elements, or a place. Of a filter, n is the output and c the input
/// channel.
struct Extents {
  long long n, c, d, h, w;
};

/// One number for each spatial dimension.
struct Spatials {
  long long d, h, w;
};

/// Where results go: one of each for every element, in the order channel,
/// column, row, depth, outer dimension (the channel moves fastest).
struct Results {
  double *values;
  double *magnitudes;          ///< Sums of the terms' magnitudes.
  unsigned long long *indices; ///< Of a forward maximum; else null.
  /// Elements that one pass of all threads takes.
  long long step;
};

struct ConvArguments {
  Results results;
  const void *x, *w, *y; ///< The one that is computed is not read.
  Extents xLengths, wLengths, yLengths;
  Extents xStrides, wStrides, yStrides;
  Spatials pad, stride, dilation;
  long long groups;
};

struct PoolArguments {
  Results results;
  const void *x, *y;   ///< Likewise.
  const void *indices; ///< That a backward maximum reads.
  long long indexBytes;
  Extents xLengths, yLengths;
  Extents xStrides, yStrides, indexStrides;
  Spatials window, pad, stride;
  /// Truth values.
  long long isMax, countsPadding, indexesImage;
};

} // namespace tessera::ondevice

#endif // TESSERA_RUNTIME_REFERENCE_ARGUMENTS_H
