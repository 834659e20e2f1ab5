//===- NarrowGroupsModel.cpp - Which block of pixels, how many parts ------===//
//
// These kernels are bound by memory if enough of their workgroups share a
// multiprocessor: while one waits for its pixels, another multiplies.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/ConvGeometry.h"
#include "compiler/Algorithms/NarrowGroups.h"
#include "compiler/Algorithms/PartSum.h"
#include "compiler/Algorithms/TmaModel.h"

#include <algorithm>

using namespace tessera;

static int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

namespace {
/// A tile for a problem, in numbers.
struct NarrowWork {
  int64_t pixels, windowPixels; ///< Of a block: of the result, and seen by it.
  int64_t filterBytes, sharedBytes;
  int64_t blocks; ///< Of pixels, times those of channels.
  int64_t pieces; ///< Of 8 channels of a tap, that a channel meets.
  bool isShared;  ///< All of a warp's channels meet the same.
  int64_t registers;
};
} // namespace

/// Height and width of what is walked by blocks.
static std::array<ConvDim, 2> getImage(const ConvProblem &p) {
  std::array<ConvDim, 3> dims = getConvDims(p);
  return {dims[1], dims[2]};
}

static int64_t getResultLength(const ConvProblem &p, const ConvDim &dim) {
  return p.direction == Direction::BackwardData ? dim.in : dim.out;
}

static NarrowWork measure(const ConvProblem &p, const NarrowTile &tile) {
  constexpr int64_t kPixelBytes = 144, kAlignment = 1024;
  // Of the sums of two pieces: 16 channels by 64, of f32.
  constexpr int64_t kSumBytes = 16 * NarrowTile::kBlock * 4;
  const bool isWeights = p.direction == Direction::BackwardWeights;
  const std::array<ConvDim, 2> dims = getImage(p);
  auto see = [](const ConvDim &dim, int64_t size) {
    return (size - 1) * dim.stride + (dim.filter - 1) * dim.dilation + 1;
  };
  NarrowWork work{};
  work.pixels = tile.getPixels();
  work.windowPixels = see(dims[0], tile.height) * see(dims[1], tile.width);
  const int64_t perGroup = p.inChannels / p.groups;
  const int64_t taps = dims[0].filter * dims[1].filter;
  work.isShared = perGroup > 8;
  work.pieces = taps * std::max<int64_t>(1, perGroup / 8);
  work.filterBytes = taps * perGroup * NarrowTile::kBlock * 2;
  const int64_t windowBytes = work.windowPixels * kPixelBytes;
  work.sharedBytes =
      kAlignment +
      (isWeights
           ? std::max(2 * (windowBytes + work.pixels * kPixelBytes),
                      (tile.waves - 1) * divideUp(work.pieces, 2) * kSumBytes)
           : windowBytes + std::max(tile.persistent > 0 ? windowBytes : 0,
                                    work.filterBytes));
  work.blocks = p.batch * (p.inChannels / NarrowTile::kBlock) *
                divideUp(getResultLength(p, dims[0]), tile.height) *
                divideUp(getResultLength(p, dims[1]), tile.width);
  work.registers = 48 + work.pieces * (isWeights ? 4 : 2);
  return work;
}

/// Registers that sums and filters may take of a thread's 255, and what a
/// workgroup may have of shared memory so that another has some, too.
static bool fits(const NarrowWork &work, const GpuTarget &target) {
  constexpr int64_t kMostRegisters = 216, kMostShared = 112 << 10;
  const auto limit =
      static_cast<int64_t>(std::max(target.ldsBytes, target.wgmmaSharedBytes));
  return work.registers <= kMostRegisters &&
         work.sharedBytes <= std::min(limit, kMostShared);
}

/// Workgroups that share a multiprocessor.
static int64_t countSharing(const NarrowWork &work, int waves) {
  constexpr int64_t kShared = 227 << 10, kRegisters = 65536, kMost = 16;
  const int64_t threads = waves * 4 * 32;
  return std::clamp<int64_t>(std::min(kShared / work.sharedBytes,
                                      kRegisters / (work.registers * threads)),
                             1, kMost);
}

/// Clocks of the chip, of which `workgroups` run at once. Of one
/// multiprocessor: bytes of memory and of the second cache, what mma.sync reads
/// and multiplies; and a workgroup's own time, of which others hide most.
static double estimateClocks(const ConvProblem &p, const NarrowTile &tile,
                             const NarrowWork &work, int64_t workgroups,
                             const GpuTarget &target,
                             const NarrowRates &rates) {
  const bool isWeights = p.direction == Direction::BackwardWeights;
  const int64_t fragments = divideUp(work.pixels, 16);
  const auto pairs = static_cast<double>(divideUp(work.pieces, 2));
  const double reads = (work.isShared ? 1 : 2) * pairs + (isWeights ? 1 : 0);
  constexpr double kWarps = 4;
  const double perBlock =
      static_cast<double>(fragments) * kWarps *
      std::max(reads * rates.readClocks, 2 * pairs * rates.multiplyClocks);
  const double perSm = static_cast<double>(work.blocks) / target.computeUnits;
  const bool keepsFilter = isWeights || tile.persistent > 0;
  const double loaded =
      static_cast<double>(work.windowPixels + (isWeights ? work.pixels : 0)) *
          NarrowTile::kBlock * 2 +
      (keepsFilter ? 0.0 : static_cast<double>(work.filterBytes));
  const double cache = perSm * loaded / rates.cacheBytes;
  const double memory =
      2.0 * static_cast<double>(p.getInputElements() + p.getOutputElements()) /
      (rates.memoryBytes * target.computeUnits);
  // Alone: to bring the first block and the filter, and to multiply.
  const double load =
      rates.load +
      (isWeights ? 0 : rates.perPiece * static_cast<double>(work.pieces));
  const double multiply = static_cast<double>(divideUp(fragments, tile.waves)) *
                          (rates.latency + rates.perPair * pairs);
  const auto turns = static_cast<double>(divideUp(work.blocks, workgroups));
  const double alone =
      keepsFilter ? load + turns * multiply : turns * (load + multiply);
  const double busy = perSm * perBlock;
  const double most = std::max({memory, cache, busy, alone});
  const double waits = isWeights ? rates.weightWaits * turns : 0;
  return most + rates.overlap * (memory + cache + busy + alone - most) + waits +
         rates.begin;
}

/// Of the launch that adds the parts, as in TmaWeightTiles.cpp, and of what
/// their stores take at the end of the first launch: half the parts by twice
/// the waves gained 1.6 to 5.9 us of ResNeXt's layers.
static double estimateSum(const ConvProblem &p, int parts,
                          const GpuTarget &target, const NarrowRates &rates) {
  const int64_t elements = p.getFilterElements();
  return rates.sumBegin +
         rates.sumTurn * static_cast<double>(countSumTurns(elements, parts)) +
         static_cast<double>(elements) * (parts * 8.0 + 2) /
             (rates.sumBytes * target.computeUnits);
}

/// Of forward and backward data: a workgroup for each block, or as many as run
/// at once.
static void addImages(const ConvProblem &p, NarrowTile tile,
                      const GpuTarget &target, const NarrowRates &rates,
                      std::vector<Candidate> &candidates) {
  const int64_t channelBlocks = p.inChannels / NarrowTile::kBlock;
  for (bool isPersistent : {false, true}) {
    tile.persistent = isPersistent ? 1 : 0;
    const NarrowWork work = measure(p, tile);
    if (!fits(work, target))
      continue;
    const int64_t sharing = countSharing(work, tile.waves);
    const int64_t workgroups =
        target.computeUnits * sharing / channelBlocks * channelBlocks;
    if (isPersistent && (workgroups == 0 || workgroups >= work.blocks))
      continue;
    if (isPersistent)
      tile.persistent = static_cast<int>(sharing);
    candidates.push_back(
        {tile.toConfig(),
         estimateClocks(p, tile, work, std::max<int64_t>(1, workgroups), target,
                        rates)});
  }
}

/// Of backward weights: as many workgroups as run at once, or fewer, each with
/// a run of blocks. Waves that share pixels leave fewer parts.
static void addWeights(const ConvProblem &p, NarrowTile tile,
                       const GpuTarget &target, const NarrowRates &rates,
                       std::vector<Candidate> &candidates) {
  const NarrowWork work = measure(p, tile);
  const int64_t channelBlocks = p.inChannels / NarrowTile::kBlock;
  const int64_t steps = work.blocks / channelBlocks;
  if (!fits(work, target))
    return;
  for (int64_t sharing = countSharing(work, tile.waves); sharing > 0;
       --sharing) {
    const int64_t most =
        std::min(target.computeUnits * sharing / channelBlocks, steps);
    if (most < 2)
      break;
    const auto parts = static_cast<int>(divideUp(steps, divideUp(steps, most)));
    if (parts == tile.parts)
      continue;
    tile.parts = parts;
    candidates.push_back(
        {tile.toConfig(),
         estimateClocks(p, tile, work, tile.parts * channelBlocks, target,
                        rates) +
             estimateSum(p, tile.parts, target, rates)});
  }
}

std::vector<Candidate> tessera::getNarrowCandidates(const ConvProblem &p,
                                                    const GpuTarget &target,
                                                    const NarrowRates &rates) {
  constexpr int64_t kMostWidth = 64, kMostHeight = 16;
  const std::array<ConvDim, 2> dims = getImage(p);
  const int64_t height = getResultLength(p, dims[0]);
  const int64_t width = getResultLength(p, dims[1]);
  NarrowTile tile;
  tile.width = static_cast<int>(divideUp(width, divideUp(width, kMostWidth)));
  std::vector<Candidate> candidates;
  for (int64_t h = 1; h <= std::min(height, kMostHeight); ++h) {
    // Blocks as even as so many can be.
    tile.height = static_cast<int>(h);
    if (divideUp(height, divideUp(height, h)) != h)
      continue;
    for (int waves : {1, 2}) {
      tile.waves = waves;
      if (p.direction == Direction::BackwardWeights)
        addWeights(p, tile, target, rates, candidates);
      else if (tile.getPixels() % waves == 0)
        addImages(p, tile, target, rates, candidates);
    }
  }
  return candidates;
}
