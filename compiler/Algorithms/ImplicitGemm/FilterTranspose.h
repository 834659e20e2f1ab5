//===- FilterTranspose.h - A filter with its outputs together --*- C++ -*-===//
//
// Backward data adds over output channels. Where a matrix instruction reads its
// factors only with the reduction together in memory, as that of tf32 does, a
// launch before the convolution's writes the filter so.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_FILTERTRANSPOSE_H
#define TESSERA_COMPILER_ALGORITHMS_FILTERTRANSPOSE_H

#include "compiler/Algorithms/Common/ConvProgram.h"

namespace tessera {

/// Gives the function of `conv`, which has no other workspace, one for the
/// filter as [input channels of all groups, taps, output channels of a group],
/// and puts a kernel before it that fills it. Returns the workspace.
mlir::Value buildTransposedFilter(dnn::ConvOp conv);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_FILTERTRANSPOSE_H
