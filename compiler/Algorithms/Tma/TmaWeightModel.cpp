//===- TmaWeightModel.cpp - What backward weights with TMA costs ----------===//

#include "compiler/Algorithms/Tma/TmaWeightModel.h"
#include "compiler/Algorithms/ImplicitGemm/GemmSize.h"

#include <algorithm>

using namespace tessera;
using namespace tessera::weights;

/// With channels first each image's last step ends with it.
static int64_t countSteps(const ConvProblem &p) {
  const int64_t step = getTmaStep(p), pixels = getVolume(p.getOutput());
  return p.yLayout == Layout::NCHW
             ? p.batch * llvm::divideCeilSigned(pixels, step)
             : llvm::divideCeilSigned(p.batch * pixels, step);
}

WeightsGemm weights::getGemm(const ConvProblem &p, bool hasTapRows) {
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

bool weights::fitsTma(const ConvProblem &p, const GpuTarget &target) {
  if (isImageProduct(p, target))
    return true;
  // Strides are whole 16 bytes, and a group's channels begin at such.
  const int64_t unit = getTmaUnit(p);
  return hasTmaTensors(p, target) && p.outChannels / p.groups % unit == 0 &&
         p.inChannels / p.groups % unit == 0 && fitsWindow(p);
}

int weights::countStages(const TmaShape &shape, const GpuTarget &target,
                         bool isSplit) {
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

int64_t weights::getPixelColumns(const ConvProblem &p) {
  return tessera::getPixelColumns(getByteSize(p.dataType));
}

bool weights::fitsType(const ConvProblem &p, const TmaShape &shape) {
  if (splitsF32(p))
    return fitsSplits(shape, p.yLayout == Layout::NHWC);
  const int mostAccumulators = shape.consumers == 3 ? 64 : 128;
  return !p.allowsTf32() ||
         (!shape.isPingPong && shape.n % getPixelColumns(p) == 0 &&
          shape.countAccumulators() <= mostAccumulators);
}

bool weights::mustSplit(const ConvProblem &p) {
  return p.epilogue.bias || p.epilogue.residual || p.epilogue.beta;
}

std::vector<int> weights::getSplits(const ConvProblem &p, int64_t steps,
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

double weights::addUp(const ConvProblem &p, double work, double overlap,
                      int splits, const GpuTarget &target,
                      const TmaWeightRates &rates, double again) {
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

TmaTraffic weights::getTraffic(const ConvProblem &p, int rows, int columns) {
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

double weights::estimateClocks(const ConvProblem &p, const WeightsGemm &gemm,
                               const TmaShape &shape, int splits,
                               const GpuTarget &target,
                               const TmaWeightRates &rates) {
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
