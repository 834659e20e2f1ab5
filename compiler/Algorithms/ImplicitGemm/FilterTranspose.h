//===- FilterTranspose.h - A filter with its outputs innermost --*- C++ -*-===//
//
// Backward data reduces over output channels. Some matrix instructions, such as
// those of tf32, read operands only if the reduction is contiguous in memory.
// For these a launch before that of the convolution transposes the filter.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_FILTERTRANSPOSE_H
#define TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_FILTERTRANSPOSE_H

#include "compiler/Algorithms/Common/ConvProgram.h"

namespace tessera {

/// Appends to the function of `conv`, which must have no other workspace, one
/// for the filter as [input channels of all groups, taps, output channels of a
/// group], and prepends a kernel that fills it. Returns the workspace.
mlir::Value buildTransposedFilter(dnn::ConvOp conv);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_FILTERTRANSPOSE_H
