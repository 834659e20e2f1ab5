//===- HaloPositions.h - Pixels with the padding between them --*- C++ -*--===//
//
// Taps share pixels (docs/design/0009-window-reuse.md) of a sequence of
// positions in which each image row begins with its padding and ends where the
// padding of the next row begins. A GEMM over these positions has rows that are
// not results, at the end of image rows and of images; the views map them
// outside of the result.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_COMMON_HALOPOSITIONS_H
#define TESSERA_COMPILER_ALGORITHMS_COMMON_HALOPOSITIONS_H

#include "compiler/Algorithms/Common/ConvGeometry.h"

#include <algorithm>

namespace tessera {

/// The distance from the first tap to the last one.
inline int64_t getReach(const ConvDim &dim) {
  return (dim.filter - 1) * dim.dilation;
}

/// Whether the sequence of positions contains all results along a dimension.
inline bool fitsHalo(const ConvDim &dim) {
  return dim.stride == 1 && dim.pad <= getReach(dim);
}

/// Whether dimension `index` of `rank` has positions: height and width. Taps of
/// the depth are too far apart to share pixels.
inline bool hasPositions(size_t index, size_t rank) {
  return index + 2 >= rank;
}

/// The same of a convolution. Where sizes are unknown only the width has: how
/// far the next image row is depends on them.
inline bool hasPositions(const ConvGeometry &g, size_t index) {
  return mlir::ShapedType::isDynamic(g.batch)
             ? index + 1 == g.dims.size()
             : hasPositions(index, g.dims.size());
}

/// The number of positions of one row: its padding in front and its pixels, or
/// more if the padding behind it, which the next row's padding in front has to
/// contain, is longer. Both numbers are the same for equal paddings. It is the
/// same for backward data, where rows are the output's, with the reach less the
/// padding of the input in front: the two numbers are swapped.
inline int64_t countPositions(const ConvDim &dim) {
  return std::max(dim.in + dim.pad, dim.out + getReach(dim) - dim.pad);
}

/// How many positions a row has beyond its pixels, and beyond its results, of a
/// dimension without strides whose size is unknown.
inline int64_t countBeyondPixels(const ConvDim &dim) {
  return std::max(dim.pad, dim.padAfter);
}
inline int64_t countBeyondResults(const ConvDim &dim) {
  return getReach(dim) - std::min(dim.pad, dim.padAfter);
}

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_COMMON_HALOPOSITIONS_H
