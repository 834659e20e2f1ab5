//===- Depthwise.cpp - Convolutions of few channels a group ---------------===//
//
// With one to four channels a group there is no matrix to multiply with:
// depthwise convolutions and their like read every element once and multiply
// it with a few. So a thread keeps its groups' filters in registers.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Depthwise.h"
#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Registry.h"
#include "runtime/Base/TextScanner.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace tessera;

/// Filter elements that a thread can keep beside its sums and data.
static constexpr int64_t kMaxFilter = 128;
/// Products of a thread for one source channel: what is written out.
static constexpr int64_t kMaxProducts = 2048;
/// Blocks that a thread walks.
static constexpr int64_t kMaxTurns = 1024;
/// Channels of a group, in either tensor.
static constexpr int64_t kMaxChannels = 4;

//===----------------------------------------------------------------------===//
// The tile's text, and the filter
//===----------------------------------------------------------------------===//

TileConfig DepthwiseTile::toConfig() const {
  std::string text = "g" + std::to_string(groups) + "p" + std::to_string(rows) +
                     "q" + std::to_string(columns) + "t" +
                     std::to_string(threads) + "s" + std::to_string(parts);
  if (turns != 1)
    text += "n" + std::to_string(turns);
  return {"depthwise", text};
}

ErrorOr<DepthwiseTile> tessera::parseDepthwiseTile(const TileConfig &config) {
  DepthwiseTile tile;
  TextScanner scanner(config.parameters);
  scanner.expect("g").number(tile.groups).expect("p").number(tile.rows);
  scanner.expect("q").number(tile.columns).expect("t").number(tile.threads);
  scanner.expect("s").number(tile.parts);
  bool isPositive = true;
  if (scanner.consume("n")) {
    scanner.number(tile.turns);
    isPositive = tile.turns > 1; // What is not written is 1.
  }
  isPositive &= std::min({tile.groups, tile.rows, tile.columns, tile.threads,
                          tile.parts}) >= 1;
  if (!scanner.isDone() || !isPositive || tile.threads > 1024 ||
      tile.turns > kMaxTurns || config.algorithm != "depthwise")
    return invalidArgument("'" + config.toText() +
                           "' is not a tile, which looks like "
                           "'depthwise-g8p2q4t256s1'");
  return tile;
}

GroupFilter::GroupFilter(PointBuilder &p, const ConvProgram &program,
                         Value flatFilter, Value first, int64_t count)
    : channelsFirst(program.w.layout == dnn::Layout::NCHW),
      inputs(program.getInputsPerGroup()), rows(program.filter[0]),
      columns(program.filter[1]) {
  int64_t perGroup = program.getOutputsPerGroup() * inputs * rows * columns;
  Value block = p.convert(
      p.loadBlock(flatFilter, 0, count * perGroup, p.mul(first, perGroup)),
      program.getSumType());
  for (int64_t i = 0; i < count * perGroup; ++i)
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
  Status check(const Problem &problem, const GpuTarget &target) const override;
  std::vector<Candidate> getCandidates(const Problem &problem,
                                       const GpuTarget &target) const override;
  LogicalResult build(Operation *primitive, const TileConfig &tile,
                      const GpuTarget &target) const override;
};
} // namespace

Status Depthwise::check(const Problem &problem, const GpuTarget &) const {
  const ConvProblem *conv = problem.getConv();
  if (!conv)
    return notSupported("solves convolutions");
  int64_t inputs = conv->inChannels / conv->groups;
  int64_t outputs = conv->outChannels / conv->groups;
  if (conv->groups == 1 || std::max(inputs, outputs) > kMaxChannels)
    return notSupported("wants groups of at most 4 channels");
  if (conv->hasDepth())
    return notSupported("knows no depth");
  if (conv->dataType == DataType::I8)
    return notSupported("computes with floats");
  if (conv->wLayout == Layout::Strided)
    return notSupported("wants a packed filter");
  int64_t taps = conv->filter.h * conv->filter.w;
  if (inputs * outputs * taps > kMaxFilter)
    return notSupported("wants a group's filter of at most 128 elements");
  // Offsets inside a block are constants; a block's place has 32 bits.
  constexpr int64_t kLimit = int64_t(1) << 24;
  Spatial out = conv->getOutput();
  if (std::max({conv->in.h, conv->in.w, out.h, out.w, conv->pad.h, conv->pad.w,
                conv->stride.h, conv->stride.w, conv->dilation.h,
                conv->dilation.w}) > kLimit ||
      conv->stride.h > 4 || conv->stride.w > 4)
    return notSupported("wants strides of at most 4, and smaller images");
  return Status::ok();
}

/// Whether vectors are to hold channels.
static bool hasChannelsLast(const ConvProblem &conv) {
  Strides strides = conv.direction == Direction::BackwardData
                        ? conv.getInputStrides()
                        : conv.getOutputStrides();
  return conv.direction == Direction::BackwardWeights || strides.c < strides.w;
}

static int64_t countPoints(const ConvProblem &conv, const DepthwiseTile &tile) {
  auto divideUp = [](int64_t value, int64_t by) {
    return (value + by - 1) / by;
  };
  if (conv.direction == Direction::BackwardWeights)
    return conv.groups / tile.groups * tile.parts;
  TensorLengths result = conv.getResultLengths();
  return result.n * conv.groups / tile.groups *
         divideUp(result.h, tile.rows * tile.turns) *
         divideUp(result.w, tile.columns);
}

/// Threads enough to keep the memory of `target` busy: two waves a SIMD; of
/// backward weights, whose threads have some twenty loads under way at any
/// time, a quarter of a wave a compute unit.
static int64_t getWantedThreads(const ConvProblem &conv,
                                const GpuTarget &target) {
  if (conv.direction == Direction::BackwardWeights)
    return int64_t(target.computeUnits) * target.waveSize / 4;
  return int64_t(target.computeUnits) * target.simdsPerCu * 2 * target.waveSize;
}

/// As many neighbouring groups as fill 16 bytes of one tensor's channels, as
/// far as their filters fit the registers.
static int64_t chooseGroups(const ConvProblem &conv) {
  int64_t inputs = conv.inChannels / conv.groups;
  int64_t outputs = conv.outChannels / conv.groups;
  int64_t perGroup = inputs * outputs * conv.filter.h * conv.filter.w;
  int64_t limit = 16 / getByteSize(conv.dataType);
  int64_t groups = 1;
  while (conv.groups % (2 * groups) == 0 &&
         2 * groups * std::max(inputs, outputs) <= limit &&
         2 * groups * perGroup <= kMaxFilter)
    groups *= 2;
  return groups;
}

/// Registers that backward weights loads of x for a block of columns, all of
/// them before the first product. Channels that do not lie together come one by
/// one, each to a register of its own.
static int64_t countLoaded(const ConvProblem &conv, const DepthwiseTile &tile) {
  int64_t width = (tile.columns - 1) * conv.stride.w +
                  (conv.filter.w - 1) * conv.dilation.w + 1;
  int64_t channels = tile.groups * (conv.inChannels / conv.groups);
  int64_t bytes = getByteSize(conv.dataType);
  if (conv.getInputStrides().c != 1)
    bytes = std::max<int64_t>(bytes, 4);
  return conv.filter.h * width * channels * bytes / 4;
}

//===----------------------------------------------------------------------===//
// NVIDIA's chips
//===----------------------------------------------------------------------===//

/// Neighbouring columns: of 4 to 8 those that overhang least, the most of them.
static int64_t chooseEvenColumns(int64_t width) {
  auto countIdle = [&](int64_t columns) {
    return llvm::divideCeil(width, columns) * columns - width;
  };
  int64_t best = 8;
  for (int64_t columns = 7; columns >= 4; --columns)
    if (countIdle(columns) < countIdle(best))
      best = columns;
  return best;
}

/// As many groups as leave registers for a block of f32 beside their filters.
static int64_t chooseFewGroups(const ConvProblem &conv) {
  constexpr int64_t kMaxKept = 104, kMaxChannels = 4;
  int64_t inputs = conv.inChannels / conv.groups;
  int64_t outputs = conv.outChannels / conv.groups;
  int64_t perGroup = inputs * outputs * conv.filter.h * conv.filter.w;
  int64_t groups = 1;
  while (conv.groups % (2 * groups) == 0 &&
         2 * groups * std::max(inputs, outputs) <= kMaxChannels &&
         2 * groups * perGroup <= kMaxKept)
    groups *= 2;
  return groups;
}

/// Eleven warps for each multiprocessor: as many as have registers at a time.
static int64_t getResidentThreads(const GpuTarget &target) {
  return int64_t(target.computeUnits) * 11 * target.waveSize;
}

/// Lanes hold channels; measured on an H100 for 3x3 and 7x7 (performance.md). A
/// filter is dear to load, since its neighbours in memory are taps, so threads
/// walk as many blocks with one as leaves enough threads.
static DepthwiseTile chooseLongTile(const ConvProblem &conv,
                                    const GpuTarget &target) {
  DepthwiseTile tile;
  tile.groups = chooseFewGroups(conv);
  tile.threads = 64;
  bool isForward = conv.direction == Direction::Forward;
  TensorLengths result = conv.getResultLengths();
  int64_t stepH = isForward ? 1 : conv.stride.h;
  int64_t stepW = isForward ? 1 : conv.stride.w;
  int64_t taps = conv.filter.h * conv.filter.w;
  int64_t owned = tile.groups *
                  (isForward ? conv.outChannels : conv.inChannels) /
                  conv.groups;
  auto isTooLarge = [&] {
    constexpr int64_t kMaxSums = 64, kManyProducts = 1536;
    int64_t pixels = tile.rows * tile.columns;
    return pixels * owned > kMaxSums || pixels * taps > kManyProducts;
  };
  tile.rows = 2 * stepH;
  tile.columns = chooseEvenColumns(llvm::divideCeil(result.w, stepW)) * stepW;
  while (isTooLarge() && tile.columns > stepW)
    tile.columns -= stepW;
  if (isTooLarge())
    tile.rows = stepH;
  int64_t blocks = llvm::divideCeil(result.h, tile.rows);
  for (int64_t turns = 2; turns <= std::min(blocks, kMaxTurns); ++turns) {
    DepthwiseTile longer = tile;
    longer.turns = turns;
    if (countPoints(conv, longer) < getResidentThreads(target))
      break;
    if (blocks % turns == 0)
      tile.turns = turns;
  }
  return tile;
}

/// Sums of as many threads as are resident: more would be more parts to add.
static DepthwiseTile chooseResidentTile(const ConvProblem &conv,
                                        const GpuTarget &target) {
  constexpr int64_t kMaxParts = 256;
  DepthwiseTile tile;
  tile.groups = chooseFewGroups(conv);
  tile.columns = chooseEvenColumns(conv.getOutput().w);
  tile.threads = 64;
  int64_t rows = conv.batch * conv.getOutput().h;
  int64_t wanted = getResidentThreads(target) /
                   std::max<int64_t>(1, countPoints(conv, tile));
  int64_t parts = std::clamp<int64_t>(wanted, 1, std::min(rows, kMaxParts));
  tile.parts = llvm::divideCeil(rows, llvm::divideCeil(rows, parts));
  return tile;
}

//===----------------------------------------------------------------------===//
// AMD's chips
//===----------------------------------------------------------------------===//

static DepthwiseTile chooseWeightsTile(const ConvProblem &conv,
                                       const GpuTarget &target) {
  constexpr int64_t kMaxParts = 256;
  // gfx9 without a matrix unit has 256 registers and no accumulation registers
  // to spill to; as many as this beside the sums are free of spills (gfx906).
  constexpr int64_t kMaxLoaded = 128;
  bool hasFewRegisters =
      target.waveSize == 64 && target.matrixUnit == MatrixUnit::None;
  DepthwiseTile tile;
  tile.groups = chooseGroups(conv);
  tile.columns = 4;
  while (hasFewRegisters && tile.columns > 1 &&
         countLoaded(conv, tile) > kMaxLoaded)
    tile.columns /= 2;
  int64_t rows = conv.batch * conv.getOutput().h;
  int64_t wanted = getWantedThreads(conv, target) /
                   std::max<int64_t>(1, countPoints(conv, tile));
  tile.parts = std::clamp<int64_t>(wanted, 1, std::min(rows, kMaxParts));
  tile.threads = 64;
  return tile;
}

static DepthwiseTile chooseDataTile(const ConvProblem &conv,
                                    const GpuTarget &target) {
  constexpr int64_t kMaxSums = 64;
  constexpr int64_t kManyProducts = 512;
  bool channelsLast = hasChannelsLast(conv);
  bool isForward = conv.direction == Direction::Forward;
  int64_t inputs = conv.inChannels / conv.groups;
  int64_t outputs = conv.outChannels / conv.groups;
  int64_t taps = conv.filter.h * conv.filter.w;
  DepthwiseTile tile;
  tile.groups = channelsLast ? chooseGroups(conv) : 1;
  int64_t owned = tile.groups * (isForward ? outputs : inputs);
  // Backward, a block is as many results as its stride divides.
  int64_t stepH = isForward ? 1 : conv.stride.h;
  int64_t stepW = isForward ? 1 : conv.stride.w;
  auto fits = [&](int64_t rows, int64_t columns) {
    return rows * columns * owned <= kMaxSums &&
           rows * columns * taps <= kManyProducts;
  };
  tile.rows = stepH;
  tile.columns = stepW;
  TensorLengths result = conv.getResultLengths();
  while (tile.columns < std::min<int64_t>(8, result.w) &&
         fits(tile.rows, 2 * tile.columns))
    tile.columns *= 2;
  while (tile.rows < std::min<int64_t>(4, result.h) &&
         fits(2 * tile.rows, tile.columns))
    tile.rows *= 2;
  auto isTooFew = [&] {
    return countPoints(conv, tile) < getWantedThreads(conv, target);
  };
  while (isTooFew() && tile.rows % (2 * stepH) == 0)
    tile.rows /= 2;
  while (channelsLast && isTooFew() && tile.columns % (2 * stepW) == 0)
    tile.columns /= 2;
  return tile;
}

static DepthwiseTile chooseTile(const ConvProblem &conv,
                                const GpuTarget &target) {
  bool isWeights = conv.direction == Direction::BackwardWeights;
  if (target.vendor == Vendor::Nvidia && isWeights)
    return chooseResidentTile(conv, target);
  if (target.vendor == Vendor::Nvidia && hasChannelsLast(conv))
    return chooseLongTile(conv, target);
  return isWeights ? chooseWeightsTile(conv, target)
                   : chooseDataTile(conv, target);
}

std::vector<Candidate> Depthwise::getCandidates(const Problem &problem,
                                                const GpuTarget &target) const {
  const ConvProblem &conv = *problem.getConv();
  DepthwiseTile tile = chooseTile(conv, target);
  // Every byte once, at the bytes a compute unit gets of memory in a clock on
  // CDNA3; and the products, of which a lane does one in two clocks.
  constexpr double kBytesPerClock = 8, kLanes = 64;
  double bytes = double(conv.getInputElements() + conv.getOutputElements()) *
                 getByteSize(conv.dataType);
  double clocks =
      std::max(bytes / kBytesPerClock, conv.getFlops() / 2 / (kLanes * 0.5));
  double share = std::min(1.0, double(countPoints(conv, tile)) /
                                   getWantedThreads(conv, target));
  return {{tile.toConfig(), clocks / (target.computeUnits * share)}};
}

/// Whether `tile` is one for this convolution.
static bool fits(const ConvProgram &program, const DepthwiseTile &tile) {
  const dnn::ConvDims &d = program.dims;
  int64_t perGroup =
      program.getInputsPerGroup() * program.getOutputsPerGroup() * d.y * d.x;
  bool isData = !program.hasDirection(dnn::ConvDirection::BackwardWeights);
  bool isBackward = program.hasDirection(dnn::ConvDirection::BackwardData);
  return program.x.getNumSpatial() == 2 && d.groups % tile.groups == 0 &&
         tile.groups * perGroup <= kMaxFilter &&
         tile.rows * tile.columns * d.y * d.x <= kMaxProducts &&
         (isData ? tile.parts == 1 : tile.rows * tile.turns == 1) &&
         (!isBackward ||
          (tile.rows % d.strideH == 0 && tile.columns % d.strideW == 0)) &&
         program.w.getType().getLayout().isIdentity() &&
         isa<FloatType>(program.x.getElementType());
}

LogicalResult Depthwise::build(Operation *primitive, const TileConfig &config,
                               const GpuTarget &) const {
  auto conv = dyn_cast<dnn::ConvOp>(primitive);
  if (!conv)
    return primitive->emitOpError("is no convolution");
  ErrorOr<DepthwiseTile> tile = parseDepthwiseTile(config);
  if (!tile)
    return conv.emitOpError() << tile.getStatus().getMessage();
  ConvProgram program(conv);
  if (!fits(program, *tile))
    return conv.emitOpError()
           << "does not fit tile '" << config.toText() << "'";
  if (program.hasDirection(dnn::ConvDirection::BackwardWeights))
    buildDepthwiseWeights(program, *tile);
  else
    buildDepthwiseData(program, *tile);
  return success();
}

const Algorithm &tessera::getDepthwise() {
  static const Depthwise kAlgorithm;
  return kAlgorithm;
}
