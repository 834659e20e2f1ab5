//===- Packed.cpp - Convolutions whose tensors are packed first -----------===//
//
// There are up to three launches: one packs the operands, one multiplies, and
// for backward weights one adds the partial results of the splits. The tiles
// are igemm's tiles for the convolution that remains once the tensors are
// packed.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Packed/Packed.h"
#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Common/SplitReduction.h"
#include "compiler/Algorithms/ImplicitGemm/ImplicitGemm.h"
#include "compiler/Algorithms/OpenSamples.h"
#include "compiler/Algorithms/Registry.h"
#include "compiler/Algorithms/Tma/TmaModel.h"
#include "compiler/Algorithms/Tma/TmaTiles.h"
#include "compiler/Algorithms/Tma/TmaWeightTiles.h"
#include "dialect/IR/OpenMemory.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace tessera;

static constexpr int64_t kPartialBytes = 4;
static constexpr std::string_view kName = "packed";

static dnn::ConvDirection getDirection(Direction direction) {
  return direction == Direction::Forward ? dnn::ConvDirection::Forward
         : direction == Direction::BackwardData
             ? dnn::ConvDirection::BackwardData
             : dnn::ConvDirection::BackwardWeights;
}

static PackedGeometry getGeometry(const ConvProblem &p) {
  auto dims = getConvDims(p);
  const Spatial out = p.getOutput();
  return PackedGeometry({getDirection(p.direction),
                         {p.batch, p.in.h, p.in.w},
                         {p.batch, out.h, out.w},
                         p.inChannels,
                         p.outChannels,
                         dims[1],
                         dims[2],
                         getByteSize(p.dataType)});
}

/// A number of a problem whose sizes are known.
static int64_t getKnown(const SizeExpr &number) { return *number.getNumber(); }

/// The same tile under the name of another algorithm: the parameters of a
/// "packed" tile are those of an "igemm" tile.
static TileConfig rename(TileConfig tile, std::string_view algorithm) {
  tile.algorithm = algorithm;
  return tile;
}

//===----------------------------------------------------------------------===//
// The workspace
//===----------------------------------------------------------------------===//

namespace {
/// Offsets of the tensors in the workspace, in bytes. The partial results come
/// first, since TMA stores them and its stores take no offset.
struct PackedOffsets {
  SizeExpr images, gradient, filter, end;
};
} // namespace

static int64_t getProduct(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= size;
  return product;
}

static PackedOffsets getOffsets(const PackedGeometry &g, int64_t splits) {
  constexpr int64_t kAlignment = 256;
  const int64_t elementBytes = g.shape.elementBytes;
  PackedOffsets offsets{};
  auto add = [&](const SizeExpr &bytes) {
    const SizeExpr begin = offsets.end;
    offsets.end = ceilDiv(begin + bytes, kAlignment) * kAlignment;
    return begin;
  };
  auto addFilter = [&] {
    offsets.filter = add(getProduct(g.getFilterShape()) * elementBytes);
  };
  // What has a known size comes before what has none.
  const bool isFilterFirst = g.isOpen();
  if (g.isWeights())
    add(splits * getProduct(g.getPartialShape()) * kPartialBytes);
  else if (isFilterFirst)
    addFilter();
  if (g.images)
    offsets.images = add(g.images->getElements() * elementBytes);
  if (g.gradient)
    offsets.gradient = add(g.gradient->getElements() * elementBytes);
  if (!g.isWeights() && !isFilterFirst)
    addFilter();
  return offsets;
}

static ArrayAttr toTexts(Builder b, ArrayRef<SizeExpr> sizes) {
  SmallVector<Attribute> texts;
  for (const SizeExpr &size : sizes)
    texts.push_back(b.getStringAttr(size.toText()));
  return b.getArrayAttr(texts);
}

/// Says of an argument what its type cannot where sizes are unknown: windows of
/// `images` that begin `offset` bytes behind the workspace.
static void describeWindows(Value argument, const PackedImages &images,
                            const SizeExpr &offset) {
  Builder b(argument.getContext());
  auto function = cast<func::FuncOp>(argument.getParentBlock()->getParentOp());
  const unsigned index = cast<BlockArgument>(argument).getArgNumber();
  function.setArgAttr(index, dnn::kSizesAttrName,
                      toTexts(b, images.getWindowSizes()));
  function.setArgAttr(index, dnn::kMemoryAttrName,
                      toTexts(b, images.getSizes()));
  if (offset != SizeExpr())
    function.setArgAttr(index, dnn::kOffsetAttrName,
                        b.getStringAttr(offset.toText()));
}

/// Adds an argument for each tensor of the workspace. All of these arguments
/// are the address of the workspace; their types have the offsets, or their
/// attributes where sizes are unknown.
static PackedTensors addTensors(dnn::ConvOp conv, const PackedGeometry &g,
                                int64_t splits) {
  auto function = conv->getParentOfType<func::FuncOp>();
  Builder b(conv.getContext());
  const PackedOffsets offsets = getOffsets(g, splits);
  const std::optional<int64_t> end = offsets.end.getNumber();
  DictionaryAttr attributes = b.getDictionaryAttr(
      {b.getNamedAttr(dnn::kArgAttrName, b.getStringAttr("workspace")),
       b.getNamedAttr(dnn::kBytesAttrName,
                      end ? Attribute(b.getI64IntegerAttr(*end))
                          : Attribute(b.getStringAttr(offsets.end.toText())))});
  auto add = [&](MemRefType type) -> Value {
    const unsigned last = function.getNumArguments();
    (void)function.insertArgument(last, type, attributes, conv.getLoc());
    return function.getArgument(last);
  };
  Type element = conv.getElementType();
  const int64_t elementBytes = g.shape.elementBytes;
  auto addImages = [&](const PackedImages &images, const SizeExpr &offset) {
    if (!images.isOpen())
      return add(
          images.getWindowType(element, getKnown(offset) / elementBytes));
    Value argument = add(images.getWindowType(element, /*offset=*/0));
    describeWindows(argument, images, offset);
    return argument;
  };
  PackedTensors tensors;
  if (g.isWeights()) {
    SmallVector<int64_t> partials = g.getPartialShape();
    partials.insert(partials.begin(), splits);
    tensors.partials = add(MemRefType::get(partials, b.getF32Type()));
  }
  if (g.images)
    tensors.images = addImages(*g.images, offsets.images);
  if (g.gradient)
    tensors.gradient = addImages(*g.gradient, offsets.gradient);
  if (g.isWeights())
    return tensors;
  SmallVector<int64_t> filter = g.getFilterViewShape();
  SmallVector<int64_t> strides(filter.size(), 1);
  for (size_t d = filter.size() - 1; d > 0; --d)
    strides[d - 1] = strides[d] * filter[d];
  tensors.filter = add(MemRefType::get(
      filter, element,
      StridedLayoutAttr::get(
          b.getContext(), getKnown(offsets.filter) / elementBytes, strides)));
  return tensors;
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

/// The convolution that remains once the tensors are packed. It has stride 1
/// (for backward data the stride of the blocks) and no padding, and its
/// channels are the runs.
static ConvProblem getProduct(const ConvProblem &p, const PackedGeometry &g) {
  ConvProblem product = p;
  product.xLayout = product.wLayout = product.yLayout = Layout::NHWC;
  product.pad = product.extraPad = Pads();
  product.stride = product.dilation = Spatial();
  product.epilogue = Epilogue();
  // The width of a tile divides the number of columns.
  constexpr int64_t kWidths = 16;
  if (!g.isWeights())
    product.direction = Direction::Forward;
  product.outChannels = llvm::alignTo(
      g.getFilterRows(), g.isWeights() ? g.shape.getUnit() : kWidths);
  auto getSize = [](const PackedDim &dim) {
    return dim.step * (getKnown(dim.count) - 1) + dim.taps;
  };
  product.in.h = getSize(g.height);
  product.filter.h = g.height.taps;
  product.stride.h = g.height.step;
  product.inChannels = g.images ? g.getRun() : g.getTapElements();
  product.in.w = g.images ? getKnown(g.width.count) : getSize(g.width);
  product.filter.w = g.images ? 1 : g.width.taps;
  product.stride.w = g.images ? 1 : g.width.step;
  return product;
}

/// The clocks that packing takes: a launch, and writing each packed tensor and
/// reading it again.
static double estimatePacking(const PackedGeometry &g, const GpuTarget &target,
                              const PackRates &rates) {
  double clocks = rates.begin;
  auto add = [&](const std::optional<PackedImages> &images) {
    if (!images)
      return;
    const int64_t bytes =
        getKnown(images->getElements()) * g.shape.elementBytes;
    clocks += rates.begin + static_cast<double>(2 * bytes) /
                                (rates.memoryBytes * target.computeUnits);
  };
  add(g.images);
  add(g.gradient);
  return clocks;
}

//===----------------------------------------------------------------------===//
// The algorithm
//===----------------------------------------------------------------------===//

namespace {
class Packed final : public Algorithm {
public:
  std::string_view getName() const override { return kName; }
  bool takesUnknownSizes() const override { return true; }
  Status check(const Problem &problem, const GpuTarget &target) const override;
  std::vector<Candidate> getCandidates(const Problem &problem,
                                       const GpuTarget &target) const override;
  LogicalResult build(Operation *primitive, const TileConfig &tile,
                      const GpuTarget &target) const override;
};
} // namespace

/// Whether tensors are channels last, or, of backward weights, first where they
/// are packed or summed.
static bool hasLayouts(const ConvProblem &p) {
  const bool isWeights = p.direction == Direction::BackwardWeights;
  auto isLast = [](Layout layout, bool isPacked) {
    return layout == Layout::NHWC || (isPacked && layout == Layout::NCHW);
  };
  return isLast(p.xLayout, isWeights) && isLast(p.wLayout, isWeights) &&
         isLast(p.yLayout, isWeights && p.outChannels % getTmaUnit(p) != 0);
}

Status Packed::check(const Problem &problem, const GpuTarget &) const {
  if (!problem.getConv())
    return notSupported("solves convolutions");
  const Problem sample = problem.getSample();
  const ConvProblem *conv = sample.getConv();
  if (conv->dataType != DataType::F16 && conv->dataType != DataType::BF16 &&
      conv->dataType != DataType::F32)
    return notSupported("computes with f16, bf16 and f32");
  if (!hasLayouts(*conv))
    return notSupported("wants channels last, but of what backward weights "
                        "packs");
  if (conv->groups != 1 || conv->hasDepth() || conv->dilation != Spatial())
    return notSupported("knows no groups, depth or dilation");
  const int64_t unit = getTmaUnit(*conv);
  if (conv->inChannels % unit == 0 && conv->outChannels % unit == 0)
    return notSupported("has nothing to fill up");
  if (conv->filter.h < conv->stride.h || conv->filter.w < conv->stride.w)
    return notSupported("wants windows without gaps between them");
  // The rows of this product are output channels, along which a TMA copy moves.
  if (conv->direction == Direction::BackwardWeights && conv->outChannels == 1)
    return notSupported("wants several output channels for backward weights");
  constexpr int64_t kMaxBytes = int64_t(1) << 30;
  constexpr int64_t kMaxLength = 1 << 16;
  if (std::max({conv->batch, conv->inChannels, conv->outChannels, conv->in.h,
                conv->in.w, conv->filter.h, conv->filter.w, conv->pad.h,
                conv->pad.w}) > kMaxLength ||
      getKnown(getOffsets(getGeometry(*conv), /*splits=*/1).end) > kMaxBytes ||
      std::max(conv->getInputElements(), conv->getOutputElements()) *
              getByteSize(conv->dataType) >
          kMaxBytes)
    return notSupported("wants smaller tensors");
  return Status::ok();
}

/// Whether a tile is for known sizes: taps that share pixels and workgroups
/// that share tiles.
static bool dependsOnSizes(const GemmTile &tile) {
  return tile.halo > 0 || tile.cluster > 1 || tile.multicast != 0;
}

std::vector<Candidate> Packed::getCandidates(const Problem &problem,
                                             const GpuTarget &target) const {
  if (!problem.hasUnknownSizes())
    return getPackedCandidates(*problem.getConv(), target);
  const auto find = [&](const ConvProblem &sample) {
    std::vector<Candidate> candidates = getPackedCandidates(sample, target);
    std::erase_if(candidates, [](const Candidate &candidate) {
      ErrorOr<GemmTile> tile =
          parseGemmTile(rename(candidate.tile, getImplicitGemm().getName()));
      return !tile || dependsOnSizes(*tile);
    });
    return candidates;
  };
  constexpr double kMostPixels = 1 << 20;
  const std::vector<ConvProblem> samples = getOpenSamples(problem, kMostPixels);
  if (problem.getConv()->direction != Direction::BackwardWeights)
    return rankAtSamples(samples, find);
  const std::vector<Candidate> first = find(samples.front());
  // The splits of long reductions depend on the chip alone.
  return problem.isSmall() ? first : scaleCosts(find(samples.back()), first);
}

std::vector<Candidate> tessera::getPackedCandidates(const ConvProblem &conv,
                                                    const GpuTarget &target,
                                                    const PackRates &rates) {
  const PackedGeometry g = getGeometry(conv);
  const Epilogue &epilogue = conv.epilogue;
  std::vector<Candidate> candidates;
  // The epilogue's tensors take registers. getTmaCandidates() accounts for
  // them, but the product's problem has no epilogue.
  if (!g.isWeights() && (epilogue.bias || epilogue.residual || epilogue.beta))
    return candidates;
  const double packing = estimatePacking(g, target, rates);
  const ConvProblem product = getProduct(conv, g);
  auto add = [&](const std::vector<Candidate> &products) {
    for (const Candidate &candidate : products) {
      ErrorOr<GemmTile> tile = parseGemmTile(candidate.tile);
      // The workspace of packed images has no space for splits.
      if (tile && ((tile->halo > 0 && !g.hasPositions()) ||
                   (tile->splits > 1 && !g.isWeights())))
        continue;
      candidates.push_back(
          {rename(candidate.tile, kName), candidate.cost + packing});
    }
  };
  add(g.hasTapRows ? getTapRowCandidates(product, target)
                   : getTmaCandidates(product, target));
  if (g.isWeights())
    add(getLineCandidates(product, target));
  return candidates;
}

/// Whether `conv` meets the conditions that check() has for a problem. A
/// forward result may have channels first, which tiles of TMA store as well;
/// of backward weights what is packed may, and what is summed.
static bool isPackable(dnn::ConvOp conv) {
  auto isPacked = [](Value tensor) {
    auto type = cast<MemRefType>(tensor.getType());
    return type.areTrailingDimsContiguous(type.getRank());
  };
  ConvGeometry g(conv);
  Type element = conv.getElementType();
  const bool isForward = conv.getDirection() == dnn::ConvDirection::Forward;
  const bool isWeights =
      conv.getDirection() == dnn::ConvDirection::BackwardWeights;
  return g.groups == 1 && g.dims.size() == 2 &&
         llvm::all_of(g.dims,
                      [](const ConvDim &dim) { return dim.dilation == 1; }) &&
         (element.isF16() || element.isBF16() || element.isF32()) &&
         (isChannelsLast(conv.getXLayout()) || isWeights) &&
         (isChannelsLast(conv.getWLayout()) || isWeights) &&
         (isChannelsLast(conv.getYLayout()) || isForward ||
          (isWeights && PackedGeometry::get(conv).gradient)) &&
         isPacked(conv.getX()) && isPacked(conv.getW()) &&
         isPacked(conv.getY());
}

LogicalResult Packed::build(Operation *primitive, const TileConfig &config,
                            const GpuTarget &target) const {
  auto conv = dyn_cast<dnn::ConvOp>(primitive);
  if (!conv)
    return primitive->emitOpError("is no convolution");
  if (!isPackable(conv))
    return conv.emitOpError("is no convolution of one group in f16, bf16 or "
                            "f32, channels last and undilated, which 'packed' "
                            "needs");
  ErrorOr<GemmTile> tile = parseGemmTile(rename(config, "igemm"));
  if (!tile)
    return conv.emitOpError() << tile.getStatus().getMessage();
  if (failed(checkRounding(conv, config, tile->mma)))
    return failure();
  PackedGeometry g = PackedGeometry::get(conv);
  if (tile->isAtomic || (tile->splits > 1 && (!g.isWeights() || !tile->isTma)))
    return conv.emitOpError() << "has tile '" << config.toText()
                              << "', but only backward weights with TMA is "
                                 "split, and never adds by atomics";
  if (tile->halo > 0 && !g.hasPositions())
    return conv.emitOpError() << "has tile '" << config.toText()
                              << "', but only packed images are positions that "
                                 "taps can share";
  if (g.isOpen() && (tile->isDirect || dependsOnSizes(*tile)))
    return conv.emitOpError() << "has unknown sizes, but tile '"
                              << config.toText() << "' is for known ones";
  g.hasTapRows |= g.isWeights() && tile->halo > 0;
  const PackedTensors tensors = addTensors(conv, g, tile->splits);
  buildPacking(conv, g, tensors, target.vendor != Vendor::Amd);
  OpBuilder b(conv);
  const int64_t persistent = tile->isTma ? target.computeUnits : 0;
  if (!g.isWeights()) {
    buildGemmTiles(conv, *tile,
                   viewPackedData(b, conv, g, tensors, tile->halo > 0),
                   persistent);
    return success();
  }
  PackedWeightViews views = viewPackedWeights(b, conv, g, tensors, *tile);
  createGemmTiles(b, conv.getLoc(), *tile, views.views, views.partials,
                  /*extras=*/{}, persistent);
  buildPackedReduction(conv, tensors.partials, g);
  conv.erase();
  return success();
}

const Algorithm &tessera::getPacked() {
  static const Packed kAlgorithm;
  return kAlgorithm;
}
