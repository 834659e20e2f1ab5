//===- ImplicitGemm.cpp - A convolution as a tiled GEMM -------------------===//
//
// The coordinate maps are the whole of it: after it nothing knows that
// the GEMM was a convolution, nor in which direction.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/ImplicitGemm.h"
#include "compiler/Algorithms/GemmTile.h"
#include "compiler/Algorithms/GemmViews.h"

using namespace mlir;
using namespace tessera;

static GemmViews makeViews(OpBuilder &b, dnn::ConvOp conv,
                           const GemmTile &tile) {
  ConvGeometry geometry(conv);
  switch (conv.getDirection()) {
  case dnn::ConvDirection::Forward:
    return viewForward(b, conv, geometry, tile.k);
  case dnn::ConvDirection::BackwardData:
    return viewBackwardData(b, conv, geometry);
  case dnn::ConvDirection::BackwardWeights:
    return viewBackwardWeights(b, conv, geometry, tile.k);
  }
  llvm_unreachable("every direction has a case");
}

/// The pipeline: load both tiles of a step, multiply them.
static Value createPipeline(OpBuilder &b, Location loc, GemmViews views,
                            const GemmTile &tile, ValueRange position) {
  MLIRContext *context = b.getContext();
  Type element = views.a.getType().getElementType();
  auto makeType = [&](int64_t rows, int64_t columns, Type type) {
    return dnn::TileType::get(context, {rows, columns}, type);
  };
  Type tileM = makeType(tile.m, tile.k, element);
  Type tileN = makeType(tile.n, tile.k, element);
  Type sum = element.isInteger() ? b.getI32Type()
             : element.isF64()   ? element
                                 : b.getF32Type();
  Type tileD = makeType(tile.m, tile.n, sum);
  auto copy =
      tile.isDirect ? dnn::CopyKind::DirectToLds : dnn::CopyKind::Registers;
  auto pipeline = dnn::PipelineOp::create(
      b, loc, tileD, views.reduce, tile.k, tile.buffers, copy,
      dnn::SyncKind::Barrier, dnn::ScheduleKind::Pinned, dnn::RolesAttr());

  OpBuilder::InsertionGuard guard(b);
  Block *load = b.createBlock(&pipeline.getLoad(), {}, b.getIndexType(), loc);
  Value k = load->getArgument(0);
  Value a = dnn::TileLoadOp::create(b, loc, tileM, views.a, position[0],
                                    position[1], k);
  Value w = dnn::TileLoadOp::create(b, loc, tileN, views.b, position[0],
                                    position[2], k);
  dnn::YieldOp::create(b, loc, ValueRange{a, w});

  Block *compute = b.createBlock(&pipeline.getCompute(), {},
                                 {tileM, tileN, tileD}, {loc, loc, loc});
  Value next = dnn::TileMmaOp::create(
      b, loc, tileD, compute->getArgument(0), compute->getArgument(1),
      compute->getArgument(2), tile.mma,
      ArrayRef<int64_t>{tile.wavesM, tile.wavesN}, views.lanes);
  dnn::YieldOp::create(b, loc, next);
  return pipeline.getResult();
}

static void tileConv(dnn::ConvOp conv, const GemmTile &tile) {
  OpBuilder b(conv);
  Location loc = conv.getLoc();
  GemmViews views = makeViews(b, conv, tile);
  const ResultPlace &place = views.result;
  auto viewLikeResult = [&](Value tensor) {
    return place.view.create(loc, tensor, conv.getResultLayout(), place.outer,
                             place.channel, place.spatial);
  };
  dnn::ViewOp result = viewLikeResult(conv.getResultOperand().get());
  SmallVector<Value> extras;
  for (Value extra : conv.getExtras())
    extras.push_back(cast<MemRefType>(extra.getType()).getRank() == 1
                         ? place.view.create(loc, extra, place.channel)
                         : viewLikeResult(extra));

  ArrayRef<int64_t> shape = result.getType().getShape();
  int64_t counts[] = {shape[0], llvm::divideCeilSigned(shape[1], tile.m),
                      llvm::divideCeilSigned(shape[2], tile.n)};
  auto tiles = dnn::ForEachTileOp::create(
      b, loc, counts, ArrayRef<int64_t>{tile.m, tile.n}, IntegerAttr());
  Type index = b.getIndexType();
  Block *body = b.createBlock(&tiles.getBody(), {}, {index, index, index},
                              {loc, loc, loc});
  Value acc = createPipeline(b, loc, views, tile, body->getArguments());
  auto store = dnn::TileStoreOp::create(
      b, loc, acc, result, body->getArgument(0), body->getArgument(1),
      body->getArgument(2), extras);
  store.getEpilogue().takeBody(conv.getEpilogue());
  conv.erase();
}

LogicalResult tessera::buildImplicitGemm(Operation *primitive,
                                         const TileConfig &config) {
  auto conv = dyn_cast<dnn::ConvOp>(primitive);
  if (!conv)
    return primitive->emitOpError("is no convolution");
  Type element = conv.getElementType();
  bool hasF32Sums = element.isF16() || element.isBF16() || element.isF32();
  if (!hasF32Sums && !conv.getEpilogue().empty())
    return conv.emitOpError()
           << "is of " << element << ", for which igemm has no epilogue";
  ErrorOr<GemmTile> tile = parseGemmTile(config);
  if (!tile)
    return conv.emitOpError() << tile.getStatus().getMessage();
  tileConv(conv, *tile);
  return success();
}
