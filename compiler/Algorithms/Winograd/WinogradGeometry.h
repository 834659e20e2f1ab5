//===- WinogradGeometry.h - The tiles of a 3x3 convolution -----*- C++ -*--===//

#ifndef TESSERA_COMPILER_ALGORITHMS_WINOGRAD_WINOGRADGEOMETRY_H
#define TESSERA_COMPILER_ALGORITHMS_WINOGRAD_WINOGRADGEOMETRY_H

#include "compiler/Algorithms/Common/ConvGeometry.h"
#include "runtime/Base/ConvProblem.h"

#include <string>

namespace tessera {

/// Forward and backward data alike: a tensor is read through a window of 3x3
/// and its channels are reduced. Backward data reads y through the filter
/// turned by 180 degrees. Backward weights reads x as forward does, and its
/// products are what is reduced. Plain data.
struct WinogradGeometry {
  static constexpr int64_t kFilter = 3;
  /// The largest workspace, with some headroom for alignment.
  static constexpr int64_t kMaxBytes = (int64_t(1) << 31) - 4096;

  dnn::ConvDirection direction;
  int64_t outputs; ///< Pixels of a tile in each dimension: 2 or 4.
  int64_t batch;
  int64_t reduced, owned; ///< Channels that are read; the other ones.
  ConvDim height, width;  ///< `in` is read through the window.

  WinogradGeometry(const ConvProblem &problem, int64_t outputs);
  WinogradGeometry(dnn::ConvOp conv, int64_t outputs);

  bool isWeights() const {
    return direction == dnn::ConvDirection::BackwardWeights;
  }
  /// Whether y is read, and x the result.
  bool isReversed() const {
    return direction == dnn::ConvDirection::BackwardData;
  }

  /// Pixels that a tile reads in each dimension.
  int64_t getReach() const { return outputs + kFilter - 1; }
  /// Products of a tile for each pair of channels.
  int64_t countPoints() const { return getReach() * getReach(); }
  /// Tiles of an image.
  int64_t countRows() const;
  int64_t countColumns() const;
  int64_t countTiles() const { return batch * countRows() * countColumns(); }

  // Elements of the workspace's tensors: transformed pixels, the transformed
  // filter, and their products.
  int64_t countInputs() const { return countTiles() * countPoints() * reduced; }
  int64_t countFilters() const { return countPoints() * owned * reduced; }
  int64_t countProducts() const { return countTiles() * countPoints() * owned; }

  /// Bytes of the workspace, which is f32, without gaps between its tensors.
  int64_t countBytes() const {
    return (countInputs() + countFilters() + countProducts()) * 4;
  }

  /// The same convolution as `countPoints()` groups of 1x1, whose pixels are
  /// the tiles. Of backward weights, the same gradient.
  ConvProblem getProduct() const;

  /// Why tiles of this size are not computed; empty if they are.
  std::string findObstacle() const;

private:
  void orient();
};

/// Why `problem` or `conv` is no convolution of the kind above; empty if it is.
std::string findWinogradObstacle(const ConvProblem &problem);
std::string findWinogradObstacle(dnn::ConvOp conv);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_WINOGRAD_WINOGRADGEOMETRY_H
