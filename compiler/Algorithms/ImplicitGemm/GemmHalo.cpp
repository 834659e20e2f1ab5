//===- GemmHalo.cpp - GEMM tiles whose taps share pixels ------------------===//

#include "compiler/Algorithms/ImplicitGemm/GemmHalo.h"
#include "compiler/Algorithms/ImplicitGemm/GemmSize.h"
#include "compiler/Target/MatrixInstruction.h"

#include <algorithm>
#include <array>

using namespace tessera;

static std::optional<MatrixInstruction>
findInstruction(const ConvProblem &p, const GpuTarget &target) {
  return findMatrixInstruction(target, getGemmShapes(target, p).instruction,
                               p.dataType);
}

/// Whether the loop can be unrolled over the taps, as many times as there are
/// `blocks`: the instructions fit the instruction cache.
static bool fitsTaps(const ConvProblem &p, const GpuTarget &target,
                     const GemmShape &shape, int64_t blocks) {
  constexpr int64_t kMaxMultiplies = 512;
  constexpr int64_t kMaxTaps = 32; // One bit for each.
  const auto row = findInstruction(p, target);
  if (!row)
    return false;
  int64_t taps = getVolume(p.filter);
  int64_t multiplies = int64_t(shape.m) / shape.wavesM * shape.n /
                       shape.wavesN / (row->rows * row->columns) *
                       (shape.stepBytes / getByteSize(p.dataType) / row->k) *
                       taps * blocks;
  return taps > 1 && taps <= kMaxTaps && multiplies <= kMaxMultiplies;
}

/// Whether the main loop fits the registers of a lane.
static bool fitsRegisters(const ConvProblem &p, const GpuTarget &target,
                          const GemmShape &shape) {
  constexpr int64_t kFullWave = 64 * 64;
  const bool alwaysFits =
      p.direction == Direction::Forward && getByteSize(p.dataType) > 1;
  return alwaysFits ||
         shape.m / shape.wavesM * (shape.n / shape.wavesN) < kFullWave ||
         holdsWideProducts(target);
}

/// Whether chunks of NHWC can be copied directly to LDS for all taps, which
/// share the buffers of the filter out evenly.
static bool sharesChunks(const ConvProblem &p, const GpuTarget &target,
                         const GemmShape &shape) {
  auto isNhwc = [](Layout layout) { return layout == Layout::NHWC; };
  return isNhwc(p.xLayout) && isNhwc(p.wLayout) && isNhwc(p.yLayout) &&
         getVolume(p.filter) % shape.buffers == 0 &&
         fitsTaps(p, target, shape, /*blocks=*/1) &&
         fitsRegisters(p, target, shape);
}

/// Whether a lane has a register for each offset in LDS that it reads: those of
/// all taps.
static bool holdsOffsets(const ConvProblem &p, const GpuTarget &target,
                         const GemmShape &shape) {
  constexpr int64_t kMostOffsets = 50;
  const auto row = findInstruction(p, target);
  return row && getVolume(p.filter) * shape.m / shape.wavesM /
                        std::min(row->rows, row->columns) <=
                    kMostOffsets;
}

/// Whether `planes` of NCHW can be copied through registers, and channels are
/// whole iterations of the loop.
static bool sharesPlanes(const ConvProblem &p, const Spatial &planes,
                         const GpuTarget &target, const GemmShape &shape) {
  const bool isForward = p.direction == Direction::Forward;
  const int64_t channels = (isForward ? p.inChannels : p.outChannels),
                bytes = getByteSize(p.dataType);
  constexpr int64_t kElementBytes = 2, kLimit = int64_t(1) << 31;
  return (isForward ? p.xLayout : p.yLayout) == Layout::NCHW &&
         bytes == kElementBytes && getVolume(planes) >= HaloLds::kPlanePixels &&
         channels / p.groups % (HaloLds::kBuffers * shape.stepBytes / bytes) ==
             0 &&
         p.batch * channels * getVolume(planes) * bytes <= kLimit &&
         fitsTaps(p, target, shape, HaloLds::kBuffers) &&
         holdsOffsets(p, target, shape);
}

std::optional<HaloLds> tessera::measureGemmHalo(const ConvProblem &p,
                                                const GpuTarget &target,
                                                const GemmShape &shape) {
  const bool isForward = p.direction == Direction::Forward;
  const Spatial out = p.getOutput(), &rows = isForward ? out : p.in,
                &pixels = isForward ? p.in : out;
  if (p.direction == Direction::BackwardWeights || p.stride != Spatial() ||
      !(shape.isDirect ? sharesChunks(p, target, shape)
                       : sharesPlanes(p, pixels, target, shape)))
    return std::nullopt;
  std::array<int64_t, 4> sizes = {p.batch, rows.d, rows.h, rows.w};
  const int64_t image = getVolume(pixels);
  std::array<int64_t, 4> steps = {
      shape.isDirect ? image : HaloLds::countPlaneLines(image),
      pixels.h * pixels.w, pixels.w, 1};
  // The rows of a tile must follow the order of memory, and neighbouring rows
  // must be neighbouring pixels.
  if (rows.d > pixels.d || rows.h > pixels.h || rows.w > pixels.w ||
      rows.w == 1)
    return std::nullopt;
  int64_t around = (p.filter.d - 1) * p.dilation.d * steps[1] +
                   (p.filter.h - 1) * p.dilation.h * steps[2] +
                   (p.filter.w - 1) * p.dilation.w;
  const int64_t lines = getMaxSpan(sizes, steps, shape.m) + around + 1;
  const int64_t threads = shape.wavesM * shape.wavesN * target.waveSize;
  return shape.isDirect
             ? HaloLds::make(lines, shape.stepBytes, threads)
             : HaloLds::makeOfPlanes(lines, shape.stepBytes, threads);
}
