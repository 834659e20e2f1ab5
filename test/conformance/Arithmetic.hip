//===- Arithmetic.hip - Scalar functions against the host's own -----------===//
//
// Each function is compiled for host and device and applied to every pair of a
// list of edge values; the bits must be the same. -ffp-contract=off keeps both
// compilers from fusing multiply and add.
//
//===----------------------------------------------------------------------===//

#include "Conformance.h"

using namespace conformance;

template <typename In, typename Out, Out (*function)(In, In)>
__global__ void applyPairs(const In *in, Out *out, unsigned count) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count * count)
    out[i] = function(in[i / count], in[i % count]);
}

/// Compares `function` on all pairs of `in` between host and device.
template <typename In, typename Out, Out (*function)(In, In)>
static void compare(const char *name, const std::vector<In> &in) {
  auto count = static_cast<unsigned>(in.size());
  Buffer<In> input(in);
  Buffer<Out> output(count * count);
  applyPairs<In, Out, function>
      <<<(count * count + 127) / 128, 128>>>(input, output, count);
  std::vector<Out> want;
  for (In a : in)
    for (In b : in)
      want.push_back(function(a, b));
  expectEqual(name, output.read(), want);
}

#define BINARY(type, result, name, expression)                                 \
  static __host__ __device__ result name([[maybe_unused]] type a,              \
                                         [[maybe_unused]] type b) {            \
    return expression;                                                         \
  }
#define COMPARE(type, result, name)                                            \
  compare<type, result, name>(#name, getEdges<type>())

template <typename T>
static std::vector<T> getEdges();
template <>
std::vector<uint32_t> getEdges() {
  return {0, 1, 2, 3, 7, 31, 32, 255, 0x7fff, 0x8000, 0xffff, 0x12345678,
          0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff};
}
template <>
std::vector<uint64_t> getEdges() {
  return {0, 1, 2, 3, 63, 64, 0xffffffff, 0x100000000, 0x123456789abcdef0,
          0x7fffffffffffffff, 0x8000000000000000, 0xfffffffffffffffe,
          0xffffffffffffffff, 1000000007, 0xdeadbeefcafebabe};
}
template <>
std::vector<int32_t> getEdges() {
  std::vector<int32_t> edges;
  for (uint32_t value : getEdges<uint32_t>())
    edges.push_back(static_cast<int32_t>(value));
  return edges;
}
template <>
std::vector<int64_t> getEdges() {
  std::vector<int64_t> edges;
  for (uint64_t value : getEdges<uint64_t>())
    edges.push_back(static_cast<int64_t>(value));
  return edges;
}
template <>
std::vector<float> getEdges() {
  return {0.0f, -0.0f, 1.0f, -1.0f, 0.5f, 3.0f, -2.5f, 1e-45f, -1e-45f,
          1.1754942e-38f, 1.17549435e-38f, 3.4028235e38f, -3.4028235e38f,
          INFINITY, -INFINITY, NAN, 16777217.0f, 0.1f, 65504.0f, 65520.0f,
          6e-8f, 2147483648.0f, 1e10f, 0.33333334f};
}
template <>
std::vector<double> getEdges() {
  return {0.0, -0.0, 1.0, -1.0, 3.0, -2.5, 4.9e-324, 2.2250738585072009e-308,
          2.2250738585072014e-308, 1.7976931348623157e308, HUGE_VAL, -HUGE_VAL,
          NAN, 0.1, 4503599627370497.5, 1e22, 1e-300, 1e300};
}

BINARY(uint32_t, uint32_t, udiv32, b ? a / b : 0)
BINARY(uint32_t, uint32_t, urem32, b ? a % b : 0)
BINARY(uint32_t, uint32_t, shift32, (a << (b & 31)) ^ (a >> (b & 31)))
BINARY(int32_t, int32_t, sdiv32, b &&b != -1 ? a / b : 0)
BINARY(int32_t, int32_t, srem32, b &&b != -1 ? a % b : 0)
BINARY(int32_t, int32_t, sar32, a >> (b & 31))
BINARY(uint64_t, uint64_t, add64, a + b)
BINARY(uint64_t, uint64_t, sub64, a - b)
BINARY(uint64_t, uint64_t, mul64, a *b)
BINARY(uint64_t, uint64_t, mulHigh64,
       static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b >> 64))
BINARY(uint64_t, uint64_t, udiv64, b ? a / b : 0)
BINARY(uint64_t, uint64_t, urem64, b ? a % b : 0)
BINARY(int64_t, int64_t, sdiv64, b &&b != -1 ? a / b : 0)
BINARY(int64_t, int64_t, srem64, b &&b != -1 ? a % b : 0)
BINARY(uint64_t, uint64_t, shift64, (a << (b & 63)) ^ (a >> (b & 63)))
BINARY(int64_t, int64_t, sar64, a >> (b & 63))
BINARY(int64_t, int32_t, compare64, (a < b) | (a <= b) << 1 | (a == b) << 2)

CONFORMANCE_CASE(Integers) {
  COMPARE(uint32_t, uint32_t, udiv32);
  COMPARE(uint32_t, uint32_t, urem32);
  COMPARE(uint32_t, uint32_t, shift32);
  COMPARE(int32_t, int32_t, sdiv32);
  COMPARE(int32_t, int32_t, srem32);
  COMPARE(int32_t, int32_t, sar32);
  COMPARE(uint64_t, uint64_t, add64);
  COMPARE(uint64_t, uint64_t, sub64);
  COMPARE(uint64_t, uint64_t, mul64);
  COMPARE(uint64_t, uint64_t, mulHigh64);
  COMPARE(uint64_t, uint64_t, udiv64);
  COMPARE(uint64_t, uint64_t, urem64);
  COMPARE(int64_t, int64_t, sdiv64);
  COMPARE(int64_t, int64_t, srem64);
  COMPARE(uint64_t, uint64_t, shift64);
  COMPARE(int64_t, int64_t, sar64);
  COMPARE(int64_t, int32_t, compare64);
}

BINARY(uint32_t, uint32_t, countBits,
       static_cast<uint32_t>(__builtin_popcount(a) + __builtin_popcountll(
                                 uint64_t(a) << 32 | b)))
BINARY(uint32_t, uint32_t, leadingZeros,
       (a ? static_cast<uint32_t>(__builtin_clz(a)) : 32u) +
           (b ? static_cast<uint32_t>(__builtin_ctz(b)) : 32u) * 64)
BINARY(uint32_t, uint32_t, reverseBits,
       __builtin_bitreverse32(a) ^ __builtin_bswap32(b))
BINARY(uint32_t, uint32_t, rotate,
       __builtin_rotateleft32(a, b) ^ __builtin_rotateright32(b, a))
BINARY(uint32_t, uint32_t, bitField, (a >> (b & 15) & 0x3ff) | (b & 7) << 20)
BINARY(uint64_t, uint64_t, leadingZeros64,
       (a ? static_cast<uint64_t>(__builtin_clzll(a)) : 64u) +
           (b ? static_cast<uint64_t>(__builtin_ctzll(b)) : 64u) * 256 +
           __builtin_bitreverse64(a) * 65536)

CONFORMANCE_CASE(BitTricks) {
  COMPARE(uint32_t, uint32_t, countBits);
  COMPARE(uint32_t, uint32_t, leadingZeros);
  COMPARE(uint32_t, uint32_t, reverseBits);
  COMPARE(uint32_t, uint32_t, rotate);
  COMPARE(uint32_t, uint32_t, bitField);
  COMPARE(uint64_t, uint64_t, leadingZeros64);
}

BINARY(float, float, add32, a + b)
BINARY(float, float, mul32, a *b)
BINARY(float, float, div32, a / b)
BINARY(float, float, sqrt32, __builtin_sqrtf(a) + b)
BINARY(float, float, fma32, __builtin_fmaf(a, b, b))
BINARY(float, float, round32,
       __builtin_floorf(a) + __builtin_ceilf(b) * 0.5f +
           __builtin_truncf(a) * 0.25f + __builtin_rintf(b))
BINARY(float, int32_t, order32,
       (a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | (a > b) << 4 |
           (a >= b) << 5 | __builtin_isunordered(a, b) << 6)
// A conversion out of range is undefined behaviour, so that values are clamped
// first.
BINARY(float, int32_t, toInteger,
       a >= -2e9f && a <= 2e9f ? static_cast<int32_t>(a) : (a != a) * 77)
BINARY(int32_t, float, fromInteger,
       static_cast<float>(a) + static_cast<float>(static_cast<uint32_t>(b)))

CONFORMANCE_CASE(Floats) {
  COMPARE(float, float, add32);
  COMPARE(float, float, mul32);
  COMPARE(float, float, div32);
  COMPARE(float, float, sqrt32);
  COMPARE(float, float, fma32);
  COMPARE(float, float, round32);
  COMPARE(float, int32_t, order32);
  COMPARE(float, int32_t, toInteger);
  COMPARE(int32_t, float, fromInteger);
}

BINARY(double, double, add64f, a + b)
BINARY(double, double, mul64f, a *b)
BINARY(double, double, div64f, a / b)
BINARY(double, double, sqrt64f, __builtin_sqrt(a) + b)
BINARY(double, double, fma64f, __builtin_fma(a, b, a))
BINARY(double, double, round64f,
       __builtin_floor(a) + __builtin_ceil(b) * 0.5 + __builtin_trunc(a) * 0.25)
BINARY(double, float, narrow, static_cast<float>(a) + static_cast<float>(b))
BINARY(double, int64_t, toInteger64,
       a >= -9e18 && a <= 9e18 ? static_cast<int64_t>(a) : (b != b) * 77)
BINARY(int64_t, double, fromInteger64,
       static_cast<double>(a) + static_cast<double>(static_cast<uint64_t>(b)))

CONFORMANCE_CASE(Doubles) {
  COMPARE(double, double, add64f);
  COMPARE(double, double, mul64f);
  COMPARE(double, double, div64f);
  COMPARE(double, double, sqrt64f);
  COMPARE(double, double, fma64f);
  COMPARE(double, double, round64f);
  COMPARE(double, float, narrow);
  COMPARE(double, int64_t, toInteger64);
  COMPARE(int64_t, double, fromInteger64);
}

/// Conversion to bf16 with rounding to nearest even, in integer arithmetic, as
/// libraries write it.
static __host__ __device__ uint16_t toBfloat(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, 4);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return 0x7fc0;
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
static __host__ __device__ float fromBfloat(uint16_t value) {
  uint32_t bits = uint32_t(value) << 16;
  float result;
  __builtin_memcpy(&result, &bits, 4);
  return result;
}
BINARY(float, float, viaHalf, static_cast<float>(static_cast<_Float16>(a)))
BINARY(float, float, halfSum,
       static_cast<float>(static_cast<_Float16>(a) + static_cast<_Float16>(b)))
BINARY(float, float, halfProduct,
       static_cast<float>(static_cast<_Float16>(a) * static_cast<_Float16>(b)))
BINARY(float, float, viaBfloat, fromBfloat(toBfloat(a)))
/// Uses the conversion of the device's compiler, and toBfloat() on the host,
/// whose C++ library has no bf16.
static __host__ __device__ float viaNativeBfloat(float a, float) {
#ifdef __HIP_DEVICE_COMPILE__
  return static_cast<float>(static_cast<__bf16>(a));
#else
  return fromBfloat(toBfloat(a));
#endif
}
BINARY(int32_t, float, halfFromInteger,
       static_cast<float>(static_cast<_Float16>(static_cast<int16_t>(a))))

CONFORMANCE_CASE(SmallFloats) {
  COMPARE(float, float, viaHalf);
  COMPARE(float, float, halfSum);
  COMPARE(float, float, halfProduct);
  COMPARE(float, float, viaBfloat);
  COMPARE(float, float, viaNativeBfloat);
  COMPARE(int32_t, float, halfFromInteger);
}
