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

/// mma.sync.m16n8k16 of f16 and bf16, k32 of bytes, k8 of tf32 (PTX ISA,
/// "Matrix fragments for mma"): four lanes, a quad, share the rows of both
/// factors and of D. One of our rows is four such instructions, which share the
/// 16 rows of Q, the instruction's A. The columns of its B are taken for rows
/// of P in such an order (getRowOfP()) that the two sums of each that a lane
/// has are eight neighbours along P.
static constexpr MatrixInstruction makeMma(int k,
                                           std::string_view name = "mma16") {
  return {name,
          MatrixKind::Mma,
          32,
          16,
          k,
          k / 4,
          /*accRegs=*/16,
          /*accVector=*/8,
          /*accStride=*/32,
          /*pParts=*/4,
          /*pStep=*/1,
          /*qParts=*/2,
          /*qStep=*/8};
}

/// The same with the rows of P in their order, as matrices that are transposed
/// have them: a lane has two neighbours of each instruction.
static constexpr MatrixInstruction makeMmaInOrder(int k) {
  MatrixInstruction row = makeMma(k);
  row.name = "mma16t";
  row.accVector = 2;
  row.accStride = row.pStep = 8;
  return row;
}

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

    {MatrixUnit::MmaSm80, FactorType::F16, makeMma(16)},
    {MatrixUnit::MmaSm80, FactorType::BF16, makeMma(16)},
    {MatrixUnit::MmaSm80, FactorType::I8, makeMma(32)},
    {MatrixUnit::MmaSm80, FactorType::F16, makeMmaInOrder(16)},
    {MatrixUnit::MmaSm80, FactorType::BF16, makeMmaInOrder(16)},
    {MatrixUnit::MmaSm80, FactorType::F32, makeMma(8, "mma16_tf32")},
};

/// Lanes of mma.sync that share a row, and rows of the matrices that are read.
static constexpr int kQuad = 4;
static constexpr int kMatrixRows = 8;

/// Rows of P from a column of B of mma.sync to the next.
static int getStepOfP(const MatrixInstruction &row) {
  return row.pStep == 1 ? row.pParts : 1;
}

/// Matrix units of AMD index both factors by the lane; the fma row spreads a
/// grid of lanes. Of mma.sync a column of B is every fourth row of P, or every
/// one.
LaneMap MatrixInstruction::getRowOfP() const {
  if (kind == MatrixKind::Mma)
    return {{{kQuad, 0, getStepOfP(*this)}}};
  return {{{isFma() ? columns : 1, rows, 1}}};
}

LaneMap MatrixInstruction::getRowOfQ() const {
  if (kind == MatrixKind::Mma)
    return {{{kQuad, 0, 1}}};
  return {{{1, columns, 1}}};
}

LaneMap MatrixInstruction::getChunkOfLane() const {
  if (kind == MatrixKind::Mma)
    return {{{1, kQuad, 1}}};
  return {{{rows, 0, getLaneChunks() > 1 ? 1 : 0}}};
}

LaneMap MatrixInstruction::getFirstResult() const {
  if (kind == MatrixKind::Mma)
    return {{{1, kQuad, accVector}}};
  return {{{columns, 0, accVector}}};
}

/// Matrices of P: both chunks of a part, then those of the next. Of Q: both
/// parts of a chunk, then those of the next, as the instruction's A has them.
LaneMap MatrixInstruction::getMatrixRowOfP() const {
  return {{{1, kMatrixRows, getStepOfP(*this)}, {2 * kMatrixRows, 0, pStep}}};
}

LaneMap MatrixInstruction::getMatrixRowOfQ() const {
  return {{{1, kMatrixRows, 1}, {kMatrixRows, 2, qStep}}};
}

LaneMap MatrixInstruction::getMatrixChunkOfP() const {
  return {{{kMatrixRows, 2, 1}}};
}

LaneMap MatrixInstruction::getMatrixChunkOfQ() const {
  return {{{2 * kMatrixRows, 0, 1}}};
}

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
