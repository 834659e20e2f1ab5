//===- MatrixTest.cpp - MFMA against a plain matrix product ---------------===//
//
// The layouts are implemented again, element by element, from AMD's matrix
// instruction calculator, while the emulator computes whole rows of lanes.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/HalfFloat.h"
#include "test/unit/runtime/Emulator/WaveTester.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

using namespace tessera::emulator;

namespace {
enum class Type { F16, Bf16, F32, I8 };
struct Shape {
  const char *chip;
  const char *mnemonic;
  unsigned m, k, blocks;
  Type type;
};
} // namespace

static constexpr Shape kShapes[] = {
    {"gfx908", "v_mfma_f32_32x32x8f16", 32, 8, 1, Type::F16},
    {"gfx908", "v_mfma_f32_16x16x16f16", 16, 16, 1, Type::F16},
    {"gfx908", "v_mfma_f32_32x32x4bf16", 32, 4, 1, Type::Bf16},
    {"gfx908", "v_mfma_f32_16x16x8bf16", 16, 8, 1, Type::Bf16},
    {"gfx908", "v_mfma_f32_4x4x2bf16", 4, 2, 16, Type::Bf16},
    {"gfx908", "v_mfma_f32_32x32x2f32", 32, 2, 1, Type::F32},
    {"gfx908", "v_mfma_i32_32x32x8i8", 32, 8, 1, Type::I8},
    {"gfx908", "v_mfma_i32_16x16x16i8", 16, 16, 1, Type::I8},
    {"gfx90a", "v_mfma_f32_32x32x8f16", 32, 8, 1, Type::F16},
    {"gfx90a", "v_mfma_f32_16x16x16f16", 16, 16, 1, Type::F16},
    {"gfx90a", "v_mfma_f32_32x32x4f16", 32, 4, 2, Type::F16},
    {"gfx90a", "v_mfma_f32_16x16x4f16", 16, 4, 4, Type::F16},
    {"gfx90a", "v_mfma_f32_4x4x4f16", 4, 4, 16, Type::F16},
    {"gfx90a", "v_mfma_f32_32x32x8bf16_1k", 32, 8, 1, Type::Bf16},
    {"gfx90a", "v_mfma_f32_16x16x16bf16_1k", 16, 16, 1, Type::Bf16},
    {"gfx90a", "v_mfma_f32_32x32x4bf16", 32, 4, 1, Type::Bf16},
    {"gfx90a", "v_mfma_f32_16x16x8bf16", 16, 8, 1, Type::Bf16},
    {"gfx90a", "v_mfma_f32_32x32x2f32", 32, 2, 1, Type::F32},
    {"gfx90a", "v_mfma_f32_16x16x4f32", 16, 4, 1, Type::F32},
    {"gfx90a", "v_mfma_f32_4x4x1f32", 4, 1, 16, Type::F32},
    {"gfx90a", "v_mfma_i32_32x32x8i8", 32, 8, 1, Type::I8},
    {"gfx90a", "v_mfma_i32_16x16x16i8", 16, 16, 1, Type::I8},
    {"gfx942", "v_mfma_f32_32x32x8_f16", 32, 8, 1, Type::F16},
    {"gfx942", "v_mfma_f32_16x16x16_f16", 16, 16, 1, Type::F16},
    {"gfx942", "v_mfma_f32_32x32x4_2b_f16", 32, 4, 2, Type::F16},
    {"gfx942", "v_mfma_f32_32x32x8_bf16", 32, 8, 1, Type::Bf16},
    {"gfx942", "v_mfma_f32_16x16x16_bf16", 16, 16, 1, Type::Bf16},
    {"gfx942", "v_mfma_f32_32x32x2_f32", 32, 2, 1, Type::F32},
    {"gfx942", "v_mfma_f32_16x16x4_f32", 16, 4, 1, Type::F32},
    {"gfx942", "v_mfma_f32_32x32x1_2b_f32", 32, 1, 2, Type::F32},
    {"gfx942", "v_mfma_i32_32x32x16_i8", 32, 16, 1, Type::I8},
    {"gfx942", "v_mfma_i32_16x16x32_i8", 16, 32, 1, Type::I8},
    {"gfx942", "v_mfma_f32_32x32x4_xf32", 32, 4, 1, Type::F32},
    {"gfx942", "v_mfma_f32_16x16x8_xf32", 16, 8, 1, Type::F32},
    {"gfx942", "v_mfma_f32_16x16x4_4b_f16", 16, 4, 4, Type::F16},
    {"gfx942", "v_mfma_f32_4x4x4_16b_f16", 4, 4, 16, Type::F16},
    {"gfx942", "v_mfma_f32_4x4x4_16b_bf16", 4, 4, 16, Type::Bf16},
    {"gfx942", "v_mfma_f32_16x16x1_4b_f32", 16, 1, 4, Type::F32},
    {"gfx942", "v_mfma_i32_32x32x4_2b_i8", 32, 4, 2, Type::I8},
    {"gfx942", "v_mfma_i32_4x4x4_16b_i8", 4, 4, 16, Type::I8},
    {"gfx90a", "v_mfma_f32_32x32x2bf16", 32, 2, 2, Type::Bf16},
    {"gfx90a", "v_mfma_f32_16x16x2bf16", 16, 2, 4, Type::Bf16},
    {"gfx90a", "v_mfma_f32_4x4x2bf16", 4, 2, 16, Type::Bf16},
    {"gfx90a", "v_mfma_f32_4x4x4bf16_1k", 4, 4, 16, Type::Bf16},
    {"gfx90a", "v_mfma_f32_16x16x4bf16_1k", 16, 4, 4, Type::Bf16},
    {"gfx90a", "v_mfma_f32_32x32x4bf16_1k", 32, 4, 2, Type::Bf16},
    {"gfx90a", "v_mfma_f32_32x32x1f32", 32, 1, 2, Type::F32},
    {"gfx90a", "v_mfma_i32_16x16x4i8", 16, 4, 4, Type::I8},
    {"gfx950", "v_mfma_f32_32x32x16_f16", 32, 16, 1, Type::F16},
    {"gfx950", "v_mfma_f32_16x16x32_f16", 16, 32, 1, Type::F16},
    {"gfx950", "v_mfma_f32_32x32x16_bf16", 32, 16, 1, Type::Bf16},
    {"gfx950", "v_mfma_f32_16x16x32_bf16", 16, 32, 1, Type::Bf16},
    {"gfx950", "v_mfma_i32_32x32x32_i8", 32, 32, 1, Type::I8},
    {"gfx950", "v_mfma_i32_16x16x64_i8", 16, 64, 1, Type::I8},
};

/// Returns an element of A or B: row (column) i, k, block.
static double getInput(WaveTester &tester, const Shape &shape, unsigned reg,
                       unsigned block, unsigned i, unsigned k) {
  unsigned perLane = shape.k * shape.m * shape.blocks / 64;
  unsigned lane =
      shape.blocks == 1 ? i + shape.m * (k / perLane) : i + shape.m * block;
  unsigned e = shape.blocks == 1 ? k % perLane : k;
  switch (shape.type) {
  case Type::F16:
    return halfToFloat(tester.v(reg + e / 2, lane) >> (16 * (e % 2)));
  case Type::Bf16:
    return bf16ToFloat(tester.v(reg + e / 2, lane) >> (16 * (e % 2)));
  case Type::F32:
    return tester.f(reg + e, lane);
  case Type::I8:
    return static_cast<int8_t>(tester.v(reg + e / 4, lane) >> (8 * (e % 4)));
  }
  return 0;
}

/// Returns the register and lane of D[i][j].
static std::pair<unsigned, unsigned>
getPosition(const Shape &shape, unsigned block, unsigned i, unsigned j) {
  if (shape.m == 32)
    for (unsigned r = 0; r < 16; ++r)
      for (unsigned half = 0; half < 2; ++half)
        if (8 * (r / 4) + 4 * half + r % 4 == i)
          return {16 * block + r, 32 * half + j};
  if (shape.m == 16)
    return {4 * block + i % 4, 16 * (i / 4) + j};
  return {i, 4 * block + j};
}

/// Stores small numbers of the given type, so that sums are exact in f32.
static void fillInputs(WaveTester &tester, Type type, unsigned reg,
                       unsigned count) {
  for (unsigned r = reg; r < reg + count; ++r)
    for (unsigned lane = 0; lane < 64; ++lane) {
      auto number = [&] {
        return static_cast<float>(static_cast<int>(tester.random() % 33) - 16) /
               8;
      };
      uint32_t &word = tester.v(r, lane);
      if (type == Type::F16)
        word = floatToHalf(number()) | floatToHalf(number()) << 16;
      else if (type == Type::Bf16)
        word = floatToBf16(number()) | floatToBf16(number()) << 16;
      else if (type == Type::F32)
        word = std::bit_cast<uint32_t>(number());
      else
        word = static_cast<uint32_t>(tester.random());
    }
}

// D = A * B + C for every shape. C and D are in v registers, except on gfx908,
// where they can only be accumulation registers.
TEST(Matrix, MatchesPlainProduct) {
  for (const Shape &shape : kShapes) {
    WaveTester tester(shape.chip);
    unsigned perDword = shape.type == Type::I8    ? 4
                        : shape.type == Type::F32 ? 1
                                                  : 2;
    unsigned inputs = shape.k * shape.m * shape.blocks / 64 / perDword;
    unsigned outputs = shape.m * shape.m * shape.blocks / 64;
    fillInputs(tester, shape.type, 0, 8);
    ASSERT_LE(inputs, 4u);
    const bool isSeparate =
        findChip(shape.chip)->accumulation == AccumulationFile::Separate;
    const char *file = isSeparate ? "a" : "v";
    const unsigned base = isSeparate ? kAccumulationRow : 0;
    fillInputs(tester, shape.type == Type::I8 ? Type::I8 : Type::F32, base + 64,
               outputs);
    auto range = [](const char *name, unsigned first, unsigned count) {
      return count == 1 ? name + std::to_string(first)
                        : name + ("[" + std::to_string(first)) + ":" +
                              std::to_string(first + count - 1) + "]";
    };
    tester.runWell(std::string(shape.mnemonic) + " " +
                   range(file, 16, outputs) + ", " + range("v", 0, inputs) +
                   ", " + range("v", 4, inputs) + ", " +
                   range(file, 64, outputs));
    for (unsigned block = 0; block < shape.blocks; ++block)
      for (unsigned i = 0; i < shape.m; ++i)
        for (unsigned j = 0; j < shape.m; ++j) {
          auto position = getPosition(shape, block, i, j);
          bool isInteger = shape.type == Type::I8;
          auto read = [&](unsigned row) -> double {
            if (isInteger)
              return static_cast<int32_t>(
                  tester.v(row + position.first, position.second));
            return tester.f(row + position.first, position.second);
          };
          double sum = read(base + 64);
          for (unsigned k = 0; k < shape.k; ++k)
            sum += getInput(tester, shape, 0, block, i, k) *
                   getInput(tester, shape, 4, block, j, k);
          if (isInteger)
            sum = static_cast<int32_t>(
                static_cast<uint32_t>(static_cast<int64_t>(sum)));
          ASSERT_EQ(read(base + 16), sum)
              << shape.mnemonic << " block " << block << " (" << i << ", " << j
              << ")";
        }
  }
}

// Operands may be accumulation registers, C may be a constant, and EXEC does
// not matter.
TEST(Matrix, AccumulationRegistersAndConstant) {
  WaveTester tester("gfx942");
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned r = 0; r < 2; ++r)
      tester.a(20 + r, lane) = tester.v(r, lane) = 0x3c003c00; // ones
  tester->setExec(1);
  tester.runWell("v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], a[20:21], 0\n"
                 "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], a[20:21], a[0:15]");
  for (unsigned r = 0; r < 16; ++r)
    for (unsigned lane = 0; lane < 64; ++lane)
      ASSERT_EQ(std::bit_cast<float>(tester.a(r, lane)), 16.0f);
}

// A D of 128 bits may have some registers of C, which compilers make use of.
TEST(Matrix, ResultOverlapsAccumulators) {
  for (const char *name : {"v_mfma_f32_16x16x16_f16", "v_mfma_i32_16x16x32_i8",
                           "v_mfma_f32_16x16x4_f32"})
    for (int first : {18, 20, 22}) {
      WaveTester tester("gfx942");
      const bool isInteger = std::string(name).find("i32") != std::string::npos;
      const unsigned perLane =
          std::string(name).find("x4_f32") != std::string::npos ? 1 : 2;
      for (unsigned lane = 0; lane < 64; ++lane) {
        for (unsigned r = 0; r < 8; ++r)
          tester.v(r, lane) = 0;
        for (unsigned r = 20; r < 24; ++r)
          tester.v(r, lane) =
              isInteger ? 100 * r + lane
                        : std::bit_cast<uint32_t>(float(100 * r + lane));
      }
      const std::string operand = perLane == 1 ? "v0, v4" : "v[0:1], v[4:5]";
      tester.runWell(std::string(name) + " v[" + std::to_string(first) + ":" +
                     std::to_string(first + 3) + "], " + operand +
                     ", v[20:23]");
      for (unsigned r = 0; r < 4; ++r)
        for (unsigned lane = 0; lane < 64; ++lane) {
          const uint32_t word = tester.v(first + r, lane);
          ASSERT_EQ(isInteger ? float(word) : std::bit_cast<float>(word),
                    float(100 * (20 + r) + lane))
              << name << " " << first;
        }
    }
}

// gfx908 has two files of 256: a255 and v255 are different registers, and only
// copies and products access the accumulation registers.
TEST(Matrix, SeparateAccumulationFile) {
  WaveTester tester("gfx908");
  const uint32_t before = tester.v(255, 7);
  tester.runWell("v_accvgpr_write_b32 a255, v1\n"
                 "v_accvgpr_read_b32 v2, a255");
  EXPECT_EQ(tester.a(255, 7), tester.v(1, 7));
  EXPECT_EQ(tester.v(2, 7), tester.v(1, 7));
  EXPECT_EQ(tester.v(255, 7), before);
}

// f64 has its own layout.
TEST(Matrix, Doubles) {
  WaveTester tester("gfx90a");
  auto put = [&](unsigned reg, unsigned lane, double value) {
    auto bits = std::bit_cast<uint64_t>(value);
    tester.v(reg, lane) = static_cast<uint32_t>(bits);
    tester.v(reg + 1, lane) = static_cast<uint32_t>(bits >> 32);
  };
  for (unsigned lane = 0; lane < 64; ++lane) {
    put(0, lane, lane * 0.5);
    put(2, lane, 3.0 - lane);
    for (unsigned n = 0; n < 4; ++n)
      put(4 + 2 * n, lane, n);
  }
  tester.runWell("v_mfma_f64_16x16x4f64 v[16:23], v[0:1], v[2:3], v[4:11]");
  for (unsigned i = 0; i < 16; ++i)
    for (unsigned j = 0; j < 16; ++j) {
      double sum = i / 4;
      for (unsigned k = 0; k < 4; ++k)
        sum += (16 * k + i) * 0.5 * (3.0 - (16 * k + j));
      unsigned reg = 16 + i / 4 * 2, lane = i % 4 * 16 + j;
      ASSERT_EQ(std::bit_cast<double>(tester.v(reg, lane) |
                                      uint64_t(tester.v(reg + 1, lane)) << 32),
                sum);
    }
}

// f64 4x4x4: four blocks of four lanes side by side, k and rows of D in groups
// of 16 lanes; the neg bits change the signs of A, B and C.
TEST(Matrix, SmallDoubles) {
  WaveTester tester("gfx942");
  auto get = [&](unsigned reg, unsigned lane) {
    return std::bit_cast<double>(tester.v(reg, lane) |
                                 uint64_t(tester.v(reg + 1, lane)) << 32);
  };
  for (unsigned reg = 0; reg < 6; reg += 2)
    for (unsigned lane = 0; lane < 64; ++lane) {
      auto bits = std::bit_cast<uint64_t>(double(tester.random() % 100) - 50);
      tester.v(reg, lane) = static_cast<uint32_t>(bits);
      tester.v(reg + 1, lane) = static_cast<uint32_t>(bits >> 32);
    }
  tester.runWell(
      "v_mfma_f64_4x4x4_4b_f64 v[6:7], v[0:1], v[2:3], v[4:5] neg:[1,0,1]");
  for (unsigned block = 0; block < 4; ++block)
    for (unsigned i = 0; i < 4; ++i)
      for (unsigned j = 0; j < 4; ++j) {
        unsigned lane = 16 * i + 4 * block + j;
        double sum = -get(4, lane);
        for (unsigned k = 0; k < 4; ++k)
          sum -=
              get(0, 16 * k + 4 * block + i) * get(2, 16 * k + 4 * block + j);
        ASSERT_EQ(get(6, lane), sum);
      }
}

// gfx90a flushes f16 denormals, the earlier and later chips keep them.
TEST(Matrix, DenormalsOfMi200) {
  for (std::string chip : {"gfx908", "gfx90a", "gfx942"}) {
    const bool flushes = chip == "gfx90a";
    WaveTester tester(chip);
    for (unsigned lane = 0; lane < 64; ++lane)
      for (unsigned r = 0; r < 2; ++r) {
        tester.v(r, lane) = 0x00010001;     // 2^-24
        tester.v(2 + r, lane) = 0x3c003c00; // 1
      }
    // gfx908 does not accept a constant as C.
    for (unsigned r = 32; r < 48; ++r)
      std::fill_n(tester->vector[kAccumulationRow + r], 64, 0);
    tester.runWell(std::string(chip == "gfx942" ? "v_mfma_f32_32x32x8_f16"
                                                : "v_mfma_f32_32x32x8f16") +
                   " a[16:31], v[0:1], v[2:3], a[32:47]");
    EXPECT_EQ(std::bit_cast<float>(tester.a(16, 0)), flushes ? 0.0f : 0x1p-21f);
  }
}
