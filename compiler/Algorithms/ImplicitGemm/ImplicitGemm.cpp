//===- ImplicitGemm.cpp - A convolution as a tiled GEMM -------------------===//
//
// The coordinate maps are all that is special to a convolution: no later stage
// knows that the GEMM was one, nor in which direction.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/ImplicitGemm/ImplicitGemm.h"
#include "compiler/Algorithms/Common/HaloPositions.h"
#include "compiler/Algorithms/Common/SplitReduction.h"
#include "compiler/Algorithms/ImplicitGemm/FilterTranspose.h"
#include "compiler/Algorithms/ImplicitGemm/GemmCost.h"
#include "compiler/Algorithms/ImplicitGemm/GemmTile.h"
#include "compiler/Algorithms/ImplicitGemm/GemmViews.h"
#include "compiler/Algorithms/ImplicitGemm/ImageViews.h"
#include "compiler/Target/CacheLine.h"
#include "compiler/Target/ElementType.h"

using namespace mlir;
using namespace tessera;

/// Taps share pixels of 64 channels, or of 32 where the tile has as many of all
/// taps that do.
static int64_t getHaloChannels(const ConvGeometry &g, const GemmTile &tile) {
  constexpr int64_t kBlock = 64, kHalf = 32;
  if (tile.halo == 0)
    return 0;
  int64_t columns = kHalf;
  for (auto [i, dim] : llvm::enumerate(g.dims))
    columns *= hasPositions(g, i) ? dim.filter : 1;
  return tile.n == columns ? kHalf : kBlock;
}

/// Whether the pixels of a channel of an image lie together in `tensor`.
static bool hasPlanes(Value tensor, dnn::Layout layout) {
  constexpr int64_t kSpatial = 2;
  auto type = cast<MemRefType>(tensor.getType());
  if (isChannelsLast(layout) || !type.hasStaticShape())
    return false;
  int64_t offset = 0, together = 1;
  SmallVector<int64_t> strides;
  (void)type.getStridesAndOffset(strides, offset);
  for (int64_t d = type.getRank() - 1; d >= kSpatial; --d) {
    if (strides[d] != together)
      return false;
    together *= type.getDimSize(d);
  }
  return true;
}

/// How backward weights walks; AMD's chips load from any address
/// (docs/design/0030-nchw-on-amd.md). Pointwise, no order of columns is needed.
static WeightsReduction getReduction(dnn::ConvOp conv, const ConvGeometry &g,
                                     const GemmTile &tile,
                                     const GpuTarget &target) {
  constexpr unsigned kBits = 16;
  const bool walks = target.vendor == Vendor::Amd && !tile.isDirect &&
                     conv.getElementType().getIntOrFloatBitWidth() == kBits &&
                     hasPlanes(conv.getX(), conv.getXLayout()) &&
                     hasPlanes(conv.getY(), conv.getYLayout()) &&
                     !g.isPointwise() && g.inChannels % tile.n == 0 &&
                     walksPlanes(g.dims, tile.k);
  return {tile.k, tile.splits, tile.isTma, getHaloChannels(g, tile), walks};
}

/// Whether splits are runs of the pipeline's steps, taps and channels alike.
/// Steps of strided backward data depend on the class of a pixel, and tiles
/// without TMA know no splits, so there they are shares of the channels.
static bool hasStepSplits(dnn::ConvOp conv, const ConvGeometry &geometry,
                          const GemmTile &tile) {
  return tile.isTma && (conv.getDirection() == dnn::ConvDirection::Forward ||
                        llvm::all_of(geometry.dims, [](const ConvDim &dim) {
                          return dim.stride == 1;
                        }));
}

/// Whether backward data reads a filter that another launch transposes: wgmma
/// reads tf32 and floats of 8 bits only with the reduction together.
static bool readsTransposedFilter(dnn::ConvOp conv, const GemmTile &tile) {
  return tile.isTma && (tile.isTf32() || isFloat8(conv.getElementType())) &&
         conv.getDirection() == dnn::ConvDirection::BackwardData;
}

/// Whether partial results of backward weights have output channels last: they
/// are what neighbouring lanes differ by, which have four neighbours along the
/// taps and input channels each. In the filter's order a line of L2 would be
/// written in eight pieces, and of planes element by element, for which the AMD
/// clock expected a fifth to a quarter of a launch.
static bool storesOutputsLast(dnn::ConvOp conv,
                              const WeightsReduction &reduction,
                              const GemmTile &tile, const GpuTarget &target) {
  const ConvGeometry geometry(conv);
  const int64_t lineBytes = getL1LineBytes(target);
  if (lineBytes == 0 || tile.splits == 1 || tile.isTma || tile.isAtomic ||
      ShapedType::isDynamic(geometry.batch) ||
      geometry.outChannels * kSumBytes < lineBytes)
    return false;
  const bool isScattered = reduction.hasPlanes && !geometry.isPointwise();
  return isScattered ||
         savesLines(tile.splits, lineBytes,
                    countStoredSums(cast<MemRefType>(
                        conv.getResultOperand().get().getType())));
}

static GemmViews makeViews(OpBuilder &b, dnn::ConvOp conv, const GemmTile &tile,
                           const GpuTarget &target) {
  ConvGeometry geometry(conv);
  const bool isWeights =
      conv.getDirection() == dnn::ConvDirection::BackwardWeights;
  if (tile.isTma && (tile.splits == 1 || isWeights) &&
      hasImageMatrices(conv, geometry))
    return viewImages(b, conv, geometry, tile.splits);
  const DataReduction reduction{
      tile.k,
      {tile.splits, hasStepSplits(conv, geometry, tile)},
      tile.isTma && tile.halo > 0};
  switch (conv.getDirection()) {
  case dnn::ConvDirection::Forward:
    return viewForward(b, conv, geometry, reduction);
  case dnn::ConvDirection::BackwardData:
    return viewBackwardData(b, conv, geometry, reduction,
                            readsTransposedFilter(conv, tile)
                                ? buildTransposedFilter(conv)
                                : Value());
  case dnn::ConvDirection::BackwardWeights:
    const WeightsReduction weights = getReduction(conv, geometry, tile, target);
    GemmViews views = viewBackwardWeights(b, conv, geometry, weights);
    views.firstIsLast = storesOutputsLast(conv, weights, tile, target);
    return views;
  }
  llvm_unreachable("every direction has a case");
}

/// One producer, and consumers that share the rows of a tile or alternate
/// between tiles (ping-pong).
static dnn::RolesAttr getRoles(MLIRContext *context, const GemmTile &tile) {
  if (!tile.isTma)
    return {};
  constexpr int64_t kAlternating = 2;
  return dnn::RolesAttr::get(context, /*producers=*/1,
                             tile.isPingPong ? kAlternating
                                             : tile.wavesM * tile.wavesN,
                             tile.isPingPong ? dnn::ConsumerOrder::PingPong
                                             : dnn::ConsumerOrder::Cooperative);
}

/// Tiles of TMA say themselves along which side a lane holds neighbours:
/// results are staged, whatever lies together in memory.
static dnn::TileDim getLanes(const GemmTile &tile, const GemmViews &views) {
  if (!tile.isTma)
    return views.lanes;
  return tile.isSwapped ? dnn::TileDim::M : dnn::TileDim::N;
}

/// The operand that two workgroups share.
static dnn::TileDimAttr getMulticast(MLIRContext *context,
                                     const GemmTile &tile) {
  if (tile.multicast == 0)
    return {};
  return dnn::TileDimAttr::get(
      context, tile.multicast == 'm' ? dnn::TileDim::M : dnn::TileDim::N);
}

/// Creates the pipeline that loads both tiles of a step and multiplies them.
static Value createPipeline(OpBuilder &b, Location loc, GemmViews views,
                            const GemmTile &tile, const SizeExpr &used,
                            ValueRange position) {
  MLIRContext *context = b.getContext();
  Type element = views.a.getType().getElementType();
  auto makeType = [&](int64_t rows, int64_t columns, Type type) {
    return dnn::TileType::get(context, {rows, columns}, type);
  };
  Type tileM = makeType(tile.m, tile.k, element);
  Type tileN = makeType(tile.n, tile.k, element);
  Type accumulator = element.isInteger() ? b.getI32Type()
                     : element.isF64()   ? element
                                         : b.getF32Type();
  Type tileD = makeType(tile.m, tile.n, accumulator);
  auto copy = tile.isTma        ? dnn::CopyKind::Tma
              : tile.isDirect   ? dnn::CopyKind::DirectToLds
              : tile.isResident ? dnn::CopyKind::CpAsync
                                : dnn::CopyKind::Registers;
  const bool splitsSteps =
      tile.splitsSteps() || ShapedType::isDynamicShape(views.reduce);
  auto pipeline = dnn::PipelineOp::create(
      b, loc, tileD, views.reduce, tile.k, tile.buffers, copy,
      tile.isTma ? dnn::SyncKind::Mbarrier : dnn::SyncKind::Barrier,
      tile.splitsSteps() ? dnn::ScheduleKind::Natural
                         : dnn::ScheduleKind::Pinned,
      getRoles(context, tile),
      splitsSteps && tile.splits > 1 && !views.splitsChannels
          ? b.getI64IntegerAttr(tile.splits)
          : IntegerAttr(),
      used.getNumber() ? StringAttr() : b.getStringAttr(used.toText()),
      tile.halo > 0 ? b.getI64IntegerAttr(tile.halo) : IntegerAttr(),
      tile.promote > 0 ? b.getI64IntegerAttr(tile.promote) : IntegerAttr(),
      tile.cluster > 1 ? b.getI64IntegerAttr(tile.cluster) : IntegerAttr(),
      getMulticast(context, tile), /*knobs=*/DenseI64ArrayAttr());

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
      ArrayRef<int64_t>{tile.wavesM, tile.wavesN}, getLanes(tile, views));
  dnn::YieldOp::create(b, loc, next);
  return pipeline.getResult();
}

/// Creates the views of the tensors that the epilogue reads.
static SmallVector<Value> viewExtras(dnn::ConvOp conv,
                                     const ResultCoordinates &result) {
  SmallVector<Value> views;
  for (Value extra : conv.getExtras()) {
    ViewBuilder::Exprs coordinates = {result.channel};
    if (cast<MemRefType>(extra.getType()).getRank() > 1)
      coordinates = orderCoordinates(conv.getResultLayout(), result.outer,
                                     result.channel, result.spatial);
    views.push_back(result.view.create(conv.getLoc(), extra, coordinates));
  }
  return views;
}

/// Whether the splits can be added by atomics in the result itself: it has to
/// be f32, without an epilogue.
static bool addsInPlace(dnn::ConvOp conv, const GemmTile &tile) {
  return tile.isAtomic && conv.getEpilogue().empty() &&
         conv.getResultElementType().isF32();
}

/// The order of partial results. Unknown sizes have channels last, where a lane
/// stores four neighbours at once and the offset of a pixel takes no division;
/// but not those of backward weights whose columns are in the filter's order.
static PartialOrder getPartialOrder(dnn::ConvOp conv, const GemmViews &views) {
  const bool isOfFilter =
      conv.getDirection() == dnn::ConvDirection::BackwardWeights &&
      !isChannelsLast(conv.getXLayout());
  if (ShapedType::isDynamic(conv.getDims().n) && isOfFilter)
    return PartialOrder::Result;
  if (ShapedType::isDynamic(conv.getDims().n))
    return PartialOrder::ChannelsLast;
  return views.firstIsLast ? PartialOrder::FirstLast : PartialOrder::Result;
}

/// The workspace for the splits, or for the one result that atomics add to,
/// from which another launch makes the result; null if tiles are stored in the
/// result itself.
static Value addWorkspace(dnn::ConvOp conv, const GemmTile &tile,
                          PartialOrder order) {
  if (tile.splits == 1 || addsInPlace(conv, tile))
    return {};
  return addSplitsWorkspace(conv, tile.isAtomic ? 1 : tile.splits, order);
}

/// The view that a tile is stored through: of the result, or of the workspace
/// that another launch reads.
static dnn::ViewOp viewStored(dnn::ConvOp conv, const ResultCoordinates &result,
                              Value workspace, PartialOrder order) {
  ViewBuilder::Exprs coordinates = orderCoordinates(
      conv.getResultLayout(), result.outer, result.channel, result.spatial);
  if (!workspace)
    return result.view.create(conv.getLoc(), conv.getResultOperand().get(),
                              coordinates);
  const bool isShared =
      cast<MemRefType>(workspace.getType()).getDimSize(0) == 1;
  if (std::optional<int64_t> moved = getMovedDim(conv, order))
    std::rotate(coordinates.begin() + *moved, coordinates.begin() + *moved + 1,
                coordinates.end());
  coordinates.insert(coordinates.begin(),
                     isShared ? getAffineConstantExpr(0, conv.getContext())
                              : result.split);
  return result.view.create(conv.getLoc(), workspace, coordinates);
}

dnn::TileStoreOp tessera::createGemmTiles(OpBuilder &b, Location loc,
                                          const GemmTile &tile,
                                          const GemmViews &views,
                                          dnn::ViewOp stored, ValueRange extras,
                                          int64_t persistent,
                                          const SizeExpr &used) {
  OpBuilder::InsertionGuard guard(b);
  ArrayRef<int64_t> shape = stored.getType().getShape();
  const bool isOpen = ShapedType::isDynamic(shape[1]);
  int64_t counts[] = {
      shape[0], isOpen ? shape[1] : llvm::divideCeilSigned(shape[1], tile.m),
      llvm::divideCeilSigned(shape[2], tile.n)};
  if (!isOpen && counts[0] * counts[1] * counts[2] <= persistent && !tile.isTma)
    persistent = 0;
  auto tiles = dnn::ForEachTileOp::create(
      b, loc, counts, ArrayRef<int64_t>{tile.m, tile.n},
      persistent > 0 ? b.getI64IntegerAttr(persistent) : IntegerAttr(),
      tile.run > 1 ? b.getI64IntegerAttr(tile.run) : IntegerAttr());
  Type index = b.getIndexType();
  Block *body = b.createBlock(&tiles.getBody(), {}, {index, index, index},
                              {loc, loc, loc});
  Value acc = createPipeline(b, loc, views, tile, used, body->getArguments());
  return dnn::TileStoreOp::create(b, loc, acc, stored, body->getArgument(0),
                                  body->getArgument(1), body->getArgument(2),
                                  extras, /*statistics=*/Value(),
                                  /*normTensors=*/ValueRange(),
                                  /*normNumbers=*/ValueRange(), tile.isAtomic);
}

/// The splits that there are of backward weights whose pixels are of unknown
/// number (countUsedSplits()): others would have little to do, and another
/// launch would add their partial results.
static SizeExpr countUsedSplits(dnn::ConvOp conv, const GemmTile &tile) {
  if (conv.getDirection() != dnn::ConvDirection::BackwardWeights ||
      !ShapedType::isDynamic(conv.getDims().n) || tile.splits == 1 ||
      tile.isAtomic || tile.isResident)
    return {};
  SmallVector<SizeExpr> sizes = getArgumentSizes(conv.getY());
  sizes.erase(sizes.begin() +
              (isChannelsLast(conv.getYLayout()) ? sizes.size() - 1 : 1));
  SizeExpr pixels = 1;
  for (const SizeExpr &size : sizes)
    pixels = pixels * size;
  const auto [few, ofEach] = tile.getSplitRule();
  const SizeExpr more = ceilDiv(pixels, ofEach);
  return minimum(tile.splits, few > 0 ? few + more : more);
}

void tessera::buildGemmTiles(dnn::ConvOp conv, const GemmTile &tile,
                             GemmViews views, int64_t persistent) {
  OpBuilder b(conv);
  const PartialOrder order = getPartialOrder(conv, views);
  Value workspace = addWorkspace(conv, tile, order);
  dnn::ViewOp stored = viewStored(conv, views.result, workspace, order);
  if (workspace && order == PartialOrder::ChannelsLast)
    views.lanes = dnn::TileDim::N;
  SmallVector<Value> extras;
  if (!workspace)
    extras = viewExtras(conv, views.result);
  const SizeExpr used = countUsedSplits(conv, tile);
  dnn::TileStoreOp store = createGemmTiles(b, conv.getLoc(), tile, views,
                                           stored, extras, persistent, used);
  if (tile.isAtomic)
    buildZeros(conv, workspace ? workspace : conv.getResultOperand().get());
  if (workspace)
    buildSplitReduction(conv, workspace, order, used);
  else
    store.getEpilogue().takeBody(conv.getEpilogue());
  conv.erase();
}

/// The channels that forward and backward data reduce over.
static int64_t getReducedChannels(dnn::ConvOp conv, const ConvGeometry &g) {
  return conv.getDirection() == dnn::ConvDirection::Forward ? g.inChannels
                                                            : g.outChannels;
}

/// What the splits of forward and backward data must divide: steps if they are
/// runs of these, else channels, of which TMA copies whole steps.
static int64_t getDataSplitSize(dnn::ConvOp conv, const GemmTile &tile) {
  const ConvGeometry g(conv);
  const int64_t channels = getReducedChannels(conv, g);
  if (!tile.isTma)
    return channels;
  if (!hasStepSplits(conv, g, tile))
    return channels % tile.k == 0 ? channels / tile.k : 1;
  int64_t steps = llvm::divideCeilSigned(channels, tile.k);
  for (const ConvDim &dim : g.dims)
    steps *= dim.filter;
  return steps;
}

/// What keeps a tile from splitting the reduction of forward or backward data;
/// null if nothing does.
static const char *findSplitFault(dnn::ConvOp conv, const GemmTile &tile) {
  if (tile.halo > 0)
    return "shares pixels in a halo, which is for whole reductions";
  if (readsTransposedFilter(conv, tile))
    return "has a transposed filter in the workspace, where its splits would "
           "be";
  return nullptr;
}

static LogicalResult checkSplits(dnn::ConvOp conv, const GemmTile &tile,
                                 const GpuTarget &target) {
  if (tile.splits == 1)
    return success();
  const bool isData =
      conv.getDirection() != dnn::ConvDirection::BackwardWeights;
  if (const char *fault = isData ? findSplitFault(conv, tile) : nullptr)
    return conv.emitOpError()
           << "is split into " << tile.splits << ", but " << fault;
  Type element = conv.getElementType();
  if (tile.isAtomic && (element.isF64() || element.isInteger()))
    return conv.emitOpError()
           << "is of " << element << ", whose accumulators have no atomics";
  const ConvGeometry geometry(conv);
  if (!isData && ShapedType::isDynamic(geometry.batch))
    return success(); // Runs of steps.
  const int64_t size =
      isData
          ? getDataSplitSize(conv, tile)
          : getSplitSize(geometry, getReduction(conv, geometry, tile, target));
  if ((isData || !tile.isTma) && size % tile.splits != 0)
    return conv.emitOpError() << "needs splits that divide a reduction of "
                              << size << ", but has " << tile.splits;
  return success();
}

/// Checks that the taps of `conv` can share pixels.
static LogicalResult checkHalo(dnn::ConvOp conv, const GemmTile &tile) {
  if (tile.halo == 0)
    return success();
  const ConvGeometry geometry(conv);
  if (llvm::all_of(geometry.dims,
                   [](const ConvDim &dim) { return dim.filter == 1; }))
    return conv.emitOpError("needs several taps to share pixels in a halo");
  // Each lane of ldmatrix gives an address, so padding needs no pixels in LDS;
  // wgmma reads padding as rows between the pixels (HaloPositions.h).
  auto isOfStrideOne = [](const ConvDim &dim) { return dim.stride == 1; };
  if (!tile.isTma && !llvm::all_of(geometry.dims, isOfStrideOne))
    return conv.emitOpError("needs stride 1 to share pixels in a halo");
  if (tile.isTma && !llvm::all_of(geometry.dims, fitsHalo))
    return conv.emitOpError("needs stride 1, and no more padding than the "
                            "filter reaches, to share pixels in a halo");
  return success();
}

/// Checks that a tile of a convolution of unknown sizes depends on none of them
/// (docs/design/0038-sizes-as-arguments.md).
static LogicalResult checkUnknownSizes(dnn::ConvOp conv, const GemmTile &tile) {
  if (!ShapedType::isDynamic(conv.getDims().n))
    return success();
  const bool isData =
      conv.getDirection() != dnn::ConvDirection::BackwardWeights;
  const bool areImagesLast =
      isChannelsLast(conv.getXLayout()) && isChannelsLast(conv.getYLayout());
  if (tile.isTma && !(areImagesLast && isChannelsLast(conv.getWLayout())))
    return conv.emitOpError("needs known sizes unless all tensors have "
                            "channels last");
  constexpr size_t kImageRank = 2;
  const bool isVolume = ConvGeometry(conv).dims.size() > kImageRank;
  if (tile.isTma &&
      ((isData && tile.splits > 1) || (isVolume && tile.halo > 0) ||
       tile.cluster > 1 || tile.multicast != 0))
    return conv.emitOpError("has unknown sizes, for which a tile that copies "
                            "by TMA has no cluster, a halo of images only, and "
                            "splits of backward weights only");
  if (tile.isDirect || (!tile.isTma && tile.halo > 0) ||
      (isData && tile.isAtomic))
    return conv.emitOpError(
        "has unknown sizes, for which a tile copies through registers, has no "
        "halo, and adds splits of images in another launch");
  return success();
}

/// Whether the channels that the main loop walks are whole iterations of it, so
/// that a workgroup goes from one tile to the next without waiting.
static bool hasWholeIterations(dnn::ConvOp conv, const GemmTile &tile) {
  const int64_t iteration = int64_t(tile.k) * tile.buffers * tile.splits;
  return conv.getDirection() != dnn::ConvDirection::BackwardWeights &&
         getReducedChannels(conv, ConvGeometry(conv)) % iteration == 0;
}

/// The number of persistent workgroups, or 0 if each workgroup has one tile.
/// Without TMA only tiles that fill a multiprocessor of NVIDIA's are
/// persistent: where two workgroups share one, one multiplies while the other
/// stores.
static int64_t countWorkgroups(dnn::ConvOp conv, const GemmTile &tile,
                               const GpuTarget &target) {
  if (tile.isTma)
    return target.computeUnits;
  constexpr int kFullWave = 64 * 64, kWaves = 8;
  bool isFull = tile.wavesM * tile.wavesN == kWaves &&
                tile.m * tile.n >= kWaves * kFullWave;
  bool isPersistent = tile.isDirect && target.vendor == Vendor::Nvidia &&
                      isFull &&
                      (tile.halo > 0 || hasWholeIterations(conv, tile));
  return isPersistent ? target.computeUnits : 0;
}

LogicalResult tessera::checkRounding(dnn::ConvOp conv, const TileConfig &tile,
                                     StringRef mma) {
  if (!mma.ends_with("_tf32") || conv.getTf32())
    return success();
  return conv.emitOpError() << "does not allow tf32, which tile '"
                            << tile.toText() << "' computes in";
}

LogicalResult tessera::buildImplicitGemm(Operation *primitive,
                                         const TileConfig &config,
                                         const GpuTarget &target) {
  auto conv = dyn_cast<dnn::ConvOp>(primitive);
  if (!conv)
    return primitive->emitOpError("is no convolution");
  ErrorOr<GemmTile> tile = parseGemmTile(config);
  if (!tile)
    return conv.emitOpError() << tile.getStatus().getMessage();
  if (failed(checkUnknownSizes(conv, *tile)) ||
      failed(checkRounding(conv, config, tile->mma)) ||
      failed(checkSplits(conv, *tile, target)) ||
      failed(checkHalo(conv, *tile)))
    return failure();
  OpBuilder b(conv);
  buildGemmTiles(conv, *tile, makeViews(b, conv, *tile, target),
                 countWorkgroups(conv, *tile, target));
  return success();
}
