//===- NarrowGroupsModel.cpp - Which block of pixels, how many parts ------===//
//
// These kernels are bound by memory if enough of their workgroups share a
// multiprocessor: while one waits for its pixels, another multiplies.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Common/ConvGeometry.h"
#include "compiler/Algorithms/NarrowGroups/NarrowGroups.h"
#include "compiler/Algorithms/Common/PartSum.h"
#include "compiler/Algorithms/Tma/TmaModel.h"

#include <algorithm>
#include <numeric>

using namespace tessera;

static constexpr int64_t kPixelBytes = 144, kAlignment = 1024;
static constexpr int64_t kFragment = 16; ///< Pixels of an mma.sync.

static int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Whether each cell of 8 channels meets channels of its own.
static bool hasOwnPieces(const ConvProblem &p) {
  return p.inChannels / p.groups <= 8;
}

namespace {
/// A tile for a problem, in numbers.
struct NarrowWork {
  int64_t pixels;      ///< Of a block, of the result.
  double loadedPixels; ///< For a block; what stays for the next counts once.
  int64_t filterBytes, sharedBytes;
  int64_t blocks;    ///< Of pixels, times those of channels.
  int64_t pieces;    ///< Of 8 channels of a tap, that a channel meets.
  int64_t fragments; ///< Of 16 pixels, of a block.
  /// ldmatrix and mma.sync of a fragment and warp; half an mma.sync is one.
  double reads, products;
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

/// Places that `size` results see.
static int64_t see(const ConvDim &dim, int64_t size) {
  return (size - 1) * dim.stride + (dim.filter - 1) * dim.dilation + 1;
}

/// Of a run: a ring of lines beside the filter, and fragments of one line that
/// meet all lines of a block.
static void measureRun(const ConvProblem &p, const NarrowTile &tile,
                       NarrowWork &work) {
  const std::array<ConvDim, 2> dims = getImage(p);
  const int64_t lines = see(dims[0], tile.height);
  const int64_t columns = see(dims[1], tile.width);
  const int64_t advance = tile.height * dims[0].stride;
  const int64_t kept = lines - advance;
  const int64_t slots = lines + (tile.buffers - 1) * advance;
  work.loadedPixels =
      static_cast<double>((advance * tile.run + kept) * columns) / tile.run;
  work.sharedBytes =
      kAlignment + slots * columns * kPixelBytes + work.filterBytes;
  work.fragments = tile.height * divideUp(tile.width, kFragment);
  // Two cells share what they read, but for groups that are no more than one;
  // of those an odd piece of each is read together.
  const int64_t pieces = work.pieces / dims[0].filter;
  const int64_t readsOfLine =
      hasOwnPieces(p) ? pieces / 2 * 2 + pieces % 2 : pieces / 2;
  work.reads = static_cast<double>(readsOfLine * lines) / tile.height;
  work.products = 2.0 * divideUp(pieces, 2) * dims[0].filter;
  // As ptxas takes them, about: more for more lines, but not beyond the half of
  // 256 threads' if the filter leaves room.
  work.registers =
      std::min<int64_t>(22 + 3 * work.pieces + 8 * tile.height,
                        std::max<int64_t>(128, 56 + 3 * work.pieces));
}

static NarrowWork measure(const ConvProblem &p, const NarrowTile &tile) {
  // Of the sums of two pieces: 16 channels by 64, of f32.
  constexpr int64_t kSumBytes = 16 * NarrowTile::kBlock * 4;
  const bool isWeights = p.direction == Direction::BackwardWeights;
  const std::array<ConvDim, 2> dims = getImage(p);
  NarrowWork work{};
  work.pixels = tile.getPixels();
  const int64_t windowPixels =
      see(dims[0], tile.height) * see(dims[1], tile.width);
  work.loadedPixels =
      static_cast<double>(windowPixels + (isWeights ? work.pixels : 0));
  const int64_t perGroup = p.inChannels / p.groups;
  const int64_t taps = dims[0].filter * dims[1].filter;
  work.pieces = taps * std::max<int64_t>(1, perGroup / 8);
  work.filterBytes = taps * perGroup * NarrowTile::kBlock * 2;
  const int64_t windowBytes = windowPixels * kPixelBytes;
  work.sharedBytes =
      kAlignment +
      (isWeights
           ? std::max(2 * (windowBytes + work.pixels * kPixelBytes),
                      (tile.waves - 1) * divideUp(work.pieces, 2) * kSumBytes)
           : windowBytes + std::max(tile.persistent > 0 ? windowBytes : 0,
                                    work.filterBytes));
  const int64_t lines = divideUp(getResultLength(p, dims[0]), tile.height);
  work.blocks = p.batch * (p.inChannels / NarrowTile::kBlock) *
                divideUp(lines, tile.run) * tile.run *
                divideUp(getResultLength(p, dims[1]), tile.width);
  work.fragments = divideUp(work.pixels, kFragment);
  const auto pairs = static_cast<double>(divideUp(work.pieces, 2));
  work.reads = (hasOwnPieces(p) ? 2 : 1) * pairs + (isWeights ? 1 : 0);
  work.products = 2 * pairs;
  work.registers = 48 + work.pieces * (isWeights ? 4 : 2);
  if (tile.run > 1)
    measureRun(p, tile, work);
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

/// Clocks of one multiprocessor for what mma.sync reads and multiplies.
static double countBusy(const NarrowWork &work, const GpuTarget &target,
                        const NarrowRates &rates) {
  constexpr double kWarps = 4;
  const double perBlock = static_cast<double>(work.fragments) * kWarps *
                          std::max(work.reads * rates.readClocks,
                                   work.products * rates.multiplyClocks);
  return static_cast<double>(work.blocks) / target.computeUnits * perBlock;
}

/// Clocks of the chip to read and write both images once.
static double countMemory(const ConvProblem &p, const GpuTarget &target,
                          const NarrowRates &rates) {
  return 2.0 *
         static_cast<double>(p.getInputElements() + p.getOutputElements()) /
         (rates.memoryBytes * target.computeUnits);
}

/// Clocks that a workgroup multiplies a block.
static double countMultiply(const NarrowTile &tile, const NarrowWork &work,
                            const NarrowRates &rates) {
  return static_cast<double>(divideUp(work.fragments, tile.waves)) *
         (rates.latency + rates.perPair * work.products / 2);
}

/// The longest, and that share of the others which is not hidden.
static double overlap(std::initializer_list<double> clocks, double share) {
  const double most = std::max(clocks);
  return most +
         share * (std::accumulate(clocks.begin(), clocks.end(), 0.0) - most);
}

/// Clocks of the chip, of which `workgroups` run at once, each with a part of
/// the pixels.
static double estimateWeights(const ConvProblem &p, const NarrowTile &tile,
                              const NarrowWork &work, int64_t workgroups,
                              const GpuTarget &target,
                              const NarrowRates &rates) {
  const double perSm = static_cast<double>(work.blocks) / target.computeUnits;
  const double cache =
      perSm * work.loadedPixels * NarrowTile::kBlock * 2 / rates.cacheBytes;
  const auto turns = static_cast<double>(divideUp(work.blocks, workgroups));
  const double alone = rates.load + turns * countMultiply(tile, work, rates);
  return overlap({countMemory(p, target, rates), cache,
                  countBusy(work, target, rates), alone},
                 rates.overlap) +
         rates.weightWaits * turns + rates.begin;
}

/// Clocks of a workgroup by itself that has `blocks` one after another. So many
/// as are brought ahead are there with the first; others may be waited for.
static double estimateAlone(const NarrowTile &tile, const NarrowWork &work,
                            int64_t blocks, const NarrowRates &rates) {
  const int64_t ahead = tile.buffers - 1;
  const double multiply = countMultiply(tile, work, rates);
  const double wait =
      std::max(0.0, rates.fetch / static_cast<double>(ahead) - multiply);
  return rates.load + rates.perPiece * static_cast<double>(work.pieces) +
         static_cast<double>(blocks) * (rates.turn + multiply) +
         static_cast<double>(std::max<int64_t>(0, blocks - ahead)) * wait;
}

/// Clocks of the chip for `workgroups`, of which `resident` run at once; those
/// that are left at last take as long by themselves as all the others. While
/// the first blocks come and the last are multiplied nothing else is done, so
/// the fewer blocks one after another, the less is hidden.
static double estimateImages(const ConvProblem &p, const NarrowTile &tile,
                             const NarrowWork &work, int64_t workgroups,
                             int64_t resident, const GpuTarget &target,
                             const NarrowRates &rates) {
  const std::array<ConvDim, 2> dims = getImage(p);
  const auto blocks = static_cast<double>(work.blocks);
  const auto results =
      static_cast<double>(p.batch * p.inChannels * getResultLength(p, dims[0]) *
                          getResultLength(p, dims[1]));
  // Blocks beyond the image take turns, too.
  const double memory = countMemory(p, target, rates) * blocks *
                        static_cast<double>(work.pixels) * NarrowTile::kBlock /
                        results;
  const double filter = tile.persistent > 0
                            ? 0
                            : static_cast<double>(work.filterBytes) / tile.run;
  const double copies = blocks / target.computeUnits *
                        (work.loadedPixels * NarrowTile::kBlock * 2 + filter) /
                        rates.copyBytes;
  const double busy = countBusy(work, target, rates);
  const double alone =
      estimateAlone(tile, work, divideUp(work.blocks, workgroups), rates);
  resident = std::min(resident, workgroups);
  const double share =
      std::min(1.0, rates.edge * static_cast<double>(resident) / blocks);
  double sum = rates.begin;
  for (int64_t left = workgroups; left > 0; left -= resident) {
    const double part = static_cast<double>(std::min(left, resident)) /
                        static_cast<double>(workgroups);
    sum += overlap({memory * part, copies * part, busy * part, alone}, share);
  }
  return sum;
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
    const int64_t resident = target.computeUnits * sharing;
    const int64_t workgroups =
        isPersistent ? resident / channelBlocks * channelBlocks : work.blocks;
    if (isPersistent && (workgroups == 0 || workgroups >= work.blocks))
      continue;
    if (isPersistent)
      tile.persistent = static_cast<int>(sharing);
    candidates.push_back(
        {tile.toConfig(),
         estimateImages(p, tile, work, workgroups, resident, target, rates)});
  }
}

/// Of forward and backward data by runs: each column of blocks is one, or so
/// many of one length, but for the last. Blocks of one line would read a line
/// as often as those that stand alone.
static void addRuns(const ConvProblem &p, NarrowTile tile,
                    const GpuTarget &target, const NarrowRates &rates,
                    std::vector<Candidate> &candidates) {
  const ConvDim dim = getImage(p)[0];
  const int64_t blocks = divideUp(getResultLength(p, dim), tile.height);
  if (tile.height < 2 || see(dim, tile.height) < tile.height * dim.stride ||
      tile.waves > divideUp(tile.width, kFragment))
    return;
  for (int64_t runs = 1; 2 * runs <= blocks; ++runs) {
    tile.run = static_cast<int>(divideUp(blocks, runs));
    if (divideUp(blocks, tile.run) != runs)
      continue;
    for (int buffers : {3, 2}) {
      tile.buffers = buffers;
      const NarrowWork work = measure(p, tile);
      if (!fits(work, target))
        continue;
      const int64_t resident =
          target.computeUnits * countSharing(work, tile.waves);
      candidates.push_back(
          {tile.toConfig(),
           estimateImages(p, tile, work, work.blocks / tile.run, resident,
                          target, rates)});
    }
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
         estimateWeights(p, tile, work, tile.parts * channelBlocks, target,
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
      else if (tile.getPixels() % waves == 0) {
        addImages(p, tile, target, rates, candidates);
        addRuns(p, tile, target, rates, candidates);
      }
    }
  }
  return candidates;
}
