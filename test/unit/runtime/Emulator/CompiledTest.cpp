//===- CompiledTest.cpp - One program, the same result on each chip -------===//
//
// clang compiles a kernel to nearly completely different instructions on each
// chip, but the result must be the same. The reference is gfx942, whose
// instructions have tests of their own.
//
//===----------------------------------------------------------------------===//

#include "test/unit/runtime/Emulator/KernelTester.h"
#include "test/unit/runtime/Emulator/OpenClCompiler.h"

using namespace tessera::emulator;

static std::vector<uint32_t> compute(const std::string &chip,
                                     const std::string &source) {
  KernelTester tester(chip,
                      compileOpenCl(chip, source, "-O3 -ffp-contract=off"));
  tester.launchWell({64, 1, 1}, {64, 1, 1});
  return {tester.output, tester.output + KernelTester::kBytes / 4};
}

static void expectSameResult(const std::string &source) {
  if (!hasOpenClCompiler())
    GTEST_SKIP() << "clang-22 is not installed";
  std::vector<uint32_t> expected = compute("gfx942", source);
  for (const char *chip : {"gfx1030", "gfx1100", "gfx1201"})
    EXPECT_EQ(compute(chip, source), expected) << chip;
}

// Division, saturation, shifts and bit reversal of 32 bits, and of 8 and 16
// bits.
TEST(Compiled, Integers) {
  expectSameResult(R"(
kernel void k(global int *o) {
  int x = TID * 2654435761u, y = o[TID] + 7 * TID - 300, r = 0;
  for (int i = 0; i < 5; ++i) {
    r += x / y + x % y;
    x = x * 31 + i;
    r ^= __builtin_bitreverse32(x) >> (y & 7);
    r = __builtin_elementwise_add_sat(r, x);
  }
  short a = TID * 40503; ushort b = TID * 7 + 1;
  short s = a / (short)b + __builtin_elementwise_sub_sat(a, (short)b);
  uchar c = a; char d = s;
  o[TID] = r; o[TID + 64] = s * b + (a >> (b & 15)) + (c ^ d);
})");
}

// 64-bit products, quotients and shifts.
TEST(Compiled, LongIntegers) {
  expectSameResult(R"(
kernel void k(global ulong *o) {
  ulong x = TID * 0x9e3779b97f4a7c15ul + 5;
  long y = (long)(x >> 3) - ((long)TID << 50);
  ulong r = x * y + x / (ulong)(TID + 3);
  r ^= (ulong)(y % (long)(TID + 5));
  r += (x >> (TID & 63)) + (y >> (TID & 63)) + (x << (TID & 63));
  r += __builtin_popcountll(x) + __builtin_clzll(x | 1);
  o[TID] = y < 0 ? r : ~r;
})");
}

// Quotients of f32 and f64 are correctly rounded on every chip.
TEST(Compiled, Floats) {
  expectSameResult(R"(
#define WORK(T, A, B) \
  T a = (TID - 20) * A, b = TID * B + (T)0.1, r = a / b; \
  r = __builtin_elementwise_fma(a, b, r); \
  r = __builtin_elementwise_minnum(r, (T)1e6) + \
      __builtin_elementwise_floor(a) - __builtin_elementwise_ceil(b) + \
      __builtin_elementwise_trunc(r) + __builtin_elementwise_rint(a); \
  r += a < b ? (T)1 : (T)2; \
  r += (T)(int)r + (T)(uint)b + (T)(long)a + (T)(ulong)b
kernel void k(global double *o, global float *unused) {
  { WORK(double, 1.37, 0.11); o[TID] = r; }
  { WORK(float, 1.37f, 0.11f); o[TID + 64] = r; }
})");
}

// f16 scalars, which gfx1100 keeps in halves of registers, and pairs.
TEST(Compiled, Halves) {
  expectSameResult(R"(
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef half half2v __attribute__((ext_vector_type(2)));
typedef short short2v __attribute__((ext_vector_type(2)));
kernel void k(global uint *o) {
  half a = (half)((TID - 20) * 0.37f), b = (half)(TID * 0.11f + 0.1f);
  half r = a * b + a;
  r += a < b ? (half)1 : (half)2;
  r = __builtin_elementwise_maxnum(r, (half)-50) +
      __builtin_elementwise_floor(a) - __builtin_elementwise_ceil(b);
  r += (half)(short)r + (half)(ushort)b;
  half q = a / b;
  o[TID] = __builtin_bit_cast(ushort, r) |
           (uint)__builtin_bit_cast(ushort, q) << 16;
  short2v x = (short2v)((short)(TID * 700), (short)(TID * -31));
  short2v y = (short2v)((short)(TID + 3), (short)(90 - TID));
  short2v s = x * y + __builtin_elementwise_max(x, y) -
              __builtin_elementwise_add_sat(x, y * (short)300);
  half2v h = __builtin_convertvector(y, half2v);
  h = __builtin_elementwise_min(h * (half2v)(0.5h, -0.25h) + h, h);
  o[TID + 64] = __builtin_bit_cast(uint, s ^ (x >> (y & (short)15)));
  o[TID + 128] = __builtin_bit_cast(uint, h);
})");
}

// LDS that is read backwards, an indexed array in each work-item, and divergent
// loops.
TEST(Compiled, ControlFlow) {
  expectSameResult(R"(
kernel void k(global uint *o) {
  local uint t[64];
  int own[16];
  for (int i = 0; i < 16; ++i) own[(i * 5 + TID) & 15] = i * TID + o[0];
  t[TID] = own[TID & 15] + TID;
  BARRIER();
  uint r = t[(TID * 7 + 3) & 63];
  for (int i = 0; i < (TID & 7); ++i) {
    r = r * 3 + t[(r + i) & 63];
    if ((r & 3) == 2) continue;
    if ((r & 31) == 9) break;
    r ^= own[r & 15];
  }
  BARRIER();
  t[TID] = r;
  BARRIER();
  o[TID] = t[63 - TID] + r;
})");
}
