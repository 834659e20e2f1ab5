//===- ChooseTile.cpp - A good tile without measuring ---------------------===//
//
// A first model: a tile costs its area over the share of issue clocks that its
// inner loop spends on matrix instructions, and the tiles run in rounds over
// the compute units. Partly filled tiles and rounds are what it weighs.
//
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/ChooseTile.h"

#include <limits>

using namespace tessera;

namespace {
struct Candidate {
  int m, n, wavesM, wavesN;
  /// Share of issue clocks on matrix instructions (docs/performance.md).
  double efficiency;
  /// Registers left for the addresses of a flat walk (TileCopy.h); without
  /// them the kernel spills.
  bool fitsFlatWalk;
};
} // namespace

static constexpr Candidate kMatrixCandidates[] = {
    {256, 256, 2, 4, 0.90, false}, {256, 128, 4, 2, 0.86, true},
    {128, 128, 2, 2, 0.85, true},  {128, 64, 2, 2, 0.75, true},
    {64, 128, 2, 2, 0.75, true},   {64, 64, 2, 2, 0.65, true},
    {64, 32, 2, 1, 0.50, true},
};

// One wave64 lane grid is 8 x 8, one wave32 grid 4 x 8: the narrower tile
// keeps 16 accumulators a lane on both.
static constexpr Candidate kFmaWave64[] = {{64, 64, 2, 2, 0.5, true}};
static constexpr Candidate kFmaWave32[] = {{64, 32, 2, 2, 0.5, false},
                                           {32, 32, 2, 2, 0.4, true}};

static std::span<const Candidate> getCandidates(const GpuTarget &target,
                                                bool hasMatrix) {
  if (hasMatrix)
    return kMatrixCandidates;
  return target.waveSize == 64 ? std::span<const Candidate>(kFmaWave64)
                               : std::span<const Candidate>(kFmaWave32);
}

static int64_t divideUp(int64_t value, int64_t by) {
  return (value + by - 1) / by;
}

static int64_t countTiles(const Problem &problem, const Candidate &tile) {
  Spatial out = problem.getOutput();
  int64_t rows = problem.batch * out.h * out.w;
  int64_t columns = problem.outChannels / problem.groups;
  return problem.groups * divideUp(rows, tile.m) * divideUp(columns, tile.n);
}

static double estimateTime(const Problem &problem, const GpuTarget &target,
                           const Candidate &tile) {
  int64_t rounds = divideUp(countTiles(problem, tile), target.computeUnits);
  return static_cast<double>(rounds) * tile.m * tile.n / tile.efficiency;
}

/// Whether the rows of a tile stay within one buffer descriptor: those of a
/// tensor beyond 2 GiB must lie together (GlobalBuffer.h). Images of x and y;
/// for w, single output channels.
static bool isReachable(const Problem &problem, const Candidate &tile) {
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
static bool isLaunchable(const Problem &problem, const GpuTarget &target,
                         const Candidate &tile) {
  double items = static_cast<double>(countTiles(problem, tile)) * tile.wavesM *
                 tile.wavesN * target.waveSize;
  return items <= std::numeric_limits<uint32_t>::max();
}

/// Whether input coordinates and the reduction fit the 32-bit arithmetic of a
/// kernel. Only windows far larger than any image do not.
static bool fitsInt32(const Problem &problem) {
  constexpr double kLimit = std::numeric_limits<int32_t>::max() / 8;
  Spatial out = problem.getOutput();
  auto reach = [](double outputs, double stride, double filter,
                  double dilation) {
    return outputs * stride + filter * dilation;
  };
  double reduction = static_cast<double>(problem.inChannels) / problem.groups *
                     problem.filter.h * problem.filter.w;
  return reach(out.h, problem.stride.h, problem.filter.h, problem.dilation.h) <
             kLimit &&
         reach(out.w, problem.stride.w, problem.filter.w, problem.dilation.w) <
             kLimit &&
         reduction < kLimit;
}

/// The types and directions that the lowering covers.
static Status checkCovered(const Problem &problem) {
  if (problem.direction != Direction::Forward)
    return notSupported("only forward convolution is compiled so far");
  switch (problem.dataType) {
  case DataType::F16:
  case DataType::BF16:
  case DataType::F32:
    break;
  default:
    return notSupported("no kernel computes with " +
                        std::string(getName(problem.dataType)));
  }
  if (!fitsInt32(problem))
    return notSupported("the window is beyond the 32-bit arithmetic of a "
                        "kernel");
  return Status::ok();
}

ErrorOr<TileConfig> tessera::chooseTile(const Problem &problem,
                                        const GpuTarget &target) {
  if (Status status = problem.verify(); !status.isOk())
    return status;
  if (Status status = checkCovered(problem); !status.isOk())
    return status;
  bool hasMatrix = target.matrixUnit == MatrixUnit::MfmaCdna2 ||
                   target.matrixUnit == MatrixUnit::MfmaCdna3;
  // 64 bytes a row: four chunks, which every candidate's threads divide.
  int step = problem.dataType == DataType::F32 ? 16 : 32;
  bool isFlat = problem.inChannels / problem.groups % (2 * step) != 0;
  TileConfig best;
  double bestTime = std::numeric_limits<double>::infinity();
  for (const Candidate &tile : getCandidates(target, hasMatrix)) {
    double time = estimateTime(problem, target, tile);
    if (time >= bestTime || !isReachable(problem, tile) ||
        !isLaunchable(problem, target, tile) || (isFlat && !tile.fitsFlatWalk))
      continue;
    bestTime = time;
    best = {tile.m,        tile.n,
            step,          tile.wavesM,
            tile.wavesN,
            /*buffers=*/2, hasMatrix ? "mfma32" : "fma"};
  }
  if (best.m == 0)
    return notSupported("no tile fits: each spans more than 2 GiB of a tensor "
                        "or needs more than 2^32 work-items");
  return best;
}
