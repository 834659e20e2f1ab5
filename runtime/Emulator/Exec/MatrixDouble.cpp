//===- MatrixDouble.cpp - MFMA of f64 -------------------------------------===//
//
// f64 has its own layouts: four rows of D are in four groups of lanes, not in
// registers. One fma for each k, ascending, as on the hardware; denormals are
// kept (CDNA4 ISA guide 7.4).
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/OpcodeTable.h"
#include "runtime/Emulator/Wave.h"

#include <cmath>

using namespace tessera::emulator;

/// Returns double `n` of a lane, or the constant.
static double readDouble(const Wave &wave, const Operand &operand, unsigned n,
                         unsigned lane) {
  if (operand.kind != OperandKind::Vector)
    return std::bit_cast<double>(wave.scalar64(operand));
  const LaneRow *rows = &wave.vector[operand.reg + 2 * n];
  return std::bit_cast<double>(rows[0][lane] | uint64_t(rows[1][lane]) << 32);
}
static void writeDouble(Wave &wave, const Operand &operand, unsigned n,
                        unsigned lane, double value) {
  auto bits = std::bit_cast<uint64_t>(value);
  LaneRow *rows = &wave.vector[operand.reg + 2 * n];
  rows[0][lane] = static_cast<uint32_t>(bits);
  rows[1][lane] = static_cast<uint32_t>(bits >> 32);
}

/// The blgp bits negate A, B and C (printed as neg on gfx942).
static double applySign(const Instruction &in, unsigned matrix, double value) {
  return (in.blgp | in.negLo) >> matrix & 1 ? -value : value;
}

/// In A, lane = row + 16 k. In D, row i and column j are in double n of lane L
/// where i = 4 n + L / 16 and j = L % 16.
static void multiply16(Wave &wave, const Instruction &in) {
  double accumulators[16][16];
  for (unsigned i = 0; i < 16; ++i)
    for (unsigned j = 0; j < 16; ++j) {
      unsigned lane = i % 4 * 16 + j;
      accumulators[i][j] =
          applySign(in, 2, readDouble(wave, in.op[3], i / 4, lane));
      for (unsigned k = 0; k < 4; ++k)
        accumulators[i][j] = std::fma(
            applySign(in, 0, readDouble(wave, in.op[1], 0, 16 * k + i)),
            applySign(in, 1, readDouble(wave, in.op[2], 0, 16 * k + j)),
            accumulators[i][j]);
    }
  for (unsigned i = 0; i < 16; ++i)
    for (unsigned j = 0; j < 16; ++j)
      writeDouble(wave, in.op[0], i / 4, i % 4 * 16 + j, accumulators[i][j]);
}

/// Four blocks; lane L belongs to block L / 4 % 4. In A and B, i or j is L % 4
/// and k is L / 16; in C and D, i is L / 16 and j is L % 4.
static void multiply4(Wave &wave, const Instruction &in) {
  double accumulators[64];
  for (unsigned lane = 0; lane < 64; ++lane) {
    unsigned i = lane / 16, blockAndJ = lane % 16;
    unsigned block = blockAndJ / 4;
    accumulators[lane] = applySign(in, 2, readDouble(wave, in.op[3], 0, lane));
    for (unsigned k = 0; k < 4; ++k)
      accumulators[lane] = std::fma(
          applySign(in, 0,
                    readDouble(wave, in.op[1], 0, 16 * k + 4 * block + i)),
          applySign(in, 1, readDouble(wave, in.op[2], 0, 16 * k + blockAndJ)),
          accumulators[lane]);
  }
  for (unsigned lane = 0; lane < 64; ++lane)
    writeDouble(wave, in.op[0], 0, lane, accumulators[lane]);
}

void tessera::emulator::addMatrixDouble(OpcodeTable &table) {
  auto add = [&](const char *name, Handler handler) {
    table.add(name, {handler, InstructionClass::Mfma, kRawModifiers,
                     std::vector<ValueType>(4, ValueType::F64)});
  };
  add("v_mfma_f64_16x16x4f64", multiply16);
  add("v_mfma_f64_16x16x4_f64", multiply16);
  add("v_mfma_f64_4x4x4f64", multiply4);
  add("v_mfma_f64_4x4x4_4b_f64", multiply4);
}
