//===- Depthwise.cpp - Convolutions of few channels a group ---------------===//
//
// With one to four channels a group a convolution is no matrix product: every
// element is read once and multiplied by few others. So a thread keeps the
// filters of its groups in registers.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Depthwise/Depthwise.h"
#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Depthwise/DepthwiseWeightBoxes.h"
#include "compiler/Algorithms/Registry.h"
#include "dialect/IR/PointHints.h"
#include "runtime/Base/TextScanner.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace tessera;

/// The most channels of a group, in either tensor.
static constexpr int64_t kMaxChannels = 4;

//===----------------------------------------------------------------------===//
// The tile's text, and the filter
//===----------------------------------------------------------------------===//

TileConfig DepthwiseTile::toConfig() const {
  std::string text = "g" + std::to_string(groups) + "p" + std::to_string(rows) +
                     "q" + std::to_string(columns) + "t" +
                     std::to_string(threads) + "s" + std::to_string(splits);
  if (iterations != 1)
    text += "n" + std::to_string(iterations);
  if (summed != 1)
    text += "r" + std::to_string(summed);
  if (tapSplits != 1)
    text += "k" + std::to_string(tapSplits);
  if (stages != 0)
    text += "b" + std::to_string(stages);
  if (resident != 0)
    text += "u" + std::to_string(resident);
  if (loadsAhead)
    text += "a";
  if (isStreamed)
    text += "o";
  if (sharesFilters)
    text += "l";
  return {"depthwise", text};
}

ErrorOr<DepthwiseTile> tessera::parseDepthwiseTile(const TileConfig &config) {
  DepthwiseTile tile;
  TextScanner scanner(config.parameters);
  scanner.expect("g").number(tile.groups).expect("p").number(tile.rows);
  scanner.expect("q").number(tile.columns).expect("t").number(tile.threads);
  scanner.expect("s").number(tile.splits);
  bool isPositive = true;
  if (scanner.consume("n")) {
    scanner.number(tile.iterations);
    isPositive = tile.iterations > 1; // 1 is not written.
  }
  if (scanner.consume("r")) {
    scanner.number(tile.summed);
    isPositive &= tile.summed > 1;
  }
  if (scanner.consume("k")) {
    scanner.number(tile.tapSplits);
    isPositive &= tile.tapSplits > 1;
  }
  if (scanner.consume("b")) {
    scanner.number(tile.stages);
    isPositive &= tile.stages > 0;
  }
  if (scanner.consume("u")) {
    scanner.number(tile.resident);
    isPositive &= tile.resident > 0;
  }
  tile.loadsAhead = scanner.consume("a");
  tile.isStreamed = scanner.consume("o");
  tile.sharesFilters = scanner.consume("l");
  isPositive &= std::min({tile.groups, tile.rows, tile.columns, tile.threads,
                          tile.splits}) >= 1;
  if (!scanner.isDone() || !isPositive || tile.threads > 1024 ||
      tile.iterations > DepthwiseTile::kMaxIterations ||
      config.algorithm != "depthwise")
    return invalidArgument("'" + config.toText() +
                           "' is not a tile, which looks like "
                           "'depthwise-g8p2q4t256s1'");
  return tile;
}

void tessera::setResident(PointBuilder &p, const DepthwiseTile &tile) {
  if (tile.resident != 0)
    p.b.getInsertionBlock()->getParentOp()->setAttr(
        dnn::kResidentAttrName, p.b.getI64IntegerAttr(tile.resident));
}

/// Copies the filters of all threads of the workgroup to LDS, in pieces of at
/// most 16 bytes, and loads this thread's `size` elements from there.
static Value loadThroughShared(PointBuilder &p, const DepthwiseTile &tile,
                               Value flatFilter, Value groupBlock, Value thread,
                               int64_t size) {
  constexpr int64_t kBytes = 16;
  auto type = cast<MemRefType>(flatFilter.getType());
  int64_t total = type.getNumElements(), blocks = total / size;
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  // The first element of a workgroup is a multiple of this.
  int64_t step = std::gcd(blocks, tile.threads) * size;
  int64_t width = getAccessWidth(type, 0, std::gcd(kBytes / bytes, step));
  int64_t pieces = llvm::divideCeilSigned(size, width);
  Value shared =
      p.makeShared(type.getElementType(), {pieces * width * tile.threads});
  // The block of groups of the workgroup's first thread is groupBlock - thread,
  // modulo the blocks. The bias, a multiple of these, keeps it from being
  // negative.
  int64_t bias = llvm::divideCeilSigned(tile.threads, blocks) * blocks;
  auto wrap = [&](Value value, int64_t length) -> Value {
    return arith::RemUIOp::create(p.b, p.loc, value, p.index(length));
  };
  Value first = p.mul(
      wrap(arith::SubIOp::create(p.b, p.loc, p.add(groupBlock, bias), thread),
           blocks),
      size);
  for (int64_t i = 0; i < pieces; ++i) {
    Value offset = p.mul(p.add(thread, i * tile.threads), width);
    Value piece =
        p.loadBlock(flatFilter, 0, width, {wrap(p.add(first, offset), total)});
    p.storeShared(piece, shared, {offset});
  }
  p.barrier();
  PointBuilder::Values elements;
  width = size & -size;
  width = std::min(width, kBytes / bytes);
  for (int64_t i = 0; i < size; i += width) {
    Value piece = p.loadShared(shared, width, {p.add(p.mul(thread, size), i)});
    for (int64_t j = 0; j < width; ++j)
      elements.push_back(p.getElement(piece, j));
  }
  return p.makeBlock(elements);
}

GroupFilter::GroupFilter(PointBuilder &p, const ConvProgram &program,
                         const DepthwiseTile &tile, Value flatFilter,
                         Value groupBlock, Value thread)
    : channelsFirst(program.w.layout == dnn::Layout::NCHW),
      inputs(program.getInputsPerGroup()), rows(program.filter[0]),
      columns(program.filter[1]) {
  int64_t size =
      tile.groups * program.getOutputsPerGroup() * inputs * rows * columns;
  Value block =
      thread ? loadThroughShared(p, tile, flatFilter, groupBlock, thread, size)
             : p.loadBlock(flatFilter, 0, size, p.mul(groupBlock, size));
  block = p.convert(block, program.getAccType());
  for (int64_t i = 0; i < size; ++i)
    elements.push_back(p.getElement(block, i));
}

Value GroupFilter::get(int64_t output, int64_t input, int64_t row,
                       int64_t column) const {
  int64_t index =
      channelsFirst
          ? ((output * inputs + input) * rows + row) * columns + column
          : ((output * rows + row) * columns + column) * inputs + input;
  return elements[index];
}

//===----------------------------------------------------------------------===//
// The algorithm
//===----------------------------------------------------------------------===//

namespace {
class Depthwise final : public Algorithm {
public:
  std::string_view getName() const override { return "depthwise"; }
  bool takesUnaligned() const override { return true; }
  bool takesUnknownSizes() const override { return true; }
  bool needsWorkspace(const ConvProblem &conv,
                      const TileConfig &) const override {
    return conv.direction == Direction::BackwardWeights;
  }
  Status check(const Problem &problem, const GpuTarget &target) const override;
  std::vector<Candidate> getCandidates(const Problem &problem,
                                       const GpuTarget &target) const override;
  LogicalResult build(Operation *primitive, const TileConfig &tile,
                      const GpuTarget &target) const override;
};
} // namespace

Status Depthwise::check(const Problem &problem, const GpuTarget &) const {
  const Problem sample = problem.getSample();
  const ConvProblem *conv = sample.getConv();
  if (!conv)
    return notSupported("solves convolutions");
  int64_t inputs = conv->inChannels / conv->groups;
  int64_t outputs = conv->outChannels / conv->groups;
  if (conv->groups == 1 || std::max(inputs, outputs) > kMaxChannels)
    return notSupported("wants groups of at most 4 channels");
  if (conv->hasDepth())
    return notSupported("knows no depth");
  if (getByteSize(conv->dataType) == 1)
    return notSupported("computes with floats");
  if (conv->wLayout == Layout::Strided)
    return notSupported("wants a packed filter");
  int64_t taps = conv->filter.h * conv->filter.w;
  if (inputs * outputs * taps > DepthwiseTile::kMaxFilter)
    return notSupported("wants a group's filter of at most 128 elements");
  // Offsets inside a block are constants; the offset of a block has 32 bits.
  constexpr int64_t kLimit = int64_t(1) << 24;
  Spatial out = conv->getOutput();
  if (std::max({conv->in.h, conv->in.w, out.h, out.w, conv->pad.h, conv->pad.w,
                conv->stride.h, conv->stride.w, conv->dilation.h,
                conv->dilation.w}) > kLimit ||
      conv->stride.h > 4 || conv->stride.w > 4)
    return notSupported("wants strides of at most 4, and smaller images");
  return Status::ok();
}

/// Whether every workgroup has only whole pixels, whatever their number.
static bool fillsWorkgroups(int64_t groups, const DepthwiseTile &tile) {
  return groups / tile.groups % tile.threads == 0;
}

std::vector<Candidate> Depthwise::getCandidates(const Problem &problem,
                                                const GpuTarget &target) const {
  const Problem sample = problem.getSample();
  const ConvProblem &conv = *sample.getConv();
  std::vector<Candidate> all =
      getDepthwiseCandidates(conv, target, getDepthwiseRates(target));
  const bool isOpen = problem.hasUnknownSizes();
  for (Candidate &candidate : all)
    if (isOpen) {
      DepthwiseTile tile = *parseDepthwiseTile(candidate.tile);
      tile.sharesFilters &= fillsWorkgroups(conv.groups, tile);
      candidate.tile = tile.toConfig();
    }
  const bool isWeights = conv.direction == Direction::BackwardWeights;
  for (Candidate &candidate : all)
    if (isOpen && isWeights)
      candidate.tile = chooseOpenWeightsTile(conv, target).toConfig();
    else if (isOpen && target.vendor == Vendor::Amd)
      candidate.tile =
          chooseOpenDataTile(conv, *parseDepthwiseTile(candidate.tile))
              .toConfig();
    else if (problem.isUnaligned())
      candidate.tile = chooseUnalignedTile(conv, target).toConfig();
  return all;
}

/// Whether the splits that a workgroup adds have equally many lanes, whose
/// number divides the blocks of groups, and fit LDS; and whether the distance
/// between the rows of two tap splits is a whole number of rows of gradients.
static bool sumsEvenly(const dnn::ConvDims &d, const DepthwiseTile &tile) {
  int64_t taps = llvm::divideCeilSigned(d.y, tile.tapSplits);
  if (tile.tapSplits > 1 &&
      (d.c != d.groups || d.k != d.groups || tile.tapSplits > d.y ||
       taps * d.dilationH % d.strideH != 0))
    return false;
  return tile.summed == 1 ||
         (tile.canSum() && tile.threads % tile.summed == 0 &&
          tile.splits >= tile.summed &&
          d.groups / tile.groups % (tile.threads / tile.summed) == 0);
}

/// Whether TMA can copy the tile's boxes, if it has any, from these tensors,
/// which must be aligned to 16 bytes and not of f64, and the boxes fit LDS.
static bool canHaveBoxes(const ConvProgram &program, const DepthwiseTile &tile,
                         const GpuTarget &target) {
  if (tile.stages == 0)
    return true;
  dnn::ConvOp conv = program.getConv();
  if (conv->getParentOfType<ModuleOp>()->hasAttr(dnn::kUnalignedAttrName) ||
      program.x.getElementType().isF64())
    return false;
  const dnn::ConvDims &d = program.dims;
  const int64_t bytes = program.x.getElementType().getIntOrFloatBitWidth() / 8;
  return d.c == d.groups && d.k == d.groups && tile.summed > 1 &&
         tile.tapSplits == 1 && tile.iterations == 1 && !tile.loadsAhead &&
         program.x.hasChannelsInnermost() && program.y.hasChannelsInnermost() &&
         DepthwiseBoxes(getWeightsRows(program, tile),
                        getWeightsColumns(program, tile), tile)
             .fit(bytes, target);
}

/// Whether all threads of every workgroup have points, neighbouring threads
/// have neighbouring blocks of groups, and the filters of a workgroup fit LDS.
static bool sharesEvenly(const ConvProgram &program,
                         const DepthwiseTile &tile) {
  if (!tile.sharesFilters)
    return true;
  bool isForward = program.hasDirection(dnn::ConvDirection::Forward);
  const ConvTensor &result = isForward ? program.y : program.x;
  auto countBlocks = [&](int64_t dim, int64_t size) {
    return llvm::divideCeilSigned(result.getType().getDimSize(dim), size);
  };
  const bool isFull =
      fillsWorkgroups(program.dims.groups, tile) ||
      (result.getType().hasStaticShape() &&
       countBlocks(result.getOuterDim(), 1) *
               countBlocks(result.getSpatialDim(0),
                           tile.rows * tile.iterations) *
               countBlocks(result.getSpatialDim(1), tile.columns) *
               (program.dims.groups / tile.groups) % tile.threads ==
           0);
  MemRefType filter = program.w.getType();
  int64_t bytes = filter.getNumElements() / program.dims.groups * tile.groups *
                  filter.getElementTypeBitWidth() / 8;
  return result.hasChannelsInnermost() && isFull && tile.canShare(bytes);
}

/// Whether `tile` can compute this convolution.
static bool fits(const ConvProgram &program, const DepthwiseTile &tile,
                 const GpuTarget &target) {
  const dnn::ConvDims &d = program.dims;
  int64_t perGroup =
      program.getInputsPerGroup() * program.getOutputsPerGroup() * d.y * d.x;
  bool isData = !program.hasDirection(dnn::ConvDirection::BackwardWeights);
  bool isBackward = program.hasDirection(dnn::ConvDirection::BackwardData);
  return program.x.getNumSpatial() == 2 && d.groups % tile.groups == 0 &&
         tile.groups * perGroup <= DepthwiseTile::kMaxFilter &&
         tile.rows * tile.columns * d.y * d.x <= DepthwiseTile::kMaxProducts &&
         (isData ? tile.splits * tile.summed * tile.tapSplits == 1 &&
                       !tile.loadsAhead && !tile.isStreamed &&
                       tile.stages == 0 && sharesEvenly(program, tile)
                 : (tile.stages == 0 || program.x.getType().hasStaticShape()) &&
                       sumsEvenly(d, tile) && !tile.sharesFilters &&
                       canHaveBoxes(program, tile, target)) &&
         (!isBackward ||
          (tile.rows % d.strideH == 0 && tile.columns % d.strideW == 0)) &&
         program.w.getType().getLayout().isIdentity() &&
         isa<FloatType>(program.x.getElementType());
}

LogicalResult Depthwise::build(Operation *primitive, const TileConfig &config,
                               const GpuTarget &target) const {
  auto conv = dyn_cast<dnn::ConvOp>(primitive);
  if (!conv)
    return primitive->emitOpError("is no convolution");
  ErrorOr<DepthwiseTile> tile = parseDepthwiseTile(config);
  if (!tile)
    return conv.emitOpError() << tile.getStatus().getMessage();
  ConvProgram program(conv);
  if (!fits(program, *tile, target))
    return conv.emitOpError()
           << "does not fit tile '" << config.toText() << "'";
  const bool isElementwise = target.vendor == Vendor::Nvidia;
  if (program.hasDirection(dnn::ConvDirection::BackwardWeights))
    buildDepthwiseWeights(program, *tile, isElementwise);
  else
    buildDepthwiseData(program, *tile, isElementwise);
  return success();
}

const Algorithm &tessera::getDepthwise() {
  static const Depthwise kAlgorithm;
  return kAlgorithm;
}
