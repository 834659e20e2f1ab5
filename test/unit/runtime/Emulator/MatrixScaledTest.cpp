//===- MatrixScaledTest.cpp - f8f6f4, scaled and sparse products ----------===//
//
// The layouts are written down again from the tables of the CDNA4 ISA guide
// (7.1.5, 7.2.1, 7.5): for each register of a row of lanes, which k it holds.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/HalfFloat.h"
#include "test/unit/runtime/Emulator/WaveTester.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>

using namespace tessera::emulator;

static std::string range(unsigned first, unsigned count) {
  return "v[" + std::to_string(first) + ":" +
         std::to_string(first + count - 1) + "]";
}

namespace {
struct Format {
  unsigned exponentBits, mantissaBits;
  int bias;
  unsigned bits() const { return 1 + exponentBits + mantissaBits; }
};
} // namespace

/// By number of cbsz and blgp.
static constexpr Format kFormats[] = {
    {4, 3, 7}, {5, 2, 15}, {2, 3, 1}, {3, 2, 3}, {2, 1, 1}};

/// The formula of every format, for codes that are neither NaN nor infinite.
static double decode(const Format &format, uint32_t code) {
  int exponent = static_cast<int>(code >> format.mantissaBits &
                                  ((1u << format.exponentBits) - 1));
  double fraction = double(code & ((1u << format.mantissaBits) - 1)) /
                    (1u << format.mantissaBits);
  double value = exponent ? std::exp2(exponent - format.bias) * (1 + fraction)
                          : std::exp2(1 - format.bias) * fraction;
  return code >> (format.bits() - 1) & 1 ? -value : value;
}

/// Puts `code` of row i, k into its bits. `m` is 16 or 32.
static void putCode(WaveTester &tester, unsigned reg, unsigned m, unsigned bits,
                    unsigned i, unsigned k, uint32_t code) {
  unsigned group, element;
  if (bits == 8) {
    // v0-v3: k = 0-15, 16-31, ... by row of lanes; v4-v7: K / 2 further.
    unsigned half = m == 16 ? 64 : 32;
    group = k % half / 16;
    element = k % 16 + (k >= half ? 16 : 0);
  } else {
    group = k / 32;
    element = k % 32;
  }
  for (unsigned bit = 0; bit < bits; ++bit) {
    unsigned place = element * bits + bit;
    uint32_t &word = tester.v(reg + place / 32, group * m + i);
    word = (word & ~(1u << place % 32)) | (code >> bit & 1) << place % 32;
  }
}

/// Random numbers of a format, also in the registers from `reg`.
static std::vector<double> fillMatrix(WaveTester &tester, unsigned reg,
                                      unsigned m, unsigned depth,
                                      const Format &format) {
  std::vector<double> values(m * depth);
  for (unsigned i = 0; i < m; ++i)
    for (unsigned k = 0; k < depth; ++k) {
      // Exponents near the bias, so that sums are exact in f32.
      uint32_t code = static_cast<uint32_t>(tester.random());
      if (format.exponentBits > 3) {
        uint32_t exponent = static_cast<uint32_t>(format.bias) - 1 + code % 3;
        code = (code >> 8 & ((1u << format.mantissaBits) - 1)) |
               exponent << format.mantissaBits |
               (code >> 16 & 1) << (format.bits() - 1);
      }
      code &= (1u << format.bits()) - 1;
      putCode(tester, reg, m, format.bits(), i, k, code);
      values[i * depth + k] = decode(format, code);
    }
  return values;
}

static unsigned getRegister(unsigned m, unsigned i) {
  return m == 16 ? i % 4 : i / 8 * 4 + i % 4;
}
static unsigned getLane(unsigned m, unsigned i, unsigned j) {
  return m == 16 ? i / 4 * 16 + j : i / 4 % 2 * 32 + j;
}

/// One product of two formats; `scaled` with random powers of two around 1.
static void testProduct(unsigned m, unsigned formatA, unsigned formatB,
                        bool scaled) {
  WaveTester tester("gfx950", 7 * formatA + formatB);
  unsigned depth = m == 16 ? 128 : 64, outputs = m * m / 64;
  std::vector<double> a = fillMatrix(tester, 64, m, depth, kFormats[formatA]);
  std::vector<double> b = fillMatrix(tester, 72, m, depth, kFormats[formatB]);
  for (unsigned r = 0; r < outputs; ++r)
    for (unsigned lane = 0; lane < 64; ++lane)
      tester.v(32 + r, lane) = std::bit_cast<uint32_t>(float(r + lane));
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned reg : {80, 81}) {
      tester.v(reg, lane) = 0;
      for (unsigned byte = 0; byte < 4; ++byte)
        tester.v(reg, lane) |= static_cast<uint32_t>(125 + tester.random() % 5)
                               << (8 * byte);
    }
  auto registers = [&](unsigned format) { return kFormats[format].bits(); };
  std::string shape = m == 16 ? "16x16x128" : "32x32x64";
  tester.runWell(
      std::string("v_mfma_") + (scaled ? "scale_" : "") + "f32_" + shape +
      "_f8f6f4 " + range(0, outputs) + ", " + range(64, registers(formatA)) +
      ", " + range(72, registers(formatB)) + ", " + range(32, outputs) +
      // Byte 1 of A's scales and byte 2 of B's.
      (scaled ? ", v80, v81 op_sel:[1,0,0] op_sel_hi:[0,1,0]" : "") +
      " cbsz:" + std::to_string(formatA) + " blgp:" + std::to_string(formatB));
  for (unsigned i = 0; i < m; ++i)
    for (unsigned j = 0; j < m; ++j) {
      unsigned reg = getRegister(m, i), lane = getLane(m, i, j);
      double sum = tester.f(32 + reg, lane);
      for (unsigned k = 0; k < depth; ++k) {
        int exponent = 0;
        if (scaled)
          exponent = int(tester.v(80, i + m * (k / 32)) >> 8 & 0xff) - 127 +
                     int(tester.v(81, j + m * (k / 32)) >> 16 & 0xff) - 127;
        sum += std::ldexp(a[i * depth + k] * b[j * depth + k], exponent);
      }
      ASSERT_EQ(tester.f(reg, lane), static_cast<float>(sum))
          << shape << " formats " << formatA << ", " << formatB << " (" << i
          << ", " << j << ")";
    }
}

// Every pair of formats in both shapes, without scales.
TEST(MatrixScaled, FormatsOfF8F6F4) {
  for (unsigned m : {16, 32})
    for (unsigned a = 0; a < 5; ++a)
      for (unsigned b = 0; b < 5; ++b)
        testProduct(m, a, b, false);
}

// A scale belongs to a row and 32 k, also where a lane's k are in two runs.
TEST(MatrixScaled, Scales) {
  for (unsigned m : {16, 32})
    for (unsigned a = 0; a < 5; ++a)
      for (unsigned b = 0; b < 5; ++b)
        testProduct(m, a, b, true);
}

// A scale of 0xff makes its row of A not a number, and no other.
TEST(MatrixScaled, ScaleThatIsNan) {
  WaveTester tester("gfx950");
  fillMatrix(tester, 64, 16, 128, kFormats[4]);
  for (unsigned lane = 0; lane < 64; ++lane)
    tester.v(80, lane) = lane == 3 ? 0xff : 127;
  tester.runWell("v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[64:67], v[64:67],"
                 " 0, v80, v80 op_sel_hi:[0,0,0] cbsz:4 blgp:4");
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned r = 0; r < 4; ++r)
      ASSERT_EQ(std::isnan(tester.f(r, lane)),
                (lane / 16 * 4 + r == 3) || lane % 16 == 3);
}

namespace {
struct SparseShape {
  const char *chip, *shape, *types;
  unsigned m, depth, elementBits;
};
} // namespace

static constexpr SparseShape kSparse[] = {
    {"gfx942", "f32_16x16x32", "f16", 16, 32, 16},
    {"gfx942", "f32_32x32x16", "f16", 32, 16, 16},
    {"gfx942", "i32_16x16x64", "i8", 16, 64, 8},
    {"gfx942", "i32_32x32x32", "i8", 32, 32, 8},
    {"gfx950", "f32_16x16x64", "f16", 16, 64, 16},
    {"gfx950", "f32_32x32x32", "f16", 32, 32, 16},
    {"gfx950", "i32_16x16x128", "i8", 16, 128, 8},
    {"gfx950", "i32_32x32x64", "i8", 32, 64, 8},
};

// The kept elements of A multiply the rows of B that their indices name. In
// registers, B has 16 bytes of consecutive k for each row of lanes, the larger
// shapes a second run half of K further; A has two of each four of these k.
TEST(MatrixSparse, MatchesExpandedProduct) {
  for (const SparseShape &shape : kSparse)
    for (unsigned abid : {0u, 1u}) {
      WaveTester tester(shape.chip);
      bool isHalf = shape.elementBits == 16;
      unsigned perDword = 32 / shape.elementBits;
      unsigned dense = shape.depth * shape.m / 64, kept = dense / 2;
      unsigned outputs = shape.m * shape.m / 64;
      unsigned sets = 32 / (2 * kept);
      if (abid >= sets)
        continue;
      auto fill = [&](unsigned first, unsigned count) {
        for (unsigned r = first; r < first + count; ++r)
          for (unsigned lane = 0; lane < 64; ++lane) {
            auto half = [&] {
              return floatToHalf(float(int(tester.random() % 33) - 16) / 8);
            };
            if (isHalf)
              tester.v(r, lane) = half() | half() << 16;
          }
      };
      fill(32, kept / perDword);
      fill(40, dense / perDword);
      // Indices of a pair ascend.
      for (unsigned lane = 0; lane < 64; ++lane) {
        uint32_t &word = tester.v(60, lane);
        word = 0;
        for (unsigned pair = 0; pair < 8; ++pair) {
          static constexpr uint32_t kPairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
          word |= kPairs[tester.random() % 6] << (4 * pair);
        }
      }
      for (unsigned r = 0; r < outputs; ++r)
        for (unsigned lane = 0; lane < 64; ++lane)
          tester.v(r, lane) =
              isHalf ? std::bit_cast<uint32_t>(float(lane)) : lane;
      std::vector<double> expected(shape.m * shape.m);
      auto number = [&](unsigned reg, unsigned lane, unsigned e) -> double {
        uint32_t word = tester.v(reg + e / perDword, lane);
        return isHalf ? double(halfToFloat(word >> (16 * (e % 2))))
                      : int8_t(word >> (8 * (e % 4)));
      };
      unsigned run = isHalf ? 8 : 16;
      auto getK = [&](unsigned lane, unsigned place) {
        return run * (lane / shape.m) + place % run +
               (place >= run ? shape.depth / 2 : 0);
      };
      std::map<std::pair<unsigned, unsigned>, double> b;
      for (unsigned lane = 0; lane < 64; ++lane)
        for (unsigned e = 0; e < dense; ++e)
          b[{getK(lane, e), lane % shape.m}] = number(40, lane, e);
      for (unsigned i = 0; i < shape.m; ++i)
        for (unsigned j = 0; j < shape.m; ++j)
          expected[i * shape.m + j] = getLane(shape.m, i, j);
      for (unsigned lane = 0; lane < 64; ++lane)
        for (unsigned e = 0; e < kept; ++e) {
          unsigned index =
              tester.v(60, lane) >> (2 * kept * abid + 2 * e) % 32 & 3;
          unsigned k = getK(lane, e / 2 * 4 + index);
          for (unsigned j = 0; j < shape.m; ++j)
            expected[lane % shape.m * shape.m + j] +=
                number(32, lane, e) * b.at({k, j});
        }
      tester.runWell(
          std::string("v_smfmac_") + shape.shape + "_" + shape.types + " " +
          range(0, outputs) + ", " + range(32, kept / perDword) + ", " +
          range(40, dense / perDword) + ", v60" + (abid ? " abid:1" : ""));
      for (unsigned i = 0; i < shape.m; ++i)
        for (unsigned j = 0; j < shape.m; ++j) {
          unsigned reg = getRegister(shape.m, i), lane = getLane(shape.m, i, j);
          double result = isHalf ? double(tester.f(reg, lane))
                                 : int32_t(tester.v(reg, lane));
          ASSERT_EQ(result, expected[i * shape.m + j])
              << shape.shape << " abid " << abid << " (" << i << ", " << j
              << ")";
        }
    }
}
