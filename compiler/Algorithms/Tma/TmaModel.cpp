//===- TmaModel.cpp - What TMA can read, and what its tiles cost ----------===//

#include "compiler/Algorithms/Tma/TmaModel.h"
#include "compiler/Algorithms/Common/SplitReduction.h"
#include "compiler/Algorithms/Common/StrideClasses.h"
#include "compiler/Algorithms/ImplicitGemm/GemmSize.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace tessera;

//===----------------------------------------------------------------------===//
// What a tensor map can describe
//===----------------------------------------------------------------------===//

int64_t tessera::getTmaStep(const ConvProblem &problem) {
  constexpr int64_t kStepBytes = kTmaStep * 2;
  return kStepBytes / getByteSize(problem.dataType);
}

int64_t tessera::getTmaUnit(const ConvProblem &problem) {
  constexpr int64_t kUnitBytes = 16;
  return kUnitBytes / getByteSize(problem.dataType);
}

int64_t tessera::getPixelColumns(int64_t elementBytes) {
  constexpr int64_t kShortBytes = 2, kShort = 16, kF32 = 32;
  return elementBytes <= kShortBytes ? kShort : kF32;
}

static bool isShort(const ConvProblem &p) {
  return p.dataType == DataType::F16 || p.dataType == DataType::BF16;
}

/// wgmma's floats of 8 bits.
static bool hasTmaFloat8(const ConvProblem &p) {
  return (p.dataType == DataType::E4M3FN || p.dataType == DataType::E5M2) &&
         p.direction != Direction::BackwardWeights;
}

bool tessera::fitsStagedRows(const ConvProblem &p, int64_t columns) {
  constexpr int64_t kLeastRow = 32;
  return getByteSize(p.getResultType()) > 1 || columns % kLeastRow == 0;
}

bool tessera::readsRowsOnly(const ConvProblem &p) {
  return p.allowsTf32() || isFloat8(p.dataType);
}

bool tessera::hasTmaTensors(const ConvProblem &p, const GpuTarget &target) {
  const bool hasType =
      isShort(p) || p.dataType == DataType::F32 || hasTmaFloat8(p);
  return target.hasTma && hasType && p.xLayout == Layout::NHWC &&
         p.wLayout == Layout::NHWC && p.yLayout == Layout::NHWC;
}

bool tessera::isImageProduct(const ConvProblem &p, const GpuTarget &target) {
  const bool isPointwise =
      std::ranges::all_of(getConvDims(p), [](const ConvDim &dim) {
        return dim.filter == 1 && dim.stride == 1 && dim.pad == 0 &&
               dim.in == dim.out;
      });
  const bool hasType =
      isShort(p) ||
      (p.dataType == DataType::F32 &&
       (!p.allowsTf32() || p.direction == Direction::BackwardWeights));
  const Epilogue &epilogue = p.epilogue;
  const int64_t unit = getTmaUnit(p);
  return target.hasTma && hasType && isPointwise && p.groups == 1 &&
         p.xLayout == Layout::NCHW && p.wLayout != Layout::Strided &&
         p.yLayout == Layout::NCHW && getVolume(p.in) % unit == 0 &&
         p.inChannels % unit == 0 && !epilogue.bias && !epilogue.residual &&
         !epilogue.beta;
}

/// Whether im2col mode supports a walk over `size` elements: `count` positions
/// from `lower` on with distance `stride`, and a window whose last tap is
/// `reach` further. Corners of its bounding box have 8 bits for 2 spatial
/// dimensions and 5 for 3.
static bool fitsWalk(int64_t lower, int64_t count, int64_t stride, int64_t size,
                     int64_t reach, bool isDeep) {
  const int64_t limit = isDeep ? 16 : 128;
  const int64_t upper = lower + (count - 1) * stride + 1 - size;
  constexpr int64_t kMaxStride = 8;
  return lower >= -limit && lower < limit && upper >= -limit && upper < limit &&
         reach < 2 * limit && stride <= kMaxStride;
}

std::array<ConvDim, 3> tessera::getConvDims(const ConvProblem &p) {
  const Spatial out = p.getOutput();
  auto get = [&](int64_t Spatial::*dim, int64_t Pads::*pad) -> ConvDim {
    return {p.in.*dim,  p.filter.*dim, out.*dim,
            p.pad.*pad, p.stride.*dim, p.dilation.*dim};
  };
  return {get(&Spatial::d, &Pads::d), get(&Spatial::h, &Pads::h),
          get(&Spatial::w, &Pads::w)};
}

bool tessera::fitsWindow(const ConvProblem &p) {
  const bool isDeep = p.hasDepth();
  return std::ranges::all_of(getConvDims(p), [&](const ConvDim &dim) {
    if (p.direction != Direction::BackwardData)
      return fitsWalk(-dim.pad, dim.out, dim.stride, dim.in,
                      (dim.filter - 1) * dim.dilation, isDeep);
    // Backward data walks the gradient pixel by pixel, and its taps backwards.
    const StrideClasses c = chooseClasses(dim);
    const int64_t reach = (c.taps - 1) * c.outStep;
    return fitsWalk(c.firstRow - c.firstTap * c.outStep - reach, c.rows,
                    /*stride=*/1, dim.out, reach, isDeep);
  });
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

int64_t TmaShape::getPieceColumns() const {
  return std::min<int64_t>(kTmaStep,
                           llvm::bit_floor(unsigned(getStoredColumns())));
}

GemmTile TmaShape::getTile(const ConvProblem &problem, int splits) const {
  GemmTile tile;
  tile.m = m;
  tile.n = n;
  tile.k = stepBytes / static_cast<int>(getByteSize(problem.dataType));
  tile.wavesM = consumers;
  tile.buffers = stages;
  tile.mma = splitsF32(problem)     ? "wgmma_bf16x6"
             : problem.allowsTf32() ? "wgmma_tf32"
                                    : "wgmma";
  // Accumulators do not round to nearest, and small terms come before large
  // ones only within a step (docs/design/0027-splits-in-registers.md).
  tile.promote = splitsF32(problem) ? 1 : 0;
  tile.isTma = true;
  tile.isPingPong = isPingPong;
  tile.splits = splits;
  tile.cluster = cluster;
  tile.multicast = sharesRows ? 'm' : 0;
  tile.halo = halo;
  tile.isSwapped = isSwapped;
  return tile;
}

/// Whether the channels of a tap are whole steps, or those of the last step are
/// most of it and the instructions that have them end with it.
static bool endsWithStep(int64_t channels, int64_t step, int64_t bytes) {
  constexpr int64_t kInstructionBytes = 32;
  const int64_t rest = channels % step;
  return rest == 0 || (channels >= step && 2 * rest >= step &&
                       rest * bytes % kInstructionBytes == 0);
}

std::vector<TmaShape> tessera::getStepShapes(const ConvProblem &problem,
                                             TmaShape shape, int64_t channels) {
  constexpr int kLeastBytes = 32;
  const int64_t bytes = getByteSize(problem.dataType);
  std::vector<TmaShape> shapes;
  int64_t before = INT64_MAX;
  bool isPadded = true;
  for (; shape.stepBytes >= kLeastBytes; shape.stepBytes /= 2) {
    const int64_t step = shape.stepBytes / bytes;
    const int64_t read = (channels + step - 1) / step * step;
    const bool isWhole = shape.stepBytes == 2 * kTmaStep;
    const bool isShorter =
        channels <= step || (problem.hasDepth() && channels % step == 0 &&
                             shape.stepBytes > kLeastBytes);
    const bool ends = endsWithStep(channels, step, bytes);
    if (!isWhole && !(read < before && isShorter) && !(isPadded && ends))
      continue;
    before = read;
    isPadded = isPadded && !ends;
    shapes.push_back(shape);
  }
  return shapes;
}

int tessera::getFewestColumns(int64_t columns) {
  constexpr int64_t kUnit = 16;
  return static_cast<int>(
      std::min(kTmaStep, (columns + kUnit - 1) / kUnit * kUnit));
}

bool tessera::splitsF32(const ConvProblem &problem) {
  return problem.dataType == DataType::F32 && !problem.allowsTf32();
}

bool tessera::fitsSplits(const TmaShape &shape, bool hasColumnBlocks) {
  // A thread has accumulators twice, and the terms of a wgmma's rows.
  const int mostAccumulators = shape.consumers == 2 ? 64 : 32;
  return !shape.isPingPong && !shape.isSwapped && shape.halo == 0 &&
         shape.m == kTmaStep * shape.consumers &&
         shape.stepBytes == 2 * kTmaStep && shape.n >= kTmaStep &&
         (!hasColumnBlocks || shape.n % getPixelColumns(4) == 0) &&
         shape.countAccumulators() <= mostAccumulators;
}

double tessera::getSplitClocks(const TmaShape &shape, bool hasRowBlocks) {
  constexpr double kStep = 450, kRowBlocks = 250, kSharedSm = 0.6;
  const double clocks = kStep + (hasRowBlocks ? kRowBlocks : 0);
  return shape.isSmall() ? kSharedSm * clocks : clocks;
}

static constexpr TmaRates makeSplitRates() {
  TmaRates rates = kTmaTf32Rates;
  rates.products /= kSplitProducts;
  return rates;
}

const TmaRates &tessera::getTmaRates(const ConvProblem &problem) {
  static constexpr TmaRates kSplitRates = makeSplitRates();
  return splitsF32(problem)     ? kSplitRates
         : problem.allowsTf32() ? kTmaTf32Rates
                                : kTmaRates;
}

double tessera::countTensorBytes(const ConvProblem &p) {
  return static_cast<double>(
      getByteSize(p.dataType) *
      (p.getInputElements() + p.getFilterElements() + p.getOutputElements()));
}

double tessera::countLines(int64_t pitch, int64_t bytes) {
  constexpr int64_t kLine = 128;
  const int64_t unit = std::gcd(pitch, kLine);
  int64_t lines = 0;
  for (int64_t begin = 0; begin < kLine; begin += unit)
    lines += llvm::divideCeilSigned(begin + bytes, kLine);
  return static_cast<double>(lines * unit) / kLine;
}

double tessera::getStoreClocks(const TmaShape &shape, const TmaRates &rates) {
  // The store moves whole pieces of columns.
  const int64_t columns = shape.countPieces() * shape.getPieceColumns();
  // Warps wait for each other before they stage, and do so more often with one
  // buffer.
  const double share = shape.stagers > 1 ? 1
                       : shape.isSwapped ? rates.oneStagerSwapped
                                         : rates.oneStager;
  return share * static_cast<double>(shape.m * columns) /
         (shape.isSmall() ? rates.hiddenStores : rates.exposedStores);
}

double tessera::getWorkClocks(const TmaShape &shape, double waves,
                              double products, double stored) {
  if (!shape.isPingPong)
    return waves * (products + stored);
  // One consumer stores while the other multiplies; nothing hides the last
  // store.
  return waves * std::max(products, (products + stored) / 2) + stored;
}

double tessera::getSumClocks(const SumRates &rates, int64_t elements,
                             int splits, const GpuTarget &target) {
  if (splits == 1)
    return 0;
  return rates.begin +
         rates.pass * static_cast<double>(countSumPasses(elements, splits)) +
         static_cast<double>(elements * (splits * 4 + 2)) /
             (rates.bytes * target.computeUnits);
}

double tessera::getClusterClocks(const TmaShape &shape, const TmaRates &rates) {
  if (shape.cluster == 1)
    return 0;
  // What a workgroup sends of a tile, and receives of all tiles, is as much.
  constexpr double kSumBytes = 4;
  return rates.clusterBegin +
         shape.m * shape.n * kSumBytes / rates.clusterBytes;
}

/// The stages that are loaded ahead. Consumers hold two of them; of two
/// workgroups that share a multiprocessor, the consumers of each hold one. Of a
/// cluster, whose steps are few, all are loaded at once.
static double countAhead(const TmaShape &shape) {
  if (shape.cluster > 1)
    return shape.stages;
  return shape.isSmall() ? 2 * (shape.stages - 1)
                         : std::max(1, shape.stages - 2);
}

double tessera::getOverlap(const TmaShape &shape, double step,
                           const TmaRates &rates) {
  const double reach = std::min(1.0, countAhead(shape) * step / rates.burst);
  return rates.overlap + rates.shallowOverlap * (1 - reach);
}

/// What limits a step, and what nearly does: each now and then waits for the
/// others. The larger the exponent, the less.
static double addUp(std::array<double, 6> limits, double exponent) {
  const double most = *std::ranges::max_element(limits);
  double sum = 0;
  for (double limit : limits)
    sum += std::pow(limit / most, exponent);
  return most * std::pow(sum, 1 / exponent);
}

double tessera::getStepClocks(const TmaShape &shape, const TmaTraffic &traffic,
                              const TmaRates &rates) {
  const double bytes = shape.stepBytes;
  const double products =
      traffic.multiplied * shape.m * shape.n * bytes / 2 / rates.products;
  const double cacheBytes =
      traffic.hasWindow ? rates.windowBytes : rates.plainBytes;
  const double row = !traffic.hasWindow ? rates.plainRow
                     : traffic.isDeep   ? rates.deepRow
                                        : rates.windowRow;
  const double ahead = countAhead(shape);
  const double delivered =
      traffic.rows * (shape.sharesRows ? rates.multicastBytes : 1) +
      traffic.columns;
  const double further = traffic.rows * (traffic.rowLines - 1) +
                         traffic.columns * (traffic.columnLines - 1);
  const double shortRows =
      traffic.hasWindow && shape.stepBytes < 2 * kTmaStep ? traffic.rows : 0;
  // What all multiprocessors ask of L2 together, and what one of them takes.
  const double shared =
      traffic.busy / cacheBytes * (1 + rates.drift * std::max(0.0, ahead - 2));
  const double delivery = (delivered + rates.lineBytes * further) * bytes *
                          std::max(shared, 1 / rates.portBytes);
  const double copies =
      traffic.rows * row + traffic.columns * rates.plainRow +
      further * rates.lineRow + shortRows * rates.shortRow +
      (delivered * traffic.padded + traffic.beyond) * rates.paddedRow;
  // Each wgmma reads its 64 rows and all columns. With swapped operands the
  // columns are the rows of the tile that a consumer has.
  const double read64 =
      shape.isSwapped ? shape.n * shape.consumers + shape.n * shape.m / 64.0
                      : shape.m + shape.n * shape.m / 64.0;
  double read = traffic.multiplied * read64 * bytes / rates.readBytes;
  const double latency =
      (traffic.isStrided ? rates.stridedLatency : rates.latency) / ahead;
  // With a halo little else limits a step, so the writes of the copies count.
  if (shape.halo > 0)
    read += (traffic.rows + traffic.columns) * bytes / rates.readBytes +
            rates.haloWaits / ahead + rates.haloStep;
  const double met = traffic.meeting * rates.sameLine;
  return addUp({products, delivery, copies, read, latency, met}, rates.blend) +
         rates.waits / ahead + rates.stepFixed;
}
