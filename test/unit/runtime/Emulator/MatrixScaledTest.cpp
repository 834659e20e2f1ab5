//===- MatrixScaledTest.cpp - fp8, f8f6f4, scaled and sparse products -----===//
//
// The layouts are implemented again from the tables of the CDNA4 ISA guide
// (7.1.5, 7.2.1, 7.5) and, for fp8, from AMD's matrix instruction calculator:
// which k each register of a row of lanes holds.
//
//===----------------------------------------------------------------------===//

#include "test/unit/runtime/Emulator/WaveTester.h"

#include <cmath>
#include <gtest/gtest.h>
#include <string_view>

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

/// The formats by the values of cbsz and blgp.
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

/// Stores `code` as element (i, k) in the registers. `m` is 16 or 32.
static void putCode(WaveTester &tester, unsigned reg, unsigned m, unsigned bits,
                    unsigned i, unsigned k, uint32_t code) {
  unsigned group, element;
  if (bits == 8) {
    // v0-v3 have k = 0-15, 16-31, ... by row of lanes, and v4-v7 the k that are
    // K / 2 larger.
    unsigned half = m == 16 ? 64 : 32;
    group = k % half / 16;
    element = k % 16 + (k >= half ? 16 : 0);
  } else {
    group = k / 32;
    element = k % 32;
  }
  for (unsigned bit = 0; bit < bits; ++bit) {
    unsigned offset = element * bits + bit;
    uint32_t &word = tester.v(reg + offset / 32, group * m + i);
    word = (word & ~(1u << offset % 32)) | (code >> bit & 1) << offset % 32;
  }
}

/// Returns random numbers of a format, which are also stored in the registers
/// from `reg` on.
static std::vector<double> fillMatrix(WaveTester &tester, unsigned reg,
                                      unsigned m, unsigned depth,
                                      const Format &format) {
  std::vector<double> values(m * depth);
  for (unsigned i = 0; i < m; ++i)
    for (unsigned k = 0; k < depth; ++k) {
      // Exponents are near the bias, so that sums are exact in f32.
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

/// Tests one product of two formats; if `scaled`, with random powers of two
/// around 1.
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
      // The scales are byte 1 of A's register and byte 2 of B's.
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

// A scale belongs to a row and 32 k, even if a lane's k are in two runs.
TEST(MatrixScaled, Scales) {
  for (unsigned m : {16, 32})
    for (unsigned a = 0; a < 5; ++a)
      for (unsigned b = 0; b < 5; ++b)
        testProduct(m, a, b, true);
}

// A scale of 0xff makes its row of A NaN, and no other row.
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

/// The element types of products without a choice of formats, by the name in
/// the mnemonic. gfx942 has the FNUZ formats, whose bias is one higher.
static Format getFormat(std::string_view type, bool isFnuz) {
  if (type == "f16")
    return {5, 10, 15};
  if (type == "bf16")
    return {8, 7, 127};
  Format format = kFormats[type == "bf8"];
  return {format.exponentBits, format.mantissaBits, format.bias + isFnuz};
}

namespace {
/// Elements of one type in the registers of lanes.
struct Elements {
  std::string_view type;
  bool isFnuz;

  bool isInteger() const { return type == "i8"; }
  unsigned bits() const {
    return isInteger() ? 8 : getFormat(type, isFnuz).bits();
  }
  double get(WaveTester &tester, unsigned reg, unsigned lane,
             unsigned e) const {
    unsigned offset = e * bits();
    uint32_t code = tester.v(reg + offset / 32, lane) >> offset % 32;
    code &= (1u << bits()) - 1;
    return isInteger() ? static_cast<int8_t>(code)
                       : decode(getFormat(type, isFnuz), code);
  }
  /// Stores random numbers; floats have at most three bits and are between 1/2
  /// and 4, so that sums are exact in f32.
  void fill(WaveTester &tester, unsigned reg, unsigned dwords) const {
    for (unsigned offset = 0; offset < 32 * dwords; offset += bits())
      for (unsigned lane = 0; lane < 64; ++lane) {
        uint32_t code = static_cast<uint32_t>(tester.random());
        if (!isInteger()) {
          Format format = getFormat(type, isFnuz);
          uint32_t exponent = static_cast<uint32_t>(format.bias) - 1 + code % 3;
          uint32_t mantissa = (code >> 8 & 3) << (format.mantissaBits - 2);
          code = (code >> 16 & 1) << (bits() - 1) |
                 exponent << format.mantissaBits | mantissa;
        }
        uint32_t mask = (1u << bits()) - 1;
        uint32_t &word = tester.v(reg + offset / 32, lane);
        word = (word & ~(mask << offset % 32)) | (code & mask) << offset % 32;
      }
  }
};
} // namespace

/// Tests one dense product of 8-bit floats, where a lane holds eight
/// consecutive k.
static void testFloat8(const std::string &chip, unsigned m,
                       const std::string &typeA, const std::string &typeB) {
  WaveTester tester(chip);
  Elements a{typeA, chip == "gfx942"}, b{typeB, chip == "gfx942"};
  unsigned depth = 512 / m, outputs = m * m / 64;
  a.fill(tester, 64, 2);
  b.fill(tester, 66, 2);
  for (unsigned r = 0; r < outputs; ++r)
    for (unsigned lane = 0; lane < 64; ++lane)
      tester.v(32 + r, lane) = std::bit_cast<uint32_t>(float(r + lane));
  std::string mnemonic = std::string("v_mfma_f32_") +
                         (m == 16 ? "16x16x32_" : "32x32x16_") + typeA + "_" +
                         typeB;
  tester.runWell(mnemonic + " " + range(0, outputs) + ", v[64:65], v[66:67], " +
                 range(32, outputs));
  for (unsigned i = 0; i < m; ++i)
    for (unsigned j = 0; j < m; ++j) {
      unsigned reg = getRegister(m, i), lane = getLane(m, i, j);
      double sum = tester.f(32 + reg, lane);
      for (unsigned k = 0; k < depth; ++k)
        sum += a.get(tester, 64, i + m * (k / 8), k % 8) *
               b.get(tester, 66, j + m * (k / 8), k % 8);
      ASSERT_EQ(tester.f(reg, lane), static_cast<float>(sum))
          << chip << " " << mnemonic << " (" << i << ", " << j << ")";
    }
}

// Both shapes of every pair of fp8 and bf8 are tested, FNUZ on gfx942 and OCP
// on gfx950.
TEST(MatrixFloat8, MatchesPlainProduct) {
  for (const char *chip : {"gfx942", "gfx950"})
    for (unsigned m : {16, 32})
      for (const char *a : {"fp8", "bf8"})
        for (const char *b : {"fp8", "bf8"})
          testFloat8(chip, m, a, b);
}

// 0x80 is the only NaN of FNUZ and -0 of OCP; 0x7f is the largest number of
// FNUZ (240 and 57344) and a NaN of OCP.
TEST(MatrixFloat8, SpecialCodes) {
  for (std::string chip : {"gfx942", "gfx950"})
    for (std::string type : {"fp8", "bf8"}) {
      bool isFnuz = chip == "gfx942";
      WaveTester tester(chip);
      for (unsigned lane = 0; lane < 64; ++lane) {
        // Row 1 of A has a 0x80, row 2 a 0x7f; all elements of B are 1.
        tester.v(64, lane) = lane == 1 ? 0x80 : lane == 2 ? 0x7f : 0;
        uint32_t one = static_cast<uint32_t>(getFormat(type, isFnuz).bias)
                       << getFormat(type, isFnuz).mantissaBits;
        tester.v(66, lane) = tester.v(67, lane) = one * 0x01010101;
        tester.v(65, lane) = 0;
      }
      tester.runWell("v_mfma_f32_16x16x32_" + type + "_" + type +
                     " v[0:3], v[64:65], v[66:67], 0");
      for (unsigned lane = 0; lane < 16; ++lane) {
        ASSERT_EQ(tester.f(0, lane), 0.0f);
        ASSERT_EQ(std::isnan(tester.f(1, lane)), isFnuz) << chip << type;
        if (isFnuz)
          ASSERT_EQ(tester.f(2, lane), type == "fp8" ? 240.0f : 57344.0f);
        else
          ASSERT_TRUE(std::isnan(tester.f(2, lane))) << type;
        ASSERT_EQ(tester.f(3, lane), 0.0f);
      }
    }
}

namespace {
struct SparseShape {
  const char *chip, *shape;
  std::string_view a, b;
  unsigned m, depth;
};
} // namespace

static constexpr SparseShape kSparse[] = {
    {"gfx942", "f32_16x16x32", "f16", "f16", 16, 32},
    {"gfx942", "f32_32x32x16", "f16", "f16", 32, 16},
    {"gfx942", "f32_16x16x32", "bf16", "bf16", 16, 32},
    {"gfx942", "f32_32x32x16", "bf16", "bf16", 32, 16},
    {"gfx942", "i32_16x16x64", "i8", "i8", 16, 64},
    {"gfx942", "i32_32x32x32", "i8", "i8", 32, 32},
    {"gfx942", "f32_16x16x64", "fp8", "fp8", 16, 64},
    {"gfx942", "f32_16x16x64", "bf8", "fp8", 16, 64},
    {"gfx942", "f32_32x32x32", "fp8", "bf8", 32, 32},
    {"gfx942", "f32_32x32x32", "bf8", "bf8", 32, 32},
    {"gfx950", "f32_16x16x64", "f16", "f16", 16, 64},
    {"gfx950", "f32_32x32x32", "f16", "f16", 32, 32},
    {"gfx950", "f32_16x16x64", "bf16", "bf16", 16, 64},
    {"gfx950", "f32_32x32x32", "bf16", "bf16", 32, 32},
    {"gfx950", "i32_16x16x128", "i8", "i8", 16, 128},
    {"gfx950", "i32_32x32x64", "i8", "i8", 32, 64},
    {"gfx950", "f32_16x16x64", "fp8", "bf8", 16, 64},
    {"gfx950", "f32_16x16x128", "fp8", "fp8", 16, 128},
    {"gfx950", "f32_16x16x128", "bf8", "fp8", 16, 128},
    {"gfx950", "f32_32x32x64", "fp8", "bf8", 32, 64},
    {"gfx950", "f32_32x32x64", "bf8", "bf8", 32, 64},
};

/// Stores pairs of ascending indices for eight groups of four k in each lane.
static void fillIndices(WaveTester &tester, unsigned reg) {
  static constexpr uint32_t kPairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
  for (unsigned lane = 0; lane < 64; ++lane) {
    uint32_t &word = tester.v(reg, lane) = 0;
    for (unsigned pair = 0; pair < 8; ++pair)
      word |= kPairs[tester.random() % 6] << (4 * pair);
  }
}

/// Returns C + A * B for A in v32, B in v40 and the indices in v60. Each row of
/// lanes has 16 bytes of consecutive k of B, and in the larger shapes a second
/// run whose k are K / 2 larger. A keeps two of each four of these k.
static std::vector<double> multiplySparse(WaveTester &tester,
                                          const SparseShape &shape,
                                          const Elements &a, const Elements &b,
                                          unsigned firstIndexBit) {
  unsigned dense = shape.depth * shape.m / 64, run = 128 / b.bits();
  auto getK = [&](unsigned lane, unsigned element) {
    return run * (lane / shape.m) + element % run +
           (element >= run ? shape.depth / 2 : 0);
  };
  std::vector<double> full(shape.depth * shape.m),
      accumulators(shape.m * shape.m);
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned e = 0; e < dense; ++e)
      full[getK(lane, e) * shape.m + lane % shape.m] =
          b.get(tester, 40, lane, e);
  for (unsigned i = 0; i < shape.m; ++i)
    for (unsigned j = 0; j < shape.m; ++j)
      accumulators[i * shape.m + j] = getLane(shape.m, i, j);
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned e = 0; e < dense / 2; ++e) {
      unsigned index = tester.v(60, lane) >> (firstIndexBit + 2 * e) % 32 & 3;
      unsigned k = getK(lane, e / 2 * 4 + index);
      for (unsigned j = 0; j < shape.m; ++j)
        accumulators[lane % shape.m * shape.m + j] +=
            a.get(tester, 32, lane, e) * full[k * shape.m + j];
    }
  return accumulators;
}

static void testSparse(const SparseShape &shape, unsigned abid) {
  WaveTester tester(shape.chip);
  bool isFnuz = std::string_view(shape.chip) == "gfx942";
  Elements a{shape.a, isFnuz}, b{shape.b, isFnuz};
  unsigned dense = shape.depth * shape.m / 64, kept = dense / 2;
  unsigned outputs = shape.m * shape.m / 64;
  unsigned dwords = kept * a.bits() / 32;
  a.fill(tester, 32, dwords);
  b.fill(tester, 40, 2 * dwords);
  fillIndices(tester, 60);
  for (unsigned r = 0; r < outputs; ++r)
    for (unsigned lane = 0; lane < 64; ++lane)
      tester.v(r, lane) =
          a.isInteger() ? lane : std::bit_cast<uint32_t>(float(lane));
  std::vector<double> expected =
      multiplySparse(tester, shape, a, b, 2 * kept * abid);
  std::string types(shape.a);
  if (a.bits() == 8 && !a.isInteger())
    types += "_" + std::string(shape.b);
  tester.runWell(std::string("v_smfmac_") + shape.shape + "_" + types + " " +
                 range(0, outputs) + ", " + range(32, dwords) + ", " +
                 range(40, 2 * dwords) + ", v60" + (abid ? " abid:1" : ""));
  for (unsigned i = 0; i < shape.m; ++i)
    for (unsigned j = 0; j < shape.m; ++j) {
      unsigned reg = getRegister(shape.m, i), lane = getLane(shape.m, i, j);
      double result = a.isInteger() ? int32_t(tester.v(reg, lane))
                                    : double(tester.f(reg, lane));
      ASSERT_EQ(result, expected[i * shape.m + j])
          << shape.chip << " " << shape.shape << "_" << types << " abid "
          << abid << " (" << i << ", " << j << ")";
    }
}

// The kept elements of A are multiplied with the rows of B that their indices
// name; abid chooses among the sets of indices that fit in a register.
TEST(MatrixSparse, MatchesExpandedProduct) {
  for (const SparseShape &shape : kSparse)
    for (unsigned abid : {0u, 1u})
      if (abid < 32 / (shape.depth * shape.m / 64))
        testSparse(shape, abid);
}
