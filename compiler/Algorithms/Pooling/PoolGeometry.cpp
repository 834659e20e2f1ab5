//===- PoolGeometry.cpp - The shape of a pooling and of its tensors -------===//

#include "compiler/Algorithms/Pooling/PoolGeometry.h"
#include "compiler/Frontend/PoolFrontend.h"
#include "dialect/IR/TensorMemory.h"

#include <algorithm>
#include <functional>
#include <numeric>

using namespace mlir;
using namespace tessera;

bool PoolTensorShape::areNeighbours(PoolDim dim, int64_t length) const {
  if (strides[dim] != 1 || sizes[dim] == 1 || sizes[dim] == kUnknownSize)
    return false;
  for (int other = kBatch; other <= kColumn; ++other)
    if ((other == dim ? sizes[dim] : strides[other]) % length != 0)
      return false;
  return true;
}

int64_t PoolTensorShape::getVectorLength(PoolDim dim) const {
  constexpr int64_t kMaxBytes = 16;
  int64_t length = kMaxBytes / elementBytes;
  while (length > 1 && !areNeighbours(dim, length))
    length /= 2;
  return length;
}

bool PoolTensorShape::hasChannelsLast() const {
  return sizes[kChannel] > 1 &&
         (strides[kChannel] < strides[kColumn] || sizes[kColumn] == 1);
}

static int64_t getProduct(ArrayRef<int64_t> values) {
  return std::accumulate(values.begin(), values.end(), int64_t(1),
                         std::multiplies<>());
}

int64_t PoolTensorShape::getElements() const { return getProduct(sizes); }

double PoolGeometry::getWindowSize() const {
  double size = 1;
  for (int64_t length : dims.window)
    size *= static_cast<double>(length);
  return size;
}

bool PoolGeometry::isClipped() const {
  return isClipped(0) || isClipped(1) || isClipped(2);
}

bool PoolGeometry::isClipped(int dim) const {
  return dims.pads[dim] > 0 || dims.in[dim] == kUnknownSize ||
         (dims.out[dim] - 1) * dims.strides[dim] + dims.window[dim] >
             dims.in[dim];
}

bool PoolGeometry::countsElements() const {
  return mode == dnn::PoolMode::Average && isClipped();
}

int64_t tessera::getLinearIndex(const std::array<int64_t, 3> &at,
                                const std::array<int64_t, 3> &sizes) {
  return (at[0] * sizes[1] + at[1]) * sizes[2] + at[2];
}

bool tessera::isInBounds(const std::array<int64_t, 3> &at,
                         const std::array<int64_t, 3> &sizes) {
  for (int dim = 0; dim < 3; ++dim)
    if (at[dim] < 0 || at[dim] >= sizes[dim])
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// From the op
//===----------------------------------------------------------------------===//

/// Sizes and strides of a memref whose dimensions are in the order of `layout`.
/// A missing depth has one element and no stride.
static PoolTensorShape getTensorShape(Value operand, dnn::Layout layout) {
  auto type = cast<MemRefType>(operand.getType());
  const SmallVector<int64_t> strides = dnn::getKnownStrides(type);
  SmallVector<int64_t> order(type.getRank());
  std::iota(order.begin(), order.end(), 0);
  if (layout == dnn::Layout::NHWC) // Channels come second in PoolDim.
    std::rotate(order.begin() + 1, order.end() - 1, order.end());
  PoolTensorShape shape;
  shape.elementBytes = type.getElementTypeBitWidth() / 8;
  for (int dim = kBatch, index = 0; dim <= kColumn; ++dim) {
    bool isMissing = dim == kDepth && type.getRank() == 4;
    shape.sizes[dim] = isMissing ? 1 : type.getDimSize(order[index]);
    shape.strides[dim] = isMissing ? 0 : strides[order[index]];
    index += !isMissing;
  }
  return shape;
}

PoolGeometry::PoolGeometry(dnn::PoolOp op)
    : isForward(op.getDirection() == dnn::PoolDirection::Forward),
      mode(op.getMode()), dims(op.getDims()),
      x(getTensorShape(op.getX(), op.getXLayout())),
      y(getTensorShape(op.getY(), op.getYLayout())), indices{} {
  if (!op.getIndices())
    return;
  indices = getTensorShape(op.getIndices(), op.getYLayout());
  indexMode = *op.getIndexMode();
}

//===----------------------------------------------------------------------===//
// From a problem
//===----------------------------------------------------------------------===//

static PoolTensorShape getTensorShape(const TensorLengths &lengths,
                                      Layout layout, Strides strides,
                                      int64_t elementBytes) {
  if (layout != Layout::Strided)
    strides = getPackedStrides(layout, lengths);
  PoolTensorShape shape = {
      {lengths.n, lengths.c, lengths.d, lengths.h, lengths.w},
      {strides.n, strides.c, strides.d, strides.h, strides.w},
      elementBytes};
  // PoolFrontend writes the same strides into the memref.
  if (layout == Layout::Strided)
    for (auto [size, stride] : llvm::zip(shape.sizes, shape.strides))
      stride = size == 1 ? kNoStride : stride;
  return shape;
}

PoolGeometry::PoolGeometry(const PoolProblem &problem)
    : isForward(problem.direction == Direction::Forward),
      mode(getPoolMode(problem.mode)), indices{},
      indexMode(getIndexMode(problem.indexMode)) {
  const Spatial out = problem.getOutput();
  const Pads after = problem.getPadAfter();
  const auto &[in, window, stride] =
      std::tie(problem.in, problem.window, problem.stride);
  dims = {.n = problem.batch,
          .c = problem.channels,
          .in = {in.d, in.h, in.w},
          .out = {out.d, out.h, out.w},
          .window = {window.d, window.h, window.w},
          .pads = {problem.pad.d, problem.pad.h, problem.pad.w},
          .padsAfter = {after.d, after.h, after.w},
          .strides = {stride.d, stride.h, stride.w}};
  int64_t bytes = getByteSize(problem.dataType);
  x = getTensorShape(problem.getInputLengths(), problem.xLayout,
                     problem.xStrides, bytes);
  y = getTensorShape(problem.getOutputLengths(), problem.yLayout,
                     problem.yStrides, bytes);
  if (problem.indexType != tessera::IndexType::None)
    indices = getTensorShape(problem.getOutputLengths(),
                             problem.yLayout == Layout::NHWC ? Layout::NHWC
                                                             : Layout::NCHW,
                             {}, getByteSize(problem.indexType));
}
