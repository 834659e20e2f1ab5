//===- Matrix.cpp - MFMA --------------------------------------------------===//
//
// Each instruction is a small dense matrix product. A and B are widened into
// [k][row] and [k][column] arrays, whose rows are consecutive lanes, and every
// row of D is in consecutive lanes too, so the product is plain vector code.
//
// Numerics. f32, and f16/bf16 into f32: one fused multiply-add for each k,
// ascending, in f32. For f32 that is what the hardware does. For 16-bit inputs
// the products are exact here and on the hardware, but the order of additions
// is not the hardware's (gfx90a: rounded f32 trees of four; gfx942: exact sums
// of eight, truncated), so results agree to about K * 2^-24 of sum |a * b|, not
// bit by bit. gfx90a flushes denormals of 16-bit instructions in A, B and the
// accumulator, as its hardware does. EXEC is ignored. Layouts: AMD's matrix
// instruction calculator.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/MatrixLayout.h"
#include "runtime/Emulator/Exec/OpcodeTable.h"

#include <algorithm>
#include <array>
#include <xmmintrin.h>

using namespace tessera::emulator;

namespace {
/// Makes the host treat f32 denormals as zero during its lifetime.
class FlushDenormals {
public:
  explicit FlushDenormals(bool flush) : saved(_mm_getcsr()) {
    if (flush)
      _mm_setcsr(saved | 0x8040);
  }
  ~FlushDenormals() { _mm_setcsr(saved); }

private:
  unsigned saved;
};
} // namespace

/// Returns `scratch` with the lanes of `row` rearranged by `source`.
static const uint32_t *rearrange(const uint32_t *row, uint32_t *scratch,
                                 const uint8_t (&source)[64]) {
  for (unsigned lane = 0; lane < 64; ++lane)
    scratch[lane] = row[source[lane]];
  return scratch;
}

/// Source lanes of A under cbsz and abid: block b reads the block whose number
/// is b with its low cbsz bits set to abid.
static bool getABroadcast(const Instruction &in, unsigned m, unsigned blocks,
                          uint8_t (&source)[64]) {
  if (!in.cbsz || blocks == 1)
    return false;
  unsigned mask = (1u << in.cbsz) - 1;
  for (unsigned lane = 0; lane < 64; ++lane) {
    unsigned block = (lane / m & ~mask) | (in.abid & mask);
    source[lane] = static_cast<uint8_t>(block * m + lane % m);
  }
  return true;
}

/// Source lanes of B under blgp.
static bool getBPattern(const Instruction &in, uint8_t (&source)[64]) {
  if (!in.blgp)
    return false;
  for (unsigned lane = 0; lane < 64; ++lane) {
    unsigned from = in.blgp == 1   ? lane % 32
                    : in.blgp == 2 ? lane % 32 + 32
                    : in.blgp == 3 ? (lane + 16) % 64
                                   : 16 * (in.blgp - 4u) + lane % 16;
    source[lane] = static_cast<uint8_t>(from);
  }
  return true;
}

/// Widens the lanes of A or B into to[element][lane]. Element e of lane L is k
/// = perLane * (L / M) + e, or block L / M and k = e.
template <Shape S, Element Type>
static void widenOperand(const Wave &wave, unsigned row, bool flush,
                         const uint8_t (*source)[64], float (*to)[64]) {
  constexpr unsigned kPerDword = getElementsPerDword(Type);
  for (unsigned e = 0; e < S.perLane(); ++e) {
    const uint32_t *words = wave.vector[row + e / kPerDword];
    LaneRow scratch;
    if (source)
      words = rearrange(words, scratch, *source);
    for (unsigned lane = 0; lane < 64; ++lane)
      to[e][lane] = widen<Type>(words[lane], e % kPerDword);
    if (Type == Element::F16 && flush)
      for (unsigned lane = 0; lane < 64; ++lane)
        to[e][lane] = std::fabs(to[e][lane]) < 0x1p-14f ? 0.0f : to[e][lane];
  }
}

/// A[k][i] of block b: element and lane in the widened operand.
template <Shape S>
static const float *getColumn(const float (*operand)[64], unsigned block,
                              unsigned k) {
  unsigned element = S.blocks == 1 ? k % S.perLane() : k;
  unsigned group = S.blocks == 1 ? k / S.perLane() : block;
  return &operand[element][S.m * group];
}

/// Computes two rows of D at a time, which share the loads of B.
template <Shape S>
static void multiplyRows(const float (*a)[64], const float (*b)[64],
                         const uint32_t *const *c, uint32_t *const *d,
                         unsigned block, unsigned i) {
  constexpr unsigned kRows = S.m == 4 ? 1 : 2;
  float accumulators[kRows][S.m];
  for (unsigned r = 0; r < kRows; ++r)
    std::memcpy(accumulators[r],
                c[getRegisterOfRow<S>(block, i + r)] +
                    getLaneOfRow<S>(block, i + r),
                sizeof accumulators[r]);
  for (unsigned k = 0; k < S.k; ++k) {
    const float *columnOfA = getColumn<S>(a, block, k);
    const float *rowOfB = getColumn<S>(b, block, k);
    for (unsigned r = 0; r < kRows; ++r)
      for (unsigned j = 0; j < S.m; ++j)
        accumulators[r][j] =
            __builtin_fmaf(columnOfA[i + r], rowOfB[j], accumulators[r][j]);
  }
  for (unsigned r = 0; r < kRows; ++r)
    std::memcpy(d[getRegisterOfRow<S>(block, i + r)] +
                    getLaneOfRow<S>(block, i + r),
                accumulators[r], sizeof accumulators[r]);
}

template <Shape S>
static void multiplyFloat(Wave &wave, const Instruction &in) {
  constexpr unsigned kRegisters = S.m * S.m * S.blocks / 64;
  bool flush = S.a != Element::F32 && wave.group->chip->matrixFlushesDenormals;
  FlushDenormals denormals(flush);
  uint8_t sourceA[64], sourceB[64];
  bool movesA = getABroadcast(in, S.m, S.blocks, sourceA);
  bool movesB = getBPattern(in, sourceB);
  alignas(64) float a[S.perLane()][64], b[S.perLane()][64];
  widenOperand<S, S.a>(wave, in.op[1].reg, flush, movesA ? &sourceA : nullptr,
                       a);
  widenOperand<S, S.b>(wave, in.op[2].reg, flush, movesB ? &sourceB : nullptr,
                       b);
  const uint32_t *c[kRegisters];
  uint32_t *d[kRegisters];
  getAccumulators(wave, in, c, d);
  // Where D is C, rows are read before they are written.
  for (unsigned block = 0; block < S.blocks; ++block)
    for (unsigned i = 0; i < S.m; i += S.m == 4 ? 1 : 2)
      multiplyRows<S>(a, b, c, d, block, i);
}

/// The 8-bit floats of gfx942 have their own formats.
template <Shape S>
static void multiplyFloat8(Wave &wave, const Instruction &in) {
  if (wave.group->chip->hasFnuzFloat8())
    multiplyFloat<S>(wave, in);
  else
    multiplyFloat<withOcpFloats(S)>(wave, in);
}

/// i8: products and sums wrap in 32 bits.
template <Shape S>
static void multiplyInteger(Wave &wave, const Instruction &in) {
  constexpr unsigned kRegisters = S.m * S.m * S.blocks / 64;
  const uint32_t *c[kRegisters];
  uint32_t *d[kRegisters];
  getAccumulators(wave, in, c, d);
  auto element = [&](const Operand &operand, unsigned block, unsigned row,
                     unsigned k) {
    unsigned e = S.blocks == 1 ? k % S.perLane() : k;
    unsigned group = S.blocks == 1 ? k / S.perLane() : block;
    uint32_t word = wave.vector[operand.reg + e / 4][S.m * group + row];
    return static_cast<int32_t>(static_cast<int8_t>(word >> (8 * (e % 4))));
  };
  int32_t a[S.k][S.m], b[S.k][S.m];
  for (unsigned block = 0; block < S.blocks; ++block) {
    for (unsigned k = 0; k < S.k; ++k)
      for (unsigned i = 0; i < S.m; ++i) {
        a[k][i] = element(in.op[1], block, i, k);
        b[k][i] = element(in.op[2], block, i, k);
      }
    for (unsigned i = 0; i < S.m; ++i)
      for (unsigned j = 0; j < S.m; ++j) {
        unsigned reg = getRegisterOfRow<S>(block, i);
        unsigned lane = getLaneOfRow<S>(block, i) + j;
        auto accumulators = c[reg][lane];
        for (unsigned k = 0; k < S.k; ++k)
          accumulators += static_cast<uint32_t>(a[k][i] * b[k][j]);
        d[reg][lane] = accumulators;
      }
  }
}

template <Shape S>
static void add(OpcodeTable &table, std::initializer_list<const char *> names) {
  for (const char *name : names) {
    Handler handler;
    if constexpr (S.a == Element::I8)
      handler = multiplyInteger<S>;
    else if constexpr (S.a == Element::Fp8 || S.a == Element::Bf8)
      handler = multiplyFloat8<S>;
    else
      handler = multiplyFloat<S>;
    ValueType c = S.a == Element::I8 ? ValueType::I32 : ValueType::F32;
    table.add(std::string("v_mfma_") + name,
              {handler,
               InstructionClass::Mfma,
               kRawModifiers,
               {c, ValueType::U32, ValueType::U32, c}});
  }
}

static void addHalf(OpcodeTable &table) {
  using enum Element;
  add<Shape{32, 8, 1, F16, F16}>(table, {"f32_32x32x8f16", "f32_32x32x8_f16"});
  add<Shape{16, 16, 1, F16, F16}>(table,
                                  {"f32_16x16x16f16", "f32_16x16x16_f16"});
  add<Shape{32, 16, 1, F16, F16}>(table, {"f32_32x32x16_f16"});
  add<Shape{16, 32, 1, F16, F16}>(table, {"f32_16x16x32_f16"});
  add<Shape{32, 16, 1, Bf16, Bf16}>(table, {"f32_32x32x16_bf16"});
  add<Shape{16, 32, 1, Bf16, Bf16}>(table, {"f32_16x16x32_bf16"});
  add<Shape{32, 4, 2, F16, F16}>(table,
                                 {"f32_32x32x4f16", "f32_32x32x4_2b_f16"});
  add<Shape{16, 4, 4, F16, F16}>(table,
                                 {"f32_16x16x4f16", "f32_16x16x4_4b_f16"});
  add<Shape{4, 4, 16, F16, F16}>(table, {"f32_4x4x4f16", "f32_4x4x4_16b_f16"});
  add<Shape{32, 8, 1, Bf16, Bf16}>(table,
                                   {"f32_32x32x8bf16_1k", "f32_32x32x8_bf16"});
  add<Shape{16, 16, 1, Bf16, Bf16}>(
      table, {"f32_16x16x16bf16_1k", "f32_16x16x16_bf16"});
  add<Shape{32, 4, 2, Bf16, Bf16}>(
      table, {"f32_32x32x4bf16_1k", "f32_32x32x4_2b_bf16"});
  add<Shape{16, 4, 4, Bf16, Bf16}>(
      table, {"f32_16x16x4bf16_1k", "f32_16x16x4_4b_bf16"});
  add<Shape{4, 4, 16, Bf16, Bf16}>(table,
                                   {"f32_4x4x4bf16_1k", "f32_4x4x4_16b_bf16"});
  add<Shape{32, 4, 1, Bf16, Bf16}>(table, {"f32_32x32x4bf16"});
  add<Shape{16, 8, 1, Bf16, Bf16}>(table, {"f32_16x16x8bf16"});
  add<Shape{32, 2, 2, Bf16, Bf16}>(table, {"f32_32x32x2bf16"});
  add<Shape{16, 2, 4, Bf16, Bf16}>(table, {"f32_16x16x2bf16"});
  add<Shape{4, 2, 16, Bf16, Bf16}>(table, {"f32_4x4x2bf16"});
}

static void addFull(OpcodeTable &table) {
  using enum Element;
  add<Shape{32, 2, 1, F32, F32}>(table, {"f32_32x32x2f32", "f32_32x32x2_f32"});
  add<Shape{16, 4, 1, F32, F32}>(table, {"f32_16x16x4f32", "f32_16x16x4_f32"});
  add<Shape{32, 1, 2, F32, F32}>(table,
                                 {"f32_32x32x1f32", "f32_32x32x1_2b_f32"});
  add<Shape{16, 1, 4, F32, F32}>(table,
                                 {"f32_16x16x1f32", "f32_16x16x1_4b_f32"});
  add<Shape{4, 1, 16, F32, F32}>(table, {"f32_4x4x1f32", "f32_4x4x1_16b_f32"});
  add<Shape{32, 4, 1, Xf32, Xf32}>(table, {"f32_32x32x4_xf32"});
  add<Shape{16, 8, 1, Xf32, Xf32}>(table, {"f32_16x16x8_xf32"});
  add<Shape{32, 8, 1, I8, I8}>(table, {"i32_32x32x8i8"});
  add<Shape{16, 16, 1, I8, I8}>(table, {"i32_16x16x16i8"});
  add<Shape{32, 16, 1, I8, I8}>(table, {"i32_32x32x16_i8"});
  add<Shape{16, 32, 1, I8, I8}>(table, {"i32_16x16x32_i8"});
  add<Shape{32, 32, 1, I8, I8}>(table, {"i32_32x32x32_i8"});
  add<Shape{16, 64, 1, I8, I8}>(table, {"i32_16x16x64_i8"});
  add<Shape{32, 4, 2, I8, I8}>(table, {"i32_32x32x4i8", "i32_32x32x4_2b_i8"});
  add<Shape{16, 4, 4, I8, I8}>(table, {"i32_16x16x4i8", "i32_16x16x4_4b_i8"});
  add<Shape{4, 4, 16, I8, I8}>(table, {"i32_4x4x4i8", "i32_4x4x4_16b_i8"});
}

static void addBytes(OpcodeTable &table) {
  using enum Element;
  add<Shape{32, 16, 1, Fp8, Fp8}>(table, {"f32_32x32x16_fp8_fp8"});
  add<Shape{32, 16, 1, Fp8, Bf8}>(table, {"f32_32x32x16_fp8_bf8"});
  add<Shape{32, 16, 1, Bf8, Fp8}>(table, {"f32_32x32x16_bf8_fp8"});
  add<Shape{32, 16, 1, Bf8, Bf8}>(table, {"f32_32x32x16_bf8_bf8"});
  add<Shape{16, 32, 1, Fp8, Fp8}>(table, {"f32_16x16x32_fp8_fp8"});
  add<Shape{16, 32, 1, Fp8, Bf8}>(table, {"f32_16x16x32_fp8_bf8"});
  add<Shape{16, 32, 1, Bf8, Fp8}>(table, {"f32_16x16x32_bf8_fp8"});
  add<Shape{16, 32, 1, Bf8, Bf8}>(table, {"f32_16x16x32_bf8_bf8"});
}

void tessera::emulator::addMatrix(OpcodeTable &table) {
  addHalf(table);
  addFull(table);
  addBytes(table);
}
