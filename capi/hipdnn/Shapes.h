//===- Shapes.h - Lengths that come with an execution ----------*- C++ -*--===//
//
// A graph may say that its lengths are the largest ones, and an execution then
// gives tensors of the client others. What virtual tensors get follows from the
// nodes that write them.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_HIPDNN_SHAPES_H
#define TESSERA_CAPI_HIPDNN_SHAPES_H

#include "capi/hipdnn/Graph.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::hipdnn {

/// What an execution says of one tensor.
struct Shape {
  int64_t uid = 0;
  std::vector<int64_t> lengths, strides;

  friend bool operator==(const Shape &, const Shape &) = default;
};

/// Gives tensors these shapes, and virtual ones those that follow.
/// InvalidArgument if a shape is not one that the graph allows; NotSupported if
/// the lengths of a virtual tensor do not follow from those of the operands.
Status setShapes(Graph &graph, std::span<const Shape> shapes);

} // namespace tessera::hipdnn

#endif // TESSERA_CAPI_HIPDNN_SHAPES_H
