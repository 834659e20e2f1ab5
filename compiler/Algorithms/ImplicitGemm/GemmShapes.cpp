//===- GemmShapes.cpp - The GEMM tiles worth trying on a chip -------------===//

#include "compiler/Algorithms/ImplicitGemm/GemmShapes.h"

using namespace tessera;

// Shares (GemmShape::efficiency) are those of the 3x3 convolution from 256 to
// 256 channels of docs/performance.md in f16; for MFMA on gfx942 (gfx90a has
// higher ones that rank alike). Small tiles of two waves use each fragment in
// more instructions than those of four. Those with a halo are without the
// copies of pixels, which GemmCost.cpp counts, and come first: where memory
// binds, the kernel that issues less is chosen. The others come by what the AMD
// clock expects there: of a 1x1 convolution between 1024 and 256 channels at
// batch 256, 68 us of 128x128 forward and 86 of 256x256, whose results are not
// staged, and 82, 105 and 167 us of all three for its backward data.

static constexpr GemmShape kMfma[] = {
    // m, n, waves, step bytes, buffers, direct, share, flat
    {128, 128, 2, 2, 64, 2, false, 0.87, false, true, 2},
    {128, 64, 2, 2, 64, 2, false, 0.81, false, true, 2},
    {64, 64, 1, 2, 64, 2, false, 0.80, false, true, 2},
    {128, 128, 2, 2, 64, 2, false, 0.85, true},
    {256, 128, 4, 2, 64, 2, false, 0.86, true},
    {256, 256, 2, 4, 64, 2, false, 0.90, false},
    {128, 64, 2, 2, 64, 2, false, 0.77, true},
    {64, 128, 2, 2, 64, 2, false, 0.77, true},
    {128, 64, 2, 2, 128, 2, false, 0.79, false, true, 0, true},
    {64, 64, 1, 2, 128, 2, false, 0.78, false, true, 0, true},
    {64, 64, 1, 2, 64, 2, false, 0.75, true},
    {64, 32, 2, 1, 64, 2, false, 0.65, true},
};

// The shapes that copy through registers are for operands whose layout in
// memory does not suit a direct copy.
static constexpr GemmShape kMfmaDirect[] = {
    {256, 128, 4, 2, 64, 2, false, 0.80, false, true, 2},
    {128, 128, 2, 2, 64, 2, false, 0.78, false, true, 2},
    {128, 64, 2, 2, 64, 2, false, 0.68, false, true, 2},
    {64, 64, 1, 2, 64, 2, false, 0.66, false, true, 2},
    {256, 256, 2, 4, 128, 2, true, 0.86, false},
    {256, 128, 4, 2, 128, 2, true, 0.79, false},
    {128, 128, 2, 2, 128, 2, true, 0.78, false},
    {128, 64, 2, 2, 128, 2, true, 0.68, false},
    {64, 64, 2, 2, 128, 4, true, 0.58, false},
    {256, 256, 2, 4, 64, 2, false, 0.82, false},
    {256, 128, 4, 2, 64, 2, false, 0.75, true},
    {128, 128, 2, 2, 64, 2, false, 0.73, true},
    {128, 64, 2, 2, 64, 2, false, 0.62, true},
    {64, 128, 2, 2, 64, 2, false, 0.62, true},
    {128, 64, 2, 2, 128, 2, false, 0.65, false, true, 0, true},
    {64, 64, 1, 2, 128, 2, false, 0.63, false, true, 0, true},
    {64, 64, 1, 2, 64, 2, false, 0.60, true},
    {64, 32, 2, 1, 64, 2, false, 0.48, true},
};

// A fragment has 16 rows and columns: its four f64 accumulators are eight
// registers. A wave of 64x64 has 128 of them, and needs 238 of 256 registers
// for a flat walk of both operands. Shares are of gfx942, which gfx90a's equal.
// Where memory binds, all cost the same and the first is taken: for the 1x1
// convolutions of 64 and 256 channels, the AMD clock expects 187 and 173 us of
// it, and 204 and 217 us of the last one. That of two waves, which leave two
// SIMDs idle, has half of its loop's share.
static constexpr GemmShape kMfmaF64[] = {
    {128, 128, 2, 2, 64, 2, false, 0.91, true},
    {128, 64, 2, 2, 64, 2, false, 0.87, true},
    {64, 64, 2, 2, 64, 2, false, 0.81, true},
    {32, 32, 2, 1, 64, 2, false, 0.35, true},
    {256, 128, 4, 2, 64, 2, false, 0.92, true},
};

// gfx950 multiplies f64 in twice the clocks, in which it issues as much.
static constexpr GemmShape kMfmaSlowF64[] = {
    {128, 128, 2, 2, 64, 2, false, 0.95, true},
    {128, 64, 2, 2, 64, 2, false, 0.93, true},
    {64, 64, 2, 2, 64, 2, false, 0.89, true},
    {32, 32, 2, 1, 64, 2, false, 0.41, true},
    {256, 128, 4, 2, 64, 2, false, 0.96, true},
};

// A gfx11 fragment takes twice the registers.
static constexpr GemmShape kWmmaGfx11[] = {
    {64, 64, 2, 2, 64, 2, false, 0.90, false, true, 2},
    {128, 128, 2, 4, 64, 2, false, 0.92, true, true},
    {128, 64, 2, 2, 64, 2, false, 0.91, false, false},
    {64, 128, 2, 2, 64, 2, false, 0.91, false, false},
    {64, 64, 2, 2, 64, 2, false, 0.89, true, true},
    {32, 32, 2, 2, 64, 2, false, 0.72, true, true},
};

static constexpr GemmShape kWmmaGfx12[] = {
    {128, 128, 2, 4, 64, 2, false, 0.92, false, true, 2},
    {128, 64, 2, 2, 64, 2, false, 0.92, false, true, 2},
    {64, 64, 2, 2, 64, 2, false, 0.87, false, true, 2},
    {128, 128, 2, 4, 64, 2, false, 0.90, true},
    {128, 64, 2, 2, 64, 2, false, 0.88, false},
    {64, 128, 2, 2, 64, 2, false, 0.88, false},
    {64, 64, 2, 2, 64, 2, false, 0.84, true},
    {32, 32, 2, 2, 64, 2, false, 0.64, true},
};

// mma.sync: shares of the peak below on an H100, forward 3x3 from 256 to 256
// channels; those of 320 rows, from 640 to 640 channels, where they fill 130 of
// 132 units once. These come first because they are for sm_90 alone
// (getGemmShapes): for other chips ptxas spills 200 to 600 bytes of them,
// perhaps in the loop. Where taps share pixels, a step of the larger tiles is
// 128 bytes, which halves the barriers.
// The largest tiles fill 255 registers, and spill what is needed once a tap.
// Tiles that copy through registers are for operands that cp.async cannot copy.
static constexpr GemmShape kMma[] = {
    {320, 128, 4, 2, 64, 4, true, 0.74, false},
    {320, 128, 4, 2, 64, 3, true, 0.76, false, true, 2},
    {256, 128, 4, 2, 128, 3, true, 0.80, false, true, 2},
    {128, 256, 2, 4, 64, 4, true, 0.80, false},
    {256, 128, 4, 2, 64, 4, true, 0.79, false},
    {256, 64, 4, 1, 64, 3, true, 0.77, false, true, 2},
    {128, 128, 2, 2, 64, 4, true, 0.73, false},
    {128, 64, 2, 1, 128, 3, true, 0.73, false, true, 2},
    {128, 128, 2, 2, 64, 3, true, 0.70, false},
    {128, 64, 2, 2, 64, 3, true, 0.70, false, true, 2},
    {128, 64, 2, 2, 64, 4, true, 0.56, false},
    {64, 64, 2, 2, 64, 4, true, 0.42, false},
    {128, 256, 2, 4, 64, 2, false, 0.53, false, false},
    {256, 128, 4, 2, 64, 2, false, 0.49, false, false},
    {128, 128, 2, 4, 64, 2, false, 0.43, true},
    {64, 128, 1, 4, 64, 2, false, 0.34, true},
    {128, 64, 2, 2, 64, 2, false, 0.34, true},
    {64, 64, 2, 2, 64, 2, false, 0.28, true},
    {64, 32, 2, 1, 64, 2, false, 0.22, true},
    {32, 64, 1, 2, 64, 2, false, 0.22, true},
};

// tf32 rounds operands in additional registers, so the largest of the shapes
// above would spill. Shares are not measured, but derived from those above.
static constexpr GemmShape kMmaTf32[] = {
    {128, 256, 2, 4, 64, 2, false, 0.72, false, false},
    {128, 128, 2, 4, 64, 2, false, 0.59, true},
    {64, 128, 1, 4, 64, 2, false, 0.47, true},
    {128, 64, 2, 2, 64, 2, false, 0.46, true},
    {64, 64, 2, 2, 64, 2, false, 0.38, true},
    {64, 32, 2, 1, 64, 2, false, 0.30, true},
};

// Lanes read chunks of f64, of which rows of 64 bytes lie free of conflicts
// (makeMmaF64()). Waves of 64x32, whose accumulators are 128 registers, spill
// on sm_90. Shares are not measured, but derived from those above; what those
// of f16 wait for at each step is hidden here, where a step multiplies three
// times as long, so LDS has its own rate.
static constexpr double kLdsF64 = 128;
static constexpr GemmShape kMmaF64[] = {
    {192, 64, 4, 2, 64, 4, true, 0.80, false},
    {128, 64, 4, 2, 64, 4, true, 0.77, false},
    {64, 128, 2, 4, 64, 4, true, 0.77, false},
    {64, 64, 2, 2, 64, 4, true, 0.75, false},
    {128, 64, 4, 2, 64, 2, false, 0.60, true},
    {64, 64, 2, 2, 64, 2, false, 0.58, true},
    {64, 32, 2, 1, 64, 2, false, 0.45, true},
    {32, 64, 1, 2, 64, 2, false, 0.45, true},
};

// The lanes of a wave64 are a grid of 8 x 8, those of a wave32 one of 4 x 8. A
// lane of the largest tiles has 8 x 8 accumulators, so that LDS keeps up, and
// steps of 32 bytes leave registers for their fragments: with steps of 64 bytes
// 18 to 57 registers spill. Shares are of f32 on gfx906 and gfx1100.
static constexpr GemmShape kFmaWave64[] = {
    {128, 128, 2, 2, 32, 2, false, 0.92, false},
    {64, 64, 2, 2, 64, 2, false, 0.85, true},
};
static constexpr GemmShape kFmaWave32[] = {
    {128, 128, 4, 2, 32, 2, false, 0.90, false},
    {128, 64, 2, 2, 32, 2, false, 0.90, false, false},
    {64, 64, 2, 2, 32, 2, false, 0.86, false},
    {64, 32, 2, 2, 64, 2, false, 0.82, false},
    {32, 32, 2, 2, 64, 2, false, 0.74, true},
};

// An accumulator of f64 is two registers.
static constexpr GemmShape kFmaF64Wave64[] = {
    {64, 64, 2, 2, 64, 2, false, 0.74, true},
};
static constexpr GemmShape kFmaF64Wave32[] = {
    {64, 64, 2, 2, 64, 2, false, 0.80, false, false},
    {64, 32, 2, 2, 64, 2, false, 0.73, false},
    {32, 32, 2, 2, 64, 2, false, 0.63, true},
};

/// Peak multiply-adds of one compute unit in a clock: half the rates of
/// runtime/Emulator/Measure/ChipCosts.def, times the SIMDs.
static double getMatrixPeak(const GpuTarget &target, DataType type) {
  MatrixUnit unit = target.matrixUnit;
  bool isWide = type == DataType::F32 || type == DataType::F64;
  bool isByte = getByteSize(type) == 1;
  double halfPeak = 0;
  switch (unit) {
  case MatrixUnit::None:
    return 0;
  case MatrixUnit::MfmaCdna1:
    halfPeak = type == DataType::BF16 ? 256 : 512;
    break;
  case MatrixUnit::MfmaCdna2:
    halfPeak = 512;
    break;
  case MatrixUnit::MfmaCdna3:
    halfPeak = 1024;
    break;
  case MatrixUnit::MfmaCdna4:
    halfPeak = 2048;
    break;
  case MatrixUnit::WmmaGfx11:
    return 256;
  case MatrixUnit::WmmaGfx12:
    return isByte ? 1024 : 512;
  case MatrixUnit::MmaSm80:
    // NVIDIA's figures for the A100, divided by its multiprocessors and clock.
    // For chips with wgmma: measured on an H100 with all operands in registers.
    if (type == DataType::F32)
      return 512;
    if (type == DataType::F64)
      return target.hasWgmma ? 128 : 64;
    halfPeak = target.hasWgmma ? 1400 : 1024;
    return isByte ? 2 * halfPeak : halfPeak;
  }
  if (type == DataType::F64 && unit == MatrixUnit::MfmaCdna4)
    return 64;
  if (isWide)
    return 128;
  bool hasFastBytes =
      unit == MatrixUnit::MfmaCdna3 || unit == MatrixUnit::MfmaCdna4;
  return isByte && hasFastBytes ? 2 * halfPeak : halfPeak;
}

/// A compute unit of AMD's chips has 64 lanes (those of gfx11 and gfx12 seldom
/// issue two instructions at once), which multiply pairs of halves and four
/// bytes (v_dot2, v_dot4), and have to convert floats of 8 bits, which takes
/// three quarters of the clocks; a multiprocessor of NVIDIA's has 128, and
/// these tiles compete with wgmma's there, whose costs have a launch, too.
static GemmShapes getFmaShapes(const GpuTarget &target, DataType type) {
  constexpr double kLanes = 64, kLaunch = 8143;
  const bool isNvidia = target.vendor == Vendor::Nvidia;
  const double atOnce = isNvidia                ? 2
                        : type == DataType::F16 ? 2
                        : type == DataType::I8  ? 4
                        : isFloat8(type)        ? 0.25
                                                : 1;
  const bool isWave64 = target.waveSize == 64;
  std::span<const GemmShape> shapes = kFmaWave32;
  if (type == DataType::F64)
    shapes = isWave64 ? std::span<const GemmShape>(kFmaF64Wave64)
                      : std::span<const GemmShape>(kFmaF64Wave32);
  else if (isWave64)
    shapes = kFmaWave64;
  return {"fma", shapes, kLanes * atOnce, isNvidia ? kLaunch : 0};
}

GemmShapes tessera::getGemmShapes(const GpuTarget &target,
                                  const ConvProblem &problem) {
  const DataType type = problem.dataType;
  double peak = getMatrixPeak(target, type);
  bool isWide = type == DataType::F32 || type == DataType::F64;
  switch (target.matrixUnit) {
  case MatrixUnit::None:
    return getFmaShapes(target, type);
  case MatrixUnit::MfmaCdna1:
  case MatrixUnit::MfmaCdna2:
  case MatrixUnit::MfmaCdna3:
  case MatrixUnit::MfmaCdna4:
    if (type == DataType::F64 && target.matrixUnit == MatrixUnit::MfmaCdna1)
      return getFmaShapes(target, type);
    if (type == DataType::F64 && target.matrixUnit == MatrixUnit::MfmaCdna4)
      return {"mfma16", kMfmaSlowF64, peak};
    if (type == DataType::F64)
      return {"mfma16", kMfmaF64, peak};
    if (target.matrixUnit == MatrixUnit::MfmaCdna4)
      return {"mfma32", kMfmaDirect, peak};
    return {"mfma32", kMfma, peak};
  case MatrixUnit::WmmaGfx11:
    if (isWide)
      return getFmaShapes(target, type);
    return {"wmma16", kWmmaGfx11, peak};
  case MatrixUnit::WmmaGfx12:
    if (isWide)
      return getFmaShapes(target, type);
    return {"wmma16", kWmmaGfx12, peak};
  case MatrixUnit::MmaSm80:
    if (problem.allowsTf32())
      return {"mma16_tf32", kMmaTf32, peak};
    if (type == DataType::F64)
      return {"mma16", kMmaF64, peak, /*launch=*/0, kLdsF64};
    if (isWide)
      return getFmaShapes(target, type);
    return {"mma16", std::span(kMma).subspan(target.hasWgmma ? 0 : 2), peak};
  }
  return getFmaShapes(target, type);
}

GemmTile tessera::makeGemmTile(const GemmShapes &shapes, const GemmShape &shape,
                               int64_t elementBytes) {
  GemmTile tile;
  tile.m = shape.m;
  tile.n = shape.n;
  tile.k = static_cast<int>(shape.stepBytes / elementBytes);
  tile.wavesM = shape.wavesM;
  tile.wavesN = shape.wavesN;
  tile.buffers = shape.buffers;
  tile.mma = shapes.instruction;
  tile.isDirect = shape.isDirect;
  tile.halo = shape.halo;
  return tile;
}
