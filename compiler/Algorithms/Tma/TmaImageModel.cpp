//===- TmaImageModel.cpp - What forward and backward data cost ------------===//

#include "compiler/Algorithms/Tma/TmaImageModel.h"
#include "compiler/Algorithms/Common/StrideClasses.h"
#include "compiler/Algorithms/ImplicitGemm/GemmSize.h"
#include "compiler/Algorithms/Tma/TmaHaloTiles.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <utility>

using namespace tessera;
using namespace tessera::images;

//===----------------------------------------------------------------------===//
// What a tensor map can describe
//===----------------------------------------------------------------------===//

TmaGemm images::getGemm(const ConvProblem &p, bool hasImages) {
  if (hasImages) {
    const bool isForward = p.direction == Direction::Forward;
    return {.rows = isForward ? p.outChannels : p.inChannels,
            .columns = getVolume(p.in),
            .channels = isForward ? p.inChannels : p.outChannels,
            .groups = p.batch,
            .taps = 1};
  }
  const int64_t inputs = p.inChannels / p.groups;
  const int64_t outputs = p.outChannels / p.groups;
  TmaGemm gemm{p.batch, outputs, inputs, p.groups, 1};
  if (p.direction != Direction::Forward)
    std::swap(gemm.columns, gemm.channels);
  for (const ConvDim &dim : getConvDims(p)) {
    gemm.taps *= dim.filter;
    if (p.direction == Direction::Forward) {
      gemm.rows *= dim.out;
      continue;
    }
    const StrideClasses c = chooseClasses(dim);
    gemm.rows *= c.rows;
    gemm.classes *= c.rhos * c.es;
  }
  if (p.direction != Direction::Forward)
    gemm.classTaps = countClassTaps(getConvDims(p));
  gemm.groups *= gemm.classes;
  return gemm;
}

bool images::isInReach(const ConvProblem &p) {
  constexpr int64_t kReach = int64_t(1) << 31;
  return p.getResultLengths().getElements() * getByteSize(p.getResultType()) <=
         kReach;
}

/// Whether the result can be stored: through a tensor map, or else row by row
/// if offsets reach it.
static bool isReachable(const ConvProblem &p, const TmaGemm &gemm) {
  constexpr int64_t kUnitBytes = 16;
  const int64_t unit =
      std::max(getTmaUnit(p), kUnitBytes / getByteSize(p.getResultType()));
  const bool isRows = gemm.classes > 1 || gemm.columns % unit != 0 ||
                      p.epilogue.residual || p.epilogue.beta;
  return !isRows || isInReach(p);
}

bool images::fitsTma(const ConvProblem &p, const GpuTarget &target) {
  if (isImageProduct(p, target))
    return true;
  if (!hasTmaTensors(p, target))
    return false;
  // Tensors that are read have strides of whole 16 bytes. The last step of a
  // tap may reach past the channels, but not into those of another group.
  // Backward data reads the filter along the columns, unless it is transposed
  // first (tf32, floats of 8 bits).
  const int64_t unit = getTmaUnit(p);
  const TmaGemm gemm = getGemm(p);
  const bool readsColumns =
      p.direction != Direction::Forward && !readsRowsOnly(p);
  if (gemm.channels % unit != 0 || (readsColumns && gemm.columns % unit != 0) ||
      (p.groups > 1 && gemm.channels % getTmaStep(p) != 0))
    return false;
  return isReachable(p, gemm) && fitsWindow(p);
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

/// Whether pixels are read through an im2col tensor map instead of one of a
/// matrix.
static bool hasWindow(const ConvProblem &p) {
  return std::ranges::any_of(getConvDims(p), [](const ConvDim &dim) {
    return dim.filter > 1 || dim.stride > 1 || dim.pad > 0 || dim.in != dim.out;
  });
}

/// Whether the window skips pixels. Backward data walks the gradient pixel by
/// pixel, whatever the stride.
static bool isStrided(const ConvProblem &p) {
  return p.direction == Direction::Forward &&
         std::ranges::any_of(getConvDims(p), [](const ConvDim &dim) {
           return dim.filter > 1 && dim.stride > 1;
         });
}

/// The bytes of the tensor of images that is read.
static double countPixelBytes(const ConvProblem &p) {
  const int64_t pixels = p.direction == Direction::Forward
                             ? p.getInputElements()
                             : p.getOutputElements();
  return static_cast<double>(pixels * getByteSize(p.dataType));
}

/// The bytes that come from memory. Columns of tiles read the same pixels at
/// about the same time, but if tensors are many times as large as L2, some
/// pixels are read from memory again.
static double countMemoryBytes(const ConvProblem &p, int64_t tileColumns,
                               const TmaRates &rates) {
  const double bytes = countTensorBytes(p);
  if (bytes <= rates.cachedBytes)
    return bytes;
  return bytes + rates.readAgain * static_cast<double>(tileColumns - 1) *
                     countPixelBytes(p);
}

/// The bytes of images that come from memory again where the last tile of the
/// rows is not full: it takes less time than the others, and where workgroups
/// always have the same of an image's tiles, those that have it are ahead of
/// the others by more and more, until L2 no longer has what both read. With 80
/// and 96 channels tiles of 64 rows took 1.38 and 1.23 times as long as those
/// of 128 on an H100.
static double countApartBytes(const ConvProblem &p, const TmaGemm &gemm,
                              const TmaShape &shape) {
  constexpr double kCache = 50e6;
  if (gemm.rows % shape.m == 0)
    return 0;
  return static_cast<double>(gemm.rows / shape.m) *
         std::max(0.0, countPixelBytes(p) - kCache);
}

/// Whether the last step of each tap ends with the last channel
/// (countLastShares() of Conversion/Hopper).
static bool endsInside(const ConvProblem &p, const TmaGemm &gemm,
                       const TmaShape &shape, int splits) {
  constexpr int64_t kInstructionBytes = 32;
  const int64_t bytes = getByteSize(p.dataType);
  const int64_t step = shape.stepBytes / bytes;
  const int64_t rest = gemm.channels % step;
  return gemm.channels >= step && rest * bytes % kInstructionBytes == 0 &&
         (gemm.taps > 1 || 2 * rest >= step) && !splitsF32(p) &&
         gemm.classes == 1 && splits == 1 && shape.cluster == 1;
}

/// The last step of a tap ends with the instruction that has the last channel
/// if that is its own end, or of a halo.
static void addLastStep(TmaTraffic &traffic, const ConvProblem &p,
                        const TmaGemm &gemm, const TmaShape &shape,
                        int splits) {
  constexpr int64_t kInstructionBytes = 32;
  const int64_t bytes = getByteSize(p.dataType);
  const int64_t step = shape.stepBytes / bytes;
  const int64_t steps = llvm::divideCeilSigned(gemm.channels, step);
  const bool isInside = endsInside(p, gemm, shape, splits);
  if (gemm.channels % step != 0 && !isInside)
    traffic.padded = 1 / static_cast<double>(steps);
  if (!isInside && shape.halo == 0)
    return;
  const int64_t instruction = kInstructionBytes / bytes;
  const int64_t multiplied =
      llvm::divideCeilSigned(gemm.channels, instruction) * instruction;
  traffic.multiplied =
      static_cast<double>(multiplied) / static_cast<double>(steps * step);
}

/// Rows that do not begin with a line of L2 touch more of them.
static void addLines(TmaTraffic &traffic, const ConvProblem &p,
                     const TmaShape &shape) {
  constexpr int64_t kBlockBytes = 2 * kTmaStep;
  const int64_t bytes = getByteSize(p.dataType);
  const bool isForward = p.direction == Direction::Forward;
  const int64_t inputs = p.inChannels / p.groups * bytes;
  const int64_t outputs = p.outChannels / p.groups * bytes;
  if (p.xLayout != Layout::NHWC) { // Pixels are the columns.
    traffic.columnLines = countLines(getVolume(p.in) * bytes, kBlockBytes);
    return;
  }
  traffic.rowLines = countLines(isForward ? inputs : outputs, shape.stepBytes);
  const bool hasBlocks = !isForward && !readsRowsOnly(p);
  traffic.columnLines = countLines(isForward || hasBlocks ? inputs : outputs,
                                   hasBlocks ? kBlockBytes : shape.stepBytes);
}

/// The requests that meet at a line of the filter, for each step of a tile: all
/// tiles of its columns ask for it once, or several times where rows of few
/// channels share it.
static double countMeeting(const ConvProblem &p, const TmaGemm &gemm,
                           const TmaShape &shape, double units, double steps,
                           bool hasImages) {
  constexpr int64_t kLine = 128;
  const int64_t bytes = getByteSize(p.dataType);
  const bool isTransposed =
      p.direction != Direction::Forward && readsRowsOnly(p);
  const int64_t row =
      (isTransposed ? p.outChannels : p.inChannels) / p.groups * bytes;
  const int64_t pitch = row * getVolume(p.filter);
  const int64_t block = p.direction == Direction::Forward || isTransposed
                            ? shape.stepBytes
                            : 2 * kTmaStep;
  const double requests = countLines(pitch, std::min(block, row));
  const double ofLine =
      std::max(1.0, requests * kLine / static_cast<double>(pitch));
  const int64_t apart =
      hasImages ? llvm::divideCeilSigned(gemm.rows, shape.m)
                : gemm.groups * llvm::divideCeilSigned(gemm.columns, shape.n);
  return ofLine * units / static_cast<double>(apart) / steps;
}

static TmaTraffic getTraffic(const ConvProblem &p, const TmaGemm &gemm,
                             const TmaShape &shape, int splits, double busy) {
  // The filter of backward data is copied in blocks of 64 columns; so are
  // pixels that lie together.
  const bool isChannelsLast = p.xLayout == Layout::NHWC;
  const int64_t columns =
      isChannelsLast && (p.direction == Direction::Forward || readsRowsOnly(p))
          ? shape.n
          : llvm::divideCeilSigned(shape.n, kTmaStep) * kTmaStep;
  TmaTraffic traffic{.rows = static_cast<double>(shape.m),
                     .columns = static_cast<double>(columns),
                     .hasWindow = hasWindow(p),
                     .isDeep = p.hasDepth(),
                     .isStrided = isStrided(p),
                     .busy = busy};
  addLastStep(traffic, p, gemm, shape, splits);
  addLines(traffic, p, shape);
  if (isChannelsLast && columns != shape.n && columns > gemm.columns)
    traffic.beyond =
        static_cast<double>(shape.stepBytes / getByteSize(p.dataType));
  if (shape.halo == 0)
    return traffic;
  const TmaHalo halo = measureHalo(p, shape.hasOneRow);
  traffic.rows = halo.getRowsOfStep(shape);
  if (halo.filterStays(shape))
    traffic.columns = traffic.beyond = 0;
  return traffic;
}

int64_t images::countTiles(const TmaGemm &gemm, const TmaShape &shape) {
  return gemm.groups * llvm::divideCeilSigned(gemm.rows, shape.m) *
         llvm::divideCeilSigned(gemm.columns, shape.n);
}

double images::countWaves(const TmaGemm &gemm, const TmaShape &shape,
                          const GpuTarget &target, int splits) {
  const int64_t tiles = countTiles(gemm, shape) * shape.cluster * splits;
  const int64_t sharing = shape.isSmall() ? 2 : 1;
  if (gemm.classes == 1)
    return static_cast<double>(
        llvm::divideCeilSigned(tiles, target.computeUnits * sharing) * sharing);
  double waves = static_cast<double>(tiles) / target.computeUnits;
  for (const auto &[index, taps] : llvm::enumerate(gemm.classTaps)) {
    const int64_t longest =
        tiles / gemm.classes * static_cast<int64_t>(index + 1);
    const int64_t whole =
        llvm::divideCeilSigned(longest, target.computeUnits * sharing) *
        sharing;
    waves = std::max(waves, static_cast<double>(whole * taps * gemm.classes) /
                                static_cast<double>(gemm.taps));
  }
  return waves;
}

/// Times as long that a tile takes to store with the sums of a normalisation's
/// gradient. On an H100 tiles whose stores nothing hides took 16 us longer for
/// 256x256x14x14 in bf16, those in ping-pong 6.
static double getNormShare(const ConvProblem &p, const TmaShape &shape) {
  constexpr double kExposed = 6, kPingPong = 2;
  if (p.epilogue.normGradient == NormGradient::None)
    return 1;
  return shape.isPingPong ? kPingPong : kExposed;
}

/// The bytes that these, and a residual tensor in front of them, are read of.
static double countNormBytes(const ConvProblem &p) {
  if (p.epilogue.normGradient == NormGradient::None)
    return 0;
  const int tensors = 1 + (p.epilogue.residual ? 1 : 0) +
                      (p.epilogue.normGradient == NormGradient::Mask ? 1 : 0);
  return static_cast<double>(tensors * p.getResultLengths().getElements() *
                             getByteSize(p.getResultType()));
}

/// Whether each workgroup makes all copies of its only tile first
/// (chooseCopies() of Conversion/Hopper).
static bool copiesFirst(const ConvProblem &p, const TmaGemm &gemm,
                        const TmaShape &shape, int splits,
                        const GpuTarget &target) {
  const int64_t step = shape.stepBytes / getByteSize(p.dataType);
  const int64_t steps = llvm::divideCeilSigned(
      gemm.taps * llvm::divideCeilSigned(gemm.channels, step), int64_t(splits));
  return gemm.classes == 1 && shape.halo == 0 && !shape.sharesRows &&
         !splitsF32(p) && p.xLayout == Layout::NHWC &&
         countTiles(gemm, shape) * shape.cluster * splits <=
             target.computeUnits &&
         steps % shape.cluster == 0 &&
         steps <= int64_t(shape.stages) * shape.cluster;
}

double images::estimateClocks(const ConvProblem &p, const TmaShape &shape,
                              int splits, const GpuTarget &target,
                              const TmaRates &rates) {
  const bool hasImages = isImageProduct(p, target);
  TmaGemm gemm = getGemm(p, hasImages);
  if (shape.halo > 0)
    gemm.rows = measureHalo(p, shape.hasOneRow).positions;
  const int64_t stepElements = shape.stepBytes / getByteSize(p.dataType);
  // One workgroup of a cluster may have a step more than the others.
  const int64_t allSteps =
      gemm.taps * llvm::divideCeilSigned(gemm.channels, stepElements);
  const double steps = static_cast<double>(llvm::divideCeilSigned(
                           allSteps, int64_t(shape.cluster))) /
                       static_cast<double>(gemm.classes * splits);
  const double waves = countWaves(gemm, shape, target, splits);
  const double busy =
      static_cast<double>(countTiles(gemm, shape) * shape.cluster * splits) /
      (waves * static_cast<double>(target.computeUnits));
  TmaTraffic traffic = getTraffic(p, gemm, shape, splits, busy);
  if (shape.halo == 0 || !measureHalo(p, shape.hasOneRow).filterStays(shape))
    traffic.meeting = countMeeting(p, gemm, shape, busy * target.computeUnits,
                                   static_cast<double>(allSteps) /
                                       static_cast<double>(gemm.classes),
                                   hasImages);
  double step = getStepClocks(shape, traffic, rates);
  if (splitsF32(p))
    step += getSplitClocks(shape, p.direction == Direction::BackwardData &&
                                      p.xLayout == Layout::NCHW);
  if (shape.halo > 0 && p.hasDepth())
    step *= rates.deepHalo;
  step *= 1 - rates.idle * std::max(0.0, 1 - busy);
  const double stored =
      getStoreClocks(shape, rates) * getNormShare(p, shape) *
      // f32 has twice the bytes.
      (splits > 1 || p.getResultType() == DataType::F32 ? 2 : 1);
  const double work = getWorkClocks(shape, waves, steps * step, stored);
  const double memory =
      (countMemoryBytes(p, llvm::divideCeilSigned(gemm.columns, shape.n),
                        rates) +
       (hasImages ? countApartBytes(p, gemm, shape) : 0) + countNormBytes(p)) /
      (rates.memoryBytes * target.computeUnits);
  const double overlap =
      (shape.halo > 0 ? rates.haloOverlap : 1) *
      (getOverlap(shape, step, rates) + rates.fewWaves / waves);
  return std::max(work, memory) + overlap * std::min(work, memory) +
         rates.begin -
         (copiesFirst(p, gemm, shape, splits, target) ? rates.copiesFirst : 0) +
         getClusterClocks(shape, rates) +
         getSumClocks({rates.sumBegin, rates.sumPass, rates.sumBytes},
                      p.getResultLengths().getElements(), splits, target);
}
