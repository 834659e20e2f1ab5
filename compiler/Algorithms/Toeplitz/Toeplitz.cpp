//===- Toeplitz.cpp - Depthwise convolutions by matrix products -----------===//
//
// With 49 products per element a depthwise convolution of 16-bit floats is
// bound by instructions, not by memory. Of a matrix with a row of the filter on
// its diagonals only 44 % is useful, but the matrix unit has products to spare.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Toeplitz/Toeplitz.h"
#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Common/TensorMapStrides.h"
#include "compiler/Algorithms/OpenSamples.h"
#include "compiler/Algorithms/Registry.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <optional>

using namespace mlir;
using namespace tessera;

/// The most columns of a filter, for which a window has space, and the most
/// rows, whose operands leave registers. For backward weights: the taps of one
/// product.
static constexpr int64_t kMaxFilterColumns = kWindowColumns - kBlockColumns + 1;
static constexpr int64_t kMaxFilterRows = 9;
static constexpr int64_t kMaxTapRows = 7, kMaxTapColumns = 8;

//===----------------------------------------------------------------------===//
// The problems
//===----------------------------------------------------------------------===//

namespace {
class Toeplitz final : public Algorithm {
public:
  bool needsWorkspace(const ConvProblem &conv,
                      const TileConfig &) const override {
    return conv.direction == Direction::BackwardWeights;
  }
  std::string_view getName() const override { return "toeplitz"; }
  bool takesUnknownSizes() const override { return true; }
  Status check(const Problem &problem, const GpuTarget &target) const override;
  std::vector<Candidate> getCandidates(const Problem &problem,
                                       const GpuTarget &target) const override;
  LogicalResult build(Operation *primitive, const TileConfig &tile,
                      const GpuTarget &target) const override;
};
} // namespace

static Status checkWeights(const ConvProblem &conv) {
  if (conv.filter.w > kMaxTapColumns || conv.filter.h > kMaxTapRows)
    return notSupported("wants a filter of at most 7 rows and 8 columns for "
                        "backward weights");
  return Status::ok();
}

static Status checkData(const ConvProblem &conv) {
  if (conv.filter.w > kMaxFilterColumns || conv.filter.h > kMaxFilterRows)
    return notSupported("wants a filter of at most 9 rows and columns");
  if (!conv.epilogue.leavesSums())
    return notSupported("has no epilogue");
  return Status::ok();
}

Status Toeplitz::check(const Problem &problem, const GpuTarget &target) const {
  if (!problem.getConv())
    return notSupported("solves convolutions");
  const Problem sample = problem.getSample();
  const ConvProblem *conv = sample.getConv();
  if (target.matrixUnit != MatrixUnit::MmaSm80)
    return notSupported("wants mma.sync");
  if (conv->groups == 1 || conv->inChannels != conv->groups ||
      conv->outChannels != conv->groups || conv->groups % kOctet != 0)
    return notSupported("wants one channel a group, and a multiple of 8");
  if (conv->hasDepth())
    return notSupported("knows no depth");
  if (conv->dataType != DataType::F16 && conv->dataType != DataType::BF16)
    return notSupported("multiplies floats of 16 bits");
  if (conv->wLayout == Layout::Strided || conv->getInputStrides().c != 1 ||
      conv->getOutputStrides().c != 1)
    return notSupported("wants channels that are neighbours");
  if (std::max({conv->stride.h, conv->stride.w, conv->dilation.h,
                conv->dilation.w}) != 1)
    return notSupported("wants a stride and a dilation of 1");
  constexpr int64_t kLimit = int64_t(1) << 24;
  Spatial out = conv->getOutput();
  if (std::max({conv->in.h, conv->in.w, out.h, out.w, conv->pad.h,
                conv->pad.w}) > kLimit)
    return notSupported("wants smaller images");
  return conv->direction == Direction::BackwardWeights ? checkWeights(*conv)
                                                       : checkData(*conv);
}

//===----------------------------------------------------------------------===//
// The choice of a tile
//===----------------------------------------------------------------------===//

namespace {
/// The properties of problem and target that tiles are chosen by. Plain data.
struct Shape {
  bool isWeights;
  int64_t batch, channels;
  int64_t rows, columns; ///< What is divided into tiles.
  int64_t filterRows, padRows;
  int64_t ldsBytes;
  int64_t multiprocessors;
  bool hasBoxes; ///< Whether TMA can copy the tensors.

  int64_t countTiles(const ToeplitzTile &tile) const {
    int64_t images = isWeights ? llvm::divideCeilSigned(batch, kPair) : batch;
    int64_t perImage = llvm::divideCeilSigned(rows, tile.countRows());
    if (hasStrips(tile))
      perImage += getStrips(tile).above;
    return images * perImage *
           llvm::divideCeilSigned(columns, tile.countColumns());
  }
  /// Whether a workgroup's tiles are strips of an image, one below the other.
  bool hasStrips(const ToeplitzTile &tile) const {
    return isWeights && tile.stages > 0;
  }
  ToeplitzStrips getStrips(const ToeplitzTile &tile) const {
    return {tile, filterRows, padRows};
  }
  int64_t countWorkgroups(const ToeplitzTile &tile) const {
    if (tile.workgroups > 0)
      return tile.workgroups * (channels / tile.channels);
    return llvm::divideCeilSigned(countTiles(tile), tile.iterations) *
           (channels / tile.channels);
  }
  /// The planes of a channel in LDS: that of the source, or for backward
  /// weights those of both activations.
  SmallVector<ToeplitzPlane> getPlanes(const ToeplitzTile &tile) const {
    if (!isWeights)
      return {ToeplitzDataPlanes(tile, filterRows).source};
    ToeplitzWeightsPlanes planes(tile, filterRows);
    return {planes.x, planes.y};
  }
  int64_t countWords(const ToeplitzTile &tile) const {
    if (hasStrips(tile)) // What is copied; the circular buffer has more.
      return tile.rows * (2 * tile.countColumns() + kBlockColumns);
    int64_t words = 0;
    for (const ToeplitzPlane &plane : getPlanes(tile))
      words += plane.words;
    return words;
  }
  /// The tasks of a thread, each of which is two loads.
  int64_t countTasks(const ToeplitzTile &tile) const {
    int64_t tasks = 0;
    for (const ToeplitzPlane &plane : getPlanes(tile))
      tasks += llvm::divideCeilSigned(
          plane.rows * plane.columns * tile.countOctets(), tile.threads);
    return tasks;
  }
  int64_t countLdsBytes(const ToeplitzTile &tile) const {
    constexpr int64_t kWordBytes = 4;
    if (hasStrips(tile))
      return ToeplitzStripPlanes(tile, filterRows).countBytes(tile);
    if (!isWeights)
      return ToeplitzDataPlanes(tile, filterRows).countBytes(tile);
    return countWords(tile) * tile.channels * kWordBytes;
  }
};
} // namespace

/// The most bytes of LDS that a workgroup can have, statically or dynamically.
static int64_t getLdsLimit(const GpuTarget &target) {
  return target.getMaxSharedBytes();
}

static Shape getShape(const ConvProblem &conv, const GpuTarget &target) {
  constexpr int64_t kBytes = 2; // An element's.
  bool isWeights = conv.direction == Direction::BackwardWeights;
  TensorLengths result = conv.getResultLengths();
  return {isWeights,
          conv.batch,
          conv.groups,
          isWeights ? conv.in.h : result.h,
          isWeights ? conv.getOutput().w : result.w,
          conv.filter.h,
          conv.pad.h,
          getLdsLimit(target),
          target.computeUnits,
          target.hasTma && fitsTensorMap(conv.getInputStrides(), kBytes) &&
              fitsTensorMap(conv.getOutputStrides(), kBytes)};
}

/// The bytes of LDS that boxes take beside their contents: alignment for the
/// swizzle, and mbarriers.
static int64_t getLdsSlack(const ToeplitzTile &tile) {
  constexpr int64_t kAlignment = 1024;
  return tile.stages > 0 ? (tile.stages + 2) * kAlignment : 0;
}

/// Whether the planes fit LDS, the tile fits the instruction, and the launch
/// has not too many threads.
static bool fits(const Shape &shape, const ToeplitzTile &tile) {
  constexpr int64_t kMaxPoints = int64_t(1) << 31;
  const bool fitsInstruction =
      shape.isWeights
          ? tile.bands == 1 && tile.rows % kPair == 0 &&
                (tile.stages == 0 ||
                 tile.rows % ToeplitzStripPlanes::kPeriod != 0)
          : tile.bands * tile.blocks <= kWindows && tile.rows <= kMaxRows;
  const bool fitsStages = tile.stages == 0 || shape.hasBoxes;
  return fitsInstruction && fitsStages && shape.channels % tile.channels == 0 &&
         shape.countLdsBytes(tile) + getLdsSlack(tile) <= shape.ldsBytes &&
         shape.countWorkgroups(tile) * tile.threads < kMaxPoints;
}

/// The work of a channel of a tile: the words that are copied to LDS, and the
/// instructions of the matrix unit as the words that take as many clocks.
static double getTileWork(const Shape &shape, const ToeplitzTile &tile,
                          const ToeplitzRates &rates) {
  double instructions =
      tile.rows *
      (shape.isWeights ? 0.5 * (tile.blocks + 0.5) : double(shape.filterRows));
  return shape.countWords(tile) + instructions * rates.instruction;
}

/// The work of a channel of all tiles.
static double getWork(const Shape &shape, const ToeplitzTile &tile,
                      const ToeplitzRates &rates = kToeplitzRates) {
  return double(shape.countTiles(tile)) * getTileWork(shape, tile, rates);
}

/// The channels of a workgroup. Backward weights, which writes few results,
/// reads 64 bytes of a pixel if LDS has space for them.
static int64_t chooseChannels(const Shape &shape) {
  constexpr int64_t kMany = 65536;
  if (shape.isWeights && shape.channels % 32 == 0 && shape.ldsBytes > kMany)
    return 32;
  return shape.channels % 16 == 0 ? 16 : 8;
}

/// Chooses the tile with the least work for which registers hold the next tile
/// while a thread works on this one. There are as many threads as leave each
/// 128 registers.
static std::optional<ToeplitzTile> chooseTile(const Shape &shape) {
  constexpr int64_t kMaxBlocks = 8, kMaxLdsBytes = 114688;
  // The registers of tasks are beside accumulators, of which backward weights
  // has fewer.
  const int64_t maxTasks = shape.isWeights ? 6 : 3;
  const int64_t maxRows = shape.isWeights ? kWindows : 8;
  const int64_t step = shape.isWeights ? kPair : 1;
  const int64_t blocks = llvm::divideCeilSigned(shape.columns, kBlockColumns);
  std::optional<ToeplitzTile> best;
  ToeplitzTile tile;
  tile.channels = chooseChannels(shape);
  tile.threads = std::min(kMaxThreads, tile.channels * 32);
  for (tile.blocks = 1; tile.blocks <= std::min(blocks, kMaxBlocks);
       ++tile.blocks)
    for (tile.rows = step; tile.rows <= maxRows; tile.rows += step) {
      int64_t bands = llvm::divideCeilSigned(shape.rows, tile.rows);
      tile.bands =
          shape.isWeights ? 1 : std::min(bands, kWindows / tile.blocks);
      for (; tile.bands > 0; --tile.bands)
        if (fits(shape, tile) && shape.countLdsBytes(tile) <= kMaxLdsBytes &&
            shape.countTasks(tile) <= maxTasks &&
            (!best || getWork(shape, tile) < getWork(shape, *best)))
          best = tile;
    }
  return best;
}

/// Divides the tiles among the workgroups that are resident at a time.
static void setIterations(const Shape &shape, ToeplitzTile &tile) {
  int64_t resident = kMaxThreads / tile.threads * shape.multiprocessors;
  int64_t wanted =
      std::max<int64_t>(1, resident / (shape.channels / tile.channels));
  int64_t tiles = shape.countTiles(tile);
  tile.iterations = std::min<int64_t>(
      kMaxIterations, llvm::divideCeilSigned(tiles, std::min(tiles, wanted)));
}

/// The clocks of a multiprocessor, estimated by its work between barriers.
static double getClocks(const Shape &shape, const ToeplitzTile &tile,
                        const ToeplitzRates &rates) {
  const bool hasStrips = shape.hasStrips(tile);
  const int64_t iterations =
      tile.iterations + (hasStrips ? shape.getStrips(tile).lead : 0);
  const int64_t tiles =
      iterations * llvm::divideCeilSigned(shape.countWorkgroups(tile),
                                          shape.multiprocessors);
  const double work =
      double(tiles * tile.channels) *
      (getTileWork(shape, tile, rates) + (hasStrips ? rates.strip : 0));
  if (tile.stages == 0)
    return work / rates.work;
  return work / rates.boxWork * (tile.stages == 1 ? rates.oneStage : 1.0);
}

/// Whether strips have few enough bytes in flight: more was slower
/// (docs/design/0014-depthwise-mma.md).
static bool hasFewInFlight(const Shape &shape, const ToeplitzTile &tile) {
  constexpr int64_t kMaxBytes = 81920;
  return !shape.hasStrips(tile) ||
         ToeplitzStripPlanes(tile, shape.filterRows).countBoxBytes(tile) <=
             kMaxBytes;
}

/// Chooses the fastest tile with boxes. It has 64 bytes of a pixel where the
/// number of channels allows that. Strips have all columns, or equal shares of
/// them, and two stages where these fit.
static std::optional<ToeplitzTile> chooseBoxTile(const Shape &shape,
                                                 const ToeplitzRates &rates) {
  constexpr int64_t kMaxBlocks = 8, kMaxBoxRows = 8;
  const int64_t step = shape.isWeights ? kPair : 1;
  std::optional<ToeplitzTile> best;
  ToeplitzTile tile;
  for (tile.channels = 32; shape.channels % tile.channels != 0;)
    tile.channels /= 2;
  tile.threads = std::min(kMaxThreads, tile.channels * 32);
  const int64_t all = llvm::divideCeilSigned(shape.columns, kBlockColumns);
  const int64_t share =
      llvm::divideCeilSigned(all, llvm::divideCeilSigned(all, kMaxBlocks));
  const int64_t most = shape.isWeights ? share : std::min(all, kMaxBlocks);
  for (tile.stages = 2; tile.stages > 0; --tile.stages) {
    if (shape.isWeights && best)
      break;
    for (tile.blocks = shape.isWeights ? share : 1; tile.blocks <= most;
         ++tile.blocks)
      for (tile.rows = step; tile.rows <= kMaxBoxRows; tile.rows += step) {
        const int64_t bands = llvm::divideCeilSigned(shape.rows, tile.rows);
        for (tile.bands =
                 shape.isWeights ? 1 : std::min(bands, kWindows / tile.blocks);
             tile.bands > 0; --tile.bands) {
          setIterations(shape, tile);
          if (fits(shape, tile) && hasFewInFlight(shape, tile) &&
              (!best ||
               getClocks(shape, tile, rates) < getClocks(shape, *best, rates)))
            best = tile;
        }
      }
  }
  return best;
}

/// The best tile, if there is one.
static std::optional<ToeplitzTile> chooseAnyTile(const Shape &shape,
                                                 const ToeplitzRates &rates) {
  std::optional<ToeplitzTile> tile;
  if (shape.hasBoxes)
    tile = chooseBoxTile(shape, rates);
  // Tiles without boxes may be faster for backward weights of small images: a
  // tile is a whole image, and no strips copy only gradients.
  if (!tile || shape.isWeights) {
    std::optional<ToeplitzTile> other = chooseTile(shape);
    if (other)
      setIterations(shape, *other);
    if (!tile || (other && getClocks(shape, *other, rates) <
                               getClocks(shape, *tile, rates)))
      tile = other;
  }
  return tile;
}

/// As in Depthwise the cost is that of moving every byte once, here with the
/// halos, or that of the work.
static double getCost(const ConvProblem &conv, const Shape &shape,
                      const ToeplitzTile &tile, const ToeplitzRates &rates) {
  double bytes = double(conv.getInputElements() + conv.getOutputElements()) *
                 getByteSize(conv.dataType);
  double work = getWork(shape, tile, rates) * double(shape.channels);
  double rate = tile.stages > 0 ? rates.boxWork : rates.work;
  // Memory is read in sectors of 32 bytes. If tiles have less of a pixel, two
  // workgroups read each sector. (This was not timed for backward weights.)
  constexpr int64_t kPieceChannels = 16;
  if (!shape.isWeights && tile.channels < kPieceChannels &&
      tile.channels < shape.channels)
    bytes *= double(kPieceChannels) / double(tile.channels);
  double clocks = std::max(bytes / rates.memoryBytes * rates.halo, work / rate);
  double share =
      std::min(1.0, double(shape.countWorkgroups(tile)) * tile.threads /
                        double(kMaxThreads * shape.multiprocessors));
  return clocks / (double(shape.multiprocessors) * share);
}

std::vector<Candidate>
tessera::getToeplitzCandidates(const ConvProblem &conv, const GpuTarget &target,
                               const ToeplitzRates &rates) {
  const Shape shape = getShape(conv, target);
  const std::optional<ToeplitzTile> tile = chooseAnyTile(shape, rates);
  if (!tile)
    return {};
  return {{tile->toConfig(), getCost(conv, shape, *tile, rates)}};
}

/// Makes a tile one for unknown sizes, whose workgroups are those that are
/// resident at a time.
static void openTile(const Shape &shape, ToeplitzTile &tile) {
  const int64_t resident = kMaxThreads / tile.threads * shape.multiprocessors;
  tile.iterations = 1;
  tile.workgroups =
      std::max<int64_t>(1, resident / (shape.channels / tile.channels));
}

/// The tiles that are best for some of the samples.
static std::vector<Candidate> getOpenCandidates(const Problem &problem,
                                                const GpuTarget &target) {
  // The class of few pixels is that of short reductions for backward weights,
  // of which a small image is one.
  constexpr double kFewOfWeights = 8, kManyOfWeights = 160;
  const std::vector<ConvProblem> samples =
      problem.getConv()->direction == Direction::BackwardWeights
          ? getOpenImages(problem, kFewOfWeights, kManyOfWeights)
          : getOpenImages(problem);
  std::vector<ToeplitzTile> tiles;
  for (const ConvProblem &sample : samples) {
    const Shape shape = getShape(sample, target);
    std::optional<ToeplitzTile> tile = chooseAnyTile(shape, kToeplitzRates);
    if (!tile)
      continue;
    openTile(shape, *tile);
    if (llvm::none_of(tiles, [&](const ToeplitzTile &other) {
          return other.toConfig() == tile->toConfig();
        }))
      tiles.push_back(*tile);
  }
  // Tiles are ranked by the clocks between barriers, too, which only tell them
  // from each other; beside other algorithms the best one has its own cost.
  using Estimate = llvm::function_ref<double(const ConvProblem &, const Shape &,
                                             const ToeplitzTile &)>;
  auto estimate = [&](const ConvProblem &sample, Estimate one) {
    const Shape shape = getShape(sample, target);
    std::vector<Candidate> candidates;
    for (const ToeplitzTile &tile : tiles) {
      ToeplitzTile known = tile;
      known.workgroups = 0;
      setIterations(shape, known);
      candidates.push_back({tile.toConfig(), one(sample, shape, known)});
    }
    return candidates;
  };
  auto getOwn = [](const ConvProblem &sample, const Shape &shape,
                   const ToeplitzTile &tile) {
    return getCost(sample, shape, tile, kToeplitzRates);
  };
  std::vector<Candidate> ranked =
      rankAtSamples(samples, [&](const ConvProblem &sample) {
        return estimate(sample, [&](const ConvProblem &conv, const Shape &shape,
                                    const ToeplitzTile &tile) {
          return std::max(getOwn(conv, shape, tile),
                          getClocks(shape, tile, kToeplitzRates));
        });
      });
  if (ranked.empty())
    return ranked;
  auto isCheaper = [](const Candidate &a, const Candidate &b) {
    return a.cost < b.cost;
  };
  const std::vector<Candidate> own = estimate(samples.front(), getOwn);
  const double share = std::ranges::min_element(own, isCheaper)->cost /
                       std::ranges::min_element(ranked, isCheaper)->cost;
  for (Candidate &candidate : ranked)
    candidate.cost *= share;
  return ranked;
}

std::vector<Candidate> Toeplitz::getCandidates(const Problem &problem,
                                               const GpuTarget &target) const {
  return problem.hasUnknownSizes()
             ? getOpenCandidates(problem, target)
             : getToeplitzCandidates(*problem.getConv(), target);
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

static Shape getShape(const ConvProgram &program, const GpuTarget &target) {
  const dnn::ConvDims &d = program.dims;
  const bool isBackward =
      program.hasDirection(dnn::ConvDirection::BackwardData);
  const bool isForward = program.hasDirection(dnn::ConvDirection::Forward);
  // A tile for unknown sizes has as many workgroups for all of them.
  auto getSize = [](int64_t size) {
    return ShapedType::isDynamic(size) ? 1 : size;
  };
  return {!isForward && !isBackward,
          getSize(d.n),
          d.groups,
          getSize((isForward ? program.y : program.x).getSpatialSize(0)),
          getSize((isBackward ? program.x : program.y).getSpatialSize(1)),
          d.y,
          program.pads[0],
          getLdsLimit(target),
          target.computeUnits,
          target.hasTma};
}

/// Whether the products can compute this convolution on `target`.
static bool isKnown(const ConvProgram &program, const GpuTarget &target) {
  const dnn::ConvDims &d = program.dims;
  const bool isWeights =
      program.hasDirection(dnn::ConvDirection::BackwardWeights);
  const bool fitsFilter =
      isWeights ? d.x <= kMaxTapColumns && d.y <= kMaxTapRows
                : d.x <= kMaxFilterColumns && d.y <= kMaxFilterRows &&
                      !program.getConv().hasEpilogue();
  Type element = program.x.getElementType();
  return target.matrixUnit == MatrixUnit::MmaSm80 &&
         program.x.getNumSpatial() == 2 && fitsFilter && d.c == d.groups &&
         d.k == d.groups &&
         std::max({d.strideH, d.strideW, d.dilationH, d.dilationW}) == 1 &&
         (element.isF16() || element.isBF16()) &&
         program.x.hasChannelsInnermost() && program.y.hasChannelsInnermost() &&
         program.w.getType().getLayout().isIdentity();
}

LogicalResult Toeplitz::build(Operation *primitive, const TileConfig &config,
                              const GpuTarget &target) const {
  auto conv = dyn_cast<dnn::ConvOp>(primitive);
  if (!conv)
    return primitive->emitOpError("is no convolution");
  ErrorOr<ToeplitzTile> tile = parseToeplitzTile(config);
  if (!tile)
    return conv.emitOpError() << tile.getStatus().getMessage();
  ConvProgram program(conv);
  const bool isOpen = !program.x.getType().hasStaticShape();
  if (!isKnown(program, target) || !fits(getShape(program, target), *tile) ||
      (isOpen && tile->workgroups == 0))
    return conv.emitOpError()
           << "does not fit tile '" << config.toText() << "'";
  if (program.hasDirection(dnn::ConvDirection::BackwardWeights))
    buildToeplitzWeights(program, *tile);
  else if (tile->stages > 0)
    buildToeplitzBoxes(program, *tile);
  else
    buildToeplitzData(program, *tile);
  return success();
}

const Algorithm &tessera::getToeplitz() {
  static const Toeplitz kAlgorithm;
  return kAlgorithm;
}
