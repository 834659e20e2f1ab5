//===- RowsModel.cpp - What reducing and mapping rows costs ---------------===//
//
// All of it is bound by memory, if enough loads are under way; where there are
// few, by how often each workgroup waits; where a thread has little to do, by
// the instructions that it begins and combines with. The arithmetic of a
// problem's regions is not known here.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/RowWise/RowsModel.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace tessera;

RowsRates tessera::getRowsRates(const GpuTarget &target) {
  const bool isAmd = target.vendor == Vendor::Amd;
  return {
#define ROWS_RATE(NAME, AMD, NVIDIA, MEANING) isAmd ? double(AMD) : NVIDIA,
#include "compiler/Algorithms/RowWise/RowsRates.def"
  };
}

Status tessera::checkRowsReach(const RowsGeometry &g) {
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
/// What a launch does.
struct RowsWork {
  double groups;   ///< Workgroups.
  double threads;  ///< Of each.
  double bytes;    ///< Of memory, of all.
  double underWay; ///< Bytes that a thread asks for at once.
  double issue;    ///< Clocks of a compute unit to issue a wave.
  double waits;    ///< Clocks that a workgroup waits, by itself.
};
} // namespace

/// Workgroups that a compute unit has at once.
static double getResident(double threads, const RowsRates &rates) {
  return std::max(1.0, std::floor(rates.mostThreads / threads));
}

static double estimateLaunch(const RowsWork &work, const GpuTarget &target,
                             const RowsRates &rates) {
  const double resident = getResident(work.threads, rates);
  const double perUnit = work.groups / target.computeUnits;
  const double waves = std::ceil(work.threads / target.waveSize);
  const double asked =
      std::min(perUnit, resident) * work.threads * work.underWay;
  const double share = std::min(1.0, asked / rates.busyBytes);
  const double parts[] = {work.bytes / target.computeUnits / rates.memoryBytes /
                              share,
                          std::ceil(perUnit) * waves * work.issue,
                          std::ceil(perUnit / resident) * work.waits};
  const double most = *std::max_element(std::begin(parts), std::end(parts));
  const double sum = std::accumulate(std::begin(parts), std::end(parts), 0.0);
  return work.waits + most + rates.overlap * (sum - most);
}

/// The share of `bytes` that comes from memory when it is read again, after
/// `between` bytes of all workgroups have been.
static double getMissShare(double between, const GpuTarget &target,
                           const RowsRates &rates) {
  return std::min(1.0, between / (rates.cacheBytes * target.computeUnits));
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// Accesses of a wave for each thread's block of a tensor. Where each is of one
/// element, all of them go to every line that the blocks are in: loads find it
/// in the first cache from the second one on, stores go past that cache.
static double countAccesses(const RowsGeometry &g, const RowsTensor &tensor,
                            int vector, const GpuTarget &target,
                            const RowsRates &rates) {
  constexpr double kAccessBytes = 16;
  const int elements = tensor.strides[g.vectorDim] != 0 ? vector : 1;
  const double bytes = elements * static_cast<double>(tensor.elementBytes);
  if (!g.isUnaligned)
    return std::ceil(bytes / kAccessBytes);
  const double lines =
      tensor.role == RowRole::Input ? 1 : bytes * target.waveSize / rates.line;
  return elements * std::max(1.0, lines);
}

/// Of a thread that walks a row, to tensors with an element for each of it.
static double countRowAccesses(const RowsGeometry &g, int vector, RowRole role,
                               const GpuTarget &target,
                               const RowsRates &rates) {
  double accesses = 0;
  for (const RowsTensor &tensor : g.tensors)
    if (!g.isOneARow(tensor) && tensor.role == role)
      accesses += countAccesses(g, tensor, vector, target, rates);
  return accesses;
}

static bool hasOutputs(const RowsGeometry &g) {
  return std::any_of(
      g.tensors.begin(), g.tensors.end(),
      [](const RowsTensor &t) { return t.role == RowRole::Output; });
}

/// Bytes in a block of those tensors that have `all` bytes; one an element at
/// least.
static double getBlockBytes(const RowsGeometry &g, int vector, double all) {
  return std::max(1.0, all / static_cast<double>(g.getElements())) * vector;
}

namespace {
/// How the threads of a team combine what they have found.
struct Exchange {
  double turns = 0;
  double words = 0; ///< That each thread reads.
};
} // namespace

/// As RowsTeam::combine() does it for each of `reductions`, by their words.
static Exchange getExchange(int64_t threads, int64_t lanes,
                            ArrayRef<int64_t> reductions) {
  Exchange exchange;
  for (int64_t words : reductions) {
    const int64_t most = getRowsFanIn(lanes * words);
    for (int64_t slots = threads; slots > 1;) {
      const int64_t fanIn = std::min(slots, most);
      exchange.turns += 1;
      exchange.words += static_cast<double>(fanIn * lanes * words);
      slots /= fanIn;
    }
  }
  return exchange;
}

/// Bytes that memory moves for each that neighbouring threads ask for: less
/// than a line is a waste of the rest.
static double getWaste(const RowsGeometry &g, const RowsTile &tile,
                       double atOnce, const RowsRates &rates) {
  double bytes = 1;
  for (const RowsTensor &tensor : g.tensors)
    bytes = std::max(bytes, static_cast<double>(tensor.elementBytes));
  const double side =
      bytes * tile.vector *
      (g.isVectorInRow() ? tile.threads * atOnce : tile.columns);
  const double whole = bytes * static_cast<double>(g.lengths[g.vectorDim]);
  return std::max(1.0, std::min(rates.line, whole) / side);
}

/// Teams that walk their rows, `parts` workgroups a row: for each of
/// `reductions`, and again to map them.
static RowsWork getTeamWork(const RowsGeometry &g, const RowsTile &tile,
                            ArrayRef<int64_t> reductions, bool hasMap,
                            const GpuTarget &target, const RowsRates &rates) {
  const int64_t step = int64_t(tile.threads) * tile.parts;
  const bool isKept = g.isKept(tile.vector, step);
  const double turns = std::ceil(
      static_cast<double>(g.getBlocksOfRow(tile.vector)) / double(step));
  const double atOnce =
      isKept ? turns : std::min<double>(turns, kRowBlocksAtOnce);
  const double walks =
      isKept ? 1 : static_cast<double>(reductions.size()) + (hasMap ? 1 : 0);
  const int lanes = g.isVectorInRow() ? 1 : tile.vector;
  const Exchange exchange = getExchange(tile.threads, lanes, reductions);

  RowsWork work;
  work.groups = std::ceil(static_cast<double>(g.getRowBlocks(tile.vector)) /
                          tile.columns) *
                tile.parts;
  work.threads = tile.threads * tile.columns;
  work.underWay =
      atOnce * getBlockBytes(g, tile.vector, g.getInputBytesOfElements());
  work.waits = walks * std::ceil(turns / atOnce) * rates.wait +
               exchange.turns * rates.barrier;
  const double accesses =
      walks * countRowAccesses(g, tile.vector, RowRole::Input, target, rates) +
      (hasMap ? countRowAccesses(g, tile.vector, RowRole::Output, target, rates)
              : 0);
  work.issue = rates.begin +
               turns * accesses * rates.access * getWaste(g, tile, 1, rates) +
               exchange.words * rates.combine;

  const double inputs = g.getInputBytesOfElements();
  const double resident =
      getResident(work.threads, rates) * target.computeUnits;
  const double between = inputs * std::min(1.0, resident / work.groups);
  work.bytes = ((hasMap ? g.getBytesOfElements() : inputs) +
                (walks - 1) * inputs * getMissShare(between, target, rates)) *
                   getWaste(g, tile, atOnce, rates) +
               g.getSmallBytes();
  return work;
}

/// A thread for each block.
static RowsWork getMapWork(const RowsGeometry &g, int vector, double threads,
                           const GpuTarget &target, const RowsRates &rates) {
  const double blocks = static_cast<double>(g.getElements()) / vector;
  double accesses = 0;
  for (const RowsTensor &tensor : g.tensors)
    if (tensor.role != RowRole::RowOutput)
      accesses += countAccesses(g, tensor, vector, target, rates);
  return {.groups = std::ceil(blocks / threads),
          .threads = threads,
          .bytes = g.getBytesOfElements() + g.getSmallBytes(),
          .underWay = getBlockBytes(g, vector, g.getBytesOfElements()),
          .issue = rates.begin + accesses * rates.access,
          .waits = rates.wait};
}

//===----------------------------------------------------------------------===//
// Algorithms
//===----------------------------------------------------------------------===//

static constexpr double kMapThreads = 256;

double tessera::estimateMap(const RowsGeometry &g, const RowsTile &tile,
                            const GpuTarget &target, const RowsRates &rates) {
  return estimateLaunch(getMapWork(g, tile.vector, kMapThreads, target, rates),
                        target, rates);
}

double tessera::estimateRows(const RowsGeometry &g, const RowsTile &tile,
                             const GpuTarget &target, const RowsRates &rates) {
  return estimateLaunch(
      getTeamWork(g, tile, g.reductions, hasOutputs(g), target, rates), target,
      rates);
}

/// Of the parts of each row.
static RowsWork getResultWork(const RowsGeometry &g, const RowsTile &tile,
                              int64_t words, const RowsRates &rates) {
  constexpr double kWordBytes = 4;
  const Exchange exchange = getExchange(tile.parts, /*lanes=*/1, words);
  const auto rows = static_cast<double>(g.getRows());
  return {.groups = rows,
          .threads = static_cast<double>(tile.parts),
          .bytes = 2 * kWordBytes * words * rows * tile.parts,
          .underWay = kWordBytes * words,
          .issue = rates.begin + rates.access + exchange.words * rates.combine,
          .waits = rates.wait + exchange.turns * rates.barrier};
}

double tessera::estimateRowSplit(const RowsGeometry &g, const RowsTile &tile,
                                 const GpuTarget &target,
                                 const RowsRates &rates) {
  const double miss = getMissShare(g.getInputBytesOfElements(), target, rates);
  double clocks = -rates.launch;
  for (int64_t words : g.reductions) {
    RowsWork parts =
        getTeamWork(g, tile, words, /*hasMap=*/false, target, rates);
    if (clocks > 0) // The first one has read all.
      parts.bytes *= miss;
    clocks +=
        2 * rates.launch + estimateLaunch(parts, target, rates) +
        estimateLaunch(getResultWork(g, tile, words, rates), target, rates);
  }
  if (!hasOutputs(g))
    return clocks;
  RowsWork map = getMapWork(g, tile.vector, kMapThreads, target, rates);
  map.bytes -= (1 - miss) * g.getInputBytesOfElements();
  return clocks + rates.launch + estimateLaunch(map, target, rates);
}
