//===- MatrixScaled.cpp - MFMA of 8, 6 and 4-bit floats -------------------===//
//
// gfx950's f8f6f4 instructions select the formats of A and B at run time (cbsz,
// blgp). The scaled ones multiply each block of 32 k of a row by a power of
// two. Layouts: CDNA4 ISA guide 7.1.5 and 7.2.1.
//
// Products are accumulated in f64, where they and nearly all of their sums are
// exact, and the result is rounded once. The hardware's intermediate rounding
// is not published.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/MatrixLayout.h"
#include "runtime/Emulator/Exec/OpcodeTable.h"
#include "runtime/Emulator/Exec/SmallFloat.h"
#include "runtime/Emulator/Wave.h"

#include <limits>

using namespace tessera::emulator;

/// Elements along k that share a scale.
static constexpr unsigned kBlock = 32;

namespace {
/// The values of cbsz and blgp.
enum Format : uint8_t { Fp8, Bf8, Fp6, Bf6, Fp4, FormatCount };
} // namespace

static unsigned getBits(Format format) {
  return format <= Bf8 ? 8 : format <= Bf6 ? 6 : 4;
}

static float decode(Format format, uint32_t code) {
  switch (format) {
  case Fp8:
    return getFloat8Table<kFp8Ocp>()[code];
  case Bf8:
    return getFloat8Table<kBf8Ocp>()[code];
  case Fp6:
    return decodeSmallFloat(code, kFp6);
  case Bf6:
    return decodeSmallFloat(code, kBf6);
  default:
    return decodeSmallFloat(code, kFp4);
  }
}

/// Returns the lane and element of row `i`, `k`. A lane has 32 consecutive k of
/// 6- and 4-bit elements, but two runs of 16 of 8-bit elements, which are K / 2
/// apart.
template <unsigned M>
static std::pair<unsigned, unsigned> findElement(Format format, unsigned i,
                                                 unsigned k) {
  constexpr unsigned kHalf = 1024 / M;
  if (getBits(format) == 8)
    return {i + M * (k % kHalf / 16), 16 * (k / kHalf) + k % 16};
  return {i + M * (k / 32), k % 32};
}

/// Returns bits [first, first + count) of consecutive registers of a lane.
static uint32_t readBits(const Wave &wave, unsigned row, unsigned lane,
                         unsigned first, unsigned count) {
  const LaneRow *rows = &wave.vector[row + first / 32];
  uint64_t bits = rows[0][lane];
  if (first % 32 + count > 32)
    bits |= uint64_t(rows[1][lane]) << 32;
  return static_cast<uint32_t>(bits >> first % 32) & ((1u << count) - 1);
}

template <unsigned M, unsigned K>
static void readMatrix(const Wave &wave, const Operand &operand, Format format,
                       double (&to)[K][M]) {
  unsigned bits = getBits(format);
  for (unsigned k = 0; k < K; ++k)
    for (unsigned i = 0; i < M; ++i) {
      auto [lane, element] = findElement<M>(format, i, k);
      to[k][i] = decode(
          format, readBits(wave, operand.reg, lane, element * bits, bits));
    }
}

/// Multiplies by the scales. The biased exponent for row i is byte `byte` of
/// lane i + M * block; if the scale is a constant, it is the exponent of the
/// float.
template <unsigned M, unsigned K>
static void applyScales(const Wave &wave, const Operand &operand, unsigned byte,
                        double (&matrix)[K][M]) {
  for (unsigned block = 0; block < K / kBlock; ++block)
    for (unsigned i = 0; i < M; ++i) {
      uint32_t exponent =
          operand.kind == OperandKind::Vector
              ? wave.vector[operand.reg][i + M * block] >> (8 * byte)
              : wave.scalar32(operand) >> 23;
      exponent &= 0xff;
      double scale = exponent == 0xff
                         ? std::numeric_limits<double>::quiet_NaN()
                         : std::ldexp(1.0, static_cast<int>(exponent) - 127);
      for (unsigned k = 0; k < kBlock; ++k)
        matrix[kBlock * block + k][i] *= scale;
    }
}

/// Returns the register and first lane of row i of C and D.
template <unsigned M>
static std::pair<unsigned, unsigned> findRow(unsigned i) {
  if (M == 32)
    return {i / 8 * 4 + i % 4, 32 * (i / 4 % 2)};
  return {i % 4, 16 * (i / 4)};
}

template <unsigned M, unsigned K>
static void multiplyAdd(Wave &wave, const Instruction &in,
                        const double (&a)[K][M], const double (&b)[K][M]) {
  constexpr unsigned kRegisters = M * M / 64;
  const uint32_t *c[kRegisters];
  uint32_t *d[kRegisters];
  getAccumulators(wave, in, c, d);
  for (unsigned i = 0; i < M; ++i) {
    auto [reg, lane] = findRow<M>(i);
    double accumulators[M] = {};
    for (unsigned k = 0; k < K; ++k)
      for (unsigned j = 0; j < M; ++j)
        accumulators[j] += a[k][i] * b[k][j];
    for (unsigned j = 0; j < M; ++j)
      d[reg][lane + j] = std::bit_cast<uint32_t>(static_cast<float>(
          accumulators[j] + double(std::bit_cast<float>(c[reg][lane + j]))));
  }
}

template <unsigned M, unsigned K, bool IsScaled>
static void multiply(Wave &wave, const Instruction &in) {
  if (in.cbsz >= FormatCount || in.blgp >= FormatCount) {
    wave.fail(FaultKind::UnknownInstruction, in, -1, 0,
              "there is no such matrix format");
    return;
  }
  double a[K][M], b[K][M];
  readMatrix<M, K>(wave, in.op[1], static_cast<Format>(in.cbsz), a);
  readMatrix<M, K>(wave, in.op[2], static_cast<Format>(in.blgp), b);
  if constexpr (IsScaled) {
    // {op_sel_hi[s], op_sel[s]} are in the first two dwords, bits 12:11 and
    // 60:59.
    auto select = [&](unsigned s) {
      return (in.raw[0] >> (11 + s) & 1) | (in.raw[1] >> (27 + s) & 1) << 1;
    };
    applyScales<M, K>(wave, in.op[4], select(0), a);
    applyScales<M, K>(wave, in.op[5], select(1), b);
  }
  multiplyAdd<M, K>(wave, in, a, b);
}

void tessera::emulator::addMatrixScaled(OpcodeTable &table) {
  using enum ValueType;
  auto add = [&](const char *name, Handler handler) {
    table.add(name, {handler,
                     InstructionClass::Mfma,
                     kRawModifiers,
                     {F32, U32, U32, F32, F32, F32}});
  };
  add("v_mfma_f32_16x16x128_f8f6f4", multiply<16, 128, false>);
  add("v_mfma_f32_32x32x64_f8f6f4", multiply<32, 64, false>);
  add("v_mfma_scale_f32_16x16x128_f8f6f4", multiply<16, 128, true>);
  add("v_mfma_scale_f32_32x32x64_f8f6f4", multiply<32, 64, true>);
}
