//===- GemmHalo.cpp - GEMM tiles whose taps share pixels ------------------===//

#include "compiler/Algorithms/ImplicitGemm/GemmHalo.h"
#include "compiler/Algorithms/ImplicitGemm/GemmSize.h"

#include <array>

using namespace tessera;

/// Whether the loop can be unrolled over the taps: these are a multiple of the
/// filter's buffers, and the instructions fit the instruction cache.
static bool fitsTaps(const ConvProblem &p, const GemmShape &shape) {
  constexpr int64_t kMaxMultiplies = 512, kTile = 32 * 16, kBytes = 32;
  constexpr int64_t kMaxTaps = 32; // One bit for each.
  int64_t taps = getVolume(p.filter);
  int64_t multiplies = int64_t(shape.m) / shape.wavesM * shape.n /
                       shape.wavesN / kTile * (shape.stepBytes / kBytes) * taps;
  return taps > 1 && taps <= kMaxTaps && taps % shape.buffers == 0 &&
         multiplies <= kMaxMultiplies;
}

/// Whether the main loop fits the registers of a lane.
static bool fitsRegisters(const ConvProblem &p, const GpuTarget &target,
                          const GemmShape &shape) {
  constexpr int64_t kFullWave = 64 * 64;
  const bool alwaysFits =
      p.direction == Direction::Forward && p.dataType != DataType::I8;
  return alwaysFits ||
         shape.m / shape.wavesM * (shape.n / shape.wavesN) < kFullWave ||
         holdsWideProducts(target);
}

std::optional<HaloLds> tessera::measureGemmHalo(const ConvProblem &p,
                                                const GpuTarget &target,
                                                const GemmShape &shape) {
  auto isNhwc = [](Layout layout) { return layout == Layout::NHWC; };
  if (p.direction == Direction::BackwardWeights || p.stride != Spatial() ||
      !isNhwc(p.xLayout) || !isNhwc(p.wLayout) || !isNhwc(p.yLayout) ||
      !fitsTaps(p, shape) || !fitsRegisters(p, target, shape))
    return std::nullopt;
  const bool isForward = p.direction == Direction::Forward;
  const Spatial out = p.getOutput(), &rows = isForward ? out : p.in,
                &pixels = isForward ? p.in : out;
  std::array<int64_t, 4> sizes = {p.batch, rows.d, rows.h, rows.w};
  std::array<int64_t, 4> steps = {pixels.d * pixels.h * pixels.w,
                                  pixels.h * pixels.w, pixels.w, 1};
  // The rows of a tile must follow the order of memory, and neighbouring rows
  // must be neighbouring pixels.
  if (rows.d > pixels.d || rows.h > pixels.h || rows.w > pixels.w ||
      rows.w == 1)
    return std::nullopt;
  int64_t around = (p.filter.d - 1) * p.dilation.d * steps[1] +
                   (p.filter.h - 1) * p.dilation.h * steps[2] +
                   (p.filter.w - 1) * p.dilation.w;
  return HaloLds::make(getMaxSpan(sizes, steps, shape.m) + around + 1,
                       shape.stepBytes,
                       shape.wavesM * shape.wavesN * target.waveSize);
}
