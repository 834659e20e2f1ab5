//===- DepthwiseTiles.cpp - The tile of a few channels a group ------------===//
//
// One tile a problem, by rules that were measured (NVIDIA's chips) or follow
// from registers and the number of threads (AMD's), and what it costs.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Depthwise/DepthwiseWeightBoxes.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <optional>

using namespace tessera;

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
         2 * groups * perGroup <= DepthwiseTile::kMaxFilter)
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
  tile.turns = std::min<int64_t>(DepthwiseTile::kMaxTurns,
                                 llvm::divideCeil(blocks, segments));
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
        rows * columns * conv.filter.h * conv.filter.w <=
            DepthwiseTile::kMaxProducts) {
      tile.groups = 1;
      tile.rows = rows;
      tile.columns = columns;
      return true;
    }
  return false;
}

/// Whether a problem of one channel a group has so few products for its bytes
/// that memory is what it waits for. (5x5 filters, stride 1, have 6 a byte in
/// 16 bits.)
static bool isLight(const ConvProblem &conv) {
  constexpr double kFewProducts = 3; // A byte.
  const double bytes =
      double(conv.getInputElements() + conv.getOutputElements()) *
      getByteSize(conv.dataType);
  return conv.inChannels == conv.groups && conv.outChannels == conv.groups &&
         conv.getFlops() / 2 < kFewProducts * bytes;
}

/// Rows and columns of a thread's block, which has its groups, but for a tall
/// one.
static void setLongBlock(DepthwiseTile &tile, const ConvProblem &conv,
                         const GpuTarget &target, bool keepsFilter) {
  constexpr int64_t kMaxSums = 64, kManyProducts = 1536;
  const bool isForward = conv.direction == Direction::Forward;
  const TensorLengths result = conv.getResultLengths();
  const int64_t stepH = isForward ? 1 : conv.stride.h;
  const int64_t stepW = isForward ? 1 : conv.stride.w;
  const bool isSquare = !keepsFilter && stepH * stepW == 1 &&
                        result.w % 4 == 0 && result.h % 4 == 0;
  tile.rows = isSquare ? 4 : 2;
  tile.columns =
      isSquare ? 4 : chooseColumns(llvm::divideCeil(result.w, stepW));
  auto isTooFew = [&] {
    return countPoints(conv, tile) < getWantedThreads(conv, target);
  };
  if (isForward && !keepsFilter && conv.stride.w > 1) {
    // Windows share little, or are few: short threads.
    if (conv.filter.w <= 2 * conv.stride.w || isTooFew())
      tile.rows = tile.columns = 2;
    if (isTooFew())
      tile.rows = tile.columns = 1;
  } else if (!isSquare && stepH * stepW == 1 && isLight(conv)) {
    // Fewer groups leave registers for what is loaded early.
    tile.groups = std::min<int64_t>(tile.groups, 2);
    tile.rows = 4;
  }
  tile.rows = llvm::alignTo(tile.rows, stepH);
  tile.columns *= stepW;
  const int64_t channels = isForward ? conv.outChannels : conv.inChannels;
  const int64_t owned = tile.groups * (channels / conv.groups);
  auto isTooLarge = [&] {
    const int64_t pixels = tile.rows * tile.columns;
    return pixels * owned > kMaxSums ||
           pixels * conv.filter.h * conv.filter.w > kManyProducts;
  };
  while (isTooLarge() && tile.columns > stepW)
    tile.columns -= stepW;
  if (isTooLarge())
    tile.rows = stepH;
  // Registers of a thread that loads early: 128 of 16 bits, 170 of 32.
  const int64_t bytes = getByteSize(conv.dataType);
  if (!keepsFilter && isLight(conv) && bytes <= 4 &&
      tile.rows * tile.columns * owned < kMaxSums)
    tile.resident = bytes == 2 ? 4 : 3;
}

/// Lanes hold channels; measured on an H100 for 3x3, 5x5 and 7x7
/// (docs/guides/kernel-lessons.md). Threads walk as many blocks with one filter
/// that is expensive to load as leaves enough threads.
static DepthwiseTile chooseLongTile(const ConvProblem &conv,
                                    const GpuTarget &target) {
  constexpr int64_t kManyTurns = 7;
  DepthwiseTile tile;
  tile.groups = chooseFewGroups(conv);
  const int64_t perGroup = conv.inChannels / conv.groups *
                           (conv.outChannels / conv.groups) * conv.filter.h *
                           conv.filter.w;
  // A tall block uses its filter often enough.
  const bool isTall =
      isDear(tile.groups * perGroup) && setTallBlock(tile, conv);
  while (!isTall && tile.groups > 2 && isDear(tile.groups * perGroup))
    tile.groups /= 2;
  const bool keepsFilter = isTall || isDear(tile.groups * perGroup);
  tile.threads = keepsFilter ? 64 : 128;
  if (!isTall)
    setLongBlock(tile, conv, target, keepsFilter);
  const int64_t blocks = llvm::divideCeil(conv.getResultLengths().h, tile.rows);
  const int64_t mostTurns =
      keepsFilter && !isTall ? std::min(blocks, kManyTurns) : 1;
  for (int64_t turns = 2; turns <= mostTurns; ++turns) {
    DepthwiseTile longer = tile;
    longer.turns = turns;
    if (countPoints(conv, longer) < getResidentThreads(target))
      break;
    if (blocks % turns == 0)
      tile.turns = turns;
  }
  tile.sharesFilters =
      countPoints(conv, tile) % tile.threads == 0 &&
      tile.canShare(tile.groups * perGroup * getByteSize(conv.dataType));
  return tile;
}

/// Whether the channels of a pixel of either activation lie together.
static bool hasChannelsTogether(const ConvProblem &conv) {
  return conv.getInputStrides().c == 1 && conv.getOutputStrides().c == 1;
}

/// Registers of a thread that keeps its filters' sums and what it has loaded.
static int64_t countKept(const ConvProblem &conv, const DepthwiseTile &tile) {
  int64_t words = llvm::divideCeil(getByteSize(conv.dataType), 4);
  return countLoaded(conv, tile) +
         words * tile.groups * (conv.inChannels / conv.groups) *
             (conv.outChannels / conv.groups) * conv.filter.h * conv.filter.w;
}

/// Where that suits the problem, gives `tile` the groups and columns of threads
/// whose loads are under way while they multiply: 8 bytes of 16-bit channels,
/// or one channel of f32 with a large window. Then the most threads of a
/// workgroup, two of which fill the registers; else nothing. Left to itself,
/// the assembler saves registers and loads late.
static std::optional<int64_t> setEarlyLoads(DepthwiseTile &tile,
                                            const ConvProblem &conv) {
  constexpr int64_t kMaxKept = 128, kOthers = 24, kRegisters = 65536;
  constexpr int64_t kMaxColumns = 4, kWideGroups = 4;
  const bool isNarrow = getByteSize(conv.dataType) == 2;
  DepthwiseTile early = tile;
  if (isNarrow) {
    early.groups = chooseFewGroups(conv);
    early.columns = std::min(tile.columns, kMaxColumns);
  } else {
    early.groups = 1;
  }
  const bool isSuited =
      isNarrow ? early.groups == kWideGroups : countKept(conv, tile) > kMaxKept;
  if (!isSuited || !hasChannelsTogether(conv) ||
      conv.inChannels != conv.groups || conv.outChannels != conv.groups ||
      conv.dilation.h > 1 || countKept(conv, early) > kMaxKept)
    return std::nullopt;
  tile = early;
  ConvProblem ahead = conv; // Of the gradients one row is new.
  ahead.filter.h = 1;
  return kRegisters / 2 /
         (countKept(conv, tile) + countLoaded(ahead, tile) + kOthers);
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
  const bool isNarrow = getByteSize(conv.dataType) == 2;
  int64_t width = conv.getOutput().w;
  tile.columns = chooseColumns(width);
  const std::optional<int64_t> earlyThreads = setEarlyLoads(tile, conv);
  const bool isHeavy = isDear(tile.groups * perGroup);
  tile.rows = !earlyThreads && isNarrow && conv.stride.h == 1 ? 2 : 1;
  // Threads of few sums hide better how long loads take than one of many.
  if (isHeavy && inputs * outputs == 1 && conv.filter.h >= 5 &&
      llvm::divideCeil(conv.filter.h, 2) * conv.dilation.h % conv.stride.h == 0)
    tile.tapParts = 2;
  else if (isHeavy)
    tile.columns = std::min<int64_t>(tile.columns, 4);
  // Of registers there are as many for one as for the other.
  int64_t maxThreads = isHeavy ? 128 : 288, resident = isHeavy ? 3 : 2;
  if (earlyThreads)
    maxThreads = std::min(maxThreads, *earlyThreads);
  int64_t groupBlocks = conv.groups / tile.groups;
  // Neighbouring lanes load no less together where each loads 4 bytes, not 8.
  int64_t lanes = maxThreads / (earlyThreads && !isNarrow ? 2 : 4);
  while (groupBlocks % lanes != 0)
    --lanes;
  // Groups that nothing divides are neighbours in the lanes nevertheless.
  constexpr int64_t kFewLanes = 8, kMaxSummed = 8;
  const bool isOdd = lanes < kFewLanes;
  tile.summed = isOdd ? 1 : std::min(maxThreads / lanes, kMaxSummed);
  tile.threads = isOdd ? 64 : lanes * tile.summed;
  while (!tile.canSum())
    tile.threads = lanes * --tile.summed;
  resident *= std::max<int64_t>(1, maxThreads / tile.threads);
  int64_t workgroups = target.computeUnits * resident;
  int64_t wanted =
      workgroups * (tile.threads / tile.summed) / (groupBlocks * tile.tapParts);
  setParts(tile, conv, std::max<int64_t>(1, wanted) * tile.summed);
  if (tile.parts < tile.summed) {
    tile.threads = lanes * tile.parts;
    tile.summed = tile.parts;
  }
  constexpr int64_t kManyTurns = 5;
  tile.loadsAhead = (!isHeavy || !isNarrow) && tile.turns >= kManyTurns;
  if (earlyThreads)
    tile.resident = resident;
  // In larger tensors, what neighbours share has left the cache before they
  // read it (docs/guides/kernel-lessons.md).
  constexpr int64_t kMaxStreamed = 160'000'000;
  tile.isStreamed = tile.tapParts == 1 && hasChannelsTogether(conv) &&
                    (conv.getInputElements() + conv.getOutputElements()) *
                            getByteSize(conv.dataType) <=
                        kMaxStreamed;
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
    return chooseDepthwiseBoxTile(conv, target)
        .value_or(chooseResidentTile(conv, target));
  if (target.vendor == Vendor::Nvidia && hasChannelsLast(conv))
    return chooseLongTile(conv, target);
  return isWeights ? chooseWeightsTile(conv, target)
                   : chooseDataTile(conv, target);
}

DepthwiseTile tessera::chooseUnalignedTile(const ConvProblem &conv,
                                           const GpuTarget &target) {
  const DepthwiseTile aligned = chooseTile(conv, target);
  if (aligned.stages == 0)
    return aligned;
  DepthwiseTile tile = chooseResidentTile(conv, target);
  tile.parts = std::min(tile.parts, aligned.getPartBlocks() * tile.summed);
  return tile;
}

DepthwiseRates tessera::getDepthwiseRates(const GpuTarget &target) {
  switch (target.vendor) {
#define DEPTHWISE_RATES(VENDOR, ...)                                           \
  case Vendor::VENDOR:                                                         \
    return {__VA_ARGS__};
#include "compiler/Algorithms/Depthwise/DepthwiseRates.def"
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
  const double products = conv.direction == Direction::BackwardWeights
                              ? rates.products
                              : rates.dataProducts;
  double clocks =
      std::max(bytes / rates.memoryBytes, conv.getFlops() / 2 / products);
  double share = std::min(1.0, double(countPoints(conv, tile)) /
                                   getWantedThreads(conv, target));
  return {{tile.toConfig(), clocks / (target.computeUnits * share)}};
}
