//===- TmaTiles.cpp - GEMM tiles for TMA and wgmma ------------------------===//

#include "compiler/Algorithms/TmaTiles.h"
#include "compiler/Algorithms/GemmTile.h"
#include "compiler/Algorithms/StrideClasses.h"

#include <algorithm>

using namespace tessera;

static int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Elements of a step, 128 bytes of f16 or bf16.
static constexpr int64_t kStep = 64;

//===----------------------------------------------------------------------===//
// What a tensor map can describe
//===----------------------------------------------------------------------===//

namespace {
/// A convolution as a GEMM: images are read through a window, and a filter.
struct TmaGemm {
  int64_t rows, columns, channels; ///< Of one group; channels of the reduction.
  int64_t groups; ///< With the classes of strided backward data.
  int64_t taps;   ///< Of all classes together.
  int64_t classes = 1;
};
} // namespace

/// Whether a walk of `count` positions, `stride` apart from `lower` on, over
/// `size` elements with a window that reaches `reach` further, is one that
/// im2col mode has: corners of 8 bits for 2 spatial dimensions, 5 for 3.
static bool fitsWalk(int64_t lower, int64_t count, int64_t stride, int64_t size,
                     int64_t reach, bool isDeep) {
  const int64_t limit = isDeep ? 16 : 128;
  const int64_t upper = lower + (count - 1) * stride + 1 - size;
  constexpr int64_t kMaxStride = 8;
  return lower >= -limit && lower < limit && upper >= -limit && upper < limit &&
         reach < 2 * limit && stride <= kMaxStride;
}

static std::array<ConvDim, 3> getDims(const ConvProblem &p) {
  const Spatial out = p.getOutput();
  auto get = [&](int64_t Spatial::*dim, int64_t Pads::*pad) -> ConvDim {
    return {p.in.*dim,  p.filter.*dim, out.*dim,
            p.pad.*pad, p.stride.*dim, p.dilation.*dim};
  };
  return {get(&Spatial::d, &Pads::d), get(&Spatial::h, &Pads::h),
          get(&Spatial::w, &Pads::w)};
}

static bool fitsIm2col(const ConvProblem &p) {
  const bool isDeep = p.hasDepth();
  auto fits = [&](const ConvDim &dim) {
    if (p.direction == Direction::Forward)
      return fitsWalk(-dim.pad, dim.out, dim.stride, dim.in,
                      (dim.filter - 1) * dim.dilation, isDeep);
    // The gradient is walked pixel by pixel, its taps backwards.
    const StrideClasses c = chooseClasses(dim);
    const int64_t reach = (c.taps - 1) * c.outStep;
    return fitsWalk(c.firstRow - c.firstTap * c.outStep - reach, c.rows,
                    /*stride=*/1, dim.out, reach, isDeep);
  };
  // Without depth, its dimension is one of nothing.
  return std::ranges::all_of(getDims(p), fits);
}

/// Backward data is a forward convolution of the gradient for each class of
/// pixels that the same taps reach.
static TmaGemm getGemm(const ConvProblem &p) {
  const int64_t inputs = p.inChannels / p.groups;
  const int64_t outputs = p.outChannels / p.groups;
  TmaGemm gemm{p.batch, outputs, inputs, p.groups, 1};
  if (p.direction != Direction::Forward)
    std::swap(gemm.columns, gemm.channels);
  for (const ConvDim &dim : getDims(p)) {
    gemm.taps *= dim.filter;
    if (p.direction == Direction::Forward) {
      gemm.rows *= dim.out;
      continue;
    }
    const StrideClasses c = chooseClasses(dim);
    gemm.rows *= c.rows;
    gemm.classes *= c.rhos * c.es;
  }
  gemm.groups *= gemm.classes;
  return gemm;
}

/// Whether the result is a tensor map: else it is stored row by row, by
/// addresses that reach 2 GiB.
static bool isReachable(const ConvProblem &p, const TmaGemm &gemm) {
  constexpr int64_t kReach = int64_t(1) << 31, kBytes = 2;
  const bool isRows = gemm.classes > 1 || gemm.columns % 8 != 0 ||
                      p.epilogue.residual || p.epilogue.beta;
  return !isRows || p.getResultLengths().getElements() * kBytes <= kReach;
}

static bool fitsTma(const ConvProblem &p, const GpuTarget &target) {
  const bool isHalf =
      p.dataType == DataType::F16 || p.dataType == DataType::BF16;
  if (target.wgmmaSharedBytes == 0 || !isHalf ||
      p.direction == Direction::BackwardWeights || p.xLayout != Layout::NHWC ||
      p.wLayout != Layout::NHWC || p.yLayout != Layout::NHWC)
    return false;
  // What is read has strides of whole 16 bytes; the last step of a tap may
  // reach past the channels, but not into those of another group.
  constexpr int64_t kUnit = 8;
  const TmaGemm gemm = getGemm(p);
  const bool isForward = p.direction == Direction::Forward;
  if (gemm.channels % kUnit != 0 || (!isForward && gemm.columns % kUnit != 0) ||
      (p.groups > 1 && gemm.channels % kStep != 0))
    return false;
  return isReachable(p, gemm) && fitsIm2col(p);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

namespace {
struct TmaShape {
  int m, n;
  int consumers; ///< That share the rows.
  bool isPingPong;
  int stages;

  /// Of a thread.
  int countSums() const { return m * n / (consumers * 128); }
  /// Two workgroups share a multiprocessor.
  bool isSmall() const { return consumers == 1 && !isPingPong; }
  /// Others multiply while a tile is stored.
  bool hidesStores() const { return isPingPong || isSmall(); }
};
} // namespace

/// 192x128 and 128x128 for most layers, 64 columns for 64 channels, two small
/// workgroups a multiprocessor where memory is the limit.
static constexpr TmaShape kShapes[] = {
    {192, 128, 3, false, 4}, {128, 256, 2, false, 4}, {256, 128, 2, false, 4},
    {128, 128, 1, true, 5},  {192, 128, 1, true, 4},  {128, 128, 2, false, 5},
    {128, 64, 1, true, 6},   {256, 64, 2, false, 4},  {192, 64, 3, false, 5},
    {64, 256, 1, true, 4},   {64, 128, 1, false, 3},  {128, 64, 1, false, 3},
};

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

// Fitted to 250 kernels on an H100 (24 problems, every shape): its first choice
// reaches 0.994 of the best in geometric mean, 0.96 at least. In clocks of one
// multiprocessor.
static constexpr double kRate = 1760;     ///< Multiply-adds a clock.
static constexpr double kL2Bytes = 43;    ///< Of the second cache a clock.
static constexpr double kReadBytes = 128; ///< Of shared memory, by wgmma.
static constexpr double kMemoryBytes = 14.7;
static constexpr double kExposedSums = 9;  ///< Stored in a clock, unhidden,
static constexpr double kHiddenSums = 128; ///< and behind others' products.
static constexpr double kOverlap = 0.3; ///< Of the smaller of work and memory.
static constexpr double kBegin = 4000;

/// Clocks of one tile of `steps`, on average, if nothing but its workgroups
/// holds them up.
static double getTileClocks(const TmaShape &shape, double steps) {
  const double products = shape.m * shape.n * kStep / kRate;
  const double copied = (shape.m + shape.n) * kStep * 2 / kL2Bytes;
  // Each wgmma reads its 64 rows and all columns.
  const double read =
      (shape.m + shape.n * shape.m / 64.0) * kStep * 2 / kReadBytes;
  return steps * std::max({products, copied, read}) +
         shape.m * shape.n / (shape.hidesStores() ? kHiddenSums : kExposedSums);
}

static double estimateClocks(const ConvProblem &p, const TmaShape &shape,
                             const GpuTarget &target) {
  const TmaGemm gemm = getGemm(p);
  const double steps =
      static_cast<double>(gemm.taps * divideUp(gemm.channels, kStep)) /
      static_cast<double>(gemm.classes);
  const int64_t tiles = gemm.groups * divideUp(gemm.rows, shape.m) *
                        divideUp(gemm.columns, shape.n);
  const int64_t sharing = shape.isSmall() ? 2 : 1;
  const auto turns = static_cast<double>(
      divideUp(tiles, target.computeUnits * sharing) * sharing);
  double work = turns * getTileClocks(shape, steps);
  if (shape.isPingPong)
    work += shape.m * shape.n / kExposedSums; // Nothing hides the last one.
  const double memory =
      2.0 *
      static_cast<double>(p.getInputElements() + p.getFilterElements() +
                          p.getOutputElements()) /
      (kMemoryBytes * target.computeUnits);
  return std::max(work, memory) + kOverlap * std::min(work, memory) + kBegin;
}

/// More leave no registers for what an epilogue reads at every element.
static constexpr int kManySums = 128;

std::vector<Candidate> tessera::getTmaCandidates(const ConvProblem &problem,
                                                 const GpuTarget &target) {
  std::vector<Candidate> candidates;
  if (!fitsTma(problem, target))
    return candidates;
  const bool hasElements = problem.epilogue.residual || problem.epilogue.beta;
  for (const TmaShape &shape : kShapes) {
    if (hasElements && shape.countSums() > kManySums)
      continue;
    GemmTile tile;
    tile.m = shape.m;
    tile.n = shape.n;
    tile.k = kStep;
    tile.wavesM = shape.consumers;
    tile.buffers = shape.stages;
    tile.mma = "wgmma";
    tile.isTma = true;
    tile.isPingPong = shape.isPingPong;
    candidates.push_back(
        {tile.toConfig(), estimateClocks(problem, shape, target)});
  }
  return candidates;
}
