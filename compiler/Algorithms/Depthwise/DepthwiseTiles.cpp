//===- DepthwiseTiles.cpp - The tile of a few channels a group ------------===//
//
// Chooses one tile for a problem and estimates its cost. The rules come from
// measurements (NVIDIA's chips) or from registers and the number of threads
// (AMD's chips).
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Depthwise/DepthwiseWeightBoxes.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <optional>

using namespace tessera;

/// Whether the elements of vectors are channels, not columns.
static bool hasChannelsLast(const ConvProblem &conv) {
  Strides strides = conv.direction == Direction::BackwardData
                        ? conv.getInputStrides()
                        : conv.getOutputStrides();
  return conv.direction == Direction::BackwardWeights || strides.c < strides.w;
}

/// The number of threads of the main launch.
static int64_t countPoints(const ConvProblem &conv, const DepthwiseTile &tile) {
  if (conv.direction == Direction::BackwardWeights)
    return conv.groups / tile.groups * tile.splits;
  TensorLengths result = conv.getResultLengths();
  return result.n * conv.groups / tile.groups *
         llvm::divideCeilSigned(result.h, tile.rows * tile.iterations) *
         llvm::divideCeilSigned(result.w, tile.columns);
}

/// The number of threads that keep the memory of `target` busy: two waves per
/// SIMD. For backward weights, whose threads have about twenty loads in flight
/// at any time, it is a quarter of a wave per compute unit.
static int64_t getWantedThreads(const ConvProblem &conv,
                                const GpuTarget &target) {
  if (conv.direction == Direction::BackwardWeights)
    return int64_t(target.computeUnits) * target.waveSize / 4;
  return int64_t(target.computeUnits) * target.simdsPerCu * 2 * target.waveSize;
}

/// Chooses as many neighbouring groups as fill 16 bytes of one tensor's
/// channels and have filters that fit the registers.
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

/// The registers of what backward weights loads of both activations for a block
/// of one row: a row of x, and the rows of gradients that the window spans.
/// Channels that are not contiguous are loaded one by one, each to a register
/// of its own.
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

/// Gives a tile of backward weights at most `splits` splits, each of which has
/// at least one strip. Strips are as long as that number allows.
static void setSplits(DepthwiseTile &tile, const ConvProblem &conv,
                      int64_t splits) {
  int64_t blocks = llvm::divideCeil(conv.in.h, tile.rows * conv.stride.h);
  int64_t columnBlocks = llvm::divideCeil(conv.getOutput().w, tile.columns);
  int64_t wide = conv.batch * columnBlocks;
  int64_t segments = std::clamp<int64_t>(splits / wide, 1, blocks);
  tile.iterations = std::min<int64_t>(DepthwiseTile::kMaxIterations,
                                      llvm::divideCeil(blocks, segments));
  int64_t strips = wide * llvm::divideCeil(blocks, tile.iterations);
  splits = std::clamp<int64_t>(splits, 1, strips);
  tile.splits = llvm::divideCeil(strips, llvm::divideCeil(strips, splits));
}

//===----------------------------------------------------------------------===//
// NVIDIA's chips
//===----------------------------------------------------------------------===//

/// Chooses the number of columns of a block, of 4 to 7 the one whose blocks
/// overhang the image least, and the largest of equals.
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

/// Chooses as many groups as leave registers for a block of f32 beside their
/// filters.
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

/// Eleven warps for each multiprocessor, which is how many its registers hold.
static int64_t getResidentThreads(const GpuTarget &target) {
  return int64_t(target.computeUnits) * 11 * target.waveSize;
}

/// Whether so many elements of a thread's filter are expensive to convert and
/// to load, where neighbours in memory are taps of a group and not neighbouring
/// groups.
static bool isExpensive(int64_t filterElements) { return filterElements > 64; }

/// Gives `tile` a tall block if one divides the result, and says whether it
/// did. The rows of a tall block share their source. One group of f32 per lane
/// is as much as a warp loads at once, and its filter leaves registers for such
/// a block.
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

/// Whether a problem of one channel a group has so few products per byte that
/// it is bound by memory. (5x5 filters of stride 1 have 6 per byte with 16-bit
/// elements.)
static bool isLight(const ConvProblem &conv) {
  constexpr double kFewProducts = 3; // Per byte.
  const double bytes =
      double(conv.getInputElements() + conv.getOutputElements()) *
      getByteSize(conv.dataType);
  return conv.inChannels == conv.groups && conv.outChannels == conv.groups &&
         conv.getFlops() / 2 < kFewProducts * bytes;
}

/// Sets the rows and columns of a thread's block, which is not tall. The groups
/// of `tile` are set.
static void setLongBlock(DepthwiseTile &tile, const ConvProblem &conv,
                         const GpuTarget &target, bool keepsFilter) {
  constexpr int64_t kMaxAccumulators = 64, kManyProducts = 1536;
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
    // Windows share little, or there are few: small blocks.
    if (conv.filter.w <= 2 * conv.stride.w || isTooFew())
      tile.rows = tile.columns = 2;
    if (isTooFew())
      tile.rows = tile.columns = 1;
  } else if (!isSquare && stepH * stepW == 1 && isLight(conv)) {
    // Fewer groups leave registers for loads that are issued early.
    tile.groups = std::min<int64_t>(tile.groups, 2);
    tile.rows = 4;
  }
  tile.rows = llvm::alignTo(tile.rows, stepH);
  tile.columns *= stepW;
  const int64_t channels = isForward ? conv.outChannels : conv.inChannels;
  const int64_t owned = tile.groups * (channels / conv.groups);
  auto isTooLarge = [&] {
    const int64_t pixels = tile.rows * tile.columns;
    return pixels * owned > kMaxAccumulators ||
           pixels * conv.filter.h * conv.filter.w > kManyProducts;
  };
  while (isTooLarge() && tile.columns > stepW)
    tile.columns -= stepW;
  if (isTooLarge())
    tile.rows = stepH;
  // A thread that loads early has 128 registers with 16-bit elements and 170
  // with 32-bit ones.
  const int64_t bytes = getByteSize(conv.dataType);
  if (!keepsFilter && isLight(conv) && bytes <= 4 &&
      tile.rows * tile.columns * owned < kMaxAccumulators)
    tile.resident = bytes == 2 ? 4 : 3;
}

/// Chooses a tile of forward or backward data whose vectors hold channels. The
/// rules were measured on an H100 for 3x3, 5x5 and 7x7
/// (docs/guides/kernel-lessons.md). If a filter is expensive to load, a thread
/// walks as many blocks with it as leave enough threads.
static DepthwiseTile chooseLongTile(const ConvProblem &conv,
                                    const GpuTarget &target) {
  constexpr int64_t kMaxIterations = 7;
  DepthwiseTile tile;
  tile.groups = chooseFewGroups(conv);
  const int64_t perGroup = conv.inChannels / conv.groups *
                           (conv.outChannels / conv.groups) * conv.filter.h *
                           conv.filter.w;
  // A tall block uses its filter often enough without further blocks.
  const bool isTall =
      isExpensive(tile.groups * perGroup) && setTallBlock(tile, conv);
  while (!isTall && tile.groups > 2 && isExpensive(tile.groups * perGroup))
    tile.groups /= 2;
  const bool keepsFilter = isTall || isExpensive(tile.groups * perGroup);
  tile.threads = keepsFilter ? 64 : 128;
  if (!isTall)
    setLongBlock(tile, conv, target, keepsFilter);
  const int64_t blocks = llvm::divideCeil(conv.getResultLengths().h, tile.rows);
  const int64_t maxIterations =
      keepsFilter && !isTall ? std::min(blocks, kMaxIterations) : 1;
  for (int64_t iterations = 2; iterations <= maxIterations; ++iterations) {
    DepthwiseTile longer = tile;
    longer.iterations = iterations;
    if (countPoints(conv, longer) < getResidentThreads(target))
      break;
    if (blocks % iterations == 0)
      tile.iterations = iterations;
  }
  tile.sharesFilters =
      countPoints(conv, tile) % tile.threads == 0 &&
      tile.canShare(tile.groups * perGroup * getByteSize(conv.dataType));
  return tile;
}

/// Chooses a tile of forward or backward data whose vectors hold columns, as
/// wide as the rows' alignment allows. A warp's loads are of as many cache
/// lines as its threads are apart, so blocks are small: 14x14 of 16 bits (H100)
/// takes 13.1 us with 2 rows by 4 columns, 26.4 with 4 by 8. Elements that are
/// loaded one by one (17x17) are used by many rows.
static DepthwiseTile chooseColumnTile(const ConvProblem &conv) {
  constexpr int64_t kVectorBytes = 16, kMostRows = 8;
  const bool isForward = conv.direction == Direction::Forward;
  const int64_t stepH = isForward ? 1 : conv.stride.h;
  const int64_t stepW = isForward ? 1 : conv.stride.w;
  const TensorLengths result = conv.getResultLengths();
  const int64_t bytes = getByteSize(conv.dataType);
  const int64_t row = result.w * bytes;
  const int64_t aligned = std::min(kVectorBytes, row & -row) / bytes;
  DepthwiseTile tile;
  if (aligned > 1) {
    tile.columns = std::clamp<int64_t>(aligned, 4, 8);
    tile.rows = tile.columns > 4 || conv.stride.h > 1 ? 1 : 2;
  } else {
    tile.columns = 2;
    tile.rows = std::min(kMostRows, result.h);
  }
  tile.columns = llvm::alignTo(tile.columns, stepW);
  tile.rows = llvm::alignTo(tile.rows, stepH);
  return tile;
}

/// Whether the channels of a pixel are contiguous in both activations.
static bool hasContiguousChannels(const ConvProblem &conv) {
  return conv.getInputStrides().c == 1 && conv.getOutputStrides().c == 1;
}

/// The registers of a thread's accumulators and of what it has loaded.
static int64_t countKept(const ConvProblem &conv, const DepthwiseTile &tile) {
  int64_t words = llvm::divideCeil(getByteSize(conv.dataType), 4);
  return countLoaded(conv, tile) +
         words * tile.groups * (conv.inChannels / conv.groups) *
             (conv.outChannels / conv.groups) * conv.filter.h * conv.filter.w;
}

/// Where it suits the problem, gives `tile` the groups and columns of threads
/// whose loads are in flight while they multiply: 8 bytes of 16-bit channels,
/// or one channel of f32 with a large window. It then returns the most threads
/// of a workgroup for which two workgroups fit the registers, else nothing.
/// Without such a limit the assembler saves registers and loads late.
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
  if (!isSuited || !hasContiguousChannels(conv) ||
      conv.inChannels != conv.groups || conv.outChannels != conv.groups ||
      conv.dilation.h > 1 || countKept(conv, early) > kMaxKept)
    return std::nullopt;
  tile = early;
  ConvProblem ahead = conv; // A block loads one new row of gradients.
  ahead.filter.h = 1;
  return kRegisters / 2 /
         (countKept(conv, tile) + countLoaded(ahead, tile) + kOthers);
}

/// Chooses a tile of backward weights in which several warps of a workgroup
/// have the same channels, and the workgroup adds their splits. There are only
/// as many workgroups as are resident, since more would leave more partial
/// results to add. Few accumulators leave registers to load ahead.
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
  const bool isHeavy = isExpensive(tile.groups * perGroup);
  tile.rows = !earlyThreads && isNarrow && conv.stride.h == 1 ? 2 : 1;
  // Two threads with few accumulators each hide the latency of loads better
  // than one with many.
  if (isHeavy && inputs * outputs == 1 && conv.filter.h >= 5 &&
      llvm::divideCeil(conv.filter.h, 2) * conv.dilation.h % conv.stride.h == 0)
    tile.tapSplits = 2;
  else if (isHeavy)
    tile.columns = std::min<int64_t>(tile.columns, 4);
  // The registers suffice for 3 workgroups of 128 such heavy threads, or for 2
  // of 288 others.
  int64_t maxThreads = isHeavy ? 128 : 288, resident = isHeavy ? 3 : 2;
  if (earlyThreads)
    maxThreads = std::min(maxThreads, *earlyThreads);
  int64_t groupBlocks = conv.groups / tile.groups;
  // Where each lane loads 4 bytes, not 8, twice as many neighbouring lanes load
  // as much together.
  int64_t lanes = maxThreads / (earlyThreads && !isNarrow ? 2 : 4);
  while (groupBlocks % lanes != 0)
    --lanes;
  // If the number of groups has no suitable divisor, a workgroup adds no
  // splits, and its lanes are neighbouring groups nevertheless.
  constexpr int64_t kFewLanes = 8, kMaxSummed = 8;
  const bool isOdd = lanes < kFewLanes;
  tile.summed = isOdd ? 1 : std::min(maxThreads / lanes, kMaxSummed);
  tile.threads = isOdd ? 64 : lanes * tile.summed;
  while (!tile.canSum())
    tile.threads = lanes * --tile.summed;
  resident *= std::max<int64_t>(1, maxThreads / tile.threads);
  int64_t workgroups = target.computeUnits * resident;
  int64_t wanted = workgroups * (tile.threads / tile.summed) /
                   (groupBlocks * tile.tapSplits);
  setSplits(tile, conv, std::max<int64_t>(1, wanted) * tile.summed);
  if (tile.splits < tile.summed) {
    tile.threads = lanes * tile.splits;
    tile.summed = tile.splits;
  }
  constexpr int64_t kManyIterations = 5;
  tile.loadsAhead =
      (!isHeavy || !isNarrow) && tile.iterations >= kManyIterations;
  if (earlyThreads)
    tile.resident = resident;
  // In larger tensors, lines that neighbouring workgroups share would be
  // evicted before the second one reads them (docs/guides/kernel-lessons.md).
  constexpr int64_t kMaxStreamed = 160'000'000;
  tile.isStreamed = tile.tapSplits == 1 && hasContiguousChannels(conv) &&
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
  constexpr int64_t kMaxSplits = 256;
  // gfx9 without a matrix unit has 256 registers and no AGPRs to spill to. With
  // at most this many beside the accumulators nothing spills (gfx906).
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
  setSplits(tile, conv, std::min(wanted, kMaxSplits));
  tile.threads = 64;
  return tile;
}

static DepthwiseTile chooseDataTile(const ConvProblem &conv,
                                    const GpuTarget &target) {
  constexpr int64_t kMaxAccumulators = 64;
  constexpr int64_t kManyProducts = 512;
  bool channelsLast = hasChannelsLast(conv);
  bool isForward = conv.direction == Direction::Forward;
  int64_t inputs = conv.inChannels / conv.groups;
  int64_t outputs = conv.outChannels / conv.groups;
  int64_t taps = conv.filter.h * conv.filter.w;
  DepthwiseTile tile;
  tile.groups = channelsLast ? chooseGroups(conv) : 1;
  int64_t owned = tile.groups * (isForward ? outputs : inputs);
  // For backward data the stride divides the rows and columns of a block.
  int64_t stepH = isForward ? 1 : conv.stride.h;
  int64_t stepW = isForward ? 1 : conv.stride.w;
  auto fits = [&](int64_t rows, int64_t columns) {
    return rows * columns * owned <= kMaxAccumulators &&
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
  // Larger windows share more among the columns and rows of a large block.
  constexpr int64_t kMostTaps = 25;
  if (target.vendor == Vendor::Nvidia && !isWeights &&
      conv.inChannels == conv.groups && conv.outChannels == conv.groups &&
      conv.filter.h * conv.filter.w <= kMostTaps)
    return chooseColumnTile(conv);
  return isWeights ? chooseWeightsTile(conv, target)
                   : chooseDataTile(conv, target);
}

DepthwiseTile tessera::chooseUnalignedTile(const ConvProblem &conv,
                                           const GpuTarget &target) {
  const DepthwiseTile aligned = chooseTile(conv, target);
  if (aligned.stages == 0)
    return aligned;
  DepthwiseTile tile = chooseResidentTile(conv, target);
  tile.splits = std::min(tile.splits, aligned.getSplitBlocks() * tile.summed);
  return tile;
}

/// Channels first are loaded one by one, which squares of pixels share most: a
/// thread has one channel, and a split one square of few pixels. Larger
/// windows have too many accumulators.
static void setSquare(DepthwiseTile &tile, const ConvProblem &sample) {
  constexpr int64_t kSide = 4, kThreads = 64, kMostTaps = 25;
  if (sample.xLayout != Layout::NCHW || sample.yLayout != Layout::NCHW ||
      sample.inChannels != sample.groups ||
      sample.outChannels != sample.groups ||
      sample.filter.h * sample.filter.w > kMostTaps)
    return;
  const Spatial out = sample.getOutput();
  tile.splits = std::clamp<int64_t>(
      sample.batch * out.h * out.w / (kSide * kSide), 1,
      std::max<int64_t>(1, tile.splits * tile.groups / kThreads * 2));
  tile.groups = 1;
  tile.rows = tile.columns = kSide;
  tile.threads = kThreads;
}

DepthwiseTile tessera::chooseOpenWeightsTile(const ConvProblem &sample,
                                             const GpuTarget &target) {
  constexpr int64_t kMostSplits = 256;
  DepthwiseTile tile = chooseUnalignedTile(sample, target);
  tile.iterations = 1; // The sizes say how long strips are.
  if (target.vendor == Vendor::Amd)
    setSquare(tile, sample);
  tile.splits = std::clamp(2 * tile.splits, tile.splits,
                           std::max(tile.splits, kMostSplits));
  return tile;
}

DepthwiseTile tessera::chooseOpenDataTile(const ConvProblem &sample,
                                          DepthwiseTile tile) {
  const bool isForward = sample.direction == Direction::Forward;
  const int64_t stepW = isForward ? 1 : sample.stride.w;
  while (!hasChannelsLast(sample) && tile.columns > 2 * tile.rows &&
         tile.columns % (2 * stepW) == 0) {
    tile.columns /= 2;
    tile.rows *= 2;
  }
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
  // The cost is that of moving every byte once or that of the products.
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
