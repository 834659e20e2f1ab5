//===- ImplicitGemmModel.cpp - Which GEMM tile for which problem ----------===//
//
// A first model: a tile costs its area over the share of issue clocks that its
// inner loop spends on matrix instructions, and the tiles run in rounds over
// the compute units. Partly filled tiles and rounds are what it weighs.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/GemmShapes.h"
#include "compiler/Algorithms/ImplicitGemm.h"
#include "compiler/Algorithms/Registry.h"

#include <cmath>
#include <limits>

using namespace tessera;

static int64_t divideUp(int64_t value, int64_t by) {
  return (value + by - 1) / by;
}

namespace {
/// The GEMM that a direction of a convolution is; for strided backward data,
/// those of all classes of input pixels (BackwardDataViews.cpp) together.
struct GemmSize {
  double groups;
  int64_t rows;
  int64_t columns;
  double reduction; ///< The mean of the classes.
  /// How many elements the inner loop of a nested walk goes through.
  int64_t inner;
  /// The outermost dimension of a reduction that may be split, else 1; and
  /// whether `inner` is split with it.
  int64_t splittable = 1;
  bool splitsInner = false;
};
} // namespace

static int64_t multiply(const Spatial &sizes) {
  return sizes.d * sizes.h * sizes.w;
}

static bool isPointwise(const ConvProblem &p) {
  return p.filter == Spatial() && p.pad == Pads() && p.stride == Spatial();
}

static GemmSize getForwardSize(const ConvProblem &p) {
  int64_t channels = p.inChannels / p.groups;
  return {static_cast<double>(p.groups), p.batch * multiply(p.getOutput()),
          p.outChannels / p.groups,
          static_cast<double>(channels * multiply(p.filter)), channels};
}

static GemmSize getBackwardDataSize(const ConvProblem &p) {
  int64_t channels = p.outChannels / p.groups;
  auto classes = static_cast<double>(multiply(p.stride));
  Spatial rows = {divideUp(p.in.h, p.stride.h), divideUp(p.in.w, p.stride.w),
                  divideUp(p.in.d, p.stride.d)};
  return {static_cast<double>(p.groups) * classes, p.batch * multiply(rows),
          p.inChannels / p.groups,
          static_cast<double>(channels * multiply(p.filter)) / classes,
          channels};
}

static GemmSize getBackwardWeightsSize(const ConvProblem &p, int step) {
  Spatial out = p.getOutput();
  int64_t pixels = multiply(out);
  GemmSize size = {static_cast<double>(p.groups),
                   p.outChannels / p.groups,
                   p.inChannels / p.groups * multiply(p.filter),
                   static_cast<double>(p.batch * pixels),
                   p.batch,
                   p.batch};
  if (isPointwise(p)) {
    bool areNhwc = p.xLayout == Layout::NHWC && p.yLayout == Layout::NHWC;
    bool areNchw = p.xLayout == Layout::NCHW && p.yLayout == Layout::NCHW;
    size.inner = areNhwc ? p.batch * pixels : areNchw ? pixels : 1;
    size.splitsInner = areNhwc;
  } else if (p.batch % (2 * step) == 0) {
    // Images innermost: the first spatial dimension is split.
    size.splittable = p.hasDepth() ? out.d : out.h;
  }
  return size;
}

static GemmSize getGemmSize(const ConvProblem &problem, int step) {
  switch (problem.direction) {
  case Direction::Forward:
    return getForwardSize(problem);
  case Direction::BackwardData:
    return getBackwardDataSize(problem);
  case Direction::BackwardWeights:
    return getBackwardWeightsSize(problem, step);
  }
  return {};
}

static double countTiles(const GemmSize &size, const GemmShape &tile) {
  return size.groups * static_cast<double>(divideUp(size.rows, tile.m)) *
         static_cast<double>(divideUp(size.columns, tile.n));
}

/// Clocks of the launch that adds the parts: to start it, and to write and read
/// an f32 of each at a speed between those of memory and of the L2 cache.
static double estimateSum(const GemmSize &size, int parts) {
  constexpr double kLaunch = 10000, kBytesAClock = 2000;
  double elements = size.groups * static_cast<double>(size.rows) *
                    static_cast<double>(size.columns);
  return parts == 1 ? 0 : kLaunch + elements * parts * 8 / kBytesAClock;
}

/// `turn`: elements of the reduction that one turn of the main loop takes, to
/// a multiple of which a part is filled up with zeros.
static double estimateClocks(const GemmSize &size, const GpuTarget &target,
                             double peak, const GemmShape &tile, int64_t turn,
                             int parts) {
  double rounds =
      std::ceil(countTiles(size, tile) * parts / target.computeUnits);
  auto steps = static_cast<double>(turn);
  double reduction = std::ceil(size.reduction / parts / steps) * steps;
  return rounds * tile.m * tile.n * reduction / (tile.efficiency * peak) +
         estimateSum(size, parts);
}

/// Whether the walk of a part is nested (TileCopy.h), for `turn` elements a
/// turn of the main loop.
static bool isNested(const GemmSize &size, int64_t turn, int parts) {
  return size.inner / (size.splitsInner ? parts : 1) % turn == 0;
}

/// 1, and numbers of parts that divide the reduction and do not make the walk
/// flat, as long as a compute unit is left without a tile.
static std::vector<int> getParts(const GemmSize &size, const GpuTarget &target,
                                 const GemmShape &tile, int64_t turn) {
  std::vector<int> parts = {1};
  double tiles = countTiles(size, tile);
  for (int n = 2; n <= size.splittable && n <= 64; ++n)
    if (size.splittable % n == 0 && tiles * n < 2.0 * target.computeUnits &&
        isNested(size, turn, n) == isNested(size, turn, 1))
      parts.push_back(n);
  return parts;
}

/// Whether the rows of a tile stay within one buffer descriptor: those of a
/// tensor beyond 2 GiB must lie together (GlobalBuffer.h). Images of x and y;
/// for w, single output channels.
static bool isReachable(const ConvProblem &problem, const GemmShape &tile) {
  constexpr int64_t kLimit = int64_t(1) << 31;
  int64_t bytes = getByteSize(problem.dataType);
  // `steps` along the outermost dimension, `rows` of the tile along it; none
  // where the rows are not along it.
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
    int64_t images = divideUp(tile.m, multiply(problem.getOutput()));
    return fitsAll(images, images, tile.n);
  }
  case Direction::BackwardData: {
    int64_t images =
        divideUp(tile.m, multiply(problem.in)) * multiply(problem.stride);
    return fitsAll(images, images, 0);
  }
  case Direction::BackwardWeights:
    return fitsAll(0, 0, tile.m);
  }
  return false;
}

/// Whether HIP can count the work-items of the launch.
static bool isLaunchable(const GemmSize &size, const GpuTarget &target,
                         const GemmShape &tile) {
  double items = countTiles(size, tile) * tile.wavesM * tile.wavesN *
                 static_cast<double>(target.waveSize);
  return items <= std::numeric_limits<uint32_t>::max();
}

/// Whether coordinates and the reduction fit the 32-bit arithmetic of a kernel.
/// Only windows far larger than any image do not.
static bool fitsInt32(const ConvProblem &problem) {
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
         getGemmSize(problem, /*step=*/1).reduction < kLimit;
}

/// Whether both factors lie in memory as a copy directly to LDS needs them:
/// channels together, and all in reach of one descriptor with some headroom.
static bool canCopyDirectly(const ConvProblem &problem) {
  constexpr int64_t kLimit = (int64_t(1) << 31) - 4096;
  int64_t bytes = getByteSize(problem.dataType);
  return problem.direction == Direction::Forward &&
         problem.xLayout == Layout::NHWC && problem.wLayout == Layout::NHWC &&
         problem.getInputElements() * bytes <= kLimit &&
         problem.getFilterElements() * bytes <= kLimit;
}

namespace {
class ImplicitGemm final : public Algorithm {
public:
  std::string_view getName() const override { return "igemm"; }
  Status check(const Problem &problem, const GpuTarget &target) const override;
  std::vector<Candidate> getCandidates(const Problem &problem,
                                       const GpuTarget &target) const override;
  mlir::LogicalResult build(mlir::Operation *primitive, const TileConfig &tile,
                            const GpuTarget &) const override {
    return buildImplicitGemm(primitive, tile);
  }
};
} // namespace

/// The part of the problem space that the lowering covers.
Status ImplicitGemm::check(const Problem &problem, const GpuTarget &) const {
  const ConvProblem *conv = problem.getConv();
  if (!conv)
    return notSupported("solves convolutions");
  bool hasF32Sums = conv->dataType == DataType::F16 ||
                    conv->dataType == DataType::BF16 ||
                    conv->dataType == DataType::F32;
  if (!hasF32Sums && !conv->epilogue.isEmpty())
    return notSupported("epilogues of " +
                        std::string(tessera::getName(conv->dataType)) +
                        " are not compiled");
  if (!fitsInt32(*conv))
    return notSupported("the window is beyond the 32-bit arithmetic of a "
                        "kernel");
  return Status::ok();
}

std::vector<Candidate>
ImplicitGemm::getCandidates(const Problem &problem,
                            const GpuTarget &target) const {
  const ConvProblem &conv = *problem.getConv();
  int64_t elementBytes = getByteSize(conv.dataType);
  GemmShapes shapes = getGemmShapes(target, conv.dataType);
  std::vector<Candidate> candidates;
  for (const GemmShape &shape : shapes.shapes) {
    GemmTile tile = makeGemmTile(shapes, shape, elementBytes);
    int64_t turn = static_cast<int64_t>(tile.buffers) * tile.k;
    GemmSize size = getGemmSize(conv, tile.k);
    if (!isReachable(conv, shape) || !isLaunchable(size, target, shape) ||
        (!isNested(size, turn, 1) && !shape.fitsFlatWalk) ||
        (shape.isDirect && !canCopyDirectly(conv)))
      continue;
    for (int parts : getParts(size, target, shape, turn)) {
      // The workspace of the parts is f32.
      if (parts > 1 && conv.dataType == DataType::F64)
        break;
      tile.parts = parts;
      candidates.push_back(
          {tile.toConfig(),
           estimateClocks(size, target, shapes.peak, shape, turn, parts)});
    }
  }
  return candidates;
}

const Algorithm &tessera::getImplicitGemm() {
  static const ImplicitGemm kAlgorithm;
  return kAlgorithm;
}
