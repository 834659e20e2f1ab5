//===- RowWiseModel.cpp - The cost model of row-wise operations -----------===//
//
// Row-wise operations are bound by memory bandwidth if enough loads are in
// flight; if not, by how often each workgroup waits for memory; and where a
// thread has few elements, by the instructions of its prologue and of combining
// partial results. The model does not know the arithmetic of a problem's
// regions.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/RowWise/RowWiseModel.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace tessera;

RowWiseRates tessera::getRowWiseRates(const GpuTarget &target) {
  const bool isAmd = target.vendor == Vendor::Amd;
  return {
#define ROW_WISE_RATE(NAME, AMD, NVIDIA, MEANING) isAmd ? double(AMD) : NVIDIA,
#include "compiler/Algorithms/RowWise/RowWiseRates.def"
  };
}

Status tessera::checkRowWiseReach(const RowWiseGeometry &g) {
  constexpr int64_t kLimit = int64_t(1) << 30;
  auto isTooLong = [](int64_t length) { return length >= kLimit; };
  if (std::any_of(g.lengths.begin(), g.lengths.end(), isTooLong) ||
      g.getRows() > 2 * kLimit - 1)
    return notSupported("the space is beyond the 32-bit arithmetic of a "
                        "kernel");
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

namespace {
/// The work of a launch.
struct RowWiseWork {
  double workgroups; ///< The number of workgroups.
  double threads;    ///< Threads of a workgroup.
  double bytes;      ///< Bytes that the whole launch moves from and to memory.
  double inFlight;   ///< Bytes that a thread has in flight.
  double issue;      ///< Clocks of a compute unit to issue a wave.
  double waits;      ///< Clocks that a workgroup waits if it is alone.
};
} // namespace

/// The number of workgroups that are resident on a compute unit.
static double getResident(double threads, const RowWiseRates &rates) {
  return std::max(1.0, std::floor(rates.mostThreads / threads));
}

static double estimateLaunch(const RowWiseWork &work, const GpuTarget &target,
                             const RowWiseRates &rates) {
  const double resident = getResident(work.threads, rates);
  const double perUnit = work.workgroups / target.computeUnits;
  const double waves = std::ceil(work.threads / target.waveSize);
  const double requested =
      std::min(perUnit, resident) * work.threads * work.inFlight;
  const double share = std::min(1.0, requested / rates.busyBytes);
  const double terms[] = {work.bytes / target.computeUnits / rates.memoryBytes /
                              share,
                          std::ceil(perUnit) * waves * work.issue,
                          std::ceil(perUnit / resident) * work.waits};
  const double most = *std::max_element(std::begin(terms), std::end(terms));
  const double sum = std::accumulate(std::begin(terms), std::end(terms), 0.0);
  return work.waits + most + rates.overlap * (sum - most);
}

/// The share of data that misses L2 when it is read again, after all workgroups
/// together have read `between` bytes.
static double getMissShare(double between, const GpuTarget &target,
                           const RowWiseRates &rates) {
  return std::min(1.0, between / (rates.cacheBytes * target.computeUnits));
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// The number of accesses of a wave to the blocks of a tensor, one for each
/// thread. If each access moves one element, all of them go to every line that
/// the blocks are in: from the second one on loads hit L1, but stores bypass
/// it.
static double countAccesses(const RowWiseGeometry &g,
                            const RowWiseTensor &tensor, int vector,
                            const GpuTarget &target,
                            const RowWiseRates &rates) {
  constexpr double kAccessBytes = 16;
  const int elements = tensor.strides[g.vectorDim] != 0 ? vector : 1;
  const double bytes = elements * static_cast<double>(tensor.elementBytes);
  if (!g.isUnaligned)
    return std::ceil(bytes / kAccessBytes);
  const double lines =
      tensor.role == RowRole::Input ? 1 : bytes * target.waveSize / rates.line;
  return elements * std::max(1.0, lines);
}

/// The number of accesses for one block of a row, or of the rows that share
/// loads, to tensors that have an element for each element of the row.
static double countRowAccesses(const RowWiseGeometry &g,
                               const RowWiseTile &tile, RowRole role,
                               const GpuTarget &target,
                               const RowWiseRates &rates) {
  double accesses = 0;
  for (const RowWiseTensor &tensor : g.tensors)
    if (!g.isOnePerRow(tensor) && tensor.role == role)
      accesses += countAccesses(g, tensor, tile.vector, target, rates) *
                  countDistinctRows(g, tensor, tile);
  return accesses;
}

static bool hasOutputs(const RowWiseGeometry &g) {
  return std::any_of(
      g.tensors.begin(), g.tensors.end(),
      [](const RowWiseTensor &t) { return t.role == RowRole::Output; });
}

/// The bytes of a block in those tensors that have `all` bytes together; at
/// least one byte for each element.
static double getBlockBytes(const RowWiseGeometry &g, int vector, double all) {
  return std::max(1.0, all / static_cast<double>(g.getElements())) * vector;
}

namespace {
/// How the threads of a row group combine their partial results.
struct Combining {
  double rounds = 0; ///< Rounds, each with a barrier.
  double words = 0;  ///< Words that each thread reads.
};
} // namespace

/// The rounds of RowGroup::combine() for each of `reductions`, which are given
/// by their numbers of words.
static Combining getCombining(int64_t threads, int64_t lanes,
                              ArrayRef<int64_t> reductions) {
  Combining combining;
  for (int64_t words : reductions) {
    const int64_t most = getRowWiseFanIn(lanes * words);
    for (int64_t slots = threads; slots > 1;) {
      const int64_t fanIn = std::min(slots, most);
      combining.rounds += 1;
      combining.words += static_cast<double>(fanIn * lanes * words);
      slots /= fanIn;
    }
  }
  return combining;
}

/// The clocks of a wave for the sums of rows that share inputs and to widen
/// what they load. Other regions have little arithmetic, which is not counted.
/// With few waves, units of arithmetic are idle.
static double getArithmetic(const RowWiseGeometry &g, const RowWiseTile &tile,
                            double waves, const RowWiseRates &rates) {
  constexpr double kSchedulers = 4; // Of a compute unit.
  if (g.sharedDims.empty())
    return 0;
  auto operations = static_cast<double>(tile.getSharedRows() * g.countSums());
  for (const RowWiseTensor &tensor : g.tensors)
    if (!g.isOnePerRow(tensor) && tensor.elementBytes < 4)
      operations += countDistinctRows(g, tensor, tile);
  const double blocks = std::ceil(
      static_cast<double>(g.getBlocksOfRow(tile.vector)) / tile.threads);
  return blocks * tile.vector * operations * rates.arithmetic *
         std::max(1.0, kSchedulers / waves);
}

/// The bytes that memory moves for each byte that neighbouring threads request:
/// if they request less than a line, the rest of it is wasted.
static double getWaste(const RowWiseGeometry &g, const RowWiseTile &tile,
                       double atOnce, const RowWiseRates &rates) {
  double bytes = 1;
  for (const RowWiseTensor &tensor : g.tensors)
    bytes = std::max(bytes, static_cast<double>(tensor.elementBytes));
  const double side = bytes * tile.vector *
                      (g.isVectorInRow() ? tile.threads * atOnce : tile.groups);
  const double whole = bytes * static_cast<double>(g.lengths[g.vectorDim]);
  return std::max(1.0, std::min(rates.line, whole) / side);
}

/// The work of row groups, with tile.splits workgroups a row: a pass over the
/// row for each of `reductions`, and one for the map.
static RowWiseWork getRowGroupWork(const RowWiseGeometry &g,
                                   const RowWiseTile &tile,
                                   ArrayRef<int64_t> reductions, bool hasMap,
                                   const GpuTarget &target,
                                   const RowWiseRates &rates) {
  const int64_t step = int64_t(tile.threads) * tile.splits;
  const int64_t rows = tile.getSharedRows();
  const bool isKept = rows == 1 && g.isKept(tile.vector, step);
  const double iterations = std::ceil(
      static_cast<double>(g.getBlocksOfRow(tile.vector)) / double(step));
  const double atOnce =
      isKept ? iterations
             : std::min<double>(iterations, double(tile.getBlocksAtOnce()));
  const double passes =
      isKept ? 1 : static_cast<double>(reductions.size()) + (hasMap ? 1 : 0);
  const int lanes = g.isVectorInRow() ? 1 : tile.vector;
  const Combining combining =
      rows == 1 ? getCombining(tile.threads, lanes, reductions)
                : Combining{1, static_cast<double>(g.countSums() *
                                                   (rows + tile.threads))};

  RowWiseWork work;
  work.workgroups = std::ceil(static_cast<double>(g.getRowBlocks(tile.vector)) /
                              double(rows * tile.groups)) *
                    tile.splits;
  work.threads = tile.threads * tile.groups;
  work.inFlight =
      atOnce * getBlockBytes(g, tile.vector, g.getInputBytesOfElements());
  work.waits = passes * std::ceil(iterations / atOnce) * rates.wait +
               combining.rounds * rates.barrier;
  const double accesses =
      passes * countRowAccesses(g, tile, RowRole::Input, target, rates) +
      (hasMap ? countRowAccesses(g, tile, RowRole::Output, target, rates) : 0);
  work.issue = rates.begin +
               iterations * accesses *
                   (g.sharedDims.empty() ? rates.access : rates.sharedAccess) *
                   getWaste(g, tile, 1, rates) +
               combining.words * rates.combine +
               getArithmetic(g, tile,
                             std::ceil(work.workgroups / target.computeUnits) *
                                 std::ceil(work.threads / target.waveSize),
                             rates);

  const double inputs = g.getInputBytesOfElements();
  const double resident =
      getResident(work.threads, rates) * target.computeUnits;
  const double between = inputs * std::min(1.0, resident / work.workgroups);
  work.bytes = ((hasMap ? g.getBytesOfElements() : inputs) +
                (passes - 1) * inputs * getMissShare(between, target, rates)) *
                   getWaste(g, tile, atOnce, rates) +
               g.getSmallBytes();
  return work;
}

/// The work of a map, which has a thread for each block.
static RowWiseWork getMapWork(const RowWiseGeometry &g, int vector,
                              double threads, const GpuTarget &target,
                              const RowWiseRates &rates) {
  const double blocks = static_cast<double>(g.getElements()) / vector;
  double accesses = 0;
  for (const RowWiseTensor &tensor : g.tensors)
    if (tensor.role != RowRole::RowOutput)
      accesses += countAccesses(g, tensor, vector, target, rates);
  return {.workgroups = std::ceil(blocks / threads),
          .threads = threads,
          .bytes = g.getBytesOfElements() + g.getSmallBytes(),
          .inFlight = getBlockBytes(g, vector, g.getBytesOfElements()),
          .issue = rates.begin + accesses * rates.access,
          .waits = rates.wait};
}

//===----------------------------------------------------------------------===//
// Algorithms
//===----------------------------------------------------------------------===//

static constexpr double kMapThreads = 256;

double tessera::estimateMap(const RowWiseGeometry &g, const RowWiseTile &tile,
                            const GpuTarget &target,
                            const RowWiseRates &rates) {
  return estimateLaunch(getMapWork(g, tile.vector, kMapThreads, target, rates),
                        target, rates);
}

double tessera::estimateRowWise(const RowWiseGeometry &g,
                                const RowWiseTile &tile,
                                const GpuTarget &target,
                                const RowWiseRates &rates) {
  const RowWiseWork work =
      getRowGroupWork(g, tile, g.reductions, hasOutputs(g), target, rates);
  // Such operations are steps, one behind the other, which overlap where each
  // leaves compute units free (dnn-chain-launches).
  const bool isLate = target.hasDependentLaunches && !g.sharedDims.empty() &&
                      work.workgroups >= target.computeUnits;
  return estimateLaunch(work, target, rates) + (isLate ? rates.late : 0);
}

/// The work of combining the partial results of the splits of each row.
static RowWiseWork getResultWork(const RowWiseGeometry &g,
                                 const RowWiseTile &tile, int64_t words,
                                 const RowWiseRates &rates) {
  constexpr double kWordBytes = 4;
  const Combining combining = getCombining(tile.splits, /*lanes=*/1, words);
  const auto rows = static_cast<double>(g.getRows());
  return {.workgroups = rows,
          .threads = static_cast<double>(tile.splits),
          .bytes = 2 * kWordBytes * words * rows * tile.splits,
          .inFlight = kWordBytes * words,
          .issue = rates.begin + rates.access + combining.words * rates.combine,
          .waits = rates.wait + combining.rounds * rates.barrier};
}

double tessera::estimateRowSplit(const RowWiseGeometry &g,
                                 const RowWiseTile &tile,
                                 const GpuTarget &target,
                                 const RowWiseRates &rates) {
  const double miss = getMissShare(g.getInputBytesOfElements(), target, rates);
  double clocks = -rates.launch;
  for (int64_t words : g.reductions) {
    RowWiseWork splits =
        getRowGroupWork(g, tile, words, /*hasMap=*/false, target, rates);
    if (clocks > 0) // The first reduction has read all, partly into L2.
      splits.bytes *= miss;
    clocks +=
        2 * rates.launch + estimateLaunch(splits, target, rates) +
        estimateLaunch(getResultWork(g, tile, words, rates), target, rates);
  }
  if (!hasOutputs(g))
    return clocks;
  RowWiseWork map = getMapWork(g, tile.vector, kMapThreads, target, rates);
  map.bytes -= (1 - miss) * g.getInputBytesOfElements();
  return clocks + rates.launch + estimateLaunch(map, target, rates);
}
