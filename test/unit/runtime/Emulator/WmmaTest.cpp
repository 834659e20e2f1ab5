//===- WmmaTest.cpp - WMMA against a plain matrix product -----------------===//
//
// The layouts are implemented again here in the other direction than in the
// emulator, as AMD's matrix instruction calculator prints them: which element
// the bits of a lane are.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/Float8.h"
#include "runtime/Emulator/Exec/HalfFloat.h"
#include "test/unit/runtime/Emulator/WaveTester.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tessera::emulator;

namespace {
enum class Type { F16, Bf16, Fp8, Bf8, Int8, Int4, F32, I32 };
struct Case {
  const char *chip;
  const char *name; ///< without the prefix v_wmma_
  Type a, b, d;
  unsigned k;
  const char *modifiers = "";
  bool isGfx11() const { return std::string(chip).starts_with("gfx11"); }
};
struct Matrix {
  double at[16][32] = {};
};
} // namespace

static constexpr Type F16 = Type::F16, Bf16 = Type::Bf16, Fp8 = Type::Fp8,
                      Bf8 = Type::Bf8, Int8 = Type::Int8, Int4 = Type::Int4,
                      F32 = Type::F32, I32 = Type::I32;

static constexpr Case kCases[] = {
    {"gfx1100", "f32_16x16x16_f16", F16, F16, F32, 16},
    {"gfx1100", "f32_16x16x16_f16", F16, F16, F32, 16,
     "neg_lo:[1,0,1] neg_hi:[0,1,1]"},
    {"gfx1151", "f32_16x16x16_bf16", Bf16, Bf16, F32, 16},
    {"gfx1100", "f16_16x16x16_f16", F16, F16, F16, 16},
    {"gfx1100", "f16_16x16x16_f16", F16, F16, F16, 16, "op_sel:[0,0,1]"},
    {"gfx1100", "bf16_16x16x16_bf16", Bf16, Bf16, Bf16, 16},
    {"gfx1100", "i32_16x16x16_iu8", Int8, Int8, I32, 16},
    {"gfx1100", "i32_16x16x16_iu8", Int8, Int8, I32, 16, "neg_lo:[1,1,0]"},
    {"gfx1100", "i32_16x16x16_iu4", Int4, Int4, I32, 16, "neg_lo:[0,1,0]"},
    {"gfx1201", "f32_16x16x16_f16", F16, F16, F32, 16},
    {"gfx1201", "f32_16x16x16_f16", F16, F16, F32, 16,
     "neg_lo:[0,1,1] neg_hi:[1,1,0]"},
    {"gfx1200", "f32_16x16x16_bf16", Bf16, Bf16, F32, 16},
    {"gfx1201", "f16_16x16x16_f16", F16, F16, F16, 16},
    {"gfx1201", "bf16_16x16x16_bf16", Bf16, Bf16, Bf16, 16},
    {"gfx1201", "i32_16x16x16_iu8", Int8, Int8, I32, 16, "neg_lo:[1,0,0]"},
    {"gfx1201", "i32_16x16x16_iu4", Int4, Int4, I32, 16, "neg_lo:[1,1,0]"},
    {"gfx1201", "i32_16x16x32_iu4", Int4, Int4, I32, 32},
    {"gfx1201", "f32_16x16x16_fp8_fp8", Fp8, Fp8, F32, 16},
    {"gfx1201", "f32_16x16x16_fp8_bf8", Fp8, Bf8, F32, 16},
    {"gfx1201", "f32_16x16x16_bf8_fp8", Bf8, Fp8, F32, 16},
    {"gfx1201", "f32_16x16x16_bf8_bf8", Bf8, Bf8, F32, 16},
};

static unsigned getBits(Type type) {
  if (type == F32 || type == I32)
    return 32;
  return type == F16 || type == Bf16 ? 16 : type == Int4 ? 4 : 8;
}

/// Returns the three bits after "name:[", or zeros.
static unsigned getModifier(const Case &test, const std::string &name) {
  std::string text = test.modifiers;
  size_t at = text.find(name + ":[");
  unsigned bits = 0;
  for (unsigned i = 0; at != std::string::npos && i < 3; ++i)
    bits |= (text[at + name.size() + 2 + 2 * i] == '1') << i;
  return bits;
}

static double decode(Type type, uint32_t bits, bool isSigned) {
  switch (type) {
  case Type::F16:
    return halfToFloat(bits);
  case Type::Bf16:
    return bf16ToFloat(bits);
  case Type::Fp8:
    return decodeFloat8(bits, kFp8Ocp);
  case Type::Bf8:
    return decodeFloat8(bits, kBf8Ocp);
  case Type::Int8:
    return isSigned ? static_cast<int8_t>(bits) : static_cast<int>(bits & 0xff);
  case Type::Int4:
    return isSigned ? static_cast<int>((bits & 15) ^ 8) - 8
                    : static_cast<int>(bits & 15);
  case Type::F32:
    return std::bit_cast<float>(bits);
  case Type::I32:
    return static_cast<int32_t>(bits);
  }
  return 0;
}

/// Reads A (operand 0) or B (operand 1, transposed) from the registers.
static Matrix readInput(WaveTester &tester, const Case &test, unsigned operand,
                        unsigned reg) {
  Type type = operand ? test.b : test.a;
  unsigned bits = getBits(type), perRegister = 32 / bits;
  unsigned perLane = test.isGfx11() ? test.k : test.k / 2;
  bool isSigned = getModifier(test, "neg_lo") >> operand & 1;
  bool isHighNegated = getModifier(test, "neg_hi") >> operand & 1;
  Matrix matrix;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned e = 0; e < perLane; ++e) {
      unsigned r = e / perRegister, part = e % perRegister;
      unsigned k = test.isGfx11() ? e
                   : bits == 16
                       ? 8 * (r / 2) + 4 * (lane / 16) + 2 * (r % 2) + part
                       : perLane * (lane / 16) + e;
      double value =
          decode(type, tester.v(reg + r, lane) >> (bits * part), isSigned);
      if (bits == 16 && (part ? isHighNegated : isSigned))
        value = -value;
      matrix.at[lane % 16][k] = value;
    }
  return matrix;
}

/// Reads C or D from the registers.
static Matrix readResult(WaveTester &tester, const Case &test, unsigned reg) {
  bool isHalf = getBits(test.d) == 16;
  unsigned high = getModifier(test, "op_sel") >> 2 & 1;
  Matrix matrix;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned e = 0; e < 8; ++e) {
      unsigned i = test.isGfx11() ? 2 * e + lane / 16 : 8 * (lane / 16) + e;
      unsigned r = isHalf && !test.isGfx11() ? e / 2 : e;
      unsigned shift = !isHalf ? 0 : test.isGfx11() ? 16 * high : 16 * (e % 2);
      matrix.at[i][lane % 16] =
          decode(test.d, tester.v(reg + r, lane) >> shift, true);
    }
  return matrix;
}

/// Stores small random numbers of the type in each part of the register.
static void fill(WaveTester &tester, Type type, unsigned reg) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    uint32_t word = static_cast<uint32_t>(tester.random());
    auto number = [&](unsigned shift) {
      return static_cast<float>(static_cast<int8_t>(word >> shift)) / 16;
    };
    if (type == F16)
      word = floatToHalf(number(0)) | floatToHalf(number(8)) << 16;
    else if (type == Bf16)
      word = floatToBf16(number(0)) | floatToBf16(number(8)) << 16;
    else if (type == F32)
      word = std::bit_cast<uint32_t>(number(0));
    else if (type == Fp8 || type == Bf8)
      word &= 0xbfbfbfbf; // no NaN, no infinity
    tester.v(reg, lane) = word;
  }
}

// Every shape, type and modifier: D is the product plus C.
TEST(Wmma, MatchesPlainProduct) {
  for (const Case &test : kCases) {
    SCOPED_TRACE(std::string(test.chip) + " " + test.name + " " +
                 test.modifiers);
    WaveTester tester(test.chip, 7);
    unsigned aWords = getBits(test.a) * test.k / 32;
    unsigned dWords = 8;
    if (!test.isGfx11()) {
      aWords /= 2;
      dWords = getBits(test.d) == 16 ? 4 : 8;
    }
    for (unsigned r = 0; r < 8; ++r) {
      fill(tester, test.a, 8 + r);
      fill(tester, test.b, 16 + r);
      fill(tester, test.d, 24 + r);
    }
    if (test.isGfx11())
      for (unsigned r = 8; r < 24; ++r)
        for (unsigned lane = 0; lane < 16; ++lane)
          tester.v(r, lane + 16) = tester.v(r, lane);
    Matrix a = readInput(tester, test, 0, 8),
           b = readInput(tester, test, 1, 16);
    Matrix c = readResult(tester, test, 24);
    auto range = [](unsigned first, unsigned count) {
      return count == 1 ? "v" + std::to_string(first)
                        : "v[" + std::to_string(first) + ":" +
                              std::to_string(first + count - 1) + "]";
    };
    tester.runWell(std::string("v_wmma_") + test.name + " " +
                   range(40, dWords) + ", " + range(8, aWords) + ", " +
                   range(16, aWords) + ", " + range(24, dWords) + " " +
                   test.modifiers);
    Matrix d = readResult(tester, test, 40);
    unsigned negates = getModifier(test, "neg_lo");
    unsigned absolute = getModifier(test, "neg_hi");
    for (unsigned i = 0; i < 16; ++i)
      for (unsigned j = 0; j < 16; ++j) {
        double sum = c.at[i][j], size;
        if (absolute & 4)
          sum = std::fabs(sum);
        if (negates & 4)
          sum = -sum;
        size = std::fabs(sum);
        for (unsigned k = 0; k < test.k; ++k) {
          sum += a.at[i][k] * b.at[j][k];
          size += std::fabs(a.at[i][k] * b.at[j][k]);
        }
        double relative = test.d == F16    ? 0x1p-11
                          : test.d == Bf16 ? 0x1p-8
                          : test.d == F32  ? 0x1p-20
                                           : 0;
        double expected = test.d == I32
                              ? static_cast<int32_t>(static_cast<uint32_t>(
                                    static_cast<int64_t>(sum)))
                              : sum;
        ASSERT_NEAR(d.at[i][j], expected, relative * size) << i << " " << j;
      }
  }
}

// On gfx11 a 16-bit result leaves the half that op_sel does not select
// unchanged.
TEST(Wmma, OtherHalfStays) {
  WaveTester tester("gfx1100");
  uint32_t before = tester.v(3, 9), high = tester.v(23, 9);
  tester.runWell("v_wmma_f16_16x16x16_f16 v[0:7], v[8:15], v[8:15], 0\n"
                 "v_wmma_f16_16x16x16_f16 v[20:27], v[8:15], v[8:15], 0 "
                 "op_sel:[0,0,1]");
  EXPECT_EQ(tester.v(3, 9) >> 16, before >> 16);
  EXPECT_EQ(tester.v(23, 9) & 0xffff, high & 0xffff);
}

// C may be a constant: the same in every element.
TEST(Wmma, ConstantAccumulator) {
  for (const char *type : {"f16_16x16x16_f16", "bf16_16x16x16_bf16"}) {
    WaveTester tester("gfx1201");
    for (unsigned r = 8; r < 16; ++r)
      for (unsigned lane = 0; lane < 32; ++lane)
        tester.v(r, lane) = 0;
    tester.runWell(std::string("v_wmma_") + type +
                   " v[0:3], v[8:11], v[12:15], 2.0");
    EXPECT_EQ(tester.v(2, 31), 0x40004000u) << type;
  }
}

// clamp saturates the sum; without it the sum wraps.
TEST(Wmma, IntegerClamp) {
  for (bool clamps : {false, true}) {
    WaveTester tester("gfx1201");
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned r = 8; r < 12; ++r)
        tester.v(r, lane) = 0x7f7f7f7f;
      for (unsigned r = 0; r < 8; ++r)
        tester.v(r, lane) = 0x7ffffff0;
    }
    tester.runWell(std::string("v_wmma_i32_16x16x16_iu8 v[0:7], v[8:9], "
                               "v[10:11], v[0:7] neg_lo:[1,1,0]") +
                   (clamps ? " clamp" : ""));
    uint32_t wrapped = 0x7ffffff0u + 16 * 0x7f * 0x7f;
    EXPECT_EQ(tester.v(5, 7), clamps ? 0x7fffffffu : wrapped);
  }
}

// If a lane is inactive, the hardware's result is undefined, so this is an
// error.
TEST(Wmma, NeedsAllLanes) {
  WaveTester tester("gfx1100");
  tester->setExec(0x7fffffff);
  tester.run("v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]");
  EXPECT_EQ(tester.getFault(), FaultKind::IllegalState);
}
