//===- WinogradKernels.h - The launches around the product -----*- C++ -*--===//

#ifndef TESSERA_COMPILER_ALGORITHMS_WINOGRAD_WINOGRADKERNELS_H
#define TESSERA_COMPILER_ALGORITHMS_WINOGRAD_WINOGRADKERNELS_H

#include "compiler/Algorithms/Winograd/WinogradGeometry.h"

namespace tessera {

/// Arguments of the function of a convolution which are the workspace, one for
/// each packed tensor of f32 in it.
struct WinogradTensors {
  unsigned inputs;   ///< [tiles, 1, 1, points x reduced]
  unsigned filters;  ///< [points x owned, 1, 1, reduced]
  unsigned products; ///< [tiles, 1, 1, points x owned]
};

/// Prepends the launches that transform the tensor that `conv` reads, and its
/// filter.
void buildWinogradInputs(dnn::ConvOp conv, const WinogradGeometry &geometry,
                         const WinogradTensors &tensors);
void buildWinogradFilters(dnn::ConvOp conv, const WinogradGeometry &geometry,
                          const WinogradTensors &tensors);

/// Prepends the launch that transforms y for backward weights.
void buildWinogradGradients(dnn::ConvOp conv, const WinogradGeometry &geometry,
                            const WinogradTensors &tensors);

/// Append the launch that makes the result of `conv`, with its epilogue: of
/// forward and backward data, and of backward weights.
void buildWinogradWeights(dnn::ConvOp conv, const WinogradGeometry &geometry,
                          const WinogradTensors &tensors);
void buildWinogradOutputs(dnn::ConvOp conv, const WinogradGeometry &geometry,
                          const WinogradTensors &tensors);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_WINOGRAD_WINOGRADKERNELS_H
