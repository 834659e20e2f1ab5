//===- Winograd.cpp - 3x3 convolutions with fewer products ----------------===//
//
// Tiles of 2 by 2 (4 by 4) pixels take 2.25 (4) times fewer products, between
// transforms of what is read and of the result. Launches of their own transform
// in the workspace, and another algorithm multiplies there: a convolution of
// 1x1 with a group for each point of a transformed tile
// (docs/design/0022-winograd.md).
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/ChooseTile.h"
#include "compiler/Algorithms/ImplicitGemm/GemmCost.h"
#include "compiler/Algorithms/ImplicitGemm/GemmTile.h"
#include "compiler/Algorithms/Registry.h"
#include "compiler/Algorithms/Winograd/WinogradKernels.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace tessera;

static constexpr std::string_view kName = "winograd";
static constexpr int64_t kElementBytes = 4; ///< Of the workspace.

namespace {
struct WinogradRates {
#define WINOGRAD_RATE(NAME, VALUE, MEANING) double NAME = VALUE;
#include "compiler/Algorithms/Winograd/WinogradRates.def"
};

class Winograd final : public Algorithm {
public:
  std::string_view getName() const override { return kName; }
  Status check(const Problem &problem, const GpuTarget &target) const override;
  std::vector<Candidate> getCandidates(const Problem &problem,
                                       const GpuTarget &target) const override;
  LogicalResult build(Operation *primitive, const TileConfig &tile,
                      const GpuTarget &target) const override;
};
} // namespace

//===----------------------------------------------------------------------===//
// The workspace
//===----------------------------------------------------------------------===//

namespace {
/// Offsets of the tensors in bytes.
struct Offsets {
  int64_t inputs, filters, products, end;
};
} // namespace

/// The partial results of a product that is split, which come first.
static int64_t countSplitBytes(const WinogradGeometry &g,
                               const TileConfig &product) {
  const ErrorOr<GemmTile> tile = parseGemmTile(product);
  const bool hasPartials = tile && tile->splits > 1 && !tile->isAtomic;
  if (!hasPartials)
    return 0;
  const int64_t elements = g.isWeights() ? g.countFilters() : g.countProducts();
  return tile->splits * elements * kElementBytes;
}

static Offsets getOffsets(const WinogradGeometry &g, int64_t splitBytes) {
  // Some clients count a workspace in dwords.
  constexpr int64_t kAlignment = 256;
  Offsets offsets{};
  offsets.end = llvm::alignTo(splitBytes, kAlignment);
  auto add = [&](int64_t elements) {
    const int64_t begin = offsets.end;
    offsets.end = llvm::alignTo(begin + elements * kElementBytes, kAlignment);
    return begin;
  };
  offsets.inputs = add(g.countInputs());
  offsets.filters = add(g.countFilters());
  offsets.products = add(g.countProducts());
  return offsets;
}

/// A packed tensor of one pixel an image, `offset` bytes behind the address.
static MemRefType getType(OpBuilder &b, int64_t images, int64_t channels,
                          int64_t offset) {
  return MemRefType::get(
      {images, 1, 1, channels}, b.getF32Type(),
      StridedLayoutAttr::get(b.getContext(), offset / kElementBytes,
                             {channels, channels, channels, 1}));
}

/// Adds an argument for each tensor. All are the address of the workspace.
static WinogradTensors addTensors(dnn::ConvOp conv, const WinogradGeometry &g,
                                  int64_t splitBytes) {
  auto function = conv->getParentOfType<func::FuncOp>();
  OpBuilder b(conv);
  const Offsets offsets = getOffsets(g, splitBytes);
  DictionaryAttr attributes = b.getDictionaryAttr(
      {b.getNamedAttr(dnn::kArgAttrName, b.getStringAttr("workspace")),
       b.getNamedAttr(dnn::kBytesAttrName, b.getI64IntegerAttr(offsets.end))});
  auto add = [&](int64_t images, int64_t channels, int64_t offset) {
    const unsigned last = function.getNumArguments();
    (void)function.insertArgument(last, getType(b, images, channels, offset),
                                  attributes, conv.getLoc());
    return last;
  };
  const int64_t points = g.countPoints();
  WinogradTensors tensors{};
  tensors.inputs = add(g.countTiles(), points * g.reduced, offsets.inputs);
  tensors.filters = add(points * g.owned, g.reduced, offsets.filters);
  tensors.products = add(g.countTiles(), points * g.owned, offsets.products);
  return tensors;
}

//===----------------------------------------------------------------------===//
// The problem
//===----------------------------------------------------------------------===//

/// The sizes of tiles worth trying.
static std::vector<WinogradGeometry> getGeometries(const ConvProblem &conv) {
  std::vector<WinogradGeometry> geometries;
  for (int64_t outputs : {2, 4}) {
    const WinogradGeometry g(conv, outputs);
    if (g.findObstacle().empty())
      geometries.push_back(g);
  }
  return geometries;
}

static bool isHalf(DataType type) {
  return type == DataType::F16 || type == DataType::BF16;
}

Status Winograd::check(const Problem &problem, const GpuTarget &target) const {
  const ConvProblem *conv = problem.getConv();
  if (!conv)
    return notSupported("solves convolutions");
  if (conv->dataType != DataType::F32 && !isHalf(conv->dataType))
    return notSupported("computes in f32");
  if (isHalf(conv->dataType) && target.matrixUnit != MatrixUnit::None)
    return notSupported("leaves types of 16 bits to matrix instructions");
  if (conv->forbidsWinograd)
    return notSupported("is forbidden");
  // The product is exact, six products of bf16 that take as long as three of
  // tf32, and small tiles save 2.25 of them at most.
  if (conv->allowsTf32() && target.hasWgmma)
    return notSupported("leaves tf32 to wgmma");
  if (std::string obstacle = findWinogradObstacle(*conv); !obstacle.empty())
    return notSupported(obstacle);
  if (getGeometries(*conv).empty())
    return notSupported(WinogradGeometry(*conv, 2).findObstacle());
  return getImplicitGemm().check(getGeometries(*conv).front().getProduct(),
                                 target);
}

/// Clocks of the launches around the product.
static double estimateTransforms(const WinogradGeometry &g,
                                 const ConvProblem &conv,
                                 const GpuTarget &target) {
  constexpr WinogradRates kRates;
  constexpr int kLaunches = 3;
  const int64_t clientElements = conv.getInputElements() +
                                 conv.getFilterElements() +
                                 conv.getOutputElements();
  const auto bytes = static_cast<double>(
      clientElements * getByteSize(conv.dataType) + g.countBytes());
  // What the AMD clock knows of launches is in GemmRates.def.
  const GemmRates ofProduct = getGemmRates(target);
  const double begin = ofProduct.wait > 0 ? ofProduct.sum : kRates.begin;
  return kLaunches * begin +
         bytes / (kRates.memoryShare * getMemoryBytesPerClock(target));
}

/// Whether the transforms leave what tensor cores that split f32 multiply as
/// exact as a sum of f32, which those are about as fast as. F(4x4, 3x3) is off
/// by 7e-7 of the norm, a sum of so many pixels by 1.1e-6 and more.
static bool isExact(const WinogradGeometry &g) {
  constexpr int64_t kManyPixels = 4096;
  return g.outputs == 2 ||
         (g.isWeights() && g.batch * g.height.out * g.width.out >= kManyPixels);
}

std::vector<Candidate> Winograd::getCandidates(const Problem &problem,
                                               const GpuTarget &target) const {
  const ConvProblem &conv = *problem.getConv();
  std::vector<Candidate> candidates;
  for (const WinogradGeometry &g : getGeometries(conv)) {
    if (target.hasWgmma && !isExact(g))
      continue;
    const double transforms = estimateTransforms(g, conv, target);
    const std::string size = "f" + std::to_string(g.outputs) + "-";
    for (const Candidate &product :
         getImplicitGemm().getCandidates(g.getProduct(), target))
      if (countSplitBytes(g, product.tile) + g.countBytes() <= g.kMaxBytes)
        candidates.push_back(
            {{std::string(kName), size + product.tile.toText()},
             product.cost + transforms});
  }
  return candidates;
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

namespace {
struct WinogradTile {
  int64_t outputs = 0;
  TileConfig product;
};
} // namespace

static ErrorOr<WinogradTile> parseTile(const TileConfig &config) {
  WinogradTile tile;
  const std::string_view text = config.parameters;
  for (int64_t outputs : {2, 4})
    if (text.starts_with("f" + std::to_string(outputs) + "-"))
      tile.outputs = outputs;
  if (tile.outputs > 0)
    if (ErrorOr<TileConfig> product = parseTileConfig(text.substr(3)))
      tile.product = *product;
  if (tile.product.algorithm != getImplicitGemm().getName())
    return invalidArgument("has tile '" + config.toText() +
                           "', but 'winograd-' is followed by 'f2-' or 'f4-' "
                           "and a tile of igemm");
  return tile;
}

static LogicalResult checkConv(dnn::ConvOp conv, int64_t outputs) {
  std::string obstacle = findWinogradObstacle(conv);
  if (obstacle.empty())
    obstacle = WinogradGeometry(conv, outputs).findObstacle();
  if (!obstacle.empty())
    return conv.emitOpError()
           << "is not computed by 'winograd', which " << obstacle;
  Type element = conv.getElementType();
  if (!element.isF32() && !element.isF16() && !element.isBF16())
    return conv.emitOpError()
           << "is of " << element << ", but 'winograd' computes in f32";
  for (Value tensor : {conv.getX(), conv.getW(), conv.getY()})
    if (!isa<BlockArgument>(tensor))
      return conv.emitOpError("needs arguments of its function as tensors");
  return success();
}

/// The product that replaces `conv`.
static dnn::ConvOp createProduct(dnn::ConvOp conv, const WinogradGeometry &g,
                                 const WinogradTensors &tensors) {
  auto function = conv->getParentOfType<func::FuncOp>();
  OpBuilder b(conv);
  constexpr auto kLayout = dnn::Layout::NHWC;
  const SmallVector<int64_t> none = {0, 0}, one = {1, 1};
  return dnn::ConvOp::create(
      b, conv.getLoc(),
      g.isWeights() ? conv.getDirection() : dnn::ConvDirection::Forward,
      function.getArgument(tensors.inputs),
      function.getArgument(tensors.filters),
      function.getArgument(tensors.products), kLayout, kLayout, kLayout, none,
      /*padsAfter=*/DenseI64ArrayAttr(), one, one, g.countPoints(),
      /*tf32=*/false, /*extras=*/ValueRange());
}

LogicalResult Winograd::build(Operation *primitive, const TileConfig &config,
                              const GpuTarget &target) const {
  auto conv = dyn_cast<dnn::ConvOp>(primitive);
  if (!conv)
    return primitive->emitOpError("is no convolution");
  ErrorOr<WinogradTile> tile = parseTile(config);
  if (!tile)
    return conv.emitOpError() << tile.getStatus().getMessage();
  if (failed(checkConv(conv, tile->outputs)))
    return failure();
  const WinogradGeometry g(conv, tile->outputs);
  const WinogradTensors tensors =
      addTensors(conv, g, countSplitBytes(g, tile->product));
  buildWinogradInputs(conv, g, tensors);
  if (g.isWeights()) {
    buildWinogradGradients(conv, g, tensors);
    buildWinogradWeights(conv, g, tensors);
  } else {
    buildWinogradFilters(conv, g, tensors);
    buildWinogradOutputs(conv, g, tensors);
  }
  dnn::ConvOp product = createProduct(conv, g, tensors);
  conv.erase();
  return getImplicitGemm().build(product, tile->product, target);
}

const Algorithm &tessera::getWinograd() {
  static const Winograd kAlgorithm;
  return kAlgorithm;
}
