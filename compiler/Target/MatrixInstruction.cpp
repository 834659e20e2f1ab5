//===- MatrixInstruction.cpp - Table of matrix instructions ---------------===//

#include "compiler/Target/MatrixInstruction.h"

#include <algorithm>

using namespace tessera;

namespace {
struct Row {
  MatrixUnit unit;
  DataType type;
  MatrixInstruction instruction;
};
} // namespace

// The layouts of operands and accumulators are from AMD's Matrix Instruction
// Calculator for CDNA2, CDNA3, RDNA3 and RDNA4. CDNA4's doubled reductions
// follow the same rule.

/// v_mfma_*_32x32xK: two lanes share a row, each with half of the reduction.
static constexpr MatrixInstruction makeMfma32(int k) {
  return {"mfma32", MatrixKind::Mfma, 32, 32, k, k / 2, 16, 4, 8};
}

/// v_mfma_*_16x16xK: four lanes share a row.
static constexpr MatrixInstruction makeMfma16(int k) {
  return {"mfma16", MatrixKind::Mfma, 16, 16, k, k / 4, 4, 4, 16};
}

/// v_mfma_f64_16x16x4: the rows of a lane have a distance of four.
static constexpr MatrixInstruction kMfmaF64 = {
    "mfma16", MatrixKind::Mfma, 16, 16, 4, 1, 4, 1, 4};

/// gfx11: both halves of the wave hold the whole row; the rows of D alternate
/// between them.
static constexpr MatrixInstruction kWmmaGfx11 = {
    "wmma16", MatrixKind::Wmma, 16, 16, 16, 16, 8, 1, 2};

/// gfx12: the halves share the reduction and the rows of D.
static constexpr MatrixInstruction kWmmaGfx12 = {
    "wmma16", MatrixKind::Wmma, 16, 16, 16, 8, 8, 8, 16};

/// mma.sync.m16n8k16 of f16 and bf16, k32 of all bytes, k8 of tf32 (PTX ISA,
/// "Matrix fragments for mma"): four lanes, a quad, share the rows of both
/// operands and of D. One entry of the table stands for four such instructions,
/// which share the 16 rows of Q, the instruction's A. Its B has rows of P as
/// columns, in such an order (getRowOfP()) that the accumulators of a lane, two
/// of each instruction, are eight neighbours along P.
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
          /*pRows=*/4,
          /*pStep=*/1,
          /*qRows=*/2,
          /*qStep=*/8};
}

/// The same with the rows of P in ascending order, which transposed matrices
/// need: a lane has two neighbours along P of each instruction.
static constexpr MatrixInstruction makeMmaInOrder(int k) {
  MatrixInstruction row = makeMma(k);
  row.name = "mma16t";
  row.accVector = 2;
  row.accStride = row.pStep = 8;
  return row;
}

/// mma.sync of f64, m8n8k4 or, from sm_90 on, m16n8k8: the same fragments, with
/// one f64 where others have a register. Lanes read chunks of their rows, of
/// which eight lanes have four each of two neighbours; so the rows of P are in
/// ascending order, in which these lie in different banks.
static constexpr MatrixInstruction makeMmaF64(int k) {
  MatrixInstruction row = makeMmaInOrder(k);
  row.name = "mma16";
  row.isDouble = true;
  return row;
}

static constexpr Row kRows[] = {
    {MatrixUnit::MfmaCdna1, DataType::F16, makeMfma32(8)},
    {MatrixUnit::MfmaCdna1, DataType::F16, makeMfma16(16)},
    {MatrixUnit::MfmaCdna1, DataType::BF16, makeMfma32(4)},
    {MatrixUnit::MfmaCdna1, DataType::BF16, makeMfma16(8)},
    {MatrixUnit::MfmaCdna1, DataType::F32, makeMfma32(2)},
    {MatrixUnit::MfmaCdna1, DataType::F32, makeMfma16(4)},
    {MatrixUnit::MfmaCdna1, DataType::I8, makeMfma32(8)},
    {MatrixUnit::MfmaCdna1, DataType::I8, makeMfma16(16)},

    {MatrixUnit::MfmaCdna2, DataType::F16, makeMfma32(8)},
    {MatrixUnit::MfmaCdna2, DataType::F16, makeMfma16(16)},
    {MatrixUnit::MfmaCdna2, DataType::BF16, makeMfma32(8)},
    {MatrixUnit::MfmaCdna2, DataType::BF16, makeMfma16(16)},
    {MatrixUnit::MfmaCdna2, DataType::F32, makeMfma32(2)},
    {MatrixUnit::MfmaCdna2, DataType::F32, makeMfma16(4)},
    {MatrixUnit::MfmaCdna2, DataType::I8, makeMfma32(8)},
    {MatrixUnit::MfmaCdna2, DataType::I8, makeMfma16(16)},
    {MatrixUnit::MfmaCdna2, DataType::F64, kMfmaF64},

    {MatrixUnit::MfmaCdna3, DataType::F16, makeMfma32(8)},
    {MatrixUnit::MfmaCdna3, DataType::F16, makeMfma16(16)},
    {MatrixUnit::MfmaCdna3, DataType::BF16, makeMfma32(8)},
    {MatrixUnit::MfmaCdna3, DataType::BF16, makeMfma16(16)},
    {MatrixUnit::MfmaCdna3, DataType::F32, makeMfma32(2)},
    {MatrixUnit::MfmaCdna3, DataType::F32, makeMfma16(4)},
    {MatrixUnit::MfmaCdna3, DataType::I8, makeMfma32(16)},
    {MatrixUnit::MfmaCdna3, DataType::I8, makeMfma16(32)},
    {MatrixUnit::MfmaCdna3, DataType::E4M3FNUZ, makeMfma32(16)},
    {MatrixUnit::MfmaCdna3, DataType::E4M3FNUZ, makeMfma16(32)},
    {MatrixUnit::MfmaCdna3, DataType::E5M2FNUZ, makeMfma32(16)},
    {MatrixUnit::MfmaCdna3, DataType::E5M2FNUZ, makeMfma16(32)},
    {MatrixUnit::MfmaCdna3, DataType::F64, kMfmaF64},

    {MatrixUnit::MfmaCdna4, DataType::F16, makeMfma32(16)},
    {MatrixUnit::MfmaCdna4, DataType::F16, makeMfma16(32)},
    {MatrixUnit::MfmaCdna4, DataType::BF16, makeMfma32(16)},
    {MatrixUnit::MfmaCdna4, DataType::BF16, makeMfma16(32)},
    {MatrixUnit::MfmaCdna4, DataType::F32, makeMfma32(2)},
    {MatrixUnit::MfmaCdna4, DataType::F32, makeMfma16(4)},
    {MatrixUnit::MfmaCdna4, DataType::I8, makeMfma32(32)},
    {MatrixUnit::MfmaCdna4, DataType::I8, makeMfma16(64)},
    {MatrixUnit::MfmaCdna4, DataType::E4M3FN, makeMfma32(64)},
    {MatrixUnit::MfmaCdna4, DataType::E4M3FN, makeMfma16(32)},
    {MatrixUnit::MfmaCdna4, DataType::E5M2, makeMfma32(64)},
    {MatrixUnit::MfmaCdna4, DataType::E5M2, makeMfma16(32)},
    {MatrixUnit::MfmaCdna4, DataType::F64, kMfmaF64},

    {MatrixUnit::WmmaGfx11, DataType::F16, kWmmaGfx11},
    {MatrixUnit::WmmaGfx11, DataType::BF16, kWmmaGfx11},
    {MatrixUnit::WmmaGfx11, DataType::I8, kWmmaGfx11},
    {MatrixUnit::WmmaGfx12, DataType::F16, kWmmaGfx12},
    {MatrixUnit::WmmaGfx12, DataType::BF16, kWmmaGfx12},
    {MatrixUnit::WmmaGfx12, DataType::I8, kWmmaGfx12},
    {MatrixUnit::WmmaGfx12, DataType::E4M3FN, kWmmaGfx12},
    {MatrixUnit::WmmaGfx12, DataType::E5M2, kWmmaGfx12},

    {MatrixUnit::MmaSm80, DataType::F16, makeMma(16)},
    {MatrixUnit::MmaSm80, DataType::BF16, makeMma(16)},
    {MatrixUnit::MmaSm80, DataType::I8, makeMma(32)},
    {MatrixUnit::MmaSm80, DataType::E4M3FN, makeMma(32)},
    {MatrixUnit::MmaSm80, DataType::E5M2, makeMma(32)},
    {MatrixUnit::MmaSm80, DataType::F16, makeMmaInOrder(16)},
    {MatrixUnit::MmaSm80, DataType::BF16, makeMmaInOrder(16)},
    {MatrixUnit::MmaSm80, DataType::F32, makeMma(8, "mma16_tf32")},
    {MatrixUnit::MmaSm80, DataType::F64, makeMmaF64(4)},
};

/// Lanes that share a row of mma.sync, and rows of a matrix of ldmatrix.
static constexpr int kQuad = 4;
static constexpr int kMatrixRows = 8;

/// The distance in rows of P between neighbouring columns of mma.sync's B.
static int getStepOfP(const MatrixInstruction &row) {
  return row.pStep == 1 ? row.pRows : 1;
}

/// AMD's matrix units index the rows of both operands by the lane; "fma"
/// arranges the lanes as a grid. In mma.sync, a quad has one column of B, which
/// is every fourth row of P or, in order, every one.
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

/// The matrices of one read of P are both chunks of a part, then those of the
/// next one. Those of Q are both parts of a chunk, then those of the next one,
/// which is the order of the registers of the instruction's A.
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

/// Elements of the reduction that "fma" multiplies at once: those of one
/// register of each operand, or one f32 or f64.
static int getFmaElements(DataType type) {
  return std::max(1, 4 / static_cast<int>(getByteSize(type)));
}

/// The lanes are a grid of eight columns, and each lane computes one element of
/// D. It takes one register of each operand at a time, since more would need
/// too many registers in f32.
static MatrixInstruction makeFma(const GpuTarget &target, DataType type) {
  int perRegister = getFmaElements(type);
  int rows = static_cast<int>(target.waveSize) / 8;
  return {"fma", MatrixKind::Fma, rows, 8, perRegister, perRegister, 1, 1, 1};
}

std::optional<MatrixInstruction>
tessera::findMatrixInstruction(const GpuTarget &target, std::string_view name,
                               DataType type) {
  if (name == "fma")
    return makeFma(target, type);
  // Floats of 8 bits came with sm_89.
  if (isFloat8(type) && target.matrixUnit == MatrixUnit::MmaSm80 &&
      !target.hasWgmma)
    return std::nullopt;
  // So did, with sm_90, the longer reductions of f64.
  constexpr MatrixInstruction kLongF64 = makeMmaF64(8);
  if (type == DataType::F64 && target.hasWgmma && name == kLongF64.name)
    return kLongF64;
  for (const Row &row : kRows)
    if (row.unit == target.matrixUnit && row.type == type &&
        row.instruction.name == name)
      return row.instruction;
  return std::nullopt;
}
