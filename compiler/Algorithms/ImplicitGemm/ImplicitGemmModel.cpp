//===- ImplicitGemmModel.cpp - Which GEMM tile for which problem ----------===//
//
// The problems that igemm covers, the tiles that are worth trying for each, and
// the numbers of splits. GemmCost.h says what they cost.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/ImplicitGemm/GemmCost.h"
#include "compiler/Algorithms/ImplicitGemm/ImplicitGemm.h"
#include "compiler/Algorithms/OpenSamples.h"
#include "compiler/Algorithms/Registry.h"
#include "compiler/Algorithms/Tma/TmaTiles.h"
#include "compiler/Algorithms/Tma/TmaWeightTiles.h"
#include "compiler/Target/LaunchLds.h"
#include "compiler/Target/MatrixInstruction.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <set>

using namespace tessera;

/// The numbers of splits worth trying: 1, and those that divide the reduction
/// and keep its walk, up to two tiles for each compute unit. There are 64 at
/// most, or 128 of workgroups that have half of the SIMDs of a unit, which
/// waits if it has one of them: of a stem's backward weights the AMD clock
/// expects 0.60 ms of 112 splits, and 1.07 of 56. Forward and backward data are
/// split into whole steps of channels, where tiles leave half of the units
/// idle.
static std::vector<int> getSplits(const ConvProblem &problem,
                                  const GemmChoice &choice,
                                  const GpuTarget &target) {
  std::vector<int> splits = {1};
  const GemmSize &size = choice.size;
  double tiles = countTiles(size, choice.shape);
  const bool isData = problem.direction != Direction::BackwardWeights;
  if (isData && (choice.halo || choice.getWalk(1) == GemmWalk::Flat ||
                 tiles * 2 > target.computeUnits))
    return splits;
  const int waves = choice.shape.wavesM * choice.shape.wavesN;
  const int most = target.vendor == Vendor::Amd && waves == 2 ? 128 : 64;
  for (int n = 2; n <= most; ++n)
    if ((size.splittable % n == 0 || size.alsoSplittable % n == 0) &&
        tiles * n < 2.0 * target.computeUnits &&
        choice.getWalk(n) == choice.getWalk(1))
      splits.push_back(n);
  return splits;
}

/// Whether the copies of a tile fit the registers of a lane.
static bool fitsRegisters(const GemmChoice &choice, const GpuTarget &target) {
  const GemmShape &shape = choice.shape;
  // A halo takes whole blocks of channels, and two at least: one is loaded
  // while another is multiplied.
  if (choice.halo)
    return choice.size.inner % choice.getStep() == 0 &&
           choice.size.inner > choice.getStep();
  bool transposesBoth = choice.size.rowOperand.isTransposed &&
                        choice.size.columnOperand.isTransposed;
  GemmWalk walk = choice.getWalk(1);
  // Direct copies do not find taps by division, as a flat walk does. The
  // addresses of a stepped walk fit the registers of NVIDIA's chips only.
  if (shape.isDirect)
    return walk == GemmWalk::Nested ||
           (walk == GemmWalk::Stepped && target.vendor == Vendor::Nvidia);
  return (walk == GemmWalk::Nested || shape.fitsFlatWalk) &&
         (!transposesBoth || shape.fitsTransposes);
}

/// Whether one buffer descriptor reaches the rows of a tile: in a tensor beyond
/// 2 GiB these must be close together (GlobalBuffer.h). They are images of x
/// and y, and single output channels of w.
static bool isReachable(const ConvProblem &problem, const GemmShape &tile) {
  constexpr int64_t kLimit = int64_t(1) << 31;
  int64_t bytes = std::max(getByteSize(problem.dataType),
                           getByteSize(problem.getResultType()));
  // `steps` is the length of the outermost dimension, and `rows` what a tile
  // has of it; 0 if its rows are not along it.
  auto fits = [&](int64_t elements, int64_t steps, int64_t rows) {
    return elements * bytes <= kLimit ||
           (rows > 0 && (rows + 2) * (elements / steps * bytes) <= kLimit);
  };
  auto fitsAll = [&](int64_t imagesOfX, int64_t imagesOfY, int64_t filters) {
    return fits(problem.getInputElements(), problem.batch, imagesOfX) &&
           fits(problem.getOutputElements(), problem.batch, imagesOfY) &&
           fits(problem.getFilterElements(), problem.outChannels, filters);
  };
  switch (problem.direction) {
  case Direction::Forward: {
    int64_t images =
        llvm::divideCeilSigned(tile.m, getVolume(problem.getOutput()));
    return fitsAll(images, images, tile.n);
  }
  case Direction::BackwardData: {
    int64_t images = llvm::divideCeilSigned(tile.m, getVolume(problem.in)) *
                     getVolume(problem.stride);
    return fitsAll(images, images, 0);
  }
  case Direction::BackwardWeights:
    return fitsAll(0, 0, tile.m);
  }
  return false;
}

/// Whether HIP can count the work-items of the launch in 32 bits.
static bool isLaunchable(const GemmSize &size, const GpuTarget &target,
                         const GemmShape &tile) {
  double items = countTiles(size, tile) * tile.wavesM * tile.wavesN *
                 static_cast<double>(target.waveSize);
  return items <= std::numeric_limits<uint32_t>::max();
}

/// Whether coordinates and the reduction fit the 32-bit arithmetic of a kernel.
/// They do, except for windows far larger than any image.
static bool fitsInt32(const ConvProblem &problem, const GpuTarget &target) {
  constexpr double kLimit = std::numeric_limits<int32_t>::max() / 8;
  Spatial out = problem.getOutput();
  auto fits = [&](int64_t Spatial::*dim, int64_t Pads::*pad) {
    double reach =
        static_cast<double>(out.*dim) *
            static_cast<double>(problem.stride.*dim) +
        static_cast<double>(problem.filter.*dim + problem.stride.*dim) *
            static_cast<double>(problem.dilation.*dim) +
        static_cast<double>(problem.pad.*pad);
    return reach < kLimit;
  };
  return fits(&Spatial::h, &Pads::h) && fits(&Spatial::w, &Pads::w) &&
         fits(&Spatial::d, &Pads::d) &&
         getGemmSize(problem, /*step=*/1, target).reduction < kLimit;
}

/// Whether chunks of an operand, of which a tile has `rows`, are copied to LDS
/// unchanged: chunks along the reduction, or along the rows where ldmatrix
/// transposes them (TransposedCopy.h).
static bool hasDirectChunks(const OperandLayout &operand, int rows,
                            int64_t elementBytes, const GpuTarget &target) {
  constexpr int64_t kChunkBytes = 16;
  bool canTranspose = target.vendor == Vendor::Nvidia && elementBytes == 2 &&
                      std::has_single_bit(static_cast<unsigned>(rows));
  return operand.loadElements * elementBytes == kChunkBytes &&
         (!operand.isTransposed || canTranspose);
}

/// Whether both operands lie in memory as direct copies to LDS need them:
/// chunks are contiguous, and one descriptor reaches all of them with some
/// headroom.
static bool canCopyDirectly(const ConvProblem &problem, const GemmSize &size,
                            const GemmShape &shape, const GpuTarget &target) {
  constexpr int64_t kLimit = (int64_t(1) << 31) - 4096;
  int64_t bytes = getByteSize(problem.dataType);
  auto isReady = [&](Layout layout, int64_t elements) {
    return layout == Layout::NHWC && elements * bytes <= kLimit;
  };
  auto isResult = [&](Direction direction) {
    return problem.direction == direction;
  };
  return hasDirectChunks(size.rowOperand, shape.m, bytes, target) &&
         hasDirectChunks(size.columnOperand, shape.n, bytes, target) &&
         (isResult(Direction::BackwardData) ||
          isReady(problem.xLayout, problem.getInputElements())) &&
         (isResult(Direction::BackwardWeights) ||
          isReady(problem.wLayout, problem.getFilterElements())) &&
         (isResult(Direction::Forward) ||
          isReady(problem.yLayout, problem.getOutputElements()));
}

/// The bytes of LDS that a workgroup needs.
static int64_t countLdsBytes(const GemmChoice &choice) {
  const GemmShape &shape = choice.shape;
  int64_t rowBytes = int64_t(shape.stepBytes) * shape.buffers;
  return choice.halo ? choice.halo->getBytes() + shape.n * rowBytes
                     : (shape.m + shape.n) * rowBytes + choice.size.tableBytes;
}

/// Whether a compute unit has the LDS of a tile. For tiles with a halo that go
/// directly to LDS it must have that of as many workgroups as keep it busy, and
/// the problem must have so many tiles.
static bool fitsUnit(const GemmChoice &choice, const GpuTarget &target) {
  constexpr int64_t kLeastWaves = 6, kSystemBytes = 1024; // In each workgroup.
  const GemmShape &shape = choice.shape;
  int64_t bytes = countLdsBytes(choice), most = getMaxLdsBytes(target);
  if (bytes > most || !choice.halo || !shape.isDirect)
    return bytes <= most;
  int64_t workgroups =
      llvm::divideCeilSigned(kLeastWaves, shape.wavesM * shape.wavesN);
  if (workgroups == 1)
    return true;
  return workgroups * (bytes + kSystemBytes) <= most + kSystemBytes &&
         countTiles(choice.size, shape) >=
             static_cast<double>(workgroups * target.computeUnits);
}

/// Whether results can be staged: LDS is left for them beside a halo, 16 bytes
/// of them are contiguous, and workgroups have a next tile.
static bool isStaged(const GemmChoice &choice, const GpuTarget &target) {
  constexpr int64_t kResultBytes = 2, kChunkElements = 8, kWaves = 8;
  int64_t results = int64_t(choice.shape.m) * choice.shape.n * kResultBytes;
  return choice.halo && choice.shape.isDirect &&
         choice.elementBytes == kResultBytes &&
         choice.size.columns % kChunkElements == 0 &&
         choice.shape.wavesM * choice.shape.wavesN == kWaves &&
         countTiles(choice.size, choice.shape) > target.computeUnits &&
         countLdsBytes(choice) + results <= getMaxLdsBytes(target);
}

namespace {
class ImplicitGemm final : public Algorithm {
public:
  std::string_view getName() const override { return "igemm"; }
  bool takesUnknownSizes() const override { return true; }
  /// For splits, and for the transposed filter of backward data in tf32 and in
  /// floats of 8 bits.
  bool needsWorkspace(const ConvProblem &conv,
                      const TileConfig &config) const override {
    ErrorOr<GemmTile> tile = parseGemmTile(config);
    return !tile || tile->splits > 1 ||
           (conv.direction == Direction::BackwardData && tile->isTma &&
            (tile->isTf32() || isFloat8(conv.dataType)));
  }
  Status check(const Problem &problem, const GpuTarget &target) const override;
  std::vector<Candidate> getCandidates(const Problem &problem,
                                       const GpuTarget &target) const override;
  mlir::LogicalResult build(mlir::Operation *primitive, const TileConfig &tile,
                            const GpuTarget &target) const override {
    return buildImplicitGemm(primitive, tile, target);
  }
};
} // namespace

/// Which problems of unknown sizes have products of matrices: neighbours in
/// memory are channels. On AMD's chips those of images may be pixels, and those
/// of a filter taps, which are loaded one by one.
static Status checkOpenSizes(const ConvProblem &conv, const GpuTarget &target) {
  const bool isAmd = target.vendor == Vendor::Amd;
  const auto isCovered = [&](Layout layout) {
    return layout == Layout::NHWC || (isAmd && layout == Layout::NCHW);
  };
  const bool hasFilter =
      isCovered(conv.wLayout) || (isAmd && conv.wLayout == Layout::Strided &&
                                  conv.direction != Direction::BackwardWeights);
  if (!hasFilter || !isCovered(conv.xLayout) || !isCovered(conv.yLayout))
    return notSupported("needs known sizes unless what it reduces over has "
                        "channels last");
  if (conv.dataType != DataType::F16 && conv.dataType != DataType::BF16 &&
      conv.dataType != DataType::F32)
    return notSupported("needs known sizes for " +
                        std::string(tessera::getName(conv.dataType)));
  // Positions along the reduction are counted in bytes with 31 bits.
  if (conv.direction == Direction::BackwardWeights && conv.outChannels == 1)
    return notSupported("needs known sizes to reduce to one output channel");
  return Status::ok();
}

/// Accepts the problems that the lowering covers.
Status ImplicitGemm::check(const Problem &problem,
                           const GpuTarget &target) const {
  const Problem sample = problem.getSample();
  const ConvProblem *conv = sample.getConv();
  if (!conv)
    return notSupported("solves convolutions");
  if (problem.hasUnknownSizes())
    if (Status status = checkOpenSizes(*conv, target); !status.isOk())
      return status;
  if (isFloat8(conv->dataType) &&
      !findMatrixInstruction(target, getGemmShapes(target, *conv).instruction,
                             conv->dataType))
    return notSupported(std::string(target.name) + " multiplies no " +
                        std::string(tessera::getName(conv->dataType)));
  if (!fitsInt32(*conv, target))
    return notSupported("the window is beyond the 32-bit arithmetic of a "
                        "kernel");
  return Status::ok();
}

/// Whether groups are too narrow to fill a TMA copy, so that tiles without TMA
/// are worth trying.
static bool hasNarrowGroups(const ConvProblem &problem) {
  return problem.groups > 1 && problem.inChannels / problem.groups < 64;
}

/// See GemmChoice.
static int64_t getPlanePixels(const ConvProblem &conv) {
  const bool isForward = conv.direction == Direction::Forward;
  const bool hasPlanes =
      conv.direction != Direction::BackwardWeights &&
      (isForward ? conv.yLayout : conv.xLayout) == Layout::NCHW;
  if (!hasPlanes)
    return 0;
  // The pixels of a class of strided backward data have others between them.
  if (!isForward && conv.stride.w > 1)
    return 1;
  return getVolume(isForward ? conv.getOutput() : conv.in);
}

/// The bytes of a filter that come from memory again, of chips that the AMD
/// clock does not know. The reduction goes through the channels of a tap before
/// the next, so with channels first each line has something for every tap, and
/// what L2 does not keep from one to the next is read anew. On an H100 1536 to
/// 1536 channels of 7x7 in f32, a filter of 85 MB, took 458 us in place of 122.
static double countFilterAgain(const ConvProblem &conv, const GpuTarget &target,
                               const GemmRates &rates) {
  const auto bytes = static_cast<double>(conv.getFilterElements() *
                                         getByteSize(conv.dataType));
  const double l2Bytes = getL2Bytes(target);
  if (rates.wait > 0 || l2Bytes == 0 || conv.wLayout != Layout::NCHW ||
      conv.direction == Direction::BackwardWeights || bytes <= l2Bytes)
    return 0;
  return bytes * static_cast<double>(getVolume(conv.filter) - 1);
}

std::vector<Candidate> tessera::getGemmCandidates(const ConvProblem &conv,
                                                  const GpuTarget &target,
                                                  const GemmRates &rates) {
  int64_t elementBytes = getByteSize(conv.dataType);
  GemmShapes shapes = getGemmShapes(target, conv);
  const double tensorBytes =
      static_cast<double>((conv.getInputElements() + conv.getFilterElements() +
                           conv.getOutputElements()) *
                          elementBytes) +
      countFilterAgain(conv, target, rates);
  std::vector<Candidate> candidates;
  for (const GemmShape &shape : shapes.shapes) {
    GemmTile tile = makeGemmTile(shapes, shape, elementBytes);
    GemmSize size = getGemmSize(conv, tile.k, target, tile.n);
    GemmChoice choice{size, shape, elementBytes};
    choice.planePixels = getPlanePixels(conv);
    choice.isOfWeights = conv.direction == Direction::BackwardWeights;
    if (shape.halo > 0)
      choice.halo = measureGemmHalo(conv, target, shape);
    choice.isStaged = isStaged(choice, target);
    if ((shape.halo > 0 && !choice.halo) ||
        (shape.isForPlanes && !size.hasPlanes) || !isReachable(conv, shape) ||
        !isLaunchable(size, target, shape) || !fitsRegisters(choice, target) ||
        !fitsUnit(choice, target) ||
        (shape.isDirect && !canCopyDirectly(conv, size, shape, target)))
      continue;
    for (int splits : getSplits(conv, choice, target)) {
      tile.splits = choice.splits = splits;
      candidates.push_back(
          {tile.toConfig(),
           estimateClocks(choice, target, rates, shapes, tensorBytes)});
    }
  }
  return candidates;
}

/// What tiles of mma.sync take that load pixels one by one and join them, over
/// what the model expects. On an H100, f16, 3x3 and 1x1 of ResNet-50 took 1.3
/// to 23 times as long, in the median 3; backward weights 5 to 27, or 1.3 if
/// pointwise, and backward data of stride 2 7 to 23.
static double getNarrowLoadsShare(const ConvProblem &conv,
                                  const GpuTarget &target) {
  constexpr double kPlain = 3, kSlow = 9;
  const bool isWide =
      conv.dataType == DataType::F64 || conv.dataType == DataType::F32;
  const bool isNarrow =
      target.hasWgmma && (!isWide || conv.allowsTf32()) &&
      (conv.xLayout == Layout::NCHW || conv.yLayout == Layout::NCHW);
  if (!isNarrow)
    return 1;
  switch (conv.direction) {
  case Direction::Forward:
    return kPlain;
  case Direction::BackwardData:
    return getVolume(conv.stride) > 1 ? kSlow : kPlain;
  case Direction::BackwardWeights:
    return getVolume(conv.filter) > 1 || getVolume(conv.stride) > 1 ? kSlow
                                                                    : kPlain;
  }
  return kPlain;
}

/// The numbers of splits for unknown sizes: of backward weights, where they are
/// runs of steps, powers of two up to what fills the chip twice, but none in
/// the class of short reductions; of images, in the class of few pixels, those
/// that keep the walk of the channels.
static std::set<int> getOpenSplits(const ConvProblem &sample, bool isSmall,
                                   const GemmChoice &choice,
                                   const GpuTarget &target) {
  constexpr int kMost = 64;
  std::set<int> splits = {1};
  if (sample.direction == Direction::BackwardWeights) {
    const double tiles = countTiles(choice.size, choice.shape);
    for (int n = 2;
         !isSmall && n <= kMost && tiles * n <= 2.0 * target.computeUnits;
         n *= 2)
      splits.insert(n);
    return splits;
  }
  if (!isSmall || choice.getWalk(1) == GemmWalk::Flat)
    return splits;
  for (int n = 2; n <= kMost; ++n)
    if (choice.size.splittable % n == 0 &&
        choice.getWalk(n) == choice.getWalk(1))
      splits.insert(n);
  return splits;
}

/// The rates under unknown sizes. A load of a flat walk of backward weights
/// divides by them, which takes some 24 instructions more, as counted for
/// gfx942; one pixel of a plane that no window checks takes one division. In
/// the class of few pixels splits are for members that are smaller than most
/// samples, too, and what is small stays in the Infinity Cache, which
/// gives 1.46 times as much. Partial results of few pixels stay in L2: the AMD
/// clock expects of 2025 pixels of 256 channels 0.3 us more for 8 splits than
/// for 4.
static GemmRates getOpenRates(const ConvProblem &sample, bool isSmall,
                              const GpuTarget &target) {
  constexpr double kDivisions = 24, kOfPixel = 12, kSumShare = 0.9;
  constexpr double kCachedShare = 1.46, kNearShare = 3;
  const bool isOfWeights = sample.direction == Direction::BackwardWeights;
  GemmRates rates = getGemmRates(target);
  const bool arePixels = sample.yLayout == Layout::NCHW;
  const bool arePlain =
      getVolume(sample.filter) * getVolume(sample.stride) == 1;
  if (isOfWeights)
    rates.flat = arePixels && arePlain
                     ? kOfPixel
                     : rates.flat + kDivisions * (arePixels ? 2 : 1);
  rates.sum *= isSmall ? kSumShare : 1;
  if (isSmall && rates.wait > 0)
    rates.memory *= isOfWeights ? kCachedShare : kNearShare;
  return rates;
}

/// The product of `sample` where planes of unknown size are read: pixels one by
/// one. They are rows of forward and backward data; backward weights reduces
/// over them, and finds each by division.
static GemmSize getOpenSize(const ConvProblem &sample, const GemmTile &tile,
                            const GpuTarget &target) {
  const bool isForward = sample.direction == Direction::Forward;
  if (sample.direction != Direction::BackwardWeights) {
    GemmSize size = getGemmSize(sample, tile.k, target, tile.n);
    if ((isForward ? sample.xLayout : sample.yLayout) == Layout::NCHW)
      size.rowOperand = {/*loadElements=*/1, /*isTransposed=*/false,
                         /*laneDistance=*/isForward ? sample.stride.w : 1};
    return size;
  }
  ConvProblem last = sample;
  last.xLayout = last.yLayout = Layout::NHWC;
  GemmSize size = getGemmSize(last, tile.k, target, tile.n);
  constexpr int64_t kChunkBytes = 16; // Of neighbouring lanes.
  const OperandLayout pixels = {/*loadElements=*/1, /*isTransposed=*/false,
                                kChunkBytes / getByteSize(sample.dataType)};
  if (sample.yLayout == Layout::NCHW)
    size.rowOperand = pixels;
  if (sample.xLayout == Layout::NCHW)
    size.columnOperand = pixels;
  if (sample.xLayout == Layout::NCHW || sample.yLayout == Layout::NCHW)
    size.inner = 1;
  return size;
}

/// The tiles for unknown sizes, which copy through registers.
static std::vector<Candidate> getOpenCandidates(const ConvProblem &sample,
                                                bool isSmall,
                                                const GpuTarget &target) {
  const int64_t elementBytes = getByteSize(sample.dataType);
  const GemmShapes shapes = getGemmShapes(target, sample);
  const auto tensorBytes = static_cast<double>((sample.getInputElements() +
                                                sample.getFilterElements() +
                                                sample.getOutputElements()) *
                                               elementBytes);
  const GemmRates rates = getOpenRates(sample, isSmall, target);
  std::vector<Candidate> candidates;
  for (const GemmShape &shape : shapes.shapes) {
    GemmTile tile = makeGemmTile(shapes, shape, elementBytes);
    const GemmSize size = getOpenSize(sample, tile, target);
    GemmChoice choice{size, shape, elementBytes};
    // Stored by fours where their number is a multiple.
    constexpr int64_t kTogether = 4;
    choice.planePixels = std::min(getPlanePixels(sample), kTogether);
    choice.isOfWeights = sample.direction == Direction::BackwardWeights;
    choice.countsIdleSimds = !choice.isOfWeights;
    if (shape.isDirect || shape.halo > 0 || shape.isForPlanes ||
        !fitsRegisters(choice, target) || !fitsUnit(choice, target))
      continue;
    for (int splits : getOpenSplits(sample, isSmall, choice, target)) {
      tile.splits = splits;
      choice.splits = countUsedSplits(sample, tile);
      candidates.push_back(
          {tile.toConfig(),
           estimateClocks(choice, target, rates, shapes, tensorBytes)});
    }
  }
  return candidates;
}

/// Backward weights of unknown size, copied by TMA: tiles with numbers of
/// splits that suit some of the samples, ranked at all of them. The large
/// filters of short reductions want none, small ones of long reductions many.
static std::vector<Candidate> getOpenWeights(const Problem &problem,
                                             const GpuTarget &target) {
  constexpr double kMostPixels = 1 << 21;
  const std::vector<ConvProblem> samples = getOpenSamples(problem, kMostPixels);
  std::set<int> splits;
  for (const ConvProblem &sample : samples)
    for (const Candidate &candidate : getOpenTmaCandidates(sample, target))
      if (ErrorOr<GemmTile> tile = parseGemmTile(candidate.tile))
        splits.insert(static_cast<int>(tile->splits));
  // Of those that are close to each other one is enough.
  constexpr int kOf = 5, kCloser = 4;
  std::erase_if(splits, [last = 0](int count) mutable {
    const bool isClose = last > 1 && count * kCloser < last * kOf;
    last = isClose ? last : count;
    return isClose;
  });
  const Problem first = problem.getSample();
  return scaleCosts(rankAtSamples(samples,
                                  [&](const ConvProblem &sample) {
                                    return getTmaWeightCandidates(
                                        sample, target, splits);
                                  }),
                    getOpenTmaCandidates(*first.getConv(), target));
}

std::vector<Candidate>
ImplicitGemm::getCandidates(const Problem &problem,
                            const GpuTarget &target) const {
  if (problem.hasUnknownSizes()) {
    const Problem first = problem.getSample();
    const bool isTma = checkOpenTma(*first.getConv(), target).isOk();
    const auto find = [&](const ConvProblem &sample) {
      return isTma ? getOpenTmaCandidates(sample, target)
                   : getOpenCandidates(sample, problem.isSmall(), target);
    };
    // Over the layers of conv-h100.txt larger samples raise the mean share of
    // the best tile's speed, by the model, from 0.89 to 0.91 at batch 64 and
    // from 0.80 to 0.84 at batch 1 for tiles of TMA; for gfx942 it falls from
    // 0.92 to 0.89 at batch 1.
    constexpr double kMostPixels = 1 << 17, kMostTmaPixels = 1 << 20;
    if (problem.getConv()->direction != Direction::BackwardWeights)
      return rankAtSamples(getOpenSamples(problem,
                                          isTma ? kMostTmaPixels : kMostPixels,
                                          target.vendor == Vendor::Amd),
                           find);
    return isTma ? getOpenWeights(problem, target)
                 : rankAtSamples(getOpenSamples(problem, kMostPixels,
                                                target.vendor == Vendor::Amd),
                                 find);
  }
  const ConvProblem &conv = *problem.getConv();
  std::vector<Candidate> candidates = getTmaCandidates(conv, target);
  const double narrow = getNarrowLoadsShare(conv, target);
  if (candidates.empty() || hasNarrowGroups(conv))
    for (Candidate &candidate :
         getGemmCandidates(conv, target, getGemmRates(target)))
      candidates.push_back(
          {std::move(candidate.tile), narrow * candidate.cost});
  return candidates;
}

const Algorithm &tessera::getImplicitGemm() {
  static const ImplicitGemm kAlgorithm;
  return kAlgorithm;
}
