//===- ImplicitGemmModel.cpp - Which GEMM tile for which problem ----------===//
//
// A first model: a tile costs its area over the share of issue clocks that its
// inner loop spends on matrix instructions, and the tiles run in rounds over
// the compute units. Partly filled tiles and rounds are what it weighs.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/GemmTile.h"
#include "compiler/Algorithms/ImplicitGemm.h"
#include "compiler/Algorithms/Registry.h"

#include <limits>

using namespace tessera;

namespace {
struct Shape {
  int m, n, wavesM, wavesN;
  /// Share of issue clocks on matrix instructions (docs/performance.md).
  double efficiency;
  /// Registers left for the addresses of a flat walk (TileCopy.h); without
  /// them the kernel spills.
  bool fitsFlatWalk;
};
} // namespace

static constexpr Shape kMatrixShapes[] = {
    {256, 256, 2, 4, 0.90, false}, {256, 128, 4, 2, 0.86, true},
    {128, 128, 2, 2, 0.85, true},  {128, 64, 2, 2, 0.75, true},
    {64, 128, 2, 2, 0.75, true},   {64, 64, 2, 2, 0.65, true},
    {64, 32, 2, 1, 0.50, true},
};

// One wave64 lane grid is 8 x 8, one wave32 grid 4 x 8: the narrower tile
// keeps 16 accumulators a lane on both.
static constexpr Shape kFmaWave64[] = {{64, 64, 2, 2, 0.5, true}};
static constexpr Shape kFmaWave32[] = {{64, 32, 2, 2, 0.5, false},
                                       {32, 32, 2, 2, 0.4, true}};

static bool hasMatrix(const GpuTarget &target) {
  return target.matrixUnit == MatrixUnit::MfmaCdna2 ||
         target.matrixUnit == MatrixUnit::MfmaCdna3;
}

static std::span<const Shape> getShapes(const GpuTarget &target) {
  if (hasMatrix(target))
    return kMatrixShapes;
  return target.waveSize == 64 ? std::span<const Shape>(kFmaWave64)
                               : std::span<const Shape>(kFmaWave32);
}

static int64_t divideUp(int64_t value, int64_t by) {
  return (value + by - 1) / by;
}

static int64_t countTiles(const ConvProblem &problem, const Shape &tile) {
  Spatial out = problem.getOutput();
  int64_t rows = problem.batch * out.h * out.w;
  int64_t columns = problem.outChannels / problem.groups;
  return problem.groups * divideUp(rows, tile.m) * divideUp(columns, tile.n);
}

static double getReduction(const ConvProblem &problem) {
  return static_cast<double>(problem.inChannels) /
         static_cast<double>(problem.groups) *
         static_cast<double>(problem.filter.h * problem.filter.w);
}

static double estimateClocks(const ConvProblem &problem,
                             const GpuTarget &target, const Shape &tile) {
  // Multiply-adds of a compute unit in a clock: the peak rates of gfx942's f16
  // matrix instructions and of packed multiply-adds.
  double peak = hasMatrix(target) ? 1024 : 128;
  int64_t rounds = divideUp(countTiles(problem, tile), target.computeUnits);
  return static_cast<double>(rounds) * tile.m * tile.n * getReduction(problem) /
         (tile.efficiency * peak);
}
/// Whether the rows of a tile stay within one buffer descriptor: those of a
/// tensor beyond 2 GiB must lie together (GlobalBuffer.h). Images of x and y;
/// for w, single output channels.
static bool isReachable(const ConvProblem &problem, const Shape &tile) {
  constexpr int64_t kLimit = int64_t(1) << 31;
  int64_t bytes = getByteSize(problem.dataType);
  // `steps` along the outermost dimension, `rows` of the tile along it.
  auto fits = [&](int64_t elements, int64_t steps, int64_t rows) {
    return elements * bytes <= kLimit ||
           (rows + 2) * (elements / steps * bytes) <= kLimit;
  };
  Spatial out = problem.getOutput();
  int64_t images = divideUp(tile.m, out.h * out.w);
  return fits(problem.getInputElements(), problem.batch, images) &&
         fits(problem.getOutputElements(), problem.batch, images) &&
         fits(problem.getFilterElements(), problem.outChannels, tile.n);
}

/// Whether HIP can count the work-items of the launch.
static bool isLaunchable(const ConvProblem &problem, const GpuTarget &target,
                         const Shape &tile) {
  double items = static_cast<double>(countTiles(problem, tile)) * tile.wavesM *
                 tile.wavesN * target.waveSize;
  return items <= std::numeric_limits<uint32_t>::max();
}

/// Whether input coordinates and the reduction fit the 32-bit arithmetic of a
/// kernel. Only windows far larger than any image do not.
static bool fitsInt32(const ConvProblem &problem) {
  constexpr double kLimit = std::numeric_limits<int32_t>::max() / 8;
  Spatial out = problem.getOutput();
  auto reach = [](double outputs, double stride, double filter,
                  double dilation) {
    return outputs * stride + filter * dilation;
  };
  return reach(out.h, problem.stride.h, problem.filter.h, problem.dilation.h) <
             kLimit &&
         reach(out.w, problem.stride.w, problem.filter.w, problem.dilation.w) <
             kLimit &&
         getReduction(problem) < kLimit;
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
  if (conv->direction != Direction::Forward)
    return notSupported("only forward convolution is compiled so far");
  if (conv->hasDepth())
    return notSupported("only 2-D convolutions are compiled so far");
  if (!conv->epilogue.isEmpty())
    return notSupported("epilogues are not compiled so far");
  for (Layout layout : {conv->xLayout, conv->wLayout, conv->yLayout})
    if (layout == Layout::Strided)
      return notSupported("tensors with gaps are not compiled so far");
  if (conv->dataType != DataType::F16 && conv->dataType != DataType::BF16 &&
      conv->dataType != DataType::F32)
    return notSupported("no kernel computes with " +
                        std::string(tessera::getName(conv->dataType)));
  if (!fitsInt32(*conv))
    return notSupported("the window is beyond the 32-bit arithmetic of a "
                        "kernel");
  return Status::ok();
}

std::vector<Candidate>
ImplicitGemm::getCandidates(const Problem &problem,
                            const GpuTarget &target) const {
  const ConvProblem &conv = *problem.getConv();
  // 64 bytes a row: four chunks, which the threads of every shape divide.
  int step = conv.dataType == DataType::F32 ? 16 : 32;
  bool isFlat = conv.inChannels / conv.groups % (2 * step) != 0;
  std::vector<Candidate> candidates;
  for (const Shape &shape : getShapes(target)) {
    if (!isReachable(conv, shape) || !isLaunchable(conv, target, shape) ||
        (isFlat && !shape.fitsFlatWalk))
      continue;
    GemmTile tile = {shape.m,       shape.n,
                     step,          shape.wavesM,
                     shape.wavesN,
                     /*buffers=*/2, hasMatrix(target) ? "mfma32" : "fma"};
    candidates.push_back(
        {tile.toConfig(), estimateClocks(conv, target, shape)});
  }
  return candidates;
}

const Algorithm &tessera::getImplicitGemm() {
  static const ImplicitGemm kAlgorithm;
  return kAlgorithm;
}
