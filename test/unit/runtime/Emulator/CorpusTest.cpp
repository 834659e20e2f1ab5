//===- CorpusTest.cpp - All instructions of compiled code are known -------===//
//
// Kernels of all kinds are compiled for every chip, optimised and not, and
// every instruction is decoded and bound. If a new LLVM prints a mnemonic,
// operand or modifier that the emulator does not know, this fails with a list
// before a user's kernel stops.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Decode/Binder.h"
#include "runtime/Emulator/Decode/CodeObject.h"
#include "test/unit/runtime/Emulator/OpenClCompiler.h"

#include <gtest/gtest.h>

#include <map>

using namespace tessera::emulator;

// Arithmetic on one type: on scalars that are the same for all work-items, on
// values that are not, and on vectors.
static constexpr const char *kArithmetic = R"(
#define KERNEL(T, NAME, ...)                                                   \
  kernel void NAME(global T *o, global const T *i, T u, int n) {               \
    T a = i[TID], b = i[TID + n], c = i[TID + 2 * n];                          \
    T r = a + b * c - u;                                                       \
    __VA_ARGS__;                                                               \
    o[TID] = r;                                                                \
  }
#define INTEGER(T, NAME)                                                       \
  KERNEL(T, NAME, if (b != 0) r += a / b + a % b;                              \
         r ^= (a << (c & 7)) | (b >> (u & 7)) & ~c;                            \
         r += a < b ? c : u; r += a == u ? b : a; r += -a;                     \
         r += __builtin_elementwise_add_sat(a, b);                             \
         r += __builtin_elementwise_sub_sat(b, c);                             \
         r += __builtin_elementwise_min(__builtin_elementwise_max(a, b), c);   \
         r += __builtin_elementwise_abs((long)a);                              \
         r += __builtin_popcountll(a) + __builtin_bitreverse32(b);             \
         for (int k = 0; k < n; ++k) r = r * 3 + i[k])
INTEGER(char, aChar) INTEGER(uchar, aUchar) INTEGER(short, aShort)
INTEGER(ushort, aUshort) INTEGER(int, anInt) INTEGER(uint, aUint)
INTEGER(long, aLong) INTEGER(ulong, aUlong)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define FLOAT(T, NAME)                                                         \
  KERNEL(T, NAME, r += a / b; r += __builtin_elementwise_fma(a, b, c);         \
         r += a < b ? c : u; r += a != b ? (T)1 : a;                           \
         r += __builtin_elementwise_sqrt(__builtin_elementwise_abs(a));        \
         r += __builtin_elementwise_floor(a) + __builtin_elementwise_ceil(b);  \
         r += __builtin_elementwise_trunc(a) +                                 \
              __builtin_elementwise_roundeven(b);                              \
         r += __builtin_elementwise_minnum(a, b);                              \
         r += __builtin_elementwise_maxnum(b, c);                              \
         r += __builtin_elementwise_copysign(a, b);                            \
         r += (T)(int)a + (T)(uint)b + (T)(long)c + (T)(short)a;               \
         r = __builtin_elementwise_minnum(                                     \
             __builtin_elementwise_maxnum(r, (T)0), (T)1))
FLOAT(half, aHalf) FLOAT(float, aFloat) FLOAT(double, aDouble)
kernel void uniform(global float *o, float a, float b, int k) {
  float r = a * b + (float)k;
  r = a < b ? r - a : r * b + a;
  o[0] = r; o[1] = (float)(int)r; o[2] = __builtin_floorf(r) + a;
  o[3] = (float)(half)r; o[4] = __builtin_fminf(a, b);
  ((global uint *)o)[5] = (uint)b;
  if (r > 2.0f && b != a) o[6] = 1;
}
typedef half half2v __attribute__((ext_vector_type(2)));
typedef short short2v __attribute__((ext_vector_type(2)));
kernel void packed(global half2v *h, global short2v *s) {
  half2v a = h[TID], b = h[TID + 64];
  h[TID] = a * b + __builtin_elementwise_maxnum(a, -b);
  short2v x = s[TID], y = s[TID + 64];
  s[TID] = x * y + __builtin_elementwise_max(x, y) - (x >> y) +
           __builtin_elementwise_add_sat(x, y);
}
kernel void mixed(global float *o, global half *h, global char *c) {
  float f = h[TID] * (float)h[TID + 1] + o[TID];
  o[TID] = f + c[TID] + (uchar)c[TID + 1];
  h[TID] = (half)f; c[TID] = (char)f;
  o[TID + 99] = (float)(double)f * (float)(ulong)f;
}
)";

// Memory of every kind and access size, atomics, calls, and control flow.
static constexpr const char *kMemory = R"(
typedef uint uint4v __attribute__((ext_vector_type(4)));
typedef uchar uchar3v __attribute__((ext_vector_type(3)));
__attribute__((noinline)) static int callee(int x, int *y) {
  *y += x; return x > 3 ? callee(x / 2, y) : x;
}
kernel void memory(global uint4v *o, global const uchar3v *b, global ulong *l,
                   global short *s, int n) {
  local uint4v tile[64]; local uchar bytes[256];
  tile[TID] = o[TID]; bytes[TID] = b[TID].y;
  BARRIER();
  o[TID + 64] = tile[63 - TID] + bytes[(TID * 7) & 255];
  l[TID] = s[TID]; s[TID + 64] = (short)l[TID + 1];
  int stack[32];
  for (int i = 0; i < 32; ++i) stack[i] = i * n;
  int sum = callee(n + TID, &stack[TID & 31]);
  o[TID].x = sum + stack[n & 31];
}
#define ATOMIC(T, NAME)                                                        \
  kernel void NAME(global T *g, T v) {                                         \
    local T l; if (TID == 0) l = v; BARRIER();                                 \
    __scoped_atomic_fetch_add(g, v, 0, 1);                                     \
    g[1] = __scoped_atomic_fetch_max(g + 2, v, 5, 1);                          \
    g[3] = __scoped_atomic_fetch_or(&l, v, 4, 2);                              \
    T e = v; __scoped_atomic_compare_exchange_n(g + 4, &e, v + 1, 0, 5, 5, 1); \
    g[5] = e + __scoped_atomic_exchange_n(&l, v, 4, 2);                        \
    __scoped_atomic_store_n(g + 6, v, 3, 0);                                   \
  }
ATOMIC(int, atomicInt) ATOMIC(ulong, atomicUlong)
kernel void lanes(global int *o, global float *f) {
  int x = o[TID];
  x += __builtin_amdgcn_ds_bpermute(x, TID * 4);
  x += __builtin_amdgcn_readfirstlane(x);
  x += __builtin_amdgcn_update_dpp(0, x, 0x111, 15, 15, 1);
  x += __builtin_amdgcn_mov_dpp(x, 0xb1, 15, 15, 0);
  if (__builtin_amdgcn_mbcnt_lo(~0u, 0) & 1) x += 7;
  o[TID] = x;
  f[TID] = __builtin_amdgcn_rcpf(f[TID]) + __builtin_amdgcn_sinf(f[TID]);
  o[TID + 64] = __builtin_readcyclecounter();
  switch (x & 7) { case 0: o[0] = 1; break; case 3: o[1] = 2; break;
                   case 5: __builtin_trap(); }
}
)";

/// Returns the mnemonics in `image` that the emulator cannot run, with an
/// example instruction for each.
static std::map<std::string, std::string>
findUnknown(const Chip &chip, const std::vector<uint8_t> &image) {
  MemoryMap memory;
  auto object = CodeObject::load(image.data(), image.size(), chip, memory);
  EXPECT_TRUE(object) << object.getStatus().getMessage();
  Decoder decoder(chip, chip.isGfx9() ? 64 : 32);
  Program program(decoder, (*object)->getText(), (*object)->getLoadAddress());
  std::map<std::string, std::string> unknown;
  const Instruction *end = program.getBegin() + program.size() - 1;
  for (const Instruction *in = program.getBegin(); in != end; ++in) {
    const std::string &text = program.getText(*in);
    std::string mnemonic = text.substr(0, text.find(' '));
    if (InstructionBinder::isUnknown(*in))
      unknown.try_emplace(mnemonic, text);
  }
  return unknown;
}

namespace {
class Corpus : public ::testing::TestWithParam<const char *> {};
} // namespace

static void expectAllKnown(const std::string &chip, const char *source) {
  if (!hasOpenClCompiler())
    GTEST_SKIP() << "clang-22 is not installed";
  for (const char *level : {"-O0", "-O3"}) {
    std::string list;
    auto unknown =
        findUnknown(*findChip(chip), compileOpenCl(chip, source, level));
    for (const auto &[mnemonic, example] : unknown)
      list += "\n  " + mnemonic + "  as in: " + example;
    EXPECT_EQ(list, "") << chip << " " << level;
  }
}

// Scalar and vector arithmetic, conversions and comparisons.
TEST_P(Corpus, ArithmeticIsKnown) { expectAllKnown(GetParam(), kArithmetic); }

// Memory, atomics, calls, lane operations and control flow.
TEST_P(Corpus, MemoryIsKnown) { expectAllKnown(GetParam(), kMemory); }

INSTANTIATE_TEST_SUITE_P(
    Chips, Corpus,
    ::testing::Values("gfx906", "gfx908", "gfx90a", "gfx942", "gfx950",
                      "gfx1030", "gfx1100", "gfx1151", "gfx1200", "gfx1201"),
    [](const auto &info) { return std::string(info.param); });
