//===- NarrowGroupsModel.cpp - Which block of pixels, how many splits -----===//
//
// These kernels are bound by memory if enough workgroups share a
// multiprocessor: while one waits for its pixels, another multiplies.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Common/ConvGeometry.h"
#include "compiler/Algorithms/Common/SplitReduction.h"
#include "compiler/Algorithms/NarrowGroups/NarrowGroups.h"
#include "compiler/Algorithms/Tma/TmaModel.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>

using namespace tessera;

static constexpr int64_t kAlignment = 1024;
static constexpr int64_t kFragment = 16; ///< The pixels of an mma.sync.

/// Whether each block of 8 output channels reads input channels of its own,
/// which no other block reads.
static bool hasOwnPieces(const ConvProblem &p) {
  return p.inChannels / p.groups <= 8;
}

/// A pixel's bytes in shared memory (ImageTile.h).
static int64_t getPixelBytes(const ConvProblem &p) {
  constexpr int64_t kChunk = 16;
  return NarrowTile::kBlock * getByteSize(p.dataType) + kChunk;
}

/// Pieces that an mma.sync multiplies.
static int64_t countAtOnce(const ConvProblem &p) {
  return p.allowsTf32() ? 1 : 2;
}

/// The ldmatrix for the pieces of an mma.sync. Each of f32 that is split is
/// eight registers for two of them.
static int64_t countReads(const ConvProblem &p) { return splitsF32(p) ? 2 : 1; }

/// The mma.sync for them.
static int64_t countProducts(const ConvProblem &p) {
  return splitsF32(p) ? 2 * static_cast<int64_t>(kSplitProducts) : 1;
}

/// Registers of a thread for a piece of the filter, of two cells.
static int64_t countFilterRegisters(const ConvProblem &p) {
  return splitsF32(p) ? 8 : p.allowsTf32() ? 4 : 2;
}

/// Further registers for the terms of f32.
static int64_t countTermRegisters(const ConvProblem &p, bool hasRuns) {
  constexpr int64_t kOfBlock = 16, kOfRun = 72;
  return !splitsF32(p) ? 0 : hasRuns ? kOfRun : kOfBlock;
}

namespace {
/// A tile for a problem, in numbers.
struct NarrowWork {
  int64_t pixels; ///< The pixels of a block of the result.
  /// The pixels that are loaded for a block; those that stay for the next block
  /// count once.
  double loadedPixels;
  int64_t filterBytes, sharedBytes;
  int64_t blocks;    ///< Blocks of pixels times blocks of channels.
  int64_t pieces;    ///< Pieces of 8 channels of a tap that a channel reads.
  int64_t fragments; ///< Fragments of 16 pixels of a block.
  /// The ldmatrix and mma.sync of a fragment in a warp. An mma.sync of half the
  /// reduction counts as one.
  double reads, products;
  int64_t registers;
};
} // namespace

/// The height and width of the image that is divided into blocks.
static std::array<ConvDim, 2> getImage(const ConvProblem &p) {
  std::array<ConvDim, 3> dims = getConvDims(p);
  return {dims[1], dims[2]};
}

static int64_t getResultLength(const ConvProblem &p, const ConvDim &dim) {
  return p.direction == Direction::BackwardData ? dim.in : dim.out;
}

/// The number of source positions that `size` results read.
static int64_t see(const ConvDim &dim, int64_t size) {
  return (size - 1) * dim.stride + (dim.filter - 1) * dim.dilation + 1;
}

/// Corrects the numbers of a tile with runs: a circular buffer of lines lies
/// beside the filter, and a fragment of one line is multiplied for all lines of
/// a block.
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
      kAlignment + slots * columns * getPixelBytes(p) + work.filterBytes;
  work.fragments = tile.height * llvm::divideCeilSigned(tile.width, kFragment);
  // Two blocks of 8 channels share what they read, unless a group has at most 8
  // channels. Then only the odd pieces of both are read together.
  const int64_t pieces = work.pieces / dims[0].filter;
  const int64_t atOnce = countAtOnce(p), reads = pieces / atOnce;
  const int64_t readsOfLine =
      hasOwnPieces(p) ? reads * 2 + pieces % atOnce : reads;
  work.reads = static_cast<double>(countReads(p) * readsOfLine * lines) /
               static_cast<double>(tile.height);
  work.products = 2.0 * static_cast<double>(countProducts(p) * dims[0].filter) *
                  static_cast<double>(llvm::divideCeilSigned(pieces, atOnce));
  // About as many as ptxas allocates: more for more lines, but at most 128,
  // with which two workgroups of 256 threads fit, if the filter leaves that
  // many.
  const int64_t filter = (countFilterRegisters(p) + 1) * work.pieces;
  work.registers = countTermRegisters(p, /*hasRuns=*/true) +
                   std::min<int64_t>(22 + filter + 8 * tile.height,
                                     std::max<int64_t>(128, 56 + filter));
}

static NarrowWork measure(const ConvProblem &p, const NarrowTile &tile) {
  // The accumulators of two pieces: 16 by 64 channels in f32.
  constexpr int64_t kAccumulatorBytes = 16 * NarrowTile::kBlock * 4;
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
  work.filterBytes =
      taps * perGroup * NarrowTile::kBlock * getByteSize(p.dataType);
  const int64_t windowBytes = windowPixels * getPixelBytes(p);
  work.sharedBytes =
      kAlignment +
      (isWeights ? std::max(2 * (windowBytes + work.pixels * getPixelBytes(p)),
                            (tile.waves - 1) *
                                llvm::divideCeilSigned(work.pieces, 2) *
                                kAccumulatorBytes)
                 : windowBytes + std::max(tile.persistent > 0 ? windowBytes : 0,
                                          work.filterBytes));
  const int64_t lines =
      llvm::divideCeilSigned(getResultLength(p, dims[0]), tile.height);
  work.blocks = p.batch * (p.inChannels / NarrowTile::kBlock) *
                llvm::divideCeilSigned(lines, tile.run) * tile.run *
                llvm::divideCeilSigned(getResultLength(p, dims[1]), tile.width);
  work.fragments = llvm::divideCeilSigned(work.pixels, kFragment);
  // Of backward weights an instruction has two pieces, but tf32 only half of
  // the pixels; what lanes load of these counts as ldmatrix of as many bytes.
  const int64_t halves = 2 / countAtOnce(p);
  const auto pairs = static_cast<double>(
      isWeights ? halves * llvm::divideCeilSigned(work.pieces, 2)
                : llvm::divideCeilSigned(work.pieces, countAtOnce(p)));
  work.reads = static_cast<double>(countReads(p)) *
               ((hasOwnPieces(p) ? 2 : 1) * pairs +
                static_cast<double>(isWeights ? halves : 0));
  work.products = 2 * pairs * static_cast<double>(countProducts(p));
  work.registers = 48 + countTermRegisters(p, /*hasRuns=*/false) +
                   work.pieces * (isWeights ? 4 : countFilterRegisters(p));
  if (tile.run > 1)
    measureRun(p, tile, work);
  return work;
}

/// Whether accumulators and filters fit a thread's 255 registers beside the
/// rest, and a workgroup leaves enough shared memory for another one.
static bool fits(const NarrowWork &work, const GpuTarget &target) {
  constexpr int64_t kMostRegisters = 216, kMostShared = 112 << 10;
  const auto limit = static_cast<int64_t>(target.getMaxSharedBytes());
  return work.registers <= kMostRegisters &&
         work.sharedBytes <= std::min(limit, kMostShared);
}

/// The number of workgroups that share a multiprocessor.
static int64_t countSharing(const NarrowWork &work, int waves) {
  constexpr int64_t kShared = 227 << 10, kRegisters = 65536, kMost = 16;
  const int64_t threads = waves * 4 * 32;
  return std::clamp<int64_t>(std::min(kShared / work.sharedBytes,
                                      kRegisters / (work.registers * threads)),
                             1, kMost);
}

/// The clocks that mma.sync and the reads of its operands take on one
/// multiprocessor, and splitting these, which few warps hide.
static double countBusy(const ConvProblem &p, const NarrowWork &work,
                        const GpuTarget &target, const NarrowRates &rates) {
  constexpr double kWarps = 4;
  const double split = splitsF32(p) ? work.reads * rates.splitClocks : 0;
  const double perBlock = static_cast<double>(work.fragments) * kWarps *
                          (std::max(work.reads * rates.readClocks,
                                    work.products * rates.multiplyClocks) +
                           split);
  return static_cast<double>(work.blocks) / target.computeUnits * perBlock;
}

/// The clocks that reading one image and writing the other takes the chip.
static double countMemory(const ConvProblem &p, const GpuTarget &target,
                          const NarrowRates &rates) {
  return static_cast<double>((p.getInputElements() + p.getOutputElements()) *
                             getByteSize(p.dataType)) /
         (rates.memoryBytes * target.computeUnits);
}

/// The clocks that multiplying a block takes a workgroup.
static double countMultiply(const NarrowTile &tile, const NarrowWork &work,
                            const NarrowRates &rates) {
  return static_cast<double>(
             llvm::divideCeilSigned(work.fragments, tile.waves)) *
         (rates.latency + rates.perPair * work.products / 2);
}

/// The longest of `clocks`, plus the share of the others that is not hidden.
static double overlap(std::initializer_list<double> clocks, double share) {
  const double most = std::max(clocks);
  return most +
         share * (std::accumulate(clocks.begin(), clocks.end(), 0.0) - most);
}

/// The clocks of the chip for backward weights by `workgroups` that run at
/// once, each with a split of the pixels.
static double estimateWeights(const ConvProblem &p, const NarrowTile &tile,
                              const NarrowWork &work, int64_t workgroups,
                              const GpuTarget &target,
                              const NarrowRates &rates) {
  const double perSm = static_cast<double>(work.blocks) / target.computeUnits;
  const double l2 = perSm * work.loadedPixels * NarrowTile::kBlock *
                    static_cast<double>(getByteSize(p.dataType)) /
                    rates.l2Bytes;
  const auto iterations =
      static_cast<double>(llvm::divideCeilSigned(work.blocks, workgroups));
  const double alone =
      rates.load + iterations * countMultiply(tile, work, rates);
  return overlap({countMemory(p, target, rates), l2,
                  countBusy(p, work, target, rates), alone},
                 rates.overlap) +
         rates.weightWaits * iterations + rates.begin;
}

/// The clocks of a workgroup by itself that computes `blocks` one after
/// another. The blocks that are copied ahead arrive with the first one; the
/// workgroup may wait for the others.
static double estimateAlone(const NarrowTile &tile, const NarrowWork &work,
                            int64_t blocks, const NarrowRates &rates) {
  const int64_t ahead = tile.buffers - 1;
  const double multiply = countMultiply(tile, work, rates);
  const double wait =
      std::max(0.0, rates.fetch / static_cast<double>(ahead) - multiply);
  return rates.load + rates.perPiece * static_cast<double>(work.pieces) +
         static_cast<double>(blocks) * (rates.iteration + multiply) +
         static_cast<double>(std::max<int64_t>(0, blocks - ahead)) * wait;
}

/// The clocks of the chip for `workgroups`, of which `resident` run at once.
/// The partial last wave takes as long by itself as a full one. Nothing
/// overlaps the copy of a workgroup's first block and the product of its last
/// one, so the fewer blocks it has, the less is hidden.
static double estimateImages(const ConvProblem &p, const NarrowTile &tile,
                             const NarrowWork &work, int64_t workgroups,
                             int64_t resident, const GpuTarget &target,
                             const NarrowRates &rates) {
  const std::array<ConvDim, 2> dims = getImage(p);
  const auto blocks = static_cast<double>(work.blocks);
  const auto results =
      static_cast<double>(p.batch * p.inChannels * getResultLength(p, dims[0]) *
                          getResultLength(p, dims[1]));
  // Blocks overhang the image, and the pixels beyond it take time, too.
  const double memory = countMemory(p, target, rates) * blocks *
                        static_cast<double>(work.pixels) * NarrowTile::kBlock /
                        results;
  const double filter = tile.persistent > 0
                            ? 0
                            : static_cast<double>(work.filterBytes) / tile.run;
  const double copies = blocks / target.computeUnits *
                        (work.loadedPixels * NarrowTile::kBlock *
                             static_cast<double>(getByteSize(p.dataType)) +
                         filter) /
                        rates.copyBytes;
  const double busy = countBusy(p, work, target, rates);
  const double alone = estimateAlone(
      tile, work, llvm::divideCeilSigned(work.blocks, workgroups), rates);
  resident = std::min(resident, workgroups);
  const double share =
      std::min(1.0, rates.edge * static_cast<double>(resident) / blocks);
  double clocks = rates.begin;
  for (int64_t left = workgroups; left > 0; left -= resident) {
    const double wave = static_cast<double>(std::min(left, resident)) /
                        static_cast<double>(workgroups);
    clocks +=
        overlap({memory * wave, copies * wave, busy * wave, alone}, share);
  }
  return clocks;
}

/// The clocks of the launch that adds the partial results, as in
/// TmaWeightTiles.cpp, and of storing them at the end of the first launch. Half
/// the splits with twice the waves gained 1.6 to 5.9 us on ResNeXt's layers.
static double estimateSum(const ConvProblem &p, int splits,
                          const GpuTarget &target, const NarrowRates &rates) {
  const int64_t elements = p.getFilterElements();
  return rates.sumBegin +
         rates.sumPass * static_cast<double>(countSumPasses(elements, splits)) +
         static_cast<double>(elements) * (splits * 8.0 + 2) /
             (rates.sumBytes * target.computeUnits);
}

/// Adds the candidates of forward and backward data without runs: a workgroup
/// for each block, or as many persistent workgroups as run at once, though no
/// more than there are blocks if that is known.
static void addImages(const ConvProblem &p, NarrowTile tile,
                      const GpuTarget &target, const NarrowRates &rates,
                      bool isOpen, std::vector<Candidate> &candidates) {
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
    if (isPersistent &&
        (workgroups == 0 || (workgroups >= work.blocks && !isOpen)))
      continue;
    if (isPersistent)
      tile.persistent = static_cast<int>(sharing);
    candidates.push_back(
        {tile.toConfig(),
         estimateImages(p, tile, work, std::min(workgroups, work.blocks),
                        resident, target, rates)});
  }
}

/// Adds the candidates of forward and backward data with runs. Each column of
/// blocks is one run, or several of one length, of which the last may be
/// shorter. Blocks of one line are left out: they would read a line as often as
/// blocks without runs.
static void addRuns(const ConvProblem &p, NarrowTile tile,
                    const GpuTarget &target, const NarrowRates &rates,
                    std::vector<Candidate> &candidates) {
  const ConvDim dim = getImage(p)[0];
  const int64_t blocks =
      llvm::divideCeilSigned(getResultLength(p, dim), tile.height);
  if (tile.height < 2 || see(dim, tile.height) < tile.height * dim.stride ||
      tile.waves > llvm::divideCeilSigned(tile.width, kFragment))
    return;
  for (int64_t runs = 1; 2 * runs <= blocks; ++runs) {
    tile.run = static_cast<int>(llvm::divideCeilSigned(blocks, runs));
    if (llvm::divideCeilSigned(blocks, tile.run) != runs)
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

/// Adds the candidates of backward weights: as many workgroups as run at once,
/// or fewer, each with several consecutive blocks. Waves that share pixels
/// leave fewer splits.
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
    const auto splits = static_cast<int>(
        llvm::divideCeilSigned(steps, llvm::divideCeilSigned(steps, most)));
    if (splits == tile.splits)
      continue;
    tile.splits = splits;
    candidates.push_back(
        {tile.toConfig(),
         estimateWeights(p, tile, work, tile.splits * channelBlocks, target,
                         rates) +
             estimateSum(p, tile.splits, target, rates)});
  }
}

std::vector<Candidate> tessera::getNarrowCandidates(const ConvProblem &p,
                                                    const GpuTarget &target,
                                                    const NarrowRates &rates) {
  constexpr int64_t kMostHeight = 16;
  // Backward weights has two blocks of both images in shared memory.
  const bool isWeights = p.direction == Direction::BackwardWeights;
  const int64_t mostWidth = isWeights && p.dataType == DataType::F32 ? 32 : 64;
  const std::array<ConvDim, 2> dims = getImage(p);
  const int64_t height = getResultLength(p, dims[0]);
  const int64_t width = getResultLength(p, dims[1]);
  NarrowTile tile;
  tile.width = static_cast<int>(
      llvm::divideCeilSigned(width, llvm::divideCeilSigned(width, mostWidth)));
  std::vector<Candidate> candidates;
  for (int64_t h = 1; h <= std::min(height, kMostHeight); ++h) {
    // Only heights that divide the image as evenly as their number of blocks
    // allows.
    tile.height = static_cast<int>(h);
    if (llvm::divideCeilSigned(height, llvm::divideCeilSigned(height, h)) != h)
      continue;
    for (int waves : {1, 2}) {
      tile.waves = waves;
      if (isWeights)
        addWeights(p, tile, target, rates, candidates);
      else if (tile.getPixels() % waves == 0) {
        addImages(p, tile, target, rates, /*isOpen=*/false, candidates);
        addRuns(p, tile, target, rates, candidates);
      }
    }
  }
  return candidates;
}

/// Blocks for images of any size: some lines of 8 to 64 columns.
static constexpr std::array<int, 7> kOpenWidths = {7, 14, 16, 28, 32, 56, 64};
static constexpr std::array<int, 5> kOpenHeights = {1, 2, 4, 7, 8};

/// Adds the candidates of images of unknown size with runs of a length that
/// suits large or small ones.
static void addOpenRuns(const ConvProblem &p, NarrowTile tile,
                        const GpuTarget &target,
                        std::vector<Candidate> &candidates) {
  const ConvDim dim = getImage(p)[0];
  if (tile.height < 2 || see(dim, tile.height) < tile.height * dim.stride ||
      tile.waves > llvm::divideCeilSigned(tile.width, kFragment))
    return;
  for (int run : {2, 4, 8}) {
    tile.run = run;
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
                          target, kNarrowRates)});
    }
  }
}

std::vector<Candidate>
tessera::getOpenNarrowCandidates(const ConvProblem &p,
                                 const GpuTarget &target) {
  const bool isWeights = p.direction == Direction::BackwardWeights;
  std::vector<Candidate> candidates;
  for (int width : kOpenWidths)
    for (int height : kOpenHeights)
      for (int waves : {1, 2}) {
        NarrowTile tile;
        tile.height = height;
        tile.width = width;
        tile.waves = waves;
        if (isWeights) {
          addWeights(p, tile, target, kNarrowRates, candidates);
          continue;
        }
        if (tile.getPixels() % waves != 0)
          continue;
        addImages(p, tile, target, kNarrowRates, /*isOpen=*/true, candidates);
        addOpenRuns(p, tile, target, candidates);
      }
  return candidates;
}
