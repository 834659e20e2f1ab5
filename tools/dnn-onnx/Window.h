//===- Window.h - The window of a convolution or a pooling -----*- C++ -*--===//
//
// ONNX allows padding that differs between the ends, padding by rule, and
// rounding up. Problems round down, and those that MIOpen's descriptors can say
// have the same padding at both ends. This translates where an equivalent
// problem exists.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_DNN_ONNX_WINDOW_H
#define TESSERA_TOOLS_DNN_ONNX_WINDOW_H

#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/ProblemTypes.h"

#include "onnx/onnx_pb.h"

#include <vector>

namespace tessera::model {

/// An attribute of a node, or its default.
int64_t getInt(const onnx::NodeProto &node, const std::string &name,
               int64_t otherwise);
float getFloat(const onnx::NodeProto &node, const std::string &name,
               float otherwise);
std::string getString(const onnx::NodeProto &node, const std::string &name,
                      const std::string &otherwise);

/// One spatial dimension, in ONNX's terms. Every number has 32 bits.
struct Axis {
  int64_t filter = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t padBegin = 0;
  int64_t padEnd = 0;

  /// The number of elements from the first to the last one that a window
  /// covers.
  int64_t getExtent() const { return 1 + dilation * (filter - 1); }
};

/// Reads the attributes of a node. `filter` is the window if the node does not
/// say it (a convolution's is that of its filter), `in` and `out` are the
/// spatial lengths of a convolution's input and output, for padding by rule.
ErrorOr<std::vector<Axis>> readWindow(const onnx::NodeProto &node,
                                      std::vector<int64_t> filter,
                                      const std::vector<int64_t> &in,
                                      const std::vector<int64_t> &out);

/// An input length and paddings for which our rule gives the windows of a node.
struct FittedAxis {
  int64_t in = 1;
  int64_t pad = 0;
  int64_t extraPad = 0; ///< What the padding of the end is longer.

  /// The same for a client of MIOpen's descriptors, which have the same padding
  /// at both ends: it adds the difference to the input (or removes it from the
  /// result of a transposed convolution), which is longer by that.
  FittedAxis growInput() const;
};

/// Fits the rule to `out` windows on `in` elements, with equal padding if that
/// gives the same windows. NotSupported if no padding at the end does.
ErrorOr<FittedAxis> fit(const Axis &axis, int64_t in, int64_t out,
                        bool roundsUp);

/// Converts one number for each axis, in the order [depth,] height, width; a
/// single one is the width.
template <int64_t neutral>
Lengths<neutral> toLengths(const std::vector<int64_t> &numbers) {
  Lengths<neutral> lengths;
  const size_t size = numbers.size();
  lengths.w = numbers[size - 1];
  lengths.h = size > 1 ? numbers[size - 2] : neutral;
  lengths.d = size > 2 ? numbers[size - 3] : neutral;
  return lengths;
}

} // namespace tessera::model

#endif // TESSERA_TOOLS_DNN_ONNX_WINDOW_H
