//===- ImplicitGemm.cpp - A convolution as a tiled GEMM -------------------===//
//
// The coordinate maps are the whole of it: after it nothing knows that
// the GEMM was a convolution.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/ImplicitGemm.h"
#include "compiler/Algorithms/GemmTile.h"
#include "dialect/IR/Dnn.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tessera;

namespace {
/// GEMM coordinates of a convolution. The iteration dimensions are g; n, p, q
/// (image, output row, output column) or the output channel; and the reduction
/// r, s, c (filter row, filter column, channel) in the chosen order.
struct ConvSpaces {
  dnn::ConvDims dims;
  bool channelsFirst; ///< Reduction c, r, s instead of r, s, c.

  SmallVector<int64_t> getPixels() const { return {dims.n, dims.ho, dims.wo}; }
  SmallVector<int64_t> getReduction() const {
    int64_t c = dims.c / dims.groups;
    if (channelsFirst)
      return {c, dims.y, dims.x};
    return {dims.y, dims.x, c};
  }
};
} // namespace

/// Channels innermost lets the loop walk taps outside and channels inside;
/// where two steps do not divide the channels, the order of the filter in
/// memory wins, so that it is read in wide loads.
static bool wantsChannelsFirst(dnn::ConvOp conv, int64_t step) {
  dnn::ConvDims d = conv.getDims();
  return conv.getXLayout() == dnn::Layout::NCHW &&
         conv.getWLayout() == dnn::Layout::NCHW &&
         d.c / d.groups % (2 * step) != 0;
}

/// A tensor's coordinates in the order of its layout.
static AffineMap orderCoords(unsigned numDims, dnn::Layout layout,
                             AffineExpr outer, AffineExpr channel,
                             AffineExpr row, AffineExpr column) {
  MLIRContext *context = outer.getContext();
  if (layout == dnn::Layout::NCHW)
    return AffineMap::get(numDims, 0, {outer, channel, row, column}, context);
  return AffineMap::get(numDims, 0, {outer, row, column, channel}, context);
}

static dnn::ViewOp createView(OpBuilder &b, Location loc, Value source,
                              ArrayRef<int64_t> row, ArrayRef<int64_t> column,
                              int64_t groups, AffineMap map) {
  SmallVector<int64_t> sizes = {groups};
  llvm::append_range(sizes, row);
  llvm::append_range(sizes, column);
  int64_t ranks[] = {1, static_cast<int64_t>(row.size()),
                     static_cast<int64_t>(column.size())};
  auto coords = dnn::CoordsAttr::get(b.getContext(), sizes, ranks, map);
  int64_t shape[] = {coords.getExtent(0), coords.getExtent(1),
                     coords.getExtent(2)};
  auto type =
      dnn::ViewType::get(b.getContext(), shape,
                         cast<MemRefType>(source.getType()).getElementType());
  return dnn::ViewOp::create(b, loc, type, source, coords);
}

/// x as [group, pixel, tap x channel]: stride and dilation are factors,
/// padding a negative constant, a group an offset of the channel.
static dnn::ViewOp viewInput(OpBuilder &b, dnn::ConvOp conv,
                             const ConvSpaces &s) {
  const dnn::ConvDims &d = s.dims;
  SmallVector<AffineExpr> e(7);
  for (auto [i, expr] : llvm::enumerate(e))
    expr = b.getAffineDimExpr(i);
  AffineExpr r = e[s.channelsFirst ? 5 : 4], t = e[s.channelsFirst ? 6 : 5],
             c = e[s.channelsFirst ? 4 : 6];
  AffineMap map =
      orderCoords(7, conv.getXLayout(), e[1], e[0] * (d.c / d.groups) + c,
                  e[2] * d.strideH + r * d.dilationH - d.padH,
                  e[3] * d.strideW + t * d.dilationW - d.padW);
  return createView(b, conv.getLoc(), conv.getX(), s.getPixels(),
                    s.getReduction(), d.groups, map);
}

/// w as [group, output channel of the group, tap x channel].
static dnn::ViewOp viewFilter(OpBuilder &b, dnn::ConvOp conv,
                              const ConvSpaces &s) {
  const dnn::ConvDims &d = s.dims;
  SmallVector<AffineExpr> e(5);
  for (auto [i, expr] : llvm::enumerate(e))
    expr = b.getAffineDimExpr(i);
  AffineExpr r = e[s.channelsFirst ? 3 : 2], t = e[s.channelsFirst ? 4 : 3],
             c = e[s.channelsFirst ? 2 : 4];
  int64_t perGroup = d.k / d.groups;
  AffineMap map =
      orderCoords(5, conv.getWLayout(), e[0] * perGroup + e[1], c, r, t);
  return createView(b, conv.getLoc(), conv.getW(), {perGroup}, s.getReduction(),
                    d.groups, map);
}

/// y as [group, pixel, output channel of the group].
static dnn::ViewOp viewOutput(OpBuilder &b, dnn::ConvOp conv,
                              const ConvSpaces &s) {
  const dnn::ConvDims &d = s.dims;
  SmallVector<AffineExpr> e(5);
  for (auto [i, expr] : llvm::enumerate(e))
    expr = b.getAffineDimExpr(i);
  int64_t perGroup = d.k / d.groups;
  AffineMap map = orderCoords(5, conv.getYLayout(), e[1],
                              e[0] * perGroup + e[4], e[2], e[3]);
  return createView(b, conv.getLoc(), conv.getY(), s.getPixels(), {perGroup},
                    d.groups, map);
}

/// The pipeline: load both tiles of a step, multiply them.
static Value createPipeline(OpBuilder &b, dnn::ConvOp conv,
                            const ConvSpaces &spaces, const GemmTile &tile,
                            dnn::ViewOp input, dnn::ViewOp filter,
                            ValueRange position) {
  MLIRContext *context = b.getContext();
  Location loc = conv.getLoc();
  Type element = conv.getElementType();
  auto makeType = [&](int64_t rows, int64_t columns, Type type) {
    return dnn::TileType::get(context, {rows, columns}, type);
  };
  Type tileM = makeType(tile.m, tile.k, element);
  Type tileN = makeType(tile.n, tile.k, element);
  Type tileD = makeType(tile.m, tile.n, b.getF32Type());
  auto pipeline = dnn::PipelineOp::create(
      b, loc, tileD, spaces.getReduction(), tile.k, tile.buffers,
      dnn::CopyKind::Registers, dnn::SyncKind::Barrier,
      dnn::ScheduleKind::Pinned, dnn::RolesAttr());

  OpBuilder::InsertionGuard guard(b);
  Block *load = b.createBlock(&pipeline.getLoad(), {}, b.getIndexType(), loc);
  Value k = load->getArgument(0);
  Value a = dnn::TileLoadOp::create(b, loc, tileM, input, position[0],
                                    position[1], k);
  Value w = dnn::TileLoadOp::create(b, loc, tileN, filter, position[0],
                                    position[2], k);
  dnn::YieldOp::create(b, loc, ValueRange{a, w});

  Block *compute = b.createBlock(&pipeline.getCompute(), {},
                                 {tileM, tileN, tileD}, {loc, loc, loc});
  // A lane keeps neighbours of the output's innermost dimension.
  auto lanes = conv.getYLayout() == dnn::Layout::NHWC ? dnn::TileDim::N
                                                      : dnn::TileDim::M;
  Value next = dnn::TileMmaOp::create(
      b, loc, tileD, compute->getArgument(0), compute->getArgument(1),
      compute->getArgument(2), tile.mma,
      ArrayRef<int64_t>{tile.wavesM, tile.wavesN}, lanes);
  dnn::YieldOp::create(b, loc, next);
  return pipeline.getResult();
}

static void tileConv(dnn::ConvOp conv, const GemmTile &tile) {
  OpBuilder b(conv);
  Location loc = conv.getLoc();
  ConvSpaces spaces{conv.getDims(), wantsChannelsFirst(conv, tile.k)};
  dnn::ViewOp input = viewInput(b, conv, spaces);
  dnn::ViewOp filter = viewFilter(b, conv, spaces);
  dnn::ViewOp output = viewOutput(b, conv, spaces);
  ArrayRef<int64_t> shape = output.getType().getShape();
  int64_t counts[] = {shape[0], llvm::divideCeilSigned(shape[1], tile.m),
                      llvm::divideCeilSigned(shape[2], tile.n)};
  auto tiles = dnn::ForEachTileOp::create(
      b, loc, counts, ArrayRef<int64_t>{tile.m, tile.n}, IntegerAttr());
  Type index = b.getIndexType();
  Block *body = b.createBlock(&tiles.getBody(), {}, {index, index, index},
                              {loc, loc, loc});
  Value acc = createPipeline(b, conv, spaces, tile, input, filter,
                             body->getArguments());
  dnn::TileStoreOp::create(b, loc, acc, output, body->getArgument(0),
                           body->getArgument(1), body->getArgument(2));
  conv.erase();
}

LogicalResult tessera::buildImplicitGemm(Operation *primitive,
                                         const TileConfig &config) {
  auto conv = dyn_cast<dnn::ConvOp>(primitive);
  if (!conv)
    return primitive->emitOpError("is no convolution");
  ErrorOr<GemmTile> tile = parseGemmTile(config);
  if (!tile)
    return conv.emitOpError() << tile.getStatus().getMessage();
  tileConv(conv, *tile);
  return success();
}
