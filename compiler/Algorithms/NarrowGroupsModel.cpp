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
  int64_t sharedBytes;
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
  const bool isWeights = p.direction == Direction::BackwardWeights;
  const std::array<ConvDim, 2> dims = getImage(p);
  auto see = [](const ConvDim &dim, int64_t size) {
    return (size - 1) * dim.stride + (dim.filter - 1) * dim.dilation + 1;
  };
  NarrowWork work{};
  work.pixels = tile.getPixels();
  work.windowPixels = see(dims[0], tile.height) * see(dims[1], tile.width);
  const int64_t perGroup = p.inChannels / p.groups;
  work.isShared = perGroup > 8;
  work.pieces =
      dims[0].filter * dims[1].filter * std::max<int64_t>(1, perGroup / 8);
  const int64_t filterBytes =
      dims[0].filter * dims[1].filter * perGroup * NarrowTile::kBlock * 2;
  work.sharedBytes = work.windowPixels * kPixelBytes + kAlignment +
                     (isWeights ? work.pixels * kPixelBytes : filterBytes);
  work.blocks = p.batch * (p.inChannels / NarrowTile::kBlock) *
                divideUp(getResultLength(p, dims[0]), tile.height) *
                divideUp(getResultLength(p, dims[1]), tile.width);
  work.registers = 48 + work.pieces * (isWeights ? 4 : 2);
  return work;
}

/// Registers that sums and filters may take of a thread's 255, and what a
/// workgroup may have of shared memory so that others have some, too.
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

/// Clocks of the chip. Of one multiprocessor: bytes of memory and of the second
/// cache as in TmaModel.h, 128 bytes of shared memory a clock, an mma.sync in
/// two; and a workgroup's own time, of which others hide most.
static double estimateClocks(const ConvProblem &p, const NarrowTile &tile,
                             const NarrowWork &work, const GpuTarget &target) {
  const bool isWeights = p.direction == Direction::BackwardWeights;
  const int64_t fragments = divideUp(work.pixels, 16);
  const auto pairs = static_cast<double>(divideUp(work.pieces, 2));
  const double reads = (work.isShared ? 1 : 2) * pairs + (isWeights ? 1 : 0);
  constexpr double kReadClocks = 4, kMultiplyClocks = 2, kWarps = 4;
  const double busy =
      static_cast<double>(fragments) * kWarps *
      std::max(reads * kReadClocks, 2 * pairs * kMultiplyClocks);
  const double loaded =
      static_cast<double>(work.windowPixels + (isWeights ? work.pixels : 0)) *
      NarrowTile::kBlock * 2;
  const double perSm = static_cast<double>(work.blocks) / target.computeUnits;
  const double cache = perSm * loaded / kTmaRates.l2Bytes;
  const double memory =
      2.0 * static_cast<double>(p.getInputElements() + p.getOutputElements()) /
      (kTmaRates.memoryBytes * target.computeUnits);
  constexpr double kLoad = 2200, kBegin = 2500, kLatency = 180, kPerPair = 36;
  const double alone =
      kLoad + static_cast<double>(divideUp(fragments, tile.waves)) *
                  (kLatency + kPerPair * pairs);
  const int64_t sharing = countSharing(work, tile.waves);
  const auto rounds =
      isWeights ? perSm / static_cast<double>(sharing)
                : static_cast<double>(
                      divideUp(work.blocks, target.computeUnits * sharing));
  const double most = std::max({memory, cache, perSm * busy, rounds * alone});
  const double sum = memory + cache + perSm * busy + rounds * alone;
  constexpr double kOverlap = 0.15;
  return most + kOverlap * (sum - most) + kBegin;
}

/// Of the launch that adds the parts, as in TmaWeightTiles.cpp.
static double estimateSum(const ConvProblem &p, int parts,
                          const GpuTarget &target) {
  constexpr double kBegin = 1500, kTurn = 4900, kBytes = 45;
  const int64_t elements = p.getFilterElements();
  return kBegin + kTurn * static_cast<double>(countSumTurns(elements, parts)) +
         static_cast<double>(elements) * (parts * 8.0 + 2) /
             (kBytes * target.computeUnits);
}

static void addCandidates(const ConvProblem &p, NarrowTile tile,
                          const GpuTarget &target,
                          std::vector<Candidate> &candidates) {
  const NarrowWork work = measure(p, tile);
  if (!fits(work, target))
    return;
  if (p.direction != Direction::BackwardWeights) {
    candidates.push_back(
        {tile.toConfig(), estimateClocks(p, tile, work, target)});
    return;
  }
  // As many workgroups as run at once, with a run of blocks each.
  const int64_t channelBlocks = p.inChannels / NarrowTile::kBlock;
  const int64_t steps = work.blocks / channelBlocks;
  for (int64_t sharing = countSharing(work, 1); sharing > 0; --sharing) {
    const int64_t most = target.computeUnits * sharing / channelBlocks;
    if (steps < 2 || most < 2)
      continue;
    const int64_t share = divideUp(steps, std::min(most, steps));
    tile.parts = static_cast<int>(divideUp(steps, share));
    if (tile.parts < 2)
      continue;
    const double turns = static_cast<double>(countSharing(work, 1)) / sharing;
    candidates.push_back(
        {tile.toConfig(), estimateClocks(p, tile, work, target) * turns +
                              estimateSum(p, tile.parts, target)});
  }
}

std::vector<Candidate> tessera::getNarrowCandidates(const ConvProblem &p,
                                                    const GpuTarget &target) {
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
      const bool isWeights = p.direction == Direction::BackwardWeights;
      if (tile.getPixels() % waves != 0 || (isWeights && waves > 1))
        continue;
      tile.waves = waves;
      addCandidates(p, tile, target, candidates);
    }
  }
  return candidates;
}
