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

/// The pixels of a tile of `size` by `size` that begins `padH` rows and `padW`
/// columns before the tile's outputs, as f32.
static PointBuilder::Values loadTile(PointBuilder &p, const WinogradGeometry &g,
                                     const ConvTensor &tensor,
                                     const TilePoint &at, int64_t size,
                                     int64_t padH, int64_t padW) {
  PointBuilder::Values pixels;
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j < size; ++j) {
      Value row = p.add(p.mul(at.row, g.outputs), i - padH);
      Value column = p.add(p.mul(at.column, g.outputs), j - padW);
      Value block =
          p.loadBlock(tensor.memory, tensor.getChannelDim(), at.width,
                      tensor.order(at.image, at.channel, {row, column}));
      pixels.push_back(p.convert(block, p.b.getF32Type()));
    }
  return pixels;
}

/// Fills `kernel`: tiles of `tensor` are transformed into the argument
/// `number`.
static void fillTransform(func::FuncOp kernel, const WinogradGeometry &g,
                          const ConvTensor &original, unsigned number,
                          int64_t channels, const TransformMatrix &matrix,
                          int64_t padH, int64_t padW) {
  const ConvTensor tensor = getTensor(kernel, original);
  Value points = reshapeArgument(
      kernel.getArgument(number),
      {g.batch, g.countRows(), g.countColumns(), g.countPoints(), channels});
  OpBuilder b(kernel.getBody().front().getTerminator());
  PointBuilder p(b, kernel.getLoc());
  const TilePoint at = makeTiles(p, g, tensor, channels);
  const PointBuilder::Values values = transformTile(
      p, matrix, loadTile(p, g, tensor, at, matrix.columns, padH, padW));
  for (int64_t i = 0; i < g.countPoints(); ++i)
    p.storeBlock(values[i], points, 4,
                 {at.image, at.row, at.column, p.index(i), at.channel});
}

void tessera::buildWinogradInputs(dnn::ConvOp conv, const WinogradGeometry &g,
                                  const WinogradTensors &tensors) {
  const ConvProgram program(conv);
  fillTransform(prependKernel(conv, "_input"), g,
                g.isReversed() ? program.y : program.x, tensors.inputs,
                g.reduced, getInputTransform(g.outputs), g.height.pad,
                g.width.pad);
}

void tessera::buildWinogradGradients(dnn::ConvOp conv,
                                     const WinogradGeometry &g,
                                     const WinogradTensors &tensors) {
  fillTransform(prependKernel(conv, "_gradient"), g, ConvProgram(conv).y,
                tensors.products, g.owned,
                getOutputTransform(g.outputs).transpose(), 0, 0);
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
  const int64_t dim = g.isReversed() ? w.getOuterDim() : w.getChannelDim();
  const int64_t width = getAccessWidth(w.getType(), dim, kWidth);
  ValueRange at = p.forEachPoint({g.owned, g.reduced / width}, kThreads);
  Value reduced = p.mul(at[1], width);
  Value outer = g.isReversed() ? reduced : at[0];
  Value channel = g.isReversed() ? at[0] : reduced;
  PointBuilder::Values taps;
  constexpr int64_t kLast = WinogradGeometry::kFilter - 1;
  for (int64_t i = 0; i <= kLast; ++i)
    for (int64_t j = 0; j <= kLast; ++j) {
      Value row = p.index(g.isReversed() ? kLast - i : i);
      Value column = p.index(g.isReversed() ? kLast - j : j);
      Value block = p.loadBlock(w.memory, dim, width,
                                w.order(outer, channel, {row, column}));
      taps.push_back(p.convert(block, b.getF32Type()));
    }
  PointBuilder::Values points =
      transformTile(p, getFilterTransform(g.outputs), taps);
  for (int64_t i = 0; i < g.countPoints(); ++i)
    p.storeBlock(points[i], filters, 2, {p.index(i), at[0], reduced});
}

void tessera::buildWinogradWeights(dnn::ConvOp conv, const WinogradGeometry &g,
                                   const WinogradTensors &tensors) {
  constexpr int64_t kWidth = 4;
  const ConvProgram program(conv);
  func::FuncOp kernel = appendKernel(conv, "_filter");
  const ConvTensor w = getTensor(kernel, program.w);
  Value filters = reshapeArgument(kernel.getArgument(tensors.filters),
                                  {g.countPoints(), g.owned, g.reduced});
  OpBuilder b(kernel.getBody().front().getTerminator());
  PointBuilder p(b, conv.getLoc());
  const int64_t width = getAccessWidth(w.getType(), w.getChannelDim(), kWidth);
  ValueRange at = p.forEachPoint({g.owned, g.reduced / width}, kThreads);
  Value channel = p.mul(at[1], width);
  PointBuilder::Values points;
  for (int64_t i = 0; i < g.countPoints(); ++i)
    points.push_back(
        p.loadBlock(filters, 2, width, {p.index(i), at[0], channel}));
  const PointBuilder::Values taps =
      transformTile(p, getFilterTransform(g.outputs).transpose(), points);
  for (int64_t i = 0; i < WinogradGeometry::kFilter; ++i)
    for (int64_t j = 0; j < WinogradGeometry::kFilter; ++j)
      emitResult(p, program, taps[i * WinogradGeometry::kFilter + j],
                 w.getChannelDim(),
                 w.order(at[0], channel, {p.index(i), p.index(j)}),
                 kernel.getArguments());
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
