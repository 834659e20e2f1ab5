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

static dnn::ConvDirection getDirection(Direction direction) {
  return direction == Direction::Forward ? dnn::ConvDirection::Forward
         : direction == Direction::BackwardData
             ? dnn::ConvDirection::BackwardData
             : dnn::ConvDirection::BackwardWeights;
}

WinogradGeometry::WinogradGeometry(const ConvProblem &problem, int64_t outputs)
    : direction(getDirection(problem.direction)), outputs(outputs),
      batch(problem.batch), reduced(problem.inChannels),
      owned(problem.outChannels), height(getConvDims(problem)[1]),
      width(getConvDims(problem)[2]) {
  orient();
}

WinogradGeometry::WinogradGeometry(dnn::ConvOp conv, int64_t outputs)
    : direction(conv.getDirection()), outputs(outputs) {
  const ConvGeometry g(conv);
  batch = g.batch;
  reduced = g.inChannels;
  owned = g.outChannels;
  height = g.dims[0];
  width = g.dims[1];
  orient();
}

/// Numbers are those of forward before.
void WinogradGeometry::orient() {
  if (!isReversed())
    return;
  std::swap(reduced, owned);
  height = reverse(height);
  width = reverse(width);
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
  if (isWeights())
    product.direction = Direction::BackwardWeights;
  product.xLayout = product.wLayout = product.yLayout = Layout::NHWC;
  product.batch = countTiles();
  product.groups = countPoints();
  product.inChannels = countPoints() * reduced;
  product.outChannels = countPoints() * owned;
  return product;
}

// Rounding errors of a tile of 4 by 4 come from pixels outside of a window too,
// and must not exceed those of its own sum: windows are short neither of
// channels nor, beside padding, of pixels. They grow with the root of the
// number of terms (docs/design/0022-winograd.md).
std::string WinogradGeometry::findObstacle() const {
  const bool isLarge = outputs > 2;
  const int64_t mostPadding = isLarge && !isWeights() ? 1 : kFilter - 1;
  for (const ConvDim &dim : {height, width}) {
    const int64_t after = dim.out + kFilter - 1 - dim.in - dim.pad;
    if (std::min(dim.pad, after) < 0 || std::max(dim.pad, after) > mostPadding)
      return "reads no padding wider than " + std::to_string(mostPadding);
  }
  auto isBetween = [](int64_t value, int64_t least, int64_t most) {
    return least <= value && value <= most;
  };
  if (isWeights() &&
      !isBetween(batch * height.out * width.out, isLarge ? 128 : 32,
                 isLarge ? 32768 : INT64_MAX))
    return "reduces at least 32 pixels, and 128 to 32768 with tiles of 4 by 4";
  if (isLarge && !isWeights() && !isBetween(reduced, 48, 1024))
    return "reduces 48 to 1024 channels with tiles of 4 by 4";
  if (countBytes() > kMaxBytes)
    return "wants a workspace below 2 GiB";
  return "";
}

/// What is the same of a problem and of an op.
static std::string findObstacle(int64_t groups, ArrayRef<ConvDim> dims) {
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
  return ::findObstacle(problem.groups,
                        ArrayRef(dims).drop_front(problem.hasDepth() ? 0 : 1));
}

std::string tessera::findWinogradObstacle(dnn::ConvOp conv) {
  const ConvGeometry g(conv);
  return ::findObstacle(g.groups, g.dims);
}
