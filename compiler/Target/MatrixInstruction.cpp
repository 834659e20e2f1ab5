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

// Operand and accumulator layouts: AMD Matrix Instruction Calculator for CDNA2
// and CDNA3 (v_mfma_f32_32x32x8_f16 and its kin).
static constexpr Row kRows[] = {
    // name, rows, columns, k, kPerLane, regs, vector, stride, fma
    {MatrixUnit::MfmaCdna2,
     FactorType::F16,
     {"mfma32", 32, 32, 8, 4, 16, 4, 8, false}},
    {MatrixUnit::MfmaCdna2,
     FactorType::BF16,
     {"mfma32", 32, 32, 8, 4, 16, 4, 8, false}},
    {MatrixUnit::MfmaCdna2,
     FactorType::F32,
     {"mfma32", 32, 32, 2, 1, 16, 4, 8, false}},
    {MatrixUnit::MfmaCdna3,
     FactorType::F16,
     {"mfma32", 32, 32, 8, 4, 16, 4, 8, false}},
    {MatrixUnit::MfmaCdna3,
     FactorType::BF16,
     {"mfma32", 32, 32, 8, 4, 16, 4, 8, false}},
    {MatrixUnit::MfmaCdna3,
     FactorType::F32,
     {"mfma32", 32, 32, 2, 1, 16, 4, 8, false}},
};

/// Lanes as a grid, eight columns wide; each lane computes one element of D.
/// One register of each factor a time: more would be live in f32 at once.
static MatrixInstruction makeFma(const GpuTarget &target, FactorType type) {
  int perRegister = type == FactorType::F32 ? 1 : 2;
  int rows = static_cast<int>(target.waveSize) / 8;
  return {"fma", rows, 8, perRegister, perRegister, 1, 1, 1, true};
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
