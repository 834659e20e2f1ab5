//===- TmaWeightTiles.cpp - Backward weights for TMA and wgmma ------------===//

#include "compiler/Algorithms/Tma/TmaWeightTiles.h"
#include "compiler/Algorithms/ImplicitGemm/GemmSize.h"
#include "compiler/Algorithms/Common/HaloPositions.h"
#include "compiler/Algorithms/Common/PartSum.h"
#include "compiler/Algorithms/Tma/TmaModel.h"

#include <algorithm>
#include <numeric>
#include <optional>

using namespace tessera;

static int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

namespace {
/// Backward weights as a GEMM: of one group, but for the groups.
struct WeightsGemm {
  int64_t rows, columns;
  int64_t steps; ///< Of pixels.
  int64_t groups;

  int64_t countTiles(const TmaShape &shape) const {
    return groups * divideUp(rows, shape.m) * divideUp(columns, shape.n);
  }
};
} // namespace

static WeightsGemm getGemm(const ConvProblem &p, bool hasTapRows = false) {
  // As many columns as a step has elements are channels of one tap.
  const int64_t copied = getTmaStep(p);
  const int64_t taps = getVolume(p.filter), inputs = p.inChannels / p.groups;
  WeightsGemm gemm = {
      p.outChannels / p.groups,
      taps > 1 ? taps * divideUp(inputs, copied) * copied : inputs,
      divideUp(p.batch * getVolume(p.getOutput()), copied), p.groups};
  if (hasTapRows)
    std::swap(gemm.rows, gemm.columns);
  return gemm;
}

static bool fitsTma(const ConvProblem &p, const GpuTarget &target) {
  const int64_t unit = getTmaUnit(p); // Strides of whole 16 bytes.
  return hasTmaTensors(p, target) && p.outChannels % unit == 0 &&
         p.inChannels / p.groups % unit == 0 && fitsWindow(p);
}

/// Rows and columns of tiles, and who multiplies. 64 columns for 64 channels,
/// 192 divide 9 taps of them; 64 by 64 make the most tiles of a layer that
/// leaves most of the chip idle, the last ones two for each multiprocessor.
static constexpr TmaShape kKinds[] = {
    {192, 128, 3, false, 0}, {128, 256, 2, false, 0}, {256, 128, 2, false, 0},
    {128, 128, 1, true, 0},  {192, 128, 1, true, 0},  {128, 128, 2, false, 0},
    {128, 64, 1, true, 0},   {256, 64, 2, false, 0},  {192, 64, 3, false, 0},
    {64, 256, 1, true, 0},   {64, 128, 1, true, 0},   {64, 192, 1, true, 0},
    {128, 192, 2, false, 0}, {256, 192, 2, false, 0}, {64, 64, 1, true, 0},
    {64, 128, 1, false, 0},  {128, 64, 1, false, 0},  {64, 64, 1, false, 0}};

/// Stages of a tile's ring: as many as shared memory has room for, beside one
/// staging buffer of each warp.
static int countStages(const TmaShape &shape, const GpuTarget &target) {
  constexpr int64_t kRowBytes = kTmaStep * 2, kMostStages = 12;
  constexpr int64_t kWarps = 4, kStagingBytes = 2048, kOthers = 1024 + 512;
  constexpr int64_t kHalfSm = 115712; // Of each of two workgroups.
  const int64_t staging =
      (shape.isPingPong ? 2 : shape.consumers) * kWarps * kStagingBytes;
  const int64_t copied = divideUp(shape.n, kTmaStep) * kTmaStep;
  const int64_t room =
      (shape.isSmall() ? kHalfSm : target.wgmmaSharedBytes) - staging - kOthers;
  return static_cast<int>(
      std::min(kMostStages, room / ((shape.m + copied) * kRowBytes)));
}

/// Rings as deep as they fit, and shallower ones, down to about half of that,
/// which have less on its way (countBytesAgain). Steps of tf32 take so long
/// that the deepest are best.
static std::vector<TmaShape> getShapes(const ConvProblem &p,
                                       const GpuTarget &target) {
  constexpr int kLeastStages = 3, kMostDepths = 4;
  std::vector<TmaShape> shapes;
  for (TmaShape shape : kKinds) {
    const int most = countStages(shape, target);
    const int step = (most + 5) / 6;
    for (int i = 0; i < (p.allowsTf32() ? 1 : kMostDepths); ++i) {
      shape.stages = most - i * step;
      if (shape.stages >= kLeastStages)
        shapes.push_back(shape);
    }
  }
  return shapes;
}

/// Of tf32, whose consumers read A from registers (PixelFactors.h): none take
/// turns, and the fragments need a place beside the sums.
static bool fitsPixels(const TmaShape &shape) {
  constexpr int kManySums = 128;
  return !shape.isPingPong && shape.countSums() <= kManySums;
}

/// Further tensors of the epilogue are for the launch that adds parts.
static bool needsParts(const ConvProblem &p) {
  return p.epilogue.bias || p.epilogue.residual || p.epilogue.beta;
}

/// Numbers of parts that fill the chip for some turns, or as much of it as
/// their steps allow; none of them empty.
static std::vector<int> getParts(const ConvProblem &p, int64_t steps,
                                 int64_t tiles, int64_t atOnce) {
  constexpr int64_t kMaxTurns = 4, kMaxParts = 256, kLeastSteps = 4;
  constexpr int64_t kMaxBytes = 256 << 20, kF32Bytes = 4; // Workspace.
  const int64_t mostParts =
      std::min(kMaxParts, kMaxBytes / (p.getFilterElements() * kF32Bytes));
  std::vector<int> all;
  auto add = [&](int64_t parts) {
    const int64_t share = divideUp(steps, std::max<int64_t>(parts, 1));
    const auto count = static_cast<int>(divideUp(steps, share));
    if ((count > 1 || !needsParts(p)) && (all.empty() || all.back() != count))
      all.push_back(count);
  };
  add(1);
  for (int64_t turns = 1; turns <= kMaxTurns; ++turns) {
    const int64_t parts =
        std::min({turns * atOnce / tiles, mostParts, steps / kLeastSteps});
    if (parts > 1)
      add(parts);
  }
  if (all.empty() && steps > 1)
    add(2);
  return all;
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

static double estimateSum(const ConvProblem &p, int parts,
                          const GpuTarget &target,
                          const TmaWeightRates &rates) {
  if (parts == 1)
    return 0;
  const int64_t elements = p.getFilterElements();
  return rates.sumBegin +
         rates.sumTurn * static_cast<double>(countSumTurns(elements, parts)) +
         static_cast<double>(elements * (parts * 4 + 2)) /
             (rates.sumBytes * target.computeUnits);
}

/// Of x and y, each moved once; strides leave pixels of x out.
static double countImageBytes(const ConvProblem &p) {
  const int64_t walked =
      p.batch * getVolume(p.getOutput()) * getVolume(p.filter) * p.inChannels;
  return static_cast<double>(
      getByteSize(p.dataType) *
      (std::min(p.getInputElements(), walked) + p.getOutputElements()));
}

/// What is read from memory again. Tiles that share rows read them at about the
/// same time; the more is on its way at once, the more of it has gone before
/// the last of them comes.
static double countBytesAgain(const ConvProblem &p, const WeightsGemm &gemm,
                              const TmaShape &shape, int parts,
                              const GpuTarget &target,
                              const TmaWeightRates &rates) {
  constexpr double kRowBytes = kTmaStep * 2;
  const auto tiles = static_cast<double>(gemm.countTiles(shape));
  const double once = countImageBytes(p);
  const auto steps = static_cast<double>(gemm.steps);
  const double copied = tiles * steps * (shape.m + shape.n) * kRowBytes;
  const int sharing = shape.isSmall() ? 2 : 1;
  const double partsAtOnce =
      std::min<double>(parts, target.computeUnits * sharing / tiles);
  const double onItsWay = partsAtOnce * shape.stages * once / steps;
  return rates.readAgain * std::max(0.0, copied - once) *
         std::max(0.0, 1 - rates.keptBytes / onItsWay);
}

/// The clocks of all turns of tiles, and of what else there is; `again` are
/// bytes that are read more than once.
static double addUp(const ConvProblem &p, double work, double overlap,
                    int parts, const GpuTarget &target,
                    const TmaWeightRates &rates, double again = 0) {
  double bytes =
      countImageBytes(p) + again +
      static_cast<double>(getByteSize(p.dataType) * p.getFilterElements());
  if (p.allowsTf32() && parts > 1)
    bytes += 4.0 * static_cast<double>(p.getFilterElements() * parts);
  const double memory = bytes / (rates.step.memoryBytes * target.computeUnits);
  return std::max(work, memory) + overlap * std::min(work, memory) +
         rates.step.begin + estimateSum(p, parts, target, rates);
}

/// Copies of 128 bytes of which a group has fewer begin anywhere in a line of
/// the cache and want two lines, which other groups want again, as the taps of
/// a window do. Of 32 groups of 8 channels (3x3, 64 images of 28x28, on an
/// H100), to which nothing was fitted, four tiles took 0.82 to 0.87 of the time
/// that this expects, and a fifth, which leaves multiprocessors idle, 0.76.
static TmaTraffic getTraffic(const ConvProblem &p, int rows, int columns) {
  auto countLines = [&](int64_t channels) {
    return p.groups > 1 && channels / p.groups < getTmaStep(p) ? 2 : 1;
  };
  const int rowLines = countLines(p.outChannels);
  const int columnLines = countLines(p.inChannels);
  // It is the columns that come through a window.
  TmaTraffic traffic{static_cast<double>(columns * columnLines),
                     static_cast<double>(rows * rowLines)};
  traffic.hasWindow = rowLines * columnLines > 1 || getVolume(p.filter) > 1;
  return traffic;
}

/// Of a step of tf32, in which shared memory is busiest: B is written twice and
/// read once before wgmma reads it, A written once and read once.
static double getPixelClocks(const TmaShape &shape,
                             const TmaWeightRates &rates) {
  return rates.pixelRow *
         (2 * shape.m + 3 * shape.n + shape.n * shape.m / 64.0);
}

static double estimateClocks(const ConvProblem &p, const WeightsGemm &gemm,
                             const TmaShape &shape, int parts,
                             const GpuTarget &target,
                             const TmaWeightRates &rates = kTmaWeightRates) {
  const int64_t sharing = shape.isSmall() ? 2 : 1;
  const auto turns = static_cast<double>(
      divideUp(gemm.countTiles(shape) * parts, target.computeUnits * sharing) *
      sharing);
  const TmaTraffic traffic = getTraffic(p, shape.m, shape.n);
  const auto steps = static_cast<double>(divideUp(gemm.steps, parts));
  double products = steps * getStepClocks(shape, traffic, rates.step);
  if (p.allowsTf32())
    products = std::max(products, steps * getPixelClocks(shape, rates));
  // f32 has twice the bytes.
  const double stored =
      getStoreClocks(shape, rates.step) * (parts > 1 || p.allowsTf32() ? 2 : 1);
  const double work = getWorkClocks(shape, turns, products, stored);
  return addUp(p, work, rates.step.overlap, parts, target, rates,
               countBytesAgain(p, gemm, shape, parts, target, rates));
}

//===----------------------------------------------------------------------===//
// Tiles whose taps share pixels
//===----------------------------------------------------------------------===//

/// All taps of 64 output and 64 input channels, a filter row for each consumer;
/// the input comes in chunks of 64 positions (docs/design/0009).
static void addSliding(const ConvProblem &p, const GpuTarget &target,
                       const TmaWeightRates &rates,
                       std::vector<Candidate> &candidates) {
  constexpr int64_t kMostRows = 3, kMostTaps = 4, kMostTapRows = 16;
  const auto [depth, height, width] = getConvDims(p);
  if (p.hasDepth() || p.dataType == DataType::F32 || height.filter < 2 ||
      height.filter > kMostRows || width.filter < 2 ||
      width.filter > kMostTaps || width.dilation > kMostTapRows ||
      !fitsHalo(height) || !fitsHalo(width))
    return;
  const int64_t pitch = countInputPositions(width);
  const int64_t positions = p.batch * countInputPositions(height) * pitch;
  const int64_t steps = divideUp(positions, kTmaStep);
  const int64_t ahead =
      divideUp(getReach(height) * pitch + getReach(width), kTmaStep);
  // Beside what a step reads, some chunks that come, and stages alike.
  constexpr int64_t kComing = 4, kStages = 4, kRowBytes = 128, kRest = 2048;
  const int64_t rows = kTmaStep * (ahead + 2 + kComing + kStages) +
                       height.filter * 4 * 2 * 16; // Staged for the result.
  if (rows * kRowBytes + kRest > target.wgmmaSharedBytes)
    return;
  GemmTile tile;
  tile.m = tile.k = kTmaStep;
  tile.n = static_cast<int>(height.filter * width.filter * kTmaStep);
  tile.wavesN = static_cast<int>(height.filter);
  tile.buffers = kStages;
  tile.halo = static_cast<int>(ahead + 1 + kComing);
  tile.mma = "wgmma";
  tile.isTma = true;
  const int64_t tiles = p.groups *
                        divideUp(p.outChannels / p.groups, kTmaStep) *
                        divideUp(p.inChannels / p.groups, kTmaStep);
  // Pixels and gradients come once for all taps; of whole lines, the products
  // take longer.
  const TmaTraffic traffic = getTraffic(p, kTmaStep, kTmaStep);
  const double copied = traffic.hasWindow
                            ? (traffic.rows + traffic.columns) * kRowBytes /
                                  rates.step.windowBytes
                            : 0;
  for (int parts : getParts(p, steps, tiles, target.computeUnits)) {
    tile.parts = parts;
    const double step = std::max(
        double(tile.m) * tile.n * tile.k / rates.slidingProducts, copied);
    const double products = static_cast<double>(divideUp(steps, parts)) * step;
    const double stored = tile.m * tile.n / rates.step.exposedSums;
    const auto turns =
        static_cast<double>(divideUp(tiles * parts, target.computeUnits));
    candidates.push_back(
        {tile.toConfig(),
         addUp(p, turns * (products + (parts > 1 ? 2 : 1) * stored),
               rates.slidingOverlap, parts, target, rates)});
  }
}

//===----------------------------------------------------------------------===//
// Tiles whose rows are taps
//===----------------------------------------------------------------------===//

/// Lines of the second cache that a copied row of 64 elements touches: it is as
/// long as one, and touches two where rows are no whole lines apart and it
/// begins within one.
static double countCacheLines(const ConvProblem &problem, int64_t pitch) {
  constexpr int64_t kLineBytes = kTmaStep * 2;
  const int64_t pitchBytes = pitch * getByteSize(problem.dataType);
  return 2 - static_cast<double>(std::gcd(pitchBytes, kLineBytes)) / kLineBytes;
}

/// Of packed tensors.
static TmaWeightRates getPackedRates(const ConvProblem &problem) {
  TmaWeightRates rates = kTmaWeightRates;
  rates.step.windowBytes /= countCacheLines(problem, problem.inChannels);
  rates.step.plainBytes = rates.step.windowBytes;
  rates.step.windowRow = rates.step.plainRow = 0;
  rates.sumTurn = rates.packedSumTurn;
  rates.sumBytes = rates.packedSumBytes;
  return rates;
}

/// As wide as all columns, or as what divides them.
static std::vector<TmaShape> getTapRowShapes(int64_t columns,
                                             const GpuTarget &target) {
  static constexpr TmaShape kKinds[] = {{384, 0, 3, false, 0},
                                        {256, 0, 2, false, 0},
                                        {192, 0, 3, false, 0},
                                        {128, 0, 2, false, 0},
                                        {128, 0, 1, true, 0}};
  constexpr int kLeast = 64, kMost = 256, kUnit = 16, kLeastStages = 3;
  const int64_t filled = divideUp(columns, kUnit) * kUnit;
  std::vector<TmaShape> shapes;
  for (TmaShape shape : kKinds)
    for (shape.n = kLeast; shape.n <= kMost; shape.n += kUnit) {
      const int mostSums = shape.consumers == 3 ? 96 : 192;
      shape.stages = countStages(shape, target);
      if (filled % shape.n == 0 && shape.countSums() <= mostSums &&
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
  for (const TmaShape &shape : getTapRowShapes(gemm.columns, target))
    for (int parts : getParts(problem, gemm.steps, gemm.countTiles(shape),
                              target.computeUnits))
      candidates.push_back({shape.getTile(problem, parts).toConfig(),
                            estimateClocks(problem, gemm, shape, parts, target,
                                           getPackedRates(problem))});
  return candidates;
}

//===----------------------------------------------------------------------===//
// Tiles whose lines share positions
//===----------------------------------------------------------------------===//

static constexpr int kLeastConsumers = 2, kMostConsumers = 5;

/// Whether a consumer's sums, a wgmma of `n` columns for each of its lines, fit
/// its registers: those that the launch gives, and those that it has later
/// (HopperShape).
static bool fitsRegisters(int64_t consumers, int64_t lines, int64_t n) {
  constexpr int64_t kAtFirst[] = {168, 128, 96, 80};
  constexpr int64_t kLater[] = {232, 160, 112, 88};
  constexpr int64_t kAddresses = 26, kOthers = 24;
  const int64_t sums = n / 2, i = consumers - kLeastConsumers;
  return sums + kAddresses <= kAtFirst[i] &&
         sums * (lines / consumers) + kOthers <= kLater[i];
}

/// Clocks in which the second cache gives some chunks of windows and a stage of
/// the gradient.
static double getCopyClocks(const ConvProblem &p, const GemmTile &tile,
                            int64_t chunks, const TmaWeightRates &rates) {
  constexpr double kRowBytes = 128;
  const auto ofWindows = static_cast<double>(chunks * kTmaStep);
  const auto gradients =
      static_cast<double>(divideUp(tile.n, kTmaStep) * kTmaStep);
  return (ofWindows * countCacheLines(p, p.inChannels) +
          gradients * countCacheLines(p, p.outChannels)) *
         kRowBytes / kTmaWeightRates.step.windowBytes;
}

/// Clocks of a step, in which the products, shared memory or the second cache
/// is busiest.
static double getLineClocks(const ConvProblem &p, const GemmTile &tile,
                            const TmaWeightRates &rates) {
  constexpr double kRowBytes = 128, kWgmmaRows = 64;
  const auto written =
      static_cast<double>(kTmaStep + divideUp(tile.n, kTmaStep) * kTmaStep);
  const double read = tile.m / kWgmmaRows * (kWgmmaRows + tile.n) + written;
  return std::max({double(tile.m) * tile.n * tile.k / rates.slidingProducts,
                   read * kRowBytes / rates.step.readBytes,
                   getCopyClocks(p, tile, /*chunks=*/1, rates)});
}

/// Chunks behind its own that a step reads.
static int64_t countAhead(const ConvProblem &p) {
  return divideUp(getReach(getConvDims(p)[1]) * p.getOutput().w, kTmaStep);
}

/// The tile of some consumers, with the chunks and stages that fit; none if
/// those are too few.
static std::optional<GemmTile> makeLineTile(const ConvProblem &p, int consumers,
                                            int64_t n,
                                            const GpuTarget &target) {
  const ConvDim height = getConvDims(p)[1];
  constexpr int64_t kRowBytes = 128, kRest = 2048, kStages = 4, kComing = 4;
  const int64_t ahead = countAhead(p);
  const int64_t staged = consumers * 4 * 2 * 16;
  const int64_t rows = kTmaStep * (ahead + 2 + kComing) +
                       kStages * divideUp(n, kTmaStep) * kTmaStep + staged;
  if (rows * kRowBytes + kRest > target.wgmmaSharedBytes)
    return std::nullopt;
  GemmTile tile;
  tile.k = kTmaStep;
  tile.m = static_cast<int>(height.filter * kTmaStep);
  tile.n = static_cast<int>(n);
  tile.wavesM = consumers;
  tile.buffers = kStages;
  tile.halo = static_cast<int>(ahead + 1 + kComing);
  tile.mma = "wgmma";
  tile.isTma = true;
  return tile;
}

static void addLineTile(const ConvProblem &p, const GemmTile &tile,
                        const GpuTarget &target,
                        std::vector<Candidate> &candidates) {
  const TmaWeightRates rates = getPackedRates(p);
  const ConvDim height = getConvDims(p)[1];
  const int64_t steps = divideUp(
      p.batch * countInputPositions(height) * p.getOutput().w, kTmaStep);
  const int64_t tiles =
      divideUp(p.inChannels, kTmaStep) * divideUp(p.outChannels, tile.n);
  for (int parts : getParts(p, steps, tiles, target.computeUnits)) {
    GemmTile split = tile;
    split.parts = parts;
    // The first step waits for all chunks that it reads.
    const double begin = getCopyClocks(p, tile, countAhead(p) + 1, rates);
    const double products = static_cast<double>(divideUp(steps, parts)) *
                            getLineClocks(p, tile, rates);
    const double stored = tile.m * tile.n / rates.step.exposedSums;
    const auto turns =
        static_cast<double>(divideUp(tiles * parts, target.computeUnits));
    candidates.push_back(
        {split.toConfig(), addUp(p, turns * (begin + products + stored),
                                 rates.slidingOverlap, parts, target, rates)});
  }
}

std::vector<Candidate> tessera::getLineCandidates(const ConvProblem &problem,
                                                  const GpuTarget &target) {
  constexpr int64_t kUnit = 16, kLeast = 64, kMost = 256;
  std::vector<Candidate> candidates;
  const int64_t lines = problem.filter.h;
  const int64_t columns =
      std::max(kLeast, divideUp(problem.outChannels, kUnit) * kUnit);
  if (!fitsTma(problem, target) || problem.filter.w > 1 || lines == 1)
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
    if (problem.allowsTf32() && !fitsPixels(shape))
      return;
    const int64_t atOnce = target.computeUnits * (shape.isSmall() ? 2 : 1);
    for (int parts :
         getParts(problem, gemm.steps, gemm.countTiles(shape), atOnce)) {
      // Stages that no step needs.
      constexpr int64_t kFewStages = 6;
      if (shape.stages > std::max(kFewStages, divideUp(gemm.steps, parts)))
        continue;
      candidates.push_back(
          {shape.getTile(problem, parts).toConfig(),
           estimateClocks(problem, gemm, shape, parts, target, rates)});
    }
  };
  std::ranges::for_each(getShapes(problem, target), add);
  addSliding(problem, target, rates, candidates);
  return candidates;
}
