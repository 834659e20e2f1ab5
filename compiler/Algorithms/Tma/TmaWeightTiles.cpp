//===- TmaWeightTiles.cpp - Backward weights for TMA and wgmma ------------===//

#include "compiler/Algorithms/Tma/TmaWeightTiles.h"
#include "compiler/Algorithms/Common/HaloPositions.h"
#include "compiler/Algorithms/ImplicitGemm/GemmSize.h"
#include "compiler/Algorithms/Tma/TmaModel.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>
#include <optional>

using namespace tessera;

namespace {
/// Backward weights as a GEMM; sizes are those of one group.
struct WeightsGemm {
  int64_t rows, columns;
  int64_t steps; ///< Of the reduction over pixels.
  int64_t groups;

  int64_t countTiles(const TmaShape &shape) const {
    return groups * llvm::divideCeilSigned(rows, shape.m) *
           llvm::divideCeilSigned(columns, shape.n);
  }
};
} // namespace

/// With channels first each image's last step ends with it.
static int64_t countSteps(const ConvProblem &p) {
  const int64_t step = getTmaStep(p), pixels = getVolume(p.getOutput());
  return p.yLayout == Layout::NCHW
             ? p.batch * llvm::divideCeilSigned(pixels, step)
             : llvm::divideCeilSigned(p.batch * pixels, step);
}

static WeightsGemm getGemm(const ConvProblem &p, bool hasTapRows = false) {
  // Columns come in blocks as long as a step, each of which is channels of one
  // tap.
  const int64_t copied = getTmaStep(p);
  const int64_t taps = getVolume(p.filter), inputs = p.inChannels / p.groups;
  WeightsGemm gemm = {p.outChannels / p.groups,
                      taps > 1 ? taps * llvm::divideCeilSigned(inputs, copied) *
                                     copied
                               : inputs,
                      countSteps(p), p.groups};
  if (hasTapRows)
    std::swap(gemm.rows, gemm.columns);
  return gemm;
}

static bool fitsTma(const ConvProblem &p, const GpuTarget &target) {
  if (isImageProduct(p, target))
    return true;
  // Strides are whole 16 bytes, and a group's channels begin at such.
  const int64_t unit = getTmaUnit(p);
  return hasTmaTensors(p, target) && p.outChannels / p.groups % unit == 0 &&
         p.inChannels / p.groups % unit == 0 && fitsWindow(p);
}

/// Rows, columns and consumers of tiles. 64 columns are for 64 channels, and
/// 192 divide 9 taps of these. 64 by 64 makes the most tiles of a layer that
/// leaves most of the chip idle. Of the last three shapes two workgroups run on
/// a multiprocessor.
static constexpr TmaShape kKinds[] = {
    {192, 128, 3, false, 0}, {128, 256, 2, false, 0}, {256, 128, 2, false, 0},
    {128, 128, 1, true, 0},  {192, 128, 1, true, 0},  {128, 128, 2, false, 0},
    {128, 64, 1, true, 0},   {256, 64, 2, false, 0},  {192, 64, 3, false, 0},
    {64, 256, 1, true, 0},   {64, 128, 1, true, 0},   {64, 192, 1, true, 0},
    {128, 192, 2, false, 0}, {256, 192, 2, false, 0}, {64, 64, 1, true, 0},
    {64, 128, 1, false, 0},  {128, 64, 1, false, 0},  {64, 64, 1, false, 0}};

/// The stages of the pipeline: as many as fit shared memory beside one staging
/// buffer of each warp. Terms of f32 (`isSplit`) take the columns' space twice.
static int countStages(const TmaShape &shape, const GpuTarget &target,
                       bool isSplit = false) {
  constexpr int64_t kRowBytes = kTmaStep * 2, kMostStages = 12;
  constexpr int64_t kWarps = 4, kStagingBytes = 2048, kOthers = 1024 + 512;
  constexpr int64_t kHalfSm = 115712; // For each of two workgroups.
  const int64_t staging =
      (shape.isPingPong ? 2 : shape.consumers) * kWarps * kStagingBytes;
  const int64_t copied =
      llvm::divideCeilSigned(shape.n, kTmaStep) * kTmaStep * (isSplit ? 2 : 1);
  const int64_t available =
      (shape.isSmall() ? kHalfSm : target.getMaxSharedBytes()) - staging -
      kOthers;
  return static_cast<int>(
      std::min(kMostStages, available / ((shape.m + copied) * kRowBytes)));
}

/// Shapes with as many stages as fit, and with fewer, down to about half of
/// that, which have less in flight (countBytesAgain). Steps of f32 take so
/// long that the most stages are best.
static std::vector<TmaShape> getShapes(const ConvProblem &p,
                                       const GpuTarget &target) {
  constexpr int kLeastStages = 3, kMostDepths = 4;
  std::vector<TmaShape> shapes;
  for (TmaShape shape : kKinds) {
    const int most = countStages(shape, target, splitsF32(p));
    const int step = (most + 5) / 6;
    for (int i = 0; i < (p.dataType == DataType::F32 ? 1 : kMostDepths); ++i) {
      shape.stages = most - i * step;
      if (shape.stages >= kLeastStages)
        shapes.push_back(shape);
    }
  }
  return shapes;
}

static int64_t getPixelColumns(const ConvProblem &p) {
  return getPixelColumns(getByteSize(p.dataType));
}

/// Whether a shape suits the type. Of tf32 consumers read operand A from
/// registers (PixelOperands.h): they cannot alternate between tiles, and
/// fragments need registers beside the accumulators, of which three consumers
/// have fewer until some move to them.
static bool fitsType(const ConvProblem &p, const TmaShape &shape) {
  if (splitsF32(p))
    return fitsSplits(shape, p.yLayout == Layout::NHWC);
  const int mostAccumulators = shape.consumers == 3 ? 64 : 128;
  return !p.allowsTf32() ||
         (!shape.isPingPong && shape.n % getPixelColumns(p) == 0 &&
          shape.countAccumulators() <= mostAccumulators);
}

/// Whether the reduction must be split: only the launch that adds splits reads
/// further tensors of the epilogue.
static bool mustSplit(const ConvProblem &p) {
  return p.epilogue.bias || p.epilogue.residual || p.epilogue.beta;
}

/// The numbers of splits that fill the chip for some waves, or as much of it as
/// their steps allow. No split is empty.
static std::vector<int> getSplits(const ConvProblem &p, int64_t steps,
                                  int64_t tiles, int64_t atOnce) {
  constexpr int64_t kMaxWaves = 4, kMaxSplits = 256, kLeastSteps = 4;
  constexpr int64_t kMaxBytes = 256 << 20, kF32Bytes = 4; // Workspace.
  const int64_t mostSplits =
      std::min(kMaxSplits, kMaxBytes / (p.getFilterElements() * kF32Bytes));
  std::vector<int> all;
  auto add = [&](int64_t splits) {
    const int64_t share =
        llvm::divideCeilSigned(steps, std::max<int64_t>(splits, 1));
    const auto count = static_cast<int>(llvm::divideCeilSigned(steps, share));
    if ((count > 1 || !mustSplit(p)) && (all.empty() || all.back() != count))
      all.push_back(count);
  };
  add(1);
  for (int64_t waves = 1; waves <= kMaxWaves; ++waves) {
    const int64_t splits =
        std::min({waves * atOnce / tiles, mostSplits, steps / kLeastSteps});
    if (splits > 1)
      add(splits);
  }
  if (all.empty() && steps > 1)
    add(2);
  return all;
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

/// The bytes of x and y, each moved once; strides may leave pixels of x out.
static double countImageBytes(const ConvProblem &p) {
  const int64_t walked =
      p.batch * getVolume(p.getOutput()) * getVolume(p.filter) * p.inChannels;
  return static_cast<double>(
      getByteSize(p.dataType) *
      (std::min(p.getInputElements(), walked) + p.getOutputElements()));
}

/// The bytes that are read from memory again. Tiles that share rows read them
/// at about the same time; the more bytes are in flight at once, the more of
/// them have left L2 before the last of these tiles asks for them.
static double countBytesAgain(const ConvProblem &p, const WeightsGemm &gemm,
                              const TmaShape &shape, int splits,
                              const GpuTarget &target,
                              const TmaWeightRates &rates) {
  constexpr double kRowBytes = kTmaStep * 2;
  const auto tiles = static_cast<double>(gemm.countTiles(shape));
  const double once = countImageBytes(p);
  const auto steps = static_cast<double>(gemm.steps);
  const double copied = tiles * steps * (shape.m + shape.n) * kRowBytes;
  const int sharing = shape.isSmall() ? 2 : 1;
  const double splitsAtOnce =
      std::min<double>(splits, target.computeUnits * sharing / tiles);
  const double inFlight = splitsAtOnce * shape.stages * once / steps;
  return rates.readAgain * std::max(0.0, copied - once) *
         std::max(0.0, 1 - rates.keptBytes / inFlight);
}

/// All clocks: those of the waves of tiles, of memory, of the launch and of the
/// sum of the splits. `again` are the bytes that are read more than once.
static double addUp(const ConvProblem &p, double work, double overlap,
                    int splits, const GpuTarget &target,
                    const TmaWeightRates &rates, double again = 0) {
  double bytes =
      countImageBytes(p) + again +
      static_cast<double>(getByteSize(p.dataType) * p.getFilterElements());
  if (p.dataType == DataType::F32 && splits > 1)
    bytes += 4.0 * static_cast<double>(p.getFilterElements() * splits);
  const double memory = bytes / (rates.step.memoryBytes * target.computeUnits);
  return std::max(work, memory) + overlap * std::min(work, memory) +
         rates.step.begin +
         getSumClocks({rates.sumBegin, rates.sumPass, rates.sumBytes},
                      p.getFilterElements(), splits, target);
}

/// What a step copies. A copy has 128 bytes; if a group has fewer, copies begin
/// anywhere in a cache line and touch two lines, which other groups read again,
/// as the taps of a window do. For 32 groups of 8 channels (3x3, 64 images of
/// 28x28, on an H100), to which nothing was fitted, four tiles took 0.82 to
/// 0.87 of the time that this expects, and a fifth, which leaves
/// multiprocessors idle, 0.76.
static TmaTraffic getTraffic(const ConvProblem &p, int rows, int columns) {
  auto countLines = [&](int64_t channels) {
    return p.groups > 1 && channels / p.groups < getTmaStep(p) ? 2 : 1;
  };
  const int rowLines = countLines(p.outChannels);
  const int columnLines = countLines(p.inChannels);
  // Here the columns are read through a window.
  TmaTraffic traffic{static_cast<double>(columns * columnLines),
                     static_cast<double>(rows * rowLines)};
  traffic.hasWindow = rowLines * columnLines > 1 || getVolume(p.filter) > 1;
  return traffic;
}

/// Clocks of a step of tf32, which shared memory limits: B is written twice and
/// read once before wgmma reads it, A is written once and read once.
static double getTf32Clocks(const TmaShape &shape,
                            const TmaWeightRates &rates) {
  return rates.pixelRow *
         (2 * shape.m + 3 * shape.n + shape.n * shape.m / 64.0);
}

static double estimateClocks(const ConvProblem &p, const WeightsGemm &gemm,
                             const TmaShape &shape, int splits,
                             const GpuTarget &target,
                             const TmaWeightRates &rates = kTmaWeightRates) {
  const int64_t sharing = shape.isSmall() ? 2 : 1;
  const auto waves = static_cast<double>(
      llvm::divideCeilSigned(gemm.countTiles(shape) * splits,
                             target.computeUnits * sharing) *
      sharing);
  const TmaTraffic traffic = getTraffic(p, shape.m, shape.n);
  const auto steps =
      static_cast<double>(llvm::divideCeilSigned(gemm.steps, splits));
  TmaRates step = rates.step;
  if (splitsF32(p))
    step.products /= kSplitProducts;
  double products = steps * getStepClocks(shape, traffic, step);
  if (p.allowsTf32())
    products = std::max(products, steps * getTf32Clocks(shape, rates));
  if (splitsF32(p))
    products += steps * getSplitClocks(shape, p.yLayout == Layout::NHWC);
  // f32 has twice the bytes.
  const double stored = getStoreClocks(shape, rates.step) *
                        (splits > 1 || p.dataType == DataType::F32 ? 2 : 1);
  const double work = getWorkClocks(shape, waves, products, stored);
  constexpr int64_t kWide = 128;
  const bool isNarrow = p.hasDepth() && p.inChannels / p.groups < kWide;
  return (isNarrow ? rates.narrowVolume : 1) *
         addUp(p, work, rates.step.overlap, splits, target, rates,
               countBytesAgain(p, gemm, shape, splits, target, rates));
}

//===----------------------------------------------------------------------===//
// Tiles whose taps share pixels
//===----------------------------------------------------------------------===//

/// Whether taps along height and width can share pixels. Those of the depth are
/// rows, of whole blocks of 32 channels (TmaOperand.h), and the gradient is
/// walked beyond its end, as far as corners of a volume's windows reach.
static bool canSlide(const ConvProblem &p) {
  constexpr int64_t kMostRows = 3, kMostTaps = 4, kMostTapRows = 16;
  constexpr int64_t kRowBlock = 32, kMostDeep = 16;
  const auto [depth, height, width] = getConvDims(p);
  if (p.hasDepth() && (p.outChannels / p.groups % kRowBlock != 0 ||
                       std::max({getReach(depth), getReach(height),
                                 getReach(width)}) >= kMostDeep))
    return false;
  return p.dataType != DataType::F32 && height.filter >= 2 &&
         height.filter <= kMostRows && width.filter >= 2 &&
         width.filter <= kMostTaps && width.dilation <= kMostTapRows &&
         fitsHalo(depth) && fitsHalo(height) && fitsHalo(width);
}

/// The tile of `rows` and `channels` input channels, with `stages` of the
/// gradient; none if too few chunks fit shared memory, or the accumulators do
/// not fit registers.
static std::optional<GemmTile> makeSlidingTile(const ConvProblem &p,
                                               int64_t rows, int64_t channels,
                                               int64_t stages,
                                               const GpuTarget &target) {
  const auto [depth, height, width] = getConvDims(p);
  const int64_t ahead = llvm::divideCeilSigned(
      getReach(height) * countPositions(width) + getReach(width), kTmaStep);
  // Beside the chunks that a step reads as many are in flight as there are
  // stages, fewer where images are wide. One of them is still being read.
  constexpr int64_t kLeast = 3, kRowBytes = 128, kRest = 2048;
  const int64_t staged = height.filter * 4 * 2 * 16; // Rows of the result.
  const int64_t left =
      target.getMaxSharedBytes() - kRest - (rows * stages + staged) * kRowBytes;
  const int64_t chunks =
      left / (kTmaStep * channels * getByteSize(p.dataType)) - (ahead + 2);
  constexpr int64_t kMostAccumulators = 128, kThreads = 128;
  if (chunks < kLeast ||
      rows * width.filter * channels > kMostAccumulators * kThreads)
    return std::nullopt;
  GemmTile tile;
  tile.m = static_cast<int>(rows);
  tile.k = kTmaStep;
  tile.n = static_cast<int>(height.filter * width.filter * channels);
  tile.wavesN = static_cast<int>(height.filter);
  tile.buffers = static_cast<int>(stages);
  tile.halo = static_cast<int>(ahead + 1 + std::min(chunks, stages));
  tile.mma = "wgmma";
  tile.isTma = true;
  return tile;
}

/// The same with as many stages as take as long as 4 of 64 by 64, or with 4 if
/// these are too many.
static std::optional<GemmTile> makeSlidingTile(const ConvProblem &p,
                                               int64_t rows, int64_t channels,
                                               const GpuTarget &target) {
  constexpr int64_t kFew = 4;
  const int64_t stages = kFew * kTmaStep * kTmaStep / (rows * channels);
  std::optional<GemmTile> tile =
      makeSlidingTile(p, rows, channels, stages, target);
  return tile ? tile : makeSlidingTile(p, rows, channels, kFew, target);
}

/// Whether 32 channels a tile pad fewer of them than 64, or only they fit.
/// Narrow groups have tiles of their own (NarrowGroups).
static bool wantsHalves(const ConvProblem &p, const GpuTarget &target) {
  constexpr int64_t kHalf = kTmaStep / 2;
  return p.groups == 1 &&
         (!makeSlidingTile(p, kTmaStep, kTmaStep, target) ||
          llvm::divideCeilSigned(p.inChannels, kHalf) <
              2 * llvm::divideCeilSigned(p.inChannels, kTmaStep));
}

/// Clocks of a step, which the products, shared memory or L2 limit. Pixels and
/// gradients are copied once for the taps of a tile.
static double getSlidingClocks(const ConvProblem &p, const GemmTile &tile,
                               int channels, const TmaWeightRates &rates) {
  constexpr double kRowBytes = 128;
  const bool hasTapRows =
      p.hasDepth() || tile.n < p.filter.h * p.filter.w * channels;
  const TmaTraffic traffic = getTraffic(p, tile.m, channels);
  const double copied = (traffic.rows + traffic.columns) * kRowBytes;
  // Blocks of 32 rows of taps are copied one by one.
  const int64_t blocks = p.outChannels / p.groups % kTmaStep == 0 ? 1 : 2;
  const double copiedRows =
      hasTapRows ? static_cast<double>(kTmaStep + blocks * tile.m) : 0;
  // A wgmma reads 64 rows and its columns: 192, for which the rate is, or
  // fewer.
  constexpr double kColumns = 192;
  const double columns = static_cast<double>(tile.n) / tile.wavesN;
  const double read = (1 + kTmaStep / columns) / (1 + kTmaStep / kColumns);
  return std::max({double(tile.m) * tile.n * tile.k / rates.slidingProducts *
                       std::max(1.0, read),
                   copied / rates.step.windowBytes,
                   copiedRows * rates.slidingRow});
}

/// Adds tiles of all taps along height and width of `rows` and `channels` input
/// channels, with a filter row for each consumer. The input is copied in
/// chunks of 64 positions (docs/design/0009-window-reuse.md).
static void addSliding(const ConvProblem &p, int64_t rows, int64_t channels,
                       const GpuTarget &target, const TmaWeightRates &rates,
                       std::vector<Candidate> &candidates) {
  std::optional<GemmTile> made = makeSlidingTile(p, rows, channels, target);
  if (!made)
    return;
  GemmTile tile = *made;
  const auto [depth, height, width] = getConvDims(p);
  const int64_t positions =
      p.batch * depth.in * countPositions(height) * countPositions(width);
  const int64_t steps = llvm::divideCeilSigned(positions, kTmaStep);
  const int64_t tiles =
      p.groups *
      llvm::divideCeilSigned(depth.filter * p.outChannels / p.groups, rows) *
      llvm::divideCeilSigned(p.inChannels / p.groups, channels);
  for (int splits : getSplits(p, steps, tiles, target.computeUnits)) {
    tile.splits = splits;
    const double step =
        getSlidingClocks(p, tile, static_cast<int>(channels), rates);
    const double products =
        static_cast<double>(llvm::divideCeilSigned(steps, splits)) * step;
    const double stored = tile.m * tile.n / rates.step.exposedStores;
    const auto waves = static_cast<double>(
        llvm::divideCeilSigned(tiles * splits, target.computeUnits));
    candidates.push_back(
        {tile.toConfig(),
         addUp(p, waves * (products + (splits > 1 ? 2 : 1) * stored),
               rates.slidingOverlap, splits, target, rates)});
  }
}

//===----------------------------------------------------------------------===//
// Tiles whose taps of a filter row share pixels
//===----------------------------------------------------------------------===//

/// The tile, of which two workgroups are resident; none where the taps of a
/// filter row are too many or too far apart, or output channels are so many
/// that tiles of more rows copy less. A step reads one chunk behind its own, as
/// taps reach no further. Other taps are rows, of whole blocks of 32 channels.
static std::optional<GemmTile> makeRowTile(const ConvProblem &p) {
  constexpr int64_t kMostColumns = 192, kMostTapRows = 16, kRowBlock = 32;
  const std::array<ConvDim, 3> dims = getConvDims(p);
  const auto [depth, height, width] = dims;
  const int64_t channels =
      width.filter * kTmaStep <= kMostColumns ? kTmaStep : kTmaStep / 2;
  const int64_t outputs = p.outChannels / p.groups;
  if (p.dataType == DataType::F32 || p.hasDepth() || width.filter < 2 ||
      width.filter * channels > kMostColumns || width.dilation > kMostTapRows ||
      getReach(width) > kTmaStep || !std::ranges::all_of(dims, fitsHalo) ||
      outputs > kTmaStep || (height.filter > 1 && outputs % kRowBlock != 0))
    return std::nullopt;
  GemmTile tile;
  tile.m = tile.k = kTmaStep;
  tile.n = static_cast<int>(width.filter * channels);
  // Of 64 rows each, and one that is a mirror.
  tile.buffers = 5;
  tile.halo = 6;
  tile.mma = "wgmma";
  tile.isTma = true;
  return tile;
}

/// The reduction as the tile walks it.
static WeightsGemm getRowGemm(const ConvProblem &p, const GemmTile &tile) {
  const auto [depth, height, width] = getConvDims(p);
  const int64_t inputs = p.inChannels / p.groups;
  return {height.filter * p.outChannels / p.groups,
          static_cast<int64_t>(llvm::alignTo(inputs, tile.n / width.filter)) *
              width.filter,
          llvm::divideCeilSigned(p.batch * height.in * countPositions(width),
                                 kTmaStep),
          p.groups};
}

/// Measured on an H100, 3x3 of 64 to 64 channels with 22, 44 and 88 splits: a
/// step takes 1.2 times as long as expected, alone on a multiprocessor or
/// beside another workgroup's, and a split costs half as much.
static double estimateRowClocks(const ConvProblem &p, const GemmTile &tile,
                                const WeightsGemm &gemm, int64_t tiles,
                                const GpuTarget &target) {
  constexpr double kLonger = 1.2, kSumBytes = 2;
  constexpr int64_t kSharing = 2;
  TmaWeightRates rates = kTmaWeightRates;
  rates.sumBytes *= kSumBytes;
  const double step =
      kLonger *
      getSlidingClocks(p, tile, tile.n / static_cast<int>(p.filter.w), rates);
  const double products =
      static_cast<double>(llvm::divideCeilSigned(gemm.steps, tile.splits)) *
      step;
  const double stored = tile.m * tile.n / rates.step.exposedStores;
  const int64_t workgroups = tiles * tile.splits;
  const auto waves = static_cast<double>(
      workgroups <= target.computeUnits
          ? 1
          : kSharing * llvm::divideCeilSigned(workgroups,
                                              target.computeUnits * kSharing));
  return addUp(p, waves * (products + (tile.splits > 1 ? 2 : 1) * stored),
               rates.slidingOverlap, tile.splits, target, rates);
}

/// The numbers of splits for so many steps of so many tiles, `atOnce` of which
/// run at the same time.
using ChooseSplits = llvm::function_ref<std::vector<int>(
    int64_t steps, int64_t tiles, int64_t atOnce)>;

/// Adds that tile with each number of splits.
static void addRowTiles(const ConvProblem &p, const GpuTarget &target,
                        ChooseSplits choose,
                        std::vector<Candidate> &candidates) {
  std::optional<GemmTile> made = makeRowTile(p);
  if (!made)
    return;
  GemmTile tile = *made;
  const WeightsGemm gemm = getRowGemm(p, tile);
  const int64_t tiles =
      gemm.countTiles({tile.m, tile.n, 1, false, tile.buffers});
  for (int splits : choose(gemm.steps, tiles, target.computeUnits)) {
    tile.splits = splits;
    candidates.push_back(
        {tile.toConfig(), estimateRowClocks(p, tile, gemm, tiles, target)});
  }
}

//===----------------------------------------------------------------------===//
// Tiles whose rows are taps
//===----------------------------------------------------------------------===//

/// The L2 lines that a copied row of 64 elements touches, on average. A row is
/// as long as a line, but touches two if it begins within one, which happens
/// where the pitch is not a multiple of lines.
static double countCacheLines(const ConvProblem &problem, int64_t pitch) {
  constexpr int64_t kLineBytes = kTmaStep * 2;
  const int64_t pitchBytes = pitch * getByteSize(problem.dataType);
  return 2 - static_cast<double>(std::gcd(pitchBytes, kLineBytes)) / kLineBytes;
}

/// The rates for packed tensors.
static TmaWeightRates getPackedRates(const ConvProblem &problem) {
  TmaWeightRates rates = kTmaWeightRates;
  rates.step.windowBytes /= countCacheLines(problem, problem.inChannels);
  rates.step.plainBytes = rates.step.windowBytes;
  rates.step.windowRow = rates.step.plainRow = 0;
  rates.sumPass = rates.packedSumPass;
  rates.sumBytes = rates.packedSumBytes;
  return rates;
}

/// Shapes as wide as all columns, or as a divisor of them.
static std::vector<TmaShape> getTapRowShapes(const ConvProblem &p,
                                             int64_t columns,
                                             const GpuTarget &target) {
  static constexpr TmaShape kKinds[] = {{384, 0, 3, false, 0},
                                        {256, 0, 2, false, 0},
                                        {192, 0, 3, false, 0},
                                        {128, 0, 2, false, 0},
                                        {128, 0, 1, true, 0}};
  constexpr int kLeast = 64, kMost = 256, kUnit = 16, kLeastStages = 3;
  const int64_t unit = getPixelColumns(p);
  const int64_t filled = llvm::divideCeilSigned(columns, unit) * unit;
  std::vector<TmaShape> shapes;
  for (TmaShape shape : kKinds)
    for (shape.n = kLeast; shape.n <= kMost; shape.n += kUnit) {
      const int mostAccumulators = shape.consumers == 3 ? 96 : 192;
      shape.stages = countStages(shape, target, splitsF32(p));
      if (filled % shape.n == 0 && fitsType(p, shape) &&
          shape.countAccumulators() <= mostAccumulators &&
          shape.stages >= kLeastStages)
        shapes.push_back(shape);
    }
  return shapes;
}

std::vector<Candidate> tessera::getTapRowCandidates(const ConvProblem &problem,
                                                    const GpuTarget &target) {
  std::vector<Candidate> candidates;
  if (!fitsTma(problem, target))
    return candidates;
  const WeightsGemm gemm = getGemm(problem, /*hasTapRows=*/true);
  for (const TmaShape &shape : getTapRowShapes(problem, gemm.columns, target))
    for (int splits : getSplits(problem, gemm.steps, gemm.countTiles(shape),
                                target.computeUnits))
      candidates.push_back({shape.getTile(problem, splits).toConfig(),
                            estimateClocks(problem, gemm, shape, splits, target,
                                           getPackedRates(problem))});
  return candidates;
}

//===----------------------------------------------------------------------===//
// Tiles whose lines share positions
//===----------------------------------------------------------------------===//

static constexpr int kLeastConsumers = 2, kMostConsumers = 5;

/// Whether the accumulators of a consumer, a wgmma of `n` columns for each of
/// its lines, fit its registers: those that the launch gives, and those that it
/// has later (HopperShape).
static bool fitsRegisters(int64_t consumers, int64_t lines, int64_t n) {
  constexpr int64_t kAtFirst[] = {168, 128, 96, 80};
  constexpr int64_t kLater[] = {232, 160, 112, 88};
  constexpr int64_t kAddresses = 26, kOthers = 24;
  const int64_t accumulators = n / 2, i = consumers - kLeastConsumers;
  return accumulators + kAddresses <= kAtFirst[i] &&
         accumulators * (lines / consumers) + kOthers <= kLater[i];
}

/// Clocks in which L2 delivers `chunks` chunks of windows and a stage of the
/// gradient.
static double getCopyClocks(const ConvProblem &p, const GemmTile &tile,
                            int64_t chunks, const TmaWeightRates &rates) {
  constexpr double kRowBytes = 128;
  const auto ofWindows = static_cast<double>(chunks * kTmaStep);
  const auto gradients =
      static_cast<double>(llvm::divideCeilSigned(tile.n, kTmaStep) * kTmaStep);
  return (ofWindows * countCacheLines(p, p.inChannels) +
          gradients * countCacheLines(p, p.outChannels)) *
         kRowBytes / rates.step.windowBytes;
}

/// Clocks of a step, which the products, shared memory or L2 limit.
static double getLineClocks(const ConvProblem &p, const GemmTile &tile,
                            const TmaWeightRates &rates) {
  constexpr double kRowBytes = 128, kWgmmaRows = 64;
  const auto written = static_cast<double>(
      kTmaStep + llvm::divideCeilSigned(tile.n, kTmaStep) * kTmaStep);
  const double read = tile.m / kWgmmaRows * (kWgmmaRows + tile.n) + written;
  return std::max({double(tile.m) * tile.n * tile.k / rates.slidingProducts,
                   read * kRowBytes / rates.step.readBytes,
                   getCopyClocks(p, tile, /*chunks=*/1, rates)});
}

/// The chunks after its own that a step reads.
static int64_t countAhead(const ConvProblem &p) {
  return llvm::divideCeilSigned(getReach(getConvDims(p)[1]) * p.getOutput().w,
                                kTmaStep);
}

/// The tile of `consumers`; none if too few chunks and stages fit.
static std::optional<GemmTile> makeLineTile(const ConvProblem &p, int consumers,
                                            int64_t n,
                                            const GpuTarget &target) {
  const ConvDim height = getConvDims(p)[1];
  constexpr int64_t kRowBytes = 128, kRest = 2048, kStages = 4, kInFlight = 4;
  const int64_t ahead = countAhead(p);
  const int64_t staged = consumers * 4 * 2 * 16;
  const int64_t rows =
      kTmaStep * (ahead + 2 + kInFlight) +
      kStages * llvm::divideCeilSigned(n, kTmaStep) * kTmaStep + staged;
  if (rows * kRowBytes + kRest > target.getMaxSharedBytes())
    return std::nullopt;
  GemmTile tile;
  tile.k = kTmaStep;
  tile.m = static_cast<int>(height.filter * kTmaStep);
  tile.n = static_cast<int>(n);
  tile.wavesM = consumers;
  tile.buffers = kStages;
  tile.halo = static_cast<int>(ahead + 1 + kInFlight);
  tile.mma = "wgmma";
  tile.isTma = true;
  return tile;
}

static void addLineTile(const ConvProblem &p, const GemmTile &tile,
                        const GpuTarget &target,
                        std::vector<Candidate> &candidates) {
  const TmaWeightRates rates = getPackedRates(p);
  const ConvDim height = getConvDims(p)[1];
  const int64_t steps = llvm::divideCeilSigned(
      p.batch * countPositions(height) * p.getOutput().w, kTmaStep);
  const int64_t tiles = llvm::divideCeilSigned(p.inChannels, kTmaStep) *
                        llvm::divideCeilSigned(p.outChannels, tile.n);
  for (int splits : getSplits(p, steps, tiles, target.computeUnits)) {
    GemmTile split = tile;
    split.splits = splits;
    // The first step waits for all chunks that it reads.
    const double begin = getCopyClocks(p, tile, countAhead(p) + 1, rates);
    const double products =
        static_cast<double>(llvm::divideCeilSigned(steps, splits)) *
        getLineClocks(p, tile, rates);
    const double stored = tile.m * tile.n / rates.step.exposedStores;
    const auto waves = static_cast<double>(
        llvm::divideCeilSigned(tiles * splits, target.computeUnits));
    candidates.push_back(
        {split.toConfig(), addUp(p, waves * (begin + products + stored),
                                 rates.slidingOverlap, splits, target, rates)});
  }
}

std::vector<Candidate> tessera::getLineCandidates(const ConvProblem &problem,
                                                  const GpuTarget &target) {
  constexpr int64_t kUnit = 16, kLeast = 64, kMost = 256;
  std::vector<Candidate> candidates;
  const int64_t lines = problem.filter.h;
  const int64_t columns = std::max(
      kLeast, llvm::divideCeilSigned(problem.outChannels, kUnit) * kUnit);
  if (!fitsTma(problem, target) || problem.dataType == DataType::F32 ||
      problem.filter.w > 1 || lines == 1)
    return candidates;
  for (int consumers = kLeastConsumers; consumers <= kMostConsumers;
       ++consumers)
    for (int64_t n = kLeast; n <= std::min(kMost, columns); n += kUnit)
      if (lines % consumers == 0 && columns % n == 0 &&
          fitsRegisters(consumers, lines, n))
        if (auto tile = makeLineTile(problem, consumers, n, target))
          addLineTile(problem, *tile, target, candidates);
  return candidates;
}

//===----------------------------------------------------------------------===//
// All tiles
//===----------------------------------------------------------------------===//

std::vector<Candidate>
tessera::getTmaWeightCandidates(const ConvProblem &problem,
                                const GpuTarget &target,
                                const TmaWeightRates &rates) {
  std::vector<Candidate> candidates;
  if (!fitsTma(problem, target))
    return candidates;
  const WeightsGemm gemm = getGemm(problem);
  auto add = [&](const TmaShape &shape) {
    if (!fitsType(problem, shape))
      return;
    const int64_t atOnce = target.computeUnits * (shape.isSmall() ? 2 : 1);
    for (int splits :
         getSplits(problem, gemm.steps, gemm.countTiles(shape), atOnce)) {
      // No step needs more stages than a split has steps.
      constexpr int64_t kFewStages = 6;
      // Behind a single image matrix no step reads zeros.
      if (problem.yLayout == Layout::NCHW && problem.batch == 1 &&
          gemm.steps % splits != 0)
        continue;
      if (shape.stages >
          std::max(kFewStages, llvm::divideCeilSigned(gemm.steps, splits)))
        continue;
      candidates.push_back(
          {shape.getTile(problem, splits).toConfig(),
           estimateClocks(problem, gemm, shape, splits, target, rates)});
    }
  };
  std::ranges::for_each(getShapes(problem, target), add);
  if (canSlide(problem))
    addSliding(problem, kTmaStep, kTmaStep, target, rates, candidates);
  if (canSlide(problem) && wantsHalves(problem, target))
    for (int64_t rows : {kTmaStep, 2 * kTmaStep})
      addSliding(problem, rows, kTmaStep / 2, target, rates, candidates);
  return candidates;
}

std::vector<Candidate>
tessera::getOpenTmaWeightCandidates(const ConvProblem &sample,
                                    const GpuTarget &target) {
  std::vector<Candidate> candidates = getTmaWeightCandidates(sample, target);
  std::erase_if(candidates, [](const Candidate &candidate) {
    const GemmTile tile = *parseGemmTile(candidate.tile);
    return tile.halo > 0 || tile.cluster > 1 || tile.multicast != 0;
  });
  const auto chooseFilling = [&](int64_t steps, int64_t tiles, int64_t atOnce) {
    return getSplits(sample, steps, tiles, atOnce);
  };
  if (fitsTma(sample, target))
    addRowTiles(sample, target, chooseFilling, candidates);
  return candidates;
}

std::vector<Candidate>
tessera::getTmaWeightCandidates(const ConvProblem &problem,
                                const GpuTarget &target,
                                const std::set<int> &splits) {
  std::vector<Candidate> candidates;
  if (!fitsTma(problem, target))
    return candidates;
  const WeightsGemm gemm = getGemm(problem);
  for (const TmaShape &shape : getShapes(problem, target))
    for (int count : splits)
      if (fitsType(problem, shape) && (count > 1 || !mustSplit(problem)))
        candidates.push_back(
            {shape.getTile(problem, count).toConfig(),
             estimateClocks(problem, gemm, shape, count, target)});
  const auto chooseAll = [&](int64_t, int64_t, int64_t) {
    std::vector<int> all(splits.begin(), splits.end());
    std::erase_if(all,
                  [&](int count) { return count == 1 && mustSplit(problem); });
    return all;
  };
  addRowTiles(problem, target, chooseAll, candidates);
  return candidates;
}
