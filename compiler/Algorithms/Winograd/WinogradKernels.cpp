//===- WinogradKernels.cpp - The launches around the product --------------===//
//
// A thread transforms one tile of some neighbouring channels, in registers. The
// workspace has channels innermost. Where a tensor of the client has pixels
// there instead, a few channels and the tiles of a line are neighbours, so that
// lanes share the lines of both.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Winograd/WinogradKernels.h"
#include "compiler/Algorithms/Common/SplitReduction.h"
#include "compiler/Algorithms/Winograd/WinogradTransform.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace tessera;

static constexpr int64_t kThreads = 256;

/// `tensor` as an argument of another function.
static ConvTensor getTensor(func::FuncOp kernel, const ConvTensor &tensor) {
  const unsigned number = cast<BlockArgument>(tensor.memory).getArgNumber();
  return {kernel.getArgument(number), tensor.layout};
}

//===----------------------------------------------------------------------===//
// Pixels
//===----------------------------------------------------------------------===//

namespace {
/// A thread's tile and its first channel.
struct TilePoint {
  Value image, row, column, channel;
  int64_t width; ///< Its channels.
};
} // namespace

/// The channels of a thread: few enough for the registers of a tile.
static int64_t getWidth(const WinogradGeometry &g, const ConvTensor &tensor,
                        int64_t channels) {
  if (!tensor.hasChannelsInnermost())
    return 1;
  const int64_t most = g.outputs == 2 ? 4 : 2;
  return std::min(
      getAccessWidth(tensor.getType(), tensor.getChannelDim(), most),
      channels & -channels);
}

/// A thread for each tile of `channels` channels of `tensor`.
static TilePoint makeTiles(PointBuilder &p, const WinogradGeometry &g,
                           const ConvTensor &tensor, int64_t channels) {
  const int64_t rows = g.countRows(), columns = g.countColumns();
  const int64_t width = getWidth(g, tensor, channels);
  if (tensor.hasChannelsInnermost()) {
    ValueRange at =
        p.forEachPoint({g.batch, rows, columns, channels / width}, kThreads);
    return {at[0], at[1], at[2], p.mul(at[3], width), width};
  }
  constexpr int64_t kNeighbours = 16;
  const int64_t inner = std::min(channels, kNeighbours);
  ValueRange at = p.forEachPoint(
      {g.batch, llvm::divideCeilSigned(channels, inner), rows, columns, inner},
      kThreads);
  return {at[0], at[2], at[3], p.add(p.mul(at[1], inner), at[4]), 1};
}

void tessera::buildWinogradInputs(dnn::ConvOp conv, const WinogradGeometry &g,
                                  const WinogradTensors &tensors) {
  const ConvProgram program(conv);
  func::FuncOp kernel = prependKernel(conv, "_input");
  const ConvTensor source =
      getTensor(kernel, g.isForward ? program.x : program.y);
  Value inputs = reshapeArgument(
      kernel.getArgument(tensors.inputs),
      {g.batch, g.countRows(), g.countColumns(), g.countPoints(), g.reduced});
  OpBuilder b(kernel.getBody().front().getTerminator());
  PointBuilder p(b, conv.getLoc());
  const TilePoint at = makeTiles(p, g, source, g.reduced);
  const int64_t reach = g.getReach();
  PointBuilder::Values pixels;
  for (int64_t i = 0; i < reach; ++i)
    for (int64_t j = 0; j < reach; ++j) {
      Value row = p.add(p.mul(at.row, g.outputs), i - g.height.pad);
      Value column = p.add(p.mul(at.column, g.outputs), j - g.width.pad);
      Value block =
          p.loadBlock(source.memory, source.getChannelDim(), at.width,
                      source.order(at.image, at.channel, {row, column}));
      pixels.push_back(p.convert(block, b.getF32Type()));
    }
  PointBuilder::Values points =
      transformTile(p, getInputTransform(g.outputs), pixels);
  for (int64_t i = 0; i < g.countPoints(); ++i)
    p.storeBlock(points[i], inputs, 4,
                 {at.image, at.row, at.column, p.index(i), at.channel});
}

//===----------------------------------------------------------------------===//
// The filter
//===----------------------------------------------------------------------===//

void tessera::buildWinogradFilters(dnn::ConvOp conv, const WinogradGeometry &g,
                                   const WinogradTensors &tensors) {
  constexpr int64_t kWidth = 4;
  const ConvProgram program(conv);
  func::FuncOp kernel = prependKernel(conv, "_filter");
  const ConvTensor w = getTensor(kernel, program.w);
  Value filters = reshapeArgument(kernel.getArgument(tensors.filters),
                                  {g.countPoints(), g.owned, g.reduced});
  OpBuilder b(kernel.getBody().front().getTerminator());
  PointBuilder p(b, conv.getLoc());
  const int64_t dim = g.isForward ? w.getChannelDim() : w.getOuterDim();
  const int64_t width = getAccessWidth(w.getType(), dim, kWidth);
  ValueRange at = p.forEachPoint({g.owned, g.reduced / width}, kThreads);
  Value reduced = p.mul(at[1], width);
  Value outer = g.isForward ? at[0] : reduced;
  Value channel = g.isForward ? reduced : at[0];
  PointBuilder::Values taps;
  constexpr int64_t kLast = WinogradGeometry::kFilter - 1;
  for (int64_t i = 0; i <= kLast; ++i)
    for (int64_t j = 0; j <= kLast; ++j) {
      Value row = p.index(g.isForward ? i : kLast - i);
      Value column = p.index(g.isForward ? j : kLast - j);
      Value block = p.loadBlock(w.memory, dim, width,
                                w.order(outer, channel, {row, column}));
      taps.push_back(p.convert(block, b.getF32Type()));
    }
  PointBuilder::Values points =
      transformTile(p, getFilterTransform(g.outputs), taps);
  for (int64_t i = 0; i < g.countPoints(); ++i)
    p.storeBlock(points[i], filters, 2, {p.index(i), at[0], reduced});
}

//===----------------------------------------------------------------------===//
// The result
//===----------------------------------------------------------------------===//

/// Stores a tile: pixels one by one where channels are neighbours in memory,
/// else lines of them.
static void storeTile(PointBuilder &p, const ConvProgram &program,
                      const WinogradGeometry &g, const ConvTensor &result,
                      const TilePoint &at, ArrayRef<Value> pixels,
                      ValueRange arguments) {
  const bool storesLines = !result.hasChannelsInnermost();
  const int64_t dim = storesLines ? result.getSpatialDim(1) //
                                  : result.getChannelDim();
  const int64_t step = storesLines ? g.outputs : 1;
  for (int64_t i = 0; i < g.outputs; ++i)
    for (int64_t j = 0; j < g.outputs; j += step) {
      Value row = p.add(p.mul(at.row, g.outputs), i);
      Value column = p.add(p.mul(at.column, g.outputs), j);
      Value block = p.makeBlock(pixels.slice(i * g.outputs + j, step));
      emitResult(p, program, block, dim,
                 result.order(at.image, at.channel, {row, column}), arguments);
    }
}

void tessera::buildWinogradOutputs(dnn::ConvOp conv, const WinogradGeometry &g,
                                   const WinogradTensors &tensors) {
  const ConvProgram program(conv);
  func::FuncOp kernel = appendKernel(conv, "_output");
  const ConvTensor result = getTensor(kernel, program.getResult());
  Value products = reshapeArgument(
      kernel.getArgument(tensors.products),
      {g.batch, g.countRows(), g.countColumns(), g.countPoints(), g.owned});
  OpBuilder b(kernel.getBody().front().getTerminator());
  PointBuilder p(b, conv.getLoc());
  const TilePoint at = makeTiles(p, g, result, g.owned);
  PointBuilder::Values points;
  for (int64_t i = 0; i < g.countPoints(); ++i)
    points.push_back(
        p.loadBlock(products, 4, at.width,
                    {at.image, at.row, at.column, p.index(i), at.channel}));
  const PointBuilder::Values pixels =
      transformTile(p, getOutputTransform(g.outputs), points);
  storeTile(p, program, g, result, at, pixels, kernel.getArguments());
}
