//===- Control.hip - Calls, branches and loops that lanes disagree about --===//

#include "Conformance.h"

using namespace conformance;

static std::vector<unsigned> makeInput(size_t count) {
  std::vector<unsigned> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = scramble(static_cast<uint32_t>(i)) % 97;
  return values;
}

/// Runs `kernel` on one thread for each value, and `function` on the host.
template <typename Kernel>
static void compare(const char *name, Kernel kernel,
                    unsigned (*function)(unsigned)) {
  std::vector<unsigned> values = makeInput(200), want;
  for (unsigned value : values)
    want.push_back(function(value));
  Buffer<unsigned> in(values), out(values.size());
  kernel<<<2, 100>>>(in, out);
  expectEqual(name, out.read(), want);
}

#define APPLY_KERNEL(name, function)                                           \
  __global__ void name(const unsigned *in, unsigned *out) {                    \
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                        \
    out[i] = function(in[i]);                                                  \
  }

/// A recursive function. The array needs a frame for each call, so that the
/// compiler cannot make the recursion a loop.
__host__ __device__ __attribute__((noinline)) unsigned
ackermannLike(unsigned m, unsigned n) {
  unsigned frame[4] = {m, n, m + n, m ^ n};
  if (m == 0)
    return n + 1;
  unsigned inner = n == 0 ? 1 : ackermannLike(m, n - 1);
  return ackermannLike(m - 1, inner) + (frame[inner & 3] & 1);
}
/// Limits the recursion to eleven calls, because CUDA gives a thread 1 KiB of
/// stack.
static __host__ __device__ unsigned recurse(unsigned value) {
  return ackermannLike(value % 3, value / 3 % 3);
}
APPLY_KERNEL(recurseAll, recurse)

CONFORMANCE_CASE(Recursion) { compare("out", recurseAll, recurse); }

static __host__ __device__ unsigned collatz(unsigned value) {
  unsigned steps = 0;
  for (unsigned n = value + 1; n != 1; ++steps) {
    if (steps > 90)
      break;
    if (n & 1) {
      n = 3 * n + 1;
      continue;
    }
    n /= 2;
  }
  return steps;
}
APPLY_KERNEL(collatzAll, collatz)

// Each lane leaves the loop after its own number of iterations.
CONFORMANCE_CASE(DivergentLoops) { compare("out", collatzAll, collatz); }

static __host__ __device__ unsigned choose(unsigned value) {
  unsigned result = value;
  switch (value % 11) {
  case 0:
    return 1000;
  case 1:
    result += 5;
    [[fallthrough]];
  case 2:
    result *= 3;
    break;
  case 3:
  case 4:
    result ^= 0x55;
    break;
  case 7:
    for (unsigned i = 0; i < value; ++i)
      result += i & 3;
    break;
  case 10:
    result = ~result;
    break;
  default:
    result -= 1;
  }
  return result << 1;
}
APPLY_KERNEL(chooseAll, choose)

CONFORMANCE_CASE(Switches) { compare("out", chooseAll, choose); }

using Operation = unsigned (*)(unsigned, unsigned);
__host__ __device__ unsigned addTwice(unsigned a, unsigned b) {
  return a + 2 * b;
}
__host__ __device__ unsigned mixBits(unsigned a, unsigned b) {
  return (a << 3) ^ b;
}
__host__ __device__ unsigned larger(unsigned a, unsigned b) {
  return a > b ? a : b;
}
__device__ Operation deviceTable[] = {addTwice, mixBits, larger};
static const Operation hostTable[] = {addTwice, mixBits, larger};

__global__ void callAll(const unsigned *in, unsigned *out) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = deviceTable[in[i] % 3](in[i], i);
}

// The lanes of a wave call different functions through one pointer.
CONFORMANCE_CASE(FunctionPointers) {
  std::vector<unsigned> values = makeInput(200), want;
  for (unsigned i = 0; i < 200; ++i)
    want.push_back(hostTable[values[i] % 3](values[i], i));
  Buffer<unsigned> in(values), out(values.size());
  callAll<<<2, 100>>>(in, out);
  expectEqual("out", out.read(), want);
}

__global__ void nest(const unsigned *in, unsigned *out, unsigned limit) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned value = in[i], sum = 0;
  if (value < limit) {
    for (unsigned a = 0; a < value % 7; ++a)
      for (unsigned b = a; b < 5; ++b) {
        if ((a + b + value) % 3 == 0)
          continue;
        sum += a * b + 1;
        if (sum > 40)
          goto done;
      }
  } else if (value & 1) {
    sum = value;
  } else {
    return;
  }
done:
  out[i] = sum;
}

// The outputs of lanes that return early keep their old values.
CONFORMANCE_CASE(NestedControl) {
  std::vector<unsigned> values = makeInput(200), want(200, 12345);
  for (unsigned i = 0; i < 200; ++i) {
    unsigned value = values[i], sum = 0;
    bool full = false;
    if (value >= 50 && !(value & 1))
      continue;
    if (value >= 50)
      sum = value;
    else
      for (unsigned a = 0; a < value % 7 && !full; ++a)
        for (unsigned b = a; b < 5 && !full; ++b)
          if ((a + b + value) % 3) {
            sum += a * b + 1;
            full = sum > 40;
          }
    want[i] = sum;
  }
  Buffer<unsigned> in(values), out(std::vector<unsigned>(200, 12345));
  nest<<<2, 100>>>(in, out, 50);
  expectEqual("out", out.read(), want);
}
