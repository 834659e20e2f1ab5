//===- Window.h - The window of a convolution or a pooling -----*- C++ -*--===//

#ifndef TESSERA_CAPI_ONNXRUNTIME_WINDOW_H
#define TESSERA_CAPI_ONNXRUNTIME_WINDOW_H

#include "capi/onnxruntime/Model.h"

namespace tessera::onnx {

/// One number of each kind for every spatial dimension.
struct Window {
  Shape filter, stride, dilation;
  Shape before, after; ///< Padding.

  /// From the first to the last element that it covers.
  int64_t getExtent(size_t dim) const {
    return 1 + dilation[dim] * (filter[dim] - 1);
  }

  /// The lengths of the result for images of `in`. If lengths are rounded up,
  /// the padding behind the image grows until the last window is inside.
  ErrorOr<Shape> getResult(const Shape &in, bool roundsUp);

  /// The same of a transposed convolution.
  ErrorOr<Shape> getTransposedResult(const Shape &in, const Shape &extra) const;
};

/// A list of a node, or `count` times `otherwise` where it has none.
ErrorOr<Shape> readList(const Node &node, const char *key, size_t count,
                        int64_t otherwise);

/// Reads a node's attributes; `in` are the lengths of an image, for padding by
/// rule. Such padding is not supported for transposed convolutions.
ErrorOr<Window> readWindow(const Node &node, const Shape &filter,
                           const Shape &in, bool isTransposed);

} // namespace tessera::onnx

#endif // TESSERA_CAPI_ONNXRUNTIME_WINDOW_H
