//===- ImageViews.h - Images as matrices, channels by pixels ---*- C++ -*--===//
//
// A pointwise convolution with channels first needs no transposition: each
// image is a matrix of channels by pixels, and each direction is a product of
// such matrices and the filter, one for each image, or, of backward weights,
// one whose reduction walks all images.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_IMAGEVIEWS_H
#define TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_IMAGEVIEWS_H

#include "compiler/Algorithms/ImplicitGemm/GemmViews.h"

namespace tessera {

/// Whether `conv` is a product of the matrices that its images are. Its result
/// has channels as rows, along which no epilogue reads tensors.
bool hasImageMatrices(dnn::ConvOp conv, const ConvGeometry &geometry);

/// The views of such a convolution at the insertion point of `b`. The tensors,
/// which are arguments, become [batch, channels, pixels] and [outputs, inputs].
/// `splits` of backward weights are runs of the pipeline's steps.
GemmViews viewImages(mlir::OpBuilder &b, dnn::ConvOp conv,
                     const ConvGeometry &geometry, int64_t splits);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_IMAGEVIEWS_H
