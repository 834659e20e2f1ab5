//===- HaloPositions.h - Pixels with the padding between them --*- C++ -*-===//
//
// Taps share pixels (docs/design/0009-window-reuse.md) in a sequence in which
// each row begins with its padding, and ends where the next one's begins. A
// GEMM of such positions has rows that are no results: those behind the end of
// a row or an image, which the views put outside of the result.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_HALOPOSITIONS_H
#define TESSERA_COMPILER_ALGORITHMS_HALOPOSITIONS_H

#include "compiler/Algorithms/Common/ConvGeometry.h"

namespace tessera {

/// How far the last tap is from the first.
inline int64_t getReach(const ConvDim &dim) {
  return (dim.filter - 1) * dim.dilation;
}

/// Whether such a sequence has all results of a dimension.
inline bool fitsHalo(const ConvDim &dim) {
  return dim.stride == 1 && dim.pad <= getReach(dim);
}

/// Positions of one row of the input, for a forward convolution.
inline int64_t countInputPositions(const ConvDim &dim) {
  return dim.filter == 1 ? dim.out : dim.in + dim.pad;
}

/// Positions of one row of the output, for backward data: its padding is what
/// the input's leaves of the reach.
inline int64_t countOutputPositions(const ConvDim &dim) {
  return dim.filter == 1 ? dim.in : dim.out + getReach(dim) - dim.pad;
}

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_HALOPOSITIONS_H
