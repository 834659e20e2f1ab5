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
#include <numeric>

using namespace mlir;
using namespace tessera;

/// Filter elements that a thread can keep beside its sums and data.
static constexpr int64_t kMaxFilter = 128;
/// Products of a thread for one source channel: what is written out.
static constexpr int64_t kMaxProducts = 2401;
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
  if (summed != 1)
    text += "r" + std::to_string(summed);
  if (tapParts != 1)
    text += "k" + std::to_string(tapParts);
  if (loadsAhead)
    text += "a";
  if (sharesFilters)
    text += "l";
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
  if (scanner.consume("r")) {
    scanner.number(tile.summed);
    isPositive &= tile.summed > 1;
  }
  if (scanner.consume("k")) {
    scanner.number(tile.tapParts);
    isPositive &= tile.tapParts > 1;
  }
  tile.loadsAhead = scanner.consume("a");
  tile.sharesFilters = scanner.consume("l");
  isPositive &= std::min({tile.groups, tile.rows, tile.columns, tile.threads,
                          tile.parts}) >= 1;
  if (!scanner.isDone() || !isPositive || tile.threads > 1024 ||
      tile.turns > kMaxTurns || config.algorithm != "depthwise")
    return invalidArgument("'" + config.toText() +
                           "' is not a tile, which looks like "
                           "'depthwise-g8p2q4t256s1'");
  return tile;
}

/// What the workgroup's threads want, in 16-byte pieces, to LDS; then `size`
/// elements of it, which are this thread's.
static Value loadThroughShared(PointBuilder &p, const DepthwiseTile &tile,
                               Value flatFilter, Value groupBlock, Value thread,
                               int64_t size) {
  constexpr int64_t kBytes = 16;
  auto type = cast<MemRefType>(flatFilter.getType());
  int64_t total = type.getNumElements(), blocks = total / size;
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  // Workgroups begin at multiples of this.
  int64_t step = std::gcd(blocks, tile.threads) * size;
  int64_t width = getAccessWidth(type, 0, std::gcd(kBytes / bytes, step));
  int64_t pieces = llvm::divideCeilSigned(size, width);
  Value shared =
      p.makeShared(type.getElementType(), {pieces * width * tile.threads});
  // The block of groups of the workgroup's first thread, in sizes that never
  // are negative.
  int64_t turns = llvm::divideCeilSigned(tile.threads, blocks) * blocks;
  auto wrap = [&](Value value, int64_t length) -> Value {
    return arith::RemUIOp::create(p.b, p.loc, value, p.index(length));
  };
  Value first = p.mul(
      wrap(arith::SubIOp::create(p.b, p.loc, p.add(groupBlock, turns), thread),
           blocks),
      size);
  for (int64_t i = 0; i < pieces; ++i) {
    Value place = p.mul(p.add(thread, i * tile.threads), width);
    Value piece =
        p.loadBlock(flatFilter, 0, width, {wrap(p.add(first, place), total)});
    p.storeShared(piece, shared, {place});
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
  block = p.convert(block, program.getSumType());
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

/// Registers that backward weights has of both activations for a block of one
/// row: a row of x, and the rows of gradients that the window spans. Channels
/// that do not lie together come one by one, each to a register of its own.
static int64_t countLoaded(const ConvProblem &conv, const DepthwiseTile &tile) {
  int64_t width = (tile.columns - 1) * conv.stride.w +
                  (conv.filter.w - 1) * conv.dilation.w + 1;
  int64_t inputs = conv.inChannels / conv.groups;
  int64_t outputs = conv.outChannels / conv.groups;
  auto getBytes = [&](const Strides &strides) -> int64_t {
    int64_t bytes = getByteSize(conv.dataType);
    return strides.c == 1 ? bytes : std::max<int64_t>(bytes, 4);
  };
  return tile.groups *
         (conv.stride.h * width * inputs * getBytes(conv.getInputStrides()) +
          conv.filter.h * tile.columns * outputs *
              getBytes(conv.getOutputStrides())) /
         4;
}

/// Gives a tile of backward weights at most `parts` parts, each with a strip or
/// more; strips are no shorter than that takes.
static void setParts(DepthwiseTile &tile, const ConvProblem &conv,
                     int64_t parts) {
  int64_t blocks = llvm::divideCeil(conv.in.h, tile.rows * conv.stride.h);
  int64_t columnBlocks = llvm::divideCeil(conv.getOutput().w, tile.columns);
  int64_t wide = conv.batch * columnBlocks;
  int64_t segments = std::clamp<int64_t>(parts / wide, 1, blocks);
  tile.turns = std::min<int64_t>(kMaxTurns, llvm::divideCeil(blocks, segments));
  int64_t strips = wide * llvm::divideCeil(blocks, tile.turns);
  parts = std::clamp<int64_t>(parts, 1, strips);
  tile.parts = llvm::divideCeil(strips, llvm::divideCeil(strips, parts));
}

//===----------------------------------------------------------------------===//
// NVIDIA's chips
//===----------------------------------------------------------------------===//

/// Neighbouring columns: of 4 to 7 those that overhang least, the most of them.
static int64_t chooseColumns(int64_t width) {
  auto countIdle = [&](int64_t columns) {
    return llvm::divideCeil(width, columns) * columns - width;
  };
  int64_t best = 7;
  for (int64_t columns = 6; columns >= 4; --columns)
    if (countIdle(columns) < countIdle(best))
      best = columns;
  return best;
}

/// As many groups as leave registers for a block of f32 beside their filters.
static int64_t chooseFewGroups(const ConvProblem &conv,
                               int64_t maxChannels = 4) {
  constexpr int64_t kMaxKept = 104;
  int64_t inputs = conv.inChannels / conv.groups;
  int64_t outputs = conv.outChannels / conv.groups;
  int64_t perGroup = inputs * outputs * conv.filter.h * conv.filter.w;
  int64_t groups = 1;
  while (conv.groups % (2 * groups) == 0 &&
         2 * groups * std::max(inputs, outputs) <= maxChannels &&
         2 * groups * perGroup <= kMaxKept)
    groups *= 2;
  return groups;
}

/// Eleven warps for each multiprocessor: as many as have registers at a time.
static int64_t getResidentThreads(const GpuTarget &target) {
  return int64_t(target.computeUnits) * 11 * target.waveSize;
}

/// Elements of a thread's filter that are dear to load, since its neighbours in
/// memory are taps, and to convert.
static bool isDear(int64_t filterElements) { return filterElements > 64; }

/// Whether LDS has room for what a workgroup's threads want, so many bytes
/// each, and each finds whole dwords.
static bool canShare(const DepthwiseTile &tile, int64_t bytes) {
  constexpr int64_t kBytes = 32768;
  return bytes % 4 == 0 && bytes * tile.threads <= kBytes;
}

/// Gives `tile` a tall block if one divides the result. Its rows share their
/// source; one group of f32 a lane is as much as a warp loads at once, and its
/// filter leaves registers for such a block.
static bool setTallBlock(DepthwiseTile &tile, const ConvProblem &conv) {
  constexpr std::pair<int64_t, int64_t> kBlocks[] = {{8, 4}, {7, 7}};
  const TensorLengths result = conv.getResultLengths();
  if (getByteSize(conv.dataType) != 4 || conv.inChannels != conv.groups ||
      conv.outChannels != conv.groups ||
      std::max(conv.stride.h, conv.stride.w) > 1)
    return false;
  for (auto [rows, columns] : kBlocks)
    if (result.h % rows == 0 && result.w % columns == 0 &&
        rows * columns * conv.filter.h * conv.filter.w <= kMaxProducts) {
      tile.groups = 1;
      tile.rows = rows;
      tile.columns = columns;
      return true;
    }
  return false;
}

/// Lanes hold channels; measured on an H100 for 3x3 and 7x7 (performance.md).
/// Threads walk as many blocks with one dear filter as leaves enough threads.
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
  int64_t inputs = conv.inChannels / conv.groups;
  int64_t outputs = conv.outChannels / conv.groups;
  int64_t owned = tile.groups * (isForward ? outputs : inputs);
  auto isTooLarge = [&] {
    constexpr int64_t kMaxSums = 64, kManyProducts = 1536;
    int64_t pixels = tile.rows * tile.columns;
    return pixels * owned > kMaxSums || pixels * taps > kManyProducts;
  };
  const bool keepsFilter = isDear(tile.groups * inputs * outputs * taps);
  const bool isSquare = !keepsFilter && stepH * stepW == 1 &&
                        result.w % 4 == 0 && result.h % 4 == 0;
  tile.rows = isSquare ? 4 : 2;
  tile.columns =
      isSquare ? 4 : chooseColumns(llvm::divideCeil(result.w, stepW));
  if (isForward && !keepsFilter && conv.stride.w > 1) {
    // Windows share little: short threads that load 16 bytes at a time.
    int64_t bytes = getByteSize(conv.dataType);
    tile.groups = chooseFewGroups(conv, 16 / bytes);
    owned = tile.groups * outputs;
    tile.rows = tile.columns = bytes == 2 ? 2 : 1;
  }
  tile.rows = llvm::alignTo(tile.rows, stepH);
  tile.columns *= stepW;
  while (isTooLarge() && tile.columns > stepW)
    tile.columns -= stepW;
  if (isTooLarge())
    tile.rows = stepH;
  const bool isTall = keepsFilter && setTallBlock(tile, conv);
  // Many short threads of tall blocks hide better how long loads take.
  const int64_t wanted = getResidentThreads(target) * (isTall ? 3 : 1);
  int64_t blocks = llvm::divideCeil(result.h, tile.rows);
  constexpr int64_t kManyTurns = 7;
  for (int64_t turns = 2; keepsFilter && turns <= std::min(blocks, kManyTurns);
       ++turns) {
    DepthwiseTile longer = tile;
    longer.turns = turns;
    if (countPoints(conv, longer) < wanted)
      break;
    if (blocks % turns == 0)
      tile.turns = turns;
  }
  if (!keepsFilter)
    tile.threads = 128;
  tile.sharesFilters = countPoints(conv, tile) % tile.threads == 0 &&
                       canShare(tile, tile.groups * inputs * outputs * taps *
                                          getByteSize(conv.dataType));
  return tile;
}

/// Workgroups of several warps of each channel, as many as are resident, sum
/// what those have: more would be more parts to add. Few sums leave registers
/// to load ahead.
static DepthwiseTile chooseResidentTile(const ConvProblem &conv,
                                        const GpuTarget &target) {
  DepthwiseTile tile;
  tile.groups = std::min<int64_t>(2, chooseFewGroups(conv));
  int64_t inputs = conv.inChannels / conv.groups;
  int64_t outputs = conv.outChannels / conv.groups;
  int64_t perGroup = inputs * outputs * conv.filter.h * conv.filter.w;
  const bool isHeavy = isDear(tile.groups * perGroup);
  const bool isNarrow = getByteSize(conv.dataType) == 2;
  int64_t width = conv.getOutput().w;
  tile.columns = chooseColumns(width);
  tile.rows = isNarrow && conv.stride.h == 1 ? 2 : 1;
  // Threads of few sums hide better how long loads take than one of many.
  if (isHeavy && inputs * outputs == 1 && conv.filter.h >= 5 &&
      llvm::divideCeil(conv.filter.h, 2) * conv.dilation.h % conv.stride.h == 0)
    tile.tapParts = 2;
  else if (isHeavy)
    tile.columns = std::min<int64_t>(tile.columns, 4);
  // Of registers there are as many for one as for the other.
  int64_t maxThreads = isHeavy ? 128 : 288, resident = isHeavy ? 3 : 2;
  int64_t groupBlocks = conv.groups / tile.groups;
  int64_t lanes = maxThreads / 4;
  while (groupBlocks % lanes != 0)
    --lanes;
  // Groups that nothing divides are neighbours in the lanes nevertheless.
  constexpr int64_t kFewLanes = 8, kMaxSummed = 8;
  const bool isOdd = lanes < kFewLanes;
  tile.summed = isOdd ? 1 : std::min(maxThreads / lanes, kMaxSummed);
  tile.threads = isOdd ? 64 : lanes * tile.summed;
  int64_t workgroups =
      target.computeUnits * resident * (isOdd ? maxThreads / tile.threads : 1);
  int64_t wanted =
      workgroups * (tile.threads / tile.summed) / (groupBlocks * tile.tapParts);
  setParts(tile, conv, std::max<int64_t>(1, wanted) * tile.summed);
  if (tile.parts < tile.summed) {
    tile.threads = lanes * tile.parts;
    tile.summed = tile.parts;
  }
  constexpr int64_t kManyTurns = 5;
  tile.loadsAhead = (!isHeavy || !isNarrow) && tile.turns >= kManyTurns;
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
  int64_t wanted = getWantedThreads(conv, target) /
                   std::max<int64_t>(1, countPoints(conv, tile));
  setParts(tile, conv, std::min(wanted, kMaxParts));
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
  return getDepthwiseCandidates(*problem.getConv(), target,
                                getDepthwiseRates(target));
}

DepthwiseRates tessera::getDepthwiseRates(const GpuTarget &target) {
  switch (target.vendor) {
#define DEPTHWISE_RATES(VENDOR, ...)                                           \
  case Vendor::VENDOR:                                                         \
    return {__VA_ARGS__};
#include "compiler/Algorithms/DepthwiseRates.def"
  }
  return {};
}

std::vector<Candidate>
tessera::getDepthwiseCandidates(const ConvProblem &conv,
                                const GpuTarget &target,
                                const DepthwiseRates &rates) {
  DepthwiseTile tile = chooseTile(conv, target);
  // Every byte once, or the products.
  double bytes = double(conv.getInputElements() + conv.getOutputElements()) *
                 getByteSize(conv.dataType);
  double clocks =
      std::max(bytes / rates.memoryBytes, conv.getFlops() / 2 / rates.products);
  double share = std::min(1.0, double(countPoints(conv, tile)) /
                                   getWantedThreads(conv, target));
  return {{tile.toConfig(), clocks / (target.computeUnits * share)}};
}

/// Whether the parts that a workgroup sums are of as many lanes each, which the
/// groups share out, and few enough for LDS; and whether those of a filter are
/// whole rows of gradients apart.
static bool sumsEvenly(const dnn::ConvDims &d, const DepthwiseTile &tile) {
  int64_t taps = llvm::divideCeilSigned(d.y, tile.tapParts);
  if (tile.tapParts > 1 &&
      (d.c != d.groups || d.k != d.groups || tile.tapParts > d.y ||
       taps * d.dilationH % d.strideH != 0))
    return false;
  // What a workgroup's threads have of as many sums, in LDS.
  constexpr int64_t kMaxShared = 8192;
  return tile.summed == 1 ||
         (tile.summed * tile.threads * tile.groups <= kMaxShared &&
          tile.threads % tile.summed == 0 && tile.parts >= tile.summed &&
          d.groups / tile.groups % (tile.threads / tile.summed) == 0);
}

/// Whether workgroups are whole, their threads' blocks of groups neighbours,
/// and the filters of those fit LDS.
static bool sharesEvenly(const ConvProgram &program,
                         const DepthwiseTile &tile) {
  if (!tile.sharesFilters)
    return true;
  bool isForward = program.hasDirection(dnn::ConvDirection::Forward);
  const ConvTensor &result = isForward ? program.y : program.x;
  int64_t points =
      result.getType().getDimSize(0) *
      llvm::divideCeilSigned(result.getSpatialSize(0), tile.rows * tile.turns) *
      llvm::divideCeilSigned(result.getSpatialSize(1), tile.columns) *
      (program.dims.groups / tile.groups);
  MemRefType filter = program.w.getType();
  int64_t bytes = filter.getNumElements() / program.dims.groups * tile.groups *
                  filter.getElementTypeBitWidth() / 8;
  return result.hasChannelsInnermost() && points % tile.threads == 0 &&
         canShare(tile, bytes);
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
         (isData ? tile.parts * tile.summed * tile.tapParts == 1 &&
                       !tile.loadsAhead && sharesEvenly(program, tile)
                 : sumsEvenly(d, tile) && !tile.sharesFilters) &&
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
  if (!fits(program, *tile))
    return conv.emitOpError()
           << "does not fit tile '" << config.toText() << "'";
  const bool isByLane = target.vendor == Vendor::Nvidia;
  if (program.hasDirection(dnn::ConvDirection::BackwardWeights))
    buildDepthwiseWeights(program, *tile, isByLane);
  else
    buildDepthwiseData(program, *tile, isByLane);
  return success();
}

const Algorithm &tessera::getDepthwise() {
  static const Depthwise kAlgorithm;
  return kAlgorithm;
}
