//===- MatrixInstruction.cpp - Table of multiply-accumulate rows ----------===//

#include "compiler/Target/MatrixInstruction.h"

using namespace tessera;

namespace {
struct Row {
  MatrixUnit unit;
  FactorType type;
  MatrixInstruction instruction;
};
} // namespace

// Operand and accumulator layouts: AMD Matrix Instruction Calculator for CDNA2,
// CDNA3, RDNA3 and RDNA4. CDNA4's doubled reductions continue the same rule.

/// v_mfma_*_32x32xK: two lanes share a row, each with half of the reduction.
static constexpr MatrixInstruction makeMfma32(int k) {
  return {"mfma32", MatrixKind::Mfma, 32, 32, k, k / 2, 16, 4, 8};
}

/// v_mfma_*_16x16xK: four lanes share a row.
static constexpr MatrixInstruction makeMfma16(int k) {
  return {"mfma16", MatrixKind::Mfma, 16, 16, k, k / 4, 4, 4, 16};
}

/// v_mfma_f64_16x16x4: a lane's rows lie four apart.
static constexpr MatrixInstruction kMfmaF64 = {
    "mfma16", MatrixKind::Mfma, 16, 16, 4, 1, 4, 1, 4};

/// gfx11: both halves of the wave hold the whole row; the rows of D alternate
/// between them.
static constexpr MatrixInstruction kWmmaGfx11 = {
    "wmma16", MatrixKind::Wmma, 16, 16, 16, 16, 8, 1, 2};

/// gfx12: the halves share the reduction and the rows of D.
static constexpr MatrixInstruction kWmmaGfx12 = {
    "wmma16", MatrixKind::Wmma, 16, 16, 16, 8, 8, 8, 16};

static constexpr Row kRows[] = {
    {MatrixUnit::MfmaCdna1, FactorType::F16, makeMfma32(8)},
    {MatrixUnit::MfmaCdna1, FactorType::F16, makeMfma16(16)},
    {MatrixUnit::MfmaCdna1, FactorType::BF16, makeMfma32(4)},
    {MatrixUnit::MfmaCdna1, FactorType::BF16, makeMfma16(8)},
    {MatrixUnit::MfmaCdna1, FactorType::F32, makeMfma32(2)},
    {MatrixUnit::MfmaCdna1, FactorType::F32, makeMfma16(4)},
    {MatrixUnit::MfmaCdna1, FactorType::I8, makeMfma32(8)},
    {MatrixUnit::MfmaCdna1, FactorType::I8, makeMfma16(16)},

    {MatrixUnit::MfmaCdna2, FactorType::F16, makeMfma32(8)},
    {MatrixUnit::MfmaCdna2, FactorType::F16, makeMfma16(16)},
    {MatrixUnit::MfmaCdna2, FactorType::BF16, makeMfma32(8)},
    {MatrixUnit::MfmaCdna2, FactorType::BF16, makeMfma16(16)},
    {MatrixUnit::MfmaCdna2, FactorType::F32, makeMfma32(2)},
    {MatrixUnit::MfmaCdna2, FactorType::F32, makeMfma16(4)},
    {MatrixUnit::MfmaCdna2, FactorType::I8, makeMfma32(8)},
    {MatrixUnit::MfmaCdna2, FactorType::I8, makeMfma16(16)},
    {MatrixUnit::MfmaCdna2, FactorType::F64, kMfmaF64},

    {MatrixUnit::MfmaCdna3, FactorType::F16, makeMfma32(8)},
    {MatrixUnit::MfmaCdna3, FactorType::F16, makeMfma16(16)},
    {MatrixUnit::MfmaCdna3, FactorType::BF16, makeMfma32(8)},
    {MatrixUnit::MfmaCdna3, FactorType::BF16, makeMfma16(16)},
    {MatrixUnit::MfmaCdna3, FactorType::F32, makeMfma32(2)},
    {MatrixUnit::MfmaCdna3, FactorType::F32, makeMfma16(4)},
    {MatrixUnit::MfmaCdna3, FactorType::I8, makeMfma32(16)},
    {MatrixUnit::MfmaCdna3, FactorType::I8, makeMfma16(32)},
    {MatrixUnit::MfmaCdna3, FactorType::F64, kMfmaF64},

    {MatrixUnit::MfmaCdna4, FactorType::F16, makeMfma32(16)},
    {MatrixUnit::MfmaCdna4, FactorType::F16, makeMfma16(32)},
    {MatrixUnit::MfmaCdna4, FactorType::BF16, makeMfma32(16)},
    {MatrixUnit::MfmaCdna4, FactorType::BF16, makeMfma16(32)},
    {MatrixUnit::MfmaCdna4, FactorType::F32, makeMfma32(2)},
    {MatrixUnit::MfmaCdna4, FactorType::F32, makeMfma16(4)},
    {MatrixUnit::MfmaCdna4, FactorType::I8, makeMfma32(32)},
    {MatrixUnit::MfmaCdna4, FactorType::I8, makeMfma16(64)},
    {MatrixUnit::MfmaCdna4, FactorType::F64, kMfmaF64},

    {MatrixUnit::WmmaGfx11, FactorType::F16, kWmmaGfx11},
    {MatrixUnit::WmmaGfx11, FactorType::BF16, kWmmaGfx11},
    {MatrixUnit::WmmaGfx11, FactorType::I8, kWmmaGfx11},
    {MatrixUnit::WmmaGfx12, FactorType::F16, kWmmaGfx12},
    {MatrixUnit::WmmaGfx12, FactorType::BF16, kWmmaGfx12},
    {MatrixUnit::WmmaGfx12, FactorType::I8, kWmmaGfx12},
};

/// Reduction elements that the fma row takes at once: one register of each
/// factor, of which f32 and f64 fill one or two.
static int getFmaElements(FactorType type) {
  switch (type) {
  case FactorType::F16:
  case FactorType::BF16:
    return 2;
  case FactorType::I8:
    return 4;
  case FactorType::F32:
  case FactorType::F64:
    return 1;
  }
  return 1;
}

/// Lanes as a grid, eight columns wide; each lane computes one element of D.
/// One register of each factor a time: more would be live in f32 at once.
static MatrixInstruction makeFma(const GpuTarget &target, FactorType type) {
  int perRegister = getFmaElements(type);
  int rows = static_cast<int>(target.waveSize) / 8;
  return {"fma", MatrixKind::Fma, rows, 8, perRegister, perRegister, 1, 1, 1};
}

std::optional<MatrixInstruction>
tessera::findMatrixInstruction(const GpuTarget &target, std::string_view name,
                               FactorType type) {
  if (name == "fma")
    return makeFma(target, type);
  for (const Row &row : kRows)
    if (row.unit == target.matrixUnit && row.type == type &&
        row.instruction.name == name)
      return row.instruction;
  return std::nullopt;
}
