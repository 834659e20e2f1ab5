//===- WinogradGeometry.cpp - The tiles of a 3x3 convolution --------------===//

#include "compiler/Algorithms/Winograd/WinogradGeometry.h"
#include "compiler/Algorithms/Tma/TmaModel.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace tessera;

/// How `dim` is read if y is read in place of x.
static ConvDim reverse(ConvDim dim) {
  std::swap(dim.in, dim.out);
  dim.pad = WinogradGeometry::kFilter - 1 - dim.pad;
  return dim;
}

WinogradGeometry::WinogradGeometry(const ConvProblem &problem, int64_t outputs)
    : isForward(problem.direction == Direction::Forward), outputs(outputs),
      batch(problem.batch),
      reduced(isForward ? problem.inChannels : problem.outChannels),
      owned(isForward ? problem.outChannels : problem.inChannels) {
  const auto [depth, rows, columns] = getConvDims(problem);
  height = isForward ? rows : reverse(rows);
  width = isForward ? columns : reverse(columns);
}

WinogradGeometry::WinogradGeometry(dnn::ConvOp conv, int64_t outputs)
    : isForward(conv.getDirection() == dnn::ConvDirection::Forward),
      outputs(outputs) {
  const ConvGeometry g(conv);
  batch = g.batch;
  reduced = isForward ? g.inChannels : g.outChannels;
  owned = isForward ? g.outChannels : g.inChannels;
  height = isForward ? g.dims[0] : reverse(g.dims[0]);
  width = isForward ? g.dims[1] : reverse(g.dims[1]);
}

int64_t WinogradGeometry::countRows() const {
  return llvm::divideCeilSigned(height.out, outputs);
}

int64_t WinogradGeometry::countColumns() const {
  return llvm::divideCeilSigned(width.out, outputs);
}

ConvProblem WinogradGeometry::getProduct() const {
  ConvProblem product;
  product.dataType = DataType::F32;
  product.xLayout = product.wLayout = product.yLayout = Layout::NHWC;
  product.batch = countTiles();
  product.groups = countPoints();
  product.inChannels = countPoints() * reduced;
  product.outChannels = countPoints() * owned;
  return product;
}

std::string WinogradGeometry::findObstacle() const {
  // Rounding errors of a tile of 4 by 4 come from pixels outside of a window
  // too, and must not exceed those of its own sum: windows are short neither of
  // channels nor, beside padding, of pixels. They grow with the root of the
  // number of channels (docs/design/0022-winograd.md).
  constexpr int64_t kLeastChannels = 32, kMostChannels = 1024;
  const int64_t most = outputs == 2 ? kFilter - 1 : 1;
  for (const ConvDim &dim : {height, width}) {
    const int64_t after = dim.out + kFilter - 1 - dim.in - dim.pad;
    if (std::min(dim.pad, after) < 0 || std::max(dim.pad, after) > most)
      return "reads no padding wider than " + std::to_string(most);
  }
  if (outputs > 2 && (reduced < kLeastChannels || reduced > kMostChannels))
    return "reduces " + std::to_string(kLeastChannels) + " to " +
           std::to_string(kMostChannels) + " channels";
  constexpr int64_t kMaxBytes = (int64_t(1) << 31) - 4096;
  if (countBytes() > kMaxBytes)
    return "wants a workspace below 2 GiB";
  return "";
}

/// What is the same of a problem and of an op.
static std::string findObstacle(bool isWeights, int64_t groups,
                                ArrayRef<ConvDim> dims) {
  if (isWeights)
    return "computes no gradients of filters";
  const bool isTaken = llvm::all_of(dims, [](const ConvDim &dim) {
    return dim.filter == WinogradGeometry::kFilter && dim.stride == 1 &&
           dim.dilation == 1;
  });
  if (dims.size() != 2 || groups != 1 || !isTaken)
    return "computes filters of 3x3 without strides, dilations and groups";
  return "";
}

std::string tessera::findWinogradObstacle(const ConvProblem &problem) {
  const std::array<ConvDim, 3> dims = getConvDims(problem);
  return ::findObstacle(problem.direction == Direction::BackwardWeights,
                        problem.groups,
                        ArrayRef(dims).drop_front(problem.hasDepth() ? 0 : 1));
}

std::string tessera::findWinogradObstacle(dnn::ConvOp conv) {
  const ConvGeometry g(conv);
  return ::findObstacle(conv.getDirection() ==
                            dnn::ConvDirection::BackwardWeights,
                        g.groups, g.dims);
}
