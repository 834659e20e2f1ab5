//===- Wmma.cpp - The matrix instructions of gfx11 and gfx12 --------------===//
//
// D = A * B + C on 16x16 tiles by a wave of 32. A and B are widened into
// [k][row] and [k][column], so that computing a row of D is a vector loop of
// the host.
//
// Layouts: AMD's matrix instruction calculator. On gfx11 every lane of A holds
// a whole row (lanes 16-31 repeat lanes 0-15), on gfx12 the two halves of the
// wave share it. Numerics: products are exact, one f32 fma for each k in
// ascending order; AMD publishes no model of the hardware's order.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/Float8.h"
#include "runtime/Emulator/Exec/HalfFloat.h"
#include "runtime/Emulator/Exec/OpcodeTable.h"
#include "runtime/Emulator/Wave.h"

#include <algorithm>
#include <limits>
#include <string>

using namespace tessera::emulator;

namespace {
enum class Element { F16, Bf16, Fp8, Bf8, I8, I4 };
enum class Result { F32, F16, Bf16, I32 };
constexpr unsigned kEdge = 16;
constexpr unsigned kMaxK = 32;

constexpr unsigned getBits(Element type) {
  return type == Element::F16 || type == Element::Bf16 ? 16
         : type == Element::I4                         ? 4
                                                       : 8;
}

struct Shape {
  Element a, b;
  Result d;
  unsigned k;
};

/// Where an element is: the register relative to the first one, the lane, and
/// the lowest bit.
struct Position {
  unsigned reg, lane, bit;
};
} // namespace

/// Locates A[row][k], or B[k][row], which has the same layout.
template <unsigned Bits>
static Position locateInput(bool isGfx11, unsigned k, unsigned kCount,
                            unsigned row) {
  unsigned lane = row, e = k;
  if (!isGfx11 && Bits == 16) {
    // Of each eight k, the first half of the wave holds four and the second
    // half the other four.
    lane += k % 8 / 4 * kEdge;
    e = k / 8 * 4 + k % 4;
  } else if (!isGfx11) {
    unsigned perLane = kCount / 2;
    lane += k / perLane * kEdge;
    e = k % perLane;
  }
  return {e * Bits / 32, lane, e * Bits % 32};
}

/// Locates row i, column j of C and D. 16-bit results of gfx11 fill one half of
/// each register, those of gfx12 both.
static Position locateResult(bool isGfx11, bool isHalf, unsigned highHalf,
                             unsigned i, unsigned j) {
  if (isGfx11)
    return {i / 2, j + i % 2 * kEdge, isHalf ? 16 * highHalf : 0};
  unsigned e = i % 8, lane = j + i / 8 * kEdge;
  return isHalf ? Position{e / 2, lane, 16 * (e % 2)} : Position{e, lane, 0};
}

template <Element Type>
static float widen(uint32_t bits) {
  if constexpr (Type == Element::F16)
    return halfToFloat(bits);
  else if constexpr (Type == Element::Bf16)
    return bf16ToFloat(bits);
  else if constexpr (Type == Element::Fp8)
    return getFloat8Table<kFp8Ocp>()[bits & 0xff];
  else
    return getFloat8Table<kBf8Ocp>()[bits & 0xff];
}

/// neg_lo negates the low and neg_hi the high element of each register.
template <Element Type>
static void widenOperand(const Wave &wave, const Instruction &in,
                         unsigned operand, unsigned kCount,
                         float (*to)[kEdge]) {
  constexpr unsigned kBits = getBits(Type);
  bool isGfx11 = wave.group->chip->generation == 11;
  bool negates[] = {(in.negLo >> (operand - 1) & 1) != 0,
                    (in.negHi >> (operand - 1) & 1) != 0};
  for (unsigned k = 0; k < kCount; ++k)
    for (unsigned row = 0; row < kEdge; ++row) {
      Position at = locateInput<kBits>(isGfx11, k, kCount, row);
      float value = widen<Type>(
          wave.vector[in.op[operand].reg + at.reg][at.lane] >> at.bit);
      to[k][row] = kBits == 16 && negates[at.bit / 16] ? -value : value;
    }
}

/// In integer forms neg_lo says that A (bit 0) or B (bit 1) is signed.
template <Element Type>
static void widenInteger(const Wave &wave, const Instruction &in,
                         unsigned operand, unsigned kCount,
                         int32_t (*to)[kEdge]) {
  constexpr unsigned kBits = getBits(Type);
  bool isGfx11 = wave.group->chip->generation == 11;
  bool isSigned = in.negLo >> (operand - 1) & 1;
  for (unsigned k = 0; k < kCount; ++k)
    for (unsigned row = 0; row < kEdge; ++row) {
      Position at = locateInput<kBits>(isGfx11, k, kCount, row);
      uint32_t bits = wave.vector[in.op[operand].reg + at.reg][at.lane] >>
                      at.bit << (32 - kBits);
      to[k][row] = isSigned ? static_cast<int32_t>(bits) >> (32 - kBits)
                            : static_cast<int32_t>(bits >> (32 - kBits));
    }
}

/// Returns the bits of C at `at`. A constant is the same everywhere; bf16 takes
/// the upper half of the f32 as which it is bound.
template <Result Type>
static uint32_t readC(const Wave &wave, const Instruction &in,
                      const Position &at) {
  const Operand &c = in.op[3];
  if (c.kind == OperandKind::Vector)
    return wave.vector[c.reg + at.reg][at.lane] >> at.bit;
  return wave.scalar32(c) >> (Type == Result::Bf16 ? 16 : 0);
}

template <Result Type>
static float readFloat(uint32_t bits, const Instruction &in) {
  float value = Type == Result::F16    ? halfToFloat(bits)
                : Type == Result::Bf16 ? bf16ToFloat(bits)
                                       : std::bit_cast<float>(bits);
  if (in.negHi & 4)
    value = std::fabs(value);
  return in.negLo & 4 ? -value : value;
}

template <Result Type>
static void writeFloat(uint32_t &word, unsigned bit, float value) {
  if constexpr (Type == Result::F32) {
    word = std::bit_cast<uint32_t>(value);
  } else {
    uint32_t half =
        Type == Result::F16 ? floatToHalf(value) : floatToBf16(value);
    word = (word & ~(0xffffu << bit)) | half << bit;
  }
}

/// The result of a WMMA with inactive lanes is undefined on the hardware.
static bool checkExec(Wave &wave, const Instruction &in) {
  if (wave.lanes == 32 && wave.execFull) [[likely]]
    return true;
  wave.fail(FaultKind::IllegalState, in, -1, 0,
            wave.lanes == 32
                ? "a matrix instruction needs all lanes of the wave"
                : "matrix instructions of a wave of 64 are not emulated");
  return false;
}

template <Shape S>
static void multiplyFloat(Wave &wave, const Instruction &in) {
  if (!checkExec(wave, in))
    return;
  bool isGfx11 = wave.group->chip->generation == 11;
  constexpr bool kIsHalf = S.d != Result::F32;
  unsigned high = in.opSel >> 2 & 1;
  float a[kMaxK][kEdge], b[kMaxK][kEdge], accumulators[kEdge][kEdge];
  widenOperand<S.a>(wave, in, 1, S.k, a);
  widenOperand<S.b>(wave, in, 2, S.k, b);
  for (unsigned i = 0; i < kEdge; ++i)
    for (unsigned j = 0; j < kEdge; ++j)
      accumulators[i][j] = readFloat<S.d>(
          readC<S.d>(wave, in, locateResult(isGfx11, kIsHalf, high, i, j)), in);
  for (unsigned i = 0; i < kEdge; ++i)
    for (unsigned k = 0; k < S.k; ++k)
      for (unsigned j = 0; j < kEdge; ++j)
        accumulators[i][j] =
            __builtin_fmaf(a[k][i], b[k][j], accumulators[i][j]);
  for (unsigned i = 0; i < kEdge; ++i)
    for (unsigned j = 0; j < kEdge; ++j) {
      Position at = locateResult(isGfx11, kIsHalf, high, i, j);
      writeFloat<S.d>(wave.vector[in.op[0].reg + at.reg][at.lane], at.bit,
                      accumulators[i][j]);
    }
}

/// Sums wrap in 32 bits; with clamp the complete sum saturates instead.
template <Shape S>
static void multiplyInteger(Wave &wave, const Instruction &in) {
  if (!checkExec(wave, in))
    return;
  bool isGfx11 = wave.group->chip->generation == 11;
  int32_t a[kMaxK][kEdge], b[kMaxK][kEdge];
  widenInteger<S.a>(wave, in, 1, S.k, a);
  widenInteger<S.b>(wave, in, 2, S.k, b);
  for (unsigned i = 0; i < kEdge; ++i)
    for (unsigned j = 0; j < kEdge; ++j) {
      Position at = locateResult(isGfx11, false, 0, i, j);
      int64_t accumulator = static_cast<int32_t>(readC<S.d>(wave, in, at));
      for (unsigned k = 0; k < S.k; ++k)
        accumulator += a[k][i] * b[k][j];
      if (in.has(kClamp))
        accumulator = std::clamp<int64_t>(accumulator,
                                          std::numeric_limits<int32_t>::min(),
                                          std::numeric_limits<int32_t>::max());
      wave.vector[in.op[0].reg + at.reg][at.lane] =
          static_cast<uint32_t>(accumulator);
    }
}

template <Shape S>
static void add(OpcodeTable &table, const std::string &name) {
  Handler handler;
  if constexpr (S.d == Result::I32)
    handler = multiplyInteger<S>;
  else
    handler = multiplyFloat<S>;
  ValueType c = S.d == Result::I32   ? ValueType::I32
                : S.d == Result::F16 ? ValueType::F16
                                     : ValueType::F32;
  table.add("v_wmma_" + name, {handler,
                               InstructionClass::Mfma,
                               kRawModifiers,
                               {c, ValueType::U32, ValueType::U32, c}});
}

void tessera::emulator::addWmma(OpcodeTable &table) {
  using enum Element;
  add<Shape{F16, F16, Result::F32, 16}>(table, "f32_16x16x16_f16");
  add<Shape{Element::Bf16, Element::Bf16, Result::F32, 16}>(
      table, "f32_16x16x16_bf16");
  add<Shape{F16, F16, Result::F16, 16}>(table, "f16_16x16x16_f16");
  add<Shape{Element::Bf16, Element::Bf16, Result::Bf16, 16}>(
      table, "bf16_16x16x16_bf16");
  add<Shape{I8, I8, Result::I32, 16}>(table, "i32_16x16x16_iu8");
  add<Shape{I4, I4, Result::I32, 16}>(table, "i32_16x16x16_iu4");
  add<Shape{I4, I4, Result::I32, 32}>(table, "i32_16x16x32_iu4");
  add<Shape{Fp8, Fp8, Result::F32, 16}>(table, "f32_16x16x16_fp8_fp8");
  add<Shape{Fp8, Bf8, Result::F32, 16}>(table, "f32_16x16x16_fp8_bf8");
  add<Shape{Bf8, Fp8, Result::F32, 16}>(table, "f32_16x16x16_bf8_fp8");
  add<Shape{Bf8, Bf8, Result::F32, 16}>(table, "f32_16x16x16_bf8_bf8");
}
