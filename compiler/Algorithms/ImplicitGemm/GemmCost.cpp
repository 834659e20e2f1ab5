//===- GemmCost.cpp - What a GEMM tile costs on a problem -----------------===//

#include "compiler/Algorithms/ImplicitGemm/GemmCost.h"
#include "compiler/Algorithms/ImplicitGemm/GemmUnit.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace tessera;

static thread_local const GemmRates *scopedRates = nullptr;

GemmRatesScope::GemmRatesScope(const GemmRates &rates) { scopedRates = &rates; }
GemmRatesScope::~GemmRatesScope() { scopedRates = nullptr; }

GemmRates tessera::getGemmRates(const GpuTarget &target) {
  if (scopedRates)
    return *scopedRates;
  switch (target.matrixUnit) {
#define GEMM_RATES(UNIT, ...)                                                  \
  case MatrixUnit::UNIT:                                                       \
    return {__VA_ARGS__};
#include "compiler/Algorithms/ImplicitGemm/GemmRates.def"
  }
  return {};
}

namespace {
struct ChipCaches {
  double dies, l2Bytes;
};
} // namespace

static ChipCaches getCaches(const GpuTarget &target) {
  switch (target.matrixUnit) {
#define GEMM_CACHES(UNIT, ...)                                                 \
  case MatrixUnit::UNIT:                                                       \
    return {__VA_ARGS__};
#include "compiler/Algorithms/ImplicitGemm/GemmRates.def"
  default:
    return {1, 0};
  }
}

double tessera::getL2Bytes(const GpuTarget &target) {
  return static_cast<double>(getCaches(target).l2Bytes);
}

namespace {
struct L1Rates {
  double lanes, block, line;
};
} // namespace

static L1Rates getL1Rates(const GpuTarget &target) {
  switch (target.matrixUnit) {
#define GEMM_L1(UNIT, ...)                                                     \
  case MatrixUnit::UNIT:                                                       \
    return {__VA_ARGS__};
#include "compiler/Algorithms/ImplicitGemm/GemmRates.def"
  }
  return {};
}

static double getMemoryBytesPerClock(const GpuTarget &target,
                                     const GemmRates &rates) {
  return rates.memory * target.computeUnits;
}

double tessera::getMemoryBytesPerClock(const GpuTarget &target) {
  return ::getMemoryBytesPerClock(target, getGemmRates(target));
}

double tessera::countTiles(const GemmSize &size, const GemmShape &shape) {
  return size.groups *
         static_cast<double>(llvm::divideCeilSigned(size.rows, shape.m)) *
         static_cast<double>(llvm::divideCeilSigned(size.columns, shape.n));
}

static constexpr int64_t kChunkBytes = 16;

/// The loads of a chunk of 16 bytes.
static double countLoads(const OperandLayout &operand, int64_t elementBytes) {
  auto elements = static_cast<double>(kChunkBytes / elementBytes);
  // Blocks are loaded and written in pieces of 8 bytes (BlockCopy.h).
  double width = operand.isTransposed
                     ? std::min<double>(operand.loadElements, elements / 2)
                     : static_cast<double>(operand.loadElements);
  return elements / width;
}

/// The bytes of the lines that a step's `stepBytes` of a row are in, of an
/// operand that is loaded by chunks along the reduction. They depend on where
/// these begin, and some begin in one run and end in the next.
static double countLineBytes(const OperandLayout &operand, int64_t elementBytes,
                             int64_t stepBytes, double lineBytes) {
  auto bytes = static_cast<double>(stepBytes);
  auto aligned = static_cast<double>(operand.alignment * elementBytes);
  int64_t runBytes = operand.run * elementBytes;
  double begins =
      runBytes % stepBytes == 0 ? 1 : 1 + bytes / static_cast<double>(runBytes);
  return lineBytes * begins + std::max(0.0, bytes - aligned);
}

/// The bytes that a step of `rows` rows asks L2 for, if L1 keeps nothing.
static double countL2Bytes(const OperandLayout &operand, double rows,
                           int64_t elementBytes, int64_t stepBytes,
                           int64_t fetchedBytes, double lineBytes) {
  const double bytes = rows * static_cast<double>(stepBytes);
  if (operand.run > 0)
    return bytes / static_cast<double>(fetchedBytes) *
           countLineBytes(operand, elementBytes, fetchedBytes, lineBytes);
  // Pixels of a plane, which are rows, begin anywhere in a line.
  const bool isNarrow = operand.loadElements * elementBytes < kChunkBytes;
  const double width = rows * static_cast<double>(elementBytes);
  return isNarrow ? bytes * (1 + lineBytes / width) : bytes;
}

/// The clocks for which the loads of a chunk hold L1 and the unit that takes
/// their addresses: as long for two bytes as for sixteen, unless neighbouring
/// lanes load neighbouring values, and longer if each lane is in a line of its
/// own, since whole lines pass.
static double countAddressClocks(const OperandLayout &operand,
                                 int64_t elementBytes, int64_t stepBytes,
                                 bool isDirect, const L1Rates &rates) {
  constexpr int64_t kDwordBytes = 4;
  int64_t loadBytes = operand.loadElements * elementBytes;
  int64_t laneBytes = operand.laneDistance * elementBytes;
  if (operand.run > 0 && rates.line > 0) {
    auto bytes = static_cast<double>(stepBytes);
    double lines = countLineBytes(operand, elementBytes, stepBytes, rates.line);
    return std::max(1 / rates.lanes, lines / rates.block * kChunkBytes / bytes);
  }
  if (isDirect || loadBytes > kDwordBytes)
    return countLoads(operand, elementBytes) / rates.lanes;
  auto bytes = static_cast<double>(loadBytes);
  double clocks = 0;
  if (laneBytes == loadBytes) {
    // A run begins anywhere, and may be in two blocks of L1.
    double blocks = 1 + bytes / kDwordBytes;
    clocks = blocks / (rates.block / kDwordBytes);
  } else {
    double lineBytes = std::min(rates.line, static_cast<double>(laneBytes));
    clocks = std::max(1 / rates.lanes, lineBytes / rates.block);
  }
  return clocks * countLoads(operand, elementBytes);
}

/// The instructions to copy a chunk of 16 bytes to LDS, beyond the one load and
/// the one write that GemmShape::efficiency counts: more loads, joining what
/// they give, and the address of each one where the walk is not nested.
static double countCopyInstructions(const OperandLayout &operand, GemmWalk walk,
                                    int64_t elementBytes, bool isDirect,
                                    const GemmRates &rates) {
  double address = walk == GemmWalk::Flat      ? rates.flat
                   : walk == GemmWalk::Stepped ? rates.stepped
                                               : 0;
  if (isDirect)
    return address;
  double loads = countLoads(operand, elementBytes);
  return loads - 1 + (loads > 1 ? rates.joining : 0) +
         (operand.isTransposed ? 1 : 0) + address * loads +
         static_cast<double>(operand.moves);
}

/// What a step loads of planes that all taps share (PlaneHalo.h): four pixels
/// of each channel at once. A chunk has its part of eight loads, 16 byte
/// permutes and four writes, of which GemmShape::efficiency counts none.
static constexpr OperandLayout kSharedPlanes = {
    /*loadElements=*/4, /*isTransposed=*/true, /*laneDistance=*/4};
static constexpr double kSharedChunk = (8 + 16 + 4) / 4.0;

/// The workgroups that the busiest unit has, one after the other.
static double countWaves(const GemmChoice &choice, const GpuTarget &target) {
  return std::ceil(countTiles(choice.size, choice.shape) * choice.splits /
                   target.computeUnits);
}

/// How much longer the matrix units of a compute unit take because the last of
/// its workgroups, of fewer waves than it has SIMDs, leave some idle.
static double getIdleShare(const GemmChoice &choice, const GpuTarget &target) {
  const int64_t ofGroup = choice.shape.wavesM * choice.shape.wavesN;
  if (!choice.countsIdleSimds || ofGroup >= target.simdsPerCu)
    return 1;
  const auto atOnce = static_cast<double>(target.simdsPerCu / ofGroup);
  const double waves = countWaves(choice, target);
  return std::ceil(waves / atOnce) * atOnce / waves;
}

namespace {
/// Bytes of a row that are fetched together: of what L1 is asked for, and L2.
struct Fetched {
  int64_t ofLoads, ofL2;
};
} // namespace

/// Whether planes are walked of which an iteration is a line.
static bool sharesPlaneLines(const GemmChoice &choice, double lineBytes) {
  const int64_t both = int64_t(choice.shape.stepBytes) * choice.shape.buffers;
  return choice.size.hasPlanes && static_cast<double>(both) == lineBytes;
}

/// Where both steps of an iteration are a line, they are fetched together
/// (WaveChoices.cpp). Of planes, whose rows begin anywhere, each load touches
/// its own lines.
static Fetched findFetched(const GemmChoice &choice, GemmWalk walk,
                           double lineBytes, const GemmRates &rates) {
  const GemmShape &shape = choice.shape;
  const int64_t step = shape.stepBytes, both = step * shape.buffers;
  if (rates.wait == 0 || shape.isDirect)
    return {step, step};
  if (choice.size.hasPlanes)
    return {step, sharesPlaneLines(choice, lineBytes) ? both : step};
  return walk == GemmWalk::Nested ? Fetched{both, both} : Fetched{step, step};
}

/// What one step of a workgroup takes of its compute unit, which has it alone.
static StepClocks getStepClocks(const GemmChoice &choice,
                                const GpuTarget &target, double peak,
                                const GemmRates &rates) {
  const GemmShape &shape = choice.shape;
  double m = shape.m, n = shape.n, stepBytes = shape.stepBytes;
  auto elementBytes = static_cast<double>(choice.elementBytes);
  GemmWalk walk = choice.getWalk(choice.splits);

  double products = m * n * stepBytes / elementBytes / peak;
  double issue = products / shape.efficiency;
  if (rates.wait == 0)
    issue *= getIdleShare(choice, target);
  double perRow = stepBytes / 16;
  double pixels = choice.halo ? static_cast<double>(choice.halo->lines) *
                                    static_cast<double>(choice.size.inner) /
                                    choice.size.reduction
                              : m;
  const bool sharesPlanes = choice.halo && !shape.isDirect;
  const OperandLayout &rows =
      sharesPlanes ? kSharedPlanes : choice.size.rowOperand;
  double ofRows =
      sharesPlanes ? pixels * kSharedChunk
                   : m * countCopyInstructions(rows, walk, choice.elementBytes,
                                               shape.isDirect, rates);
  double extra =
      perRow * (ofRows + n * countCopyInstructions(choice.size.columnOperand,
                                                   walk, choice.elementBytes,
                                                   shape.isDirect, rates));
  double issueClocks = target.waveSize == 64 ? 4 : 1;
  issue += extra / target.waveSize * issueClocks / target.simdsPerCu;

  double written = shape.isDirect ? 0 : m + n;
  double read = m * shape.wavesN + n * shape.wavesM;
  double lds = (written + read) * stepBytes / rates.lds;
  L1Rates l1 = getL1Rates(target);
  const Fetched fetched = findFetched(choice, walk, l1.line, rates);
  double address =
      perRow *
      ((sharesPlanes ? pixels : m) *
           countAddressClocks(rows, choice.elementBytes, fetched.ofLoads,
                              shape.isDirect, l1) +
       n * countAddressClocks(choice.size.columnOperand, choice.elementBytes,
                              fetched.ofLoads, shape.isDirect, l1));
  StepClocks step = {issue, products, lds, address, 0, pixels * stepBytes};
  step.bytes = (pixels + n) * stepBytes;
  if (rates.wait > 0)
    step.bytes = countL2Bytes(rows, pixels, choice.elementBytes,
                              shape.stepBytes, fetched.ofL2, l1.line) +
                 countL2Bytes(choice.size.columnOperand, n, choice.elementBytes,
                              shape.stepBytes, fetched.ofL2, l1.line);
  return step;
}

/// Clocks of one step of a workgroup by the busiest of its limits.
static double estimateStep(const GemmChoice &choice, const GpuTarget &target,
                           double peak, const GemmRates &rates) {
  const StepClocks step = getStepClocks(choice, target, peak, rates);
  return std::max(
      {step.issue, step.lds, step.bytes / rates.cache, step.address});
}

/// Clocks of the launch that adds splits: to start it, and to write and read a
/// sum for each element of each split, of f64 if operands are, else of 32 bits.
static double estimateSum(const GemmChoice &choice, double bytesPerClock,
                          double launch) {
  const GemmSize &size = choice.size;
  double elements = size.groups * static_cast<double>(size.rows) *
                    static_cast<double>(size.columns);
  auto bytes =
      2 * static_cast<double>(std::max(kSumBytes, choice.elementBytes));
  return choice.splits == 1
             ? 0
             : launch + elements * choice.splits * bytes / bytesPerClock;
}

/// The steps of a workgroup whose reduction is `reduction`. A split is padded
/// with zeros to whole iterations of the main loop.
static double countSteps(const GemmChoice &choice, double reduction) {
  const auto iteration = static_cast<double>(choice.getIterationSize());
  return std::ceil(reduction / choice.splits / iteration) * iteration /
         static_cast<double>(choice.getStep());
}

/// The steps of the busiest unit. Where classes differ in length it takes as
/// long as all together, or as whole waves of any of the longest ones.
static double countBusiestSteps(const GemmChoice &choice,
                                const GpuTarget &target) {
  const GemmSize &size = choice.size;
  if (size.classes.empty())
    return countWaves(choice, target) * countSteps(choice, size.reduction);
  const double ofClass = countTiles(size, choice.shape) * choice.splits /
                         static_cast<double>(size.classes.size());
  const double units = target.computeUnits;
  double all = 0, most = 0, longer = 0;
  for (double reduction : size.classes) {
    const double steps = countSteps(choice, reduction);
    all += ofClass * steps / units;
    longer += ofClass;
    most = std::max(most, std::ceil(longer / units) * steps);
  }
  return std::max(all, most);
}

/// Of the operands.
static int64_t countLdsBytes(const GemmChoice &choice) {
  const GemmShape &shape = choice.shape;
  const int64_t rowBytes = int64_t(shape.stepBytes) * shape.buffers;
  return choice.halo ? choice.halo->getBytes() + shape.n * rowBytes
                     : (shape.m + shape.n) * rowBytes + choice.size.tableBytes;
}

/// Workgroups that a unit has at a time: by LDS, and by registers, of which a
/// lane has accumulators and some more.
static double countResident(const GemmChoice &choice, const GpuTarget &target,
                            double groups) {
  constexpr int64_t kRegisters = 512, kOthers = 80;
  const GemmShape &shape = choice.shape;
  const int64_t waves = int64_t(shape.wavesM) * shape.wavesN;
  const int64_t accumulators =
      int64_t(shape.m) * shape.n / waves / target.waveSize;
  const int64_t byRegisters =
      kRegisters / (accumulators + kOthers) * target.simdsPerCu / waves;
  const int64_t most =
      std::min<int64_t>(byRegisters, target.ldsBytes / countLdsBytes(choice));
  return std::clamp(static_cast<double>(most), 1.0, groups);
}

/// Of results in planes, in which neighbours are rows of the tile: staged ones
/// leave in chunks, or in what planes are multiples of, and touch a line once
/// for each of those in a chunk, and one more where a column begins anywhere.
/// Else a lane has four of them, or they are stored apart.
static double countStoredPlanes(const GemmChoice &choice, bool isStaged,
                                double lineBytes) {
  const auto bytes = static_cast<double>(choice.elementBytes);
  const double m = choice.shape.m, results = m * choice.shape.n;
  const double chunk = kChunkBytes / bytes;
  if (isStaged && choice.planePixels * choice.elementBytes % 4 == 0) {
    const double planeBytes = static_cast<double>(choice.planePixels) * bytes;
    const double begin = std::fmod(planeBytes, lineBytes) == 0 ? 0 : lineBytes;
    const auto width = static_cast<double>(
        std::gcd(choice.planePixels, kChunkBytes / choice.elementBytes));
    return results * (bytes + begin / m) * chunk / width;
  }
  const auto together = static_cast<double>(std::gcd(choice.planePixels, 4));
  return results * lineBytes / (2 * together);
}

/// Whether results are staged over the operands (WaveChoices.cpp): if as many
/// workgroups fit a unit then.
static bool isStagedOver(const GemmChoice &choice, const GpuTarget &target) {
  const int64_t operands = countLdsBytes(choice);
  const int64_t results =
      int64_t(choice.shape.m) * choice.shape.n * choice.elementBytes;
  constexpr int64_t kMostBytes = 4;
  return !choice.halo && choice.splits == 1 &&
         choice.elementBytes <= kMostBytes &&
         target.ldsBytes / std::max(results, operands) >=
             target.ldsBytes / operands;
}

/// Whether partial results have output channels last (ImplicitGemm.cpp), of a
/// filter with channels last or without taps.
static bool storesOutputsLast(const GemmChoice &choice, double lineBytes) {
  constexpr double kFewThreads = 1 << 15, kStoreBytes = 16;
  const GemmSize &size = choice.size;
  if (choice.splits == 1 || !choice.isOfWeights ||
      static_cast<double>(size.rows * kSumBytes) < lineBytes)
    return false;
  const double elements =
      size.groups * double(size.rows) * double(size.columns);
  const auto most = kStoreBytes / double(choice.elementBytes);
  const auto together =
      static_cast<int64_t>(std::clamp(elements / kFewThreads, 1.0, most));
  const bool isScattered = size.hasPlanes && size.columnOperand.alignment == 1;
  return isScattered ||
         savesLines(choice.splits, static_cast<int64_t>(lineBytes), together);
}

/// Bytes of the lines that a tile's results touch: whole lines if they are
/// staged; else a lane has four neighbours of a row. Splits are f32, those of
/// backward weights with output channels last are whole lines, too.
static double countStored(const GemmChoice &choice, const GpuTarget &target,
                          double lineBytes) {
  const double results = double(choice.shape.m) * choice.shape.n;
  constexpr double kPiece = 8;
  const bool isSplit = choice.splits > 1;
  const double bytes =
      static_cast<double>(isSplit ? kSumBytes : choice.elementBytes);
  const bool isWhole =
      isStagedOver(choice, target) || storesOutputsLast(choice, lineBytes);
  // The rate is fitted to channels last; of planes it is higher.
  constexpr double kOfPlanes = 0.7;
  if (choice.planePixels > 0 && !isSplit)
    return kOfPlanes * countStoredPlanes(choice, isWhole, lineBytes);
  return results * (isWhole ? bytes : std::max(bytes, lineBytes / kPiece));
}

/// Clocks of the busiest unit of a chip that the AMD clock knows.
static double estimateUnitOf(const GemmChoice &choice, const GpuTarget &target,
                             const GemmRates &rates, double peak) {
  StepClocks step = getStepClocks(choice, target, peak, rates);
  const GemmShape &shape = choice.shape;
  const GemmSize &size = choice.size;
  const ChipCaches caches = getCaches(target);
  UnitWork work;
  work.groups = countWaves(choice, target);
  work.resident = countResident(choice, target, work.groups);
  work.steps = countBusiestSteps(choice, target) / work.groups;
  work.waves = double(shape.wavesM * shape.wavesN) / target.simdsPerCu;
  // Of planes whose lines are fetched at once each step brings those of one
  // operand, for which the next one waits.
  work.iteration =
      sharesPlaneLines(choice, getL1Rates(target).line) ? 1 : shape.buffers;
  work.stored = countStored(choice, target, getL1Rates(target).line);
  work.share = work.groups * target.computeUnits /
               (countTiles(size, shape) * choice.splits);
  // Workgroups go round the dies, so that those of the same pixels are on
  // different ones; a die fetches a pixel once for all taps if its L2 keeps
  // those of all its workgroups from one tap to the next.
  if (choice.isOfWeights) {
    step.farBytes = double(shape.m + shape.n) * shape.stepBytes * rates.weights;
  } else {
    const double taps = size.reduction / static_cast<double>(size.inner);
    const double kept = double(target.computeUnits) / caches.dies *
                        work.resident * shape.m *
                        static_cast<double>(size.inner * choice.elementBytes);
    if (taps > 1 && kept <= caches.l2Bytes)
      step.farBytes /= taps;
    if (caches.dies == 1)
      step.farBytes *= std::min(1.0, double(shape.n) / double(size.columns));
  }
  return estimateUnit(step, work, rates);
}

/// Clocks of the busiest unit of a chip that the AMD clock does not know, where
/// each step waits for memory: for tensors that L2 does not keep, and so few
/// workgroups that those of a unit are there at once. As many steps are on
/// their way as there are buffers beside the one in use.
static double estimateWaits(const GemmChoice &choice, const GpuTarget &target,
                            double tensorBytes) {
  constexpr double kLatency = 900, kAtOnce = 2;
  const double l2Bytes = getCaches(target).l2Bytes;
  const double waves = countWaves(choice, target);
  if (l2Bytes == 0 || tensorBytes <= l2Bytes || waves > kAtOnce)
    return 0;
  return countBusiestSteps(choice, target) / waves * kLatency /
         std::max(choice.shape.buffers - 1, 1);
}

double tessera::estimateClocks(const GemmChoice &choice,
                               const GpuTarget &target, const GemmRates &rates,
                               const GemmShapes &shapes, double tensorBytes) {
  double bytesPerClock = ::getMemoryBytesPerClock(target, rates);
  if (rates.wait > 0)
    return std::max(estimateUnitOf(choice, target, rates, shapes.peak),
                    tensorBytes / bytesPerClock) +
           estimateSum(choice, bytesPerClock, rates.sum);
  double waves = countWaves(choice, target);
  GemmRates ofLoop = rates;
  if (shapes.lds > 0)
    ofLoop.lds = shapes.lds;
  double loop = countBusiestSteps(choice, target) *
                estimateStep(choice, target, shapes.peak, ofLoop);
  // The efficiency of a shape includes the time in which all units store after
  // the main loop; staged stores overlap the next tile.
  if (choice.isStaged)
    loop -= waves * choice.shape.m * choice.shape.n *
            static_cast<double>(choice.elementBytes) / rates.cache;
  const double waits = estimateWaits(choice, target, tensorBytes);
  return shapes.launch + std::max({loop, waits, tensorBytes / bytesPerClock}) +
         estimateSum(choice, bytesPerClock, rates.sum);
}
