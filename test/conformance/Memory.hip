//===- Memory.hip - Atomics, variables, arguments and grids ---------------===//

#include "Conformance.h"

#include <algorithm>

using namespace conformance;

struct Totals {
  int sum, minimum, maximum, exchanged;
  unsigned bits, toggled;
  float floatSum;
  int casProduct;
  unsigned long long wideSum, wideMaximum;
  double doubleSum;
};

__global__ void countAll(Totals *totals, const int *in) {
  __shared__ int groupSum;
  __shared__ unsigned long long groupWide;
  __shared__ float groupFloat;
  if (threadIdx.x == 0) {
    groupSum = 0;
    groupWide = 0;
    groupFloat = 0;
  }
  __syncthreads();
  int value = in[blockIdx.x * blockDim.x + threadIdx.x];
  atomicAdd(&groupSum, value);
  atomicAdd(&groupWide, static_cast<unsigned long long>(value) << 20);
  atomicAdd(&groupFloat, static_cast<float>(value));
  atomicMin(&totals->minimum, value);
  atomicMax(&totals->maximum, value);
  atomicOr(&totals->bits, 1u << (value & 31));
  atomicXor(&totals->toggled, static_cast<unsigned>(value) * 40503);
  atomicMax(&totals->wideMaximum, static_cast<unsigned long long>(value) << 33);
  if (value == 500)
    atomicExch(&totals->exchanged, value);
  // There is no atomic multiplication, so that the product modulo 2^32 needs
  // compare-and-swap.
  int seen = totals->casProduct, assumed;
  do {
    assumed = seen;
    seen = atomicCAS(&totals->casProduct, assumed, assumed * (value | 1));
  } while (seen != assumed);
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(&totals->sum, groupSum);
    atomicAdd(&totals->wideSum, groupWide);
    atomicAdd(&totals->floatSum, groupFloat);
    atomicAdd(&totals->doubleSum, static_cast<double>(groupSum) * 0.5);
  }
}

// Atomics on integers, floats (small integers, so that sums are exact in any
// order) and 64 bits, and a loop around compare-and-swap, in LDS and in global
// memory.
CONFORMANCE_CASE(Atomics) {
  constexpr unsigned kCount = 4 * 128;
  std::vector<int> values(kCount);
  Totals want{0, 1 << 30, 0, 0, 0, 0, 0, 1, 0, 0, 0};
  Buffer<Totals> totals(std::vector<Totals>{want});
  uint32_t product = 1;
  for (unsigned i = 0; i < kCount; ++i) {
    values[i] = static_cast<int>(i) * 3 % 1000 + 5;
    want.sum += values[i];
    want.minimum = std::min(want.minimum, values[i]);
    want.maximum = std::max(want.maximum, values[i]);
    want.bits |= 1u << (values[i] & 31);
    want.toggled ^= static_cast<unsigned>(values[i]) * 40503;
    if (values[i] == 500)
      want.exchanged = 500;
    product *= static_cast<uint32_t>(values[i]) | 1;
    want.wideSum += static_cast<unsigned long long>(values[i]) << 20;
  }
  want.wideMaximum = static_cast<unsigned long long>(want.maximum) << 33;
  Buffer<int> in(values);
  countAll<<<4, 128>>>(totals, in);
  Totals got = totals.read()[0];
  expectEqual("integers",
              std::vector<int>{got.sum, got.minimum, got.maximum, got.exchanged,
                               got.casProduct},
              std::vector<int>{want.sum, want.minimum, want.maximum,
                               want.exchanged, static_cast<int>(product)});
  expectEqual("unsigned", std::vector<unsigned>{got.bits, got.toggled},
              std::vector<unsigned>{want.bits, want.toggled});
  expectEqual("wide", {got.wideSum, got.wideMaximum},
              std::vector<unsigned long long>{want.wideSum, want.wideMaximum});
  expectEqual("floats", {got.floatSum, got.doubleSum},
              std::vector<double>{double(want.sum), want.sum * 0.5});
}

__constant__ int weights[4];
__device__ int counters[64];
__device__ int scale = 3;
#ifdef CONFORMANCE_PTX
// In HIP, clang compiles a managed variable as a pointer. For PTX it has no
// managed variables, so that this declares the pointer.
__device__ int *shared;
#define shared (*shared)
#else
__device__ __managed__ int shared = 11;
#endif

__global__ void useVariables(int *out) {
  unsigned i = threadIdx.x;
  out[i] = weights[i % 4] * scale + shared;
  counters[i] += static_cast<int>(i);
  __syncthreads();
  if (i == 0)
    shared += 1;
}

// The host sets constants, variables keep their values between launches, and
// host and device use managed memory by the same name.
CONFORMANCE_CASE(Variables) {
  const int filled[] = {2, 3, 5, 7};
  std::vector<int> zeros(64);
  CHECK_HIP(hipMemcpyToSymbol(HIP_SYMBOL(weights), filled, sizeof filled));
  CHECK_HIP(hipMemcpyToSymbol(HIP_SYMBOL(counters), zeros.data(), 256));
  int before = shared;
  Buffer<int> out(64);
  useVariables<<<1, 64>>>(out);
  useVariables<<<1, 64>>>(out);
  std::vector<int> want(64), wantCounters(64), got(64);
  for (int i = 0; i < 64; ++i) {
    want[static_cast<size_t>(i)] = filled[i % 4] * 3 + before + 1;
    wantCounters[static_cast<size_t>(i)] = 2 * i;
  }
  expectEqual("out", out.read(), want);
  CHECK_HIP(hipMemcpyFromSymbol(got.data(), HIP_SYMBOL(counters), 256));
  expectEqual("counters", got, wantCounters);
  expectEqual("managed", std::vector<int>{shared}, std::vector<int>{before + 2});
  size_t bytes = 0;
  CHECK_HIP(hipGetSymbolSize(&bytes, HIP_SYMBOL(counters)));
  expectEqual("size", std::vector<size_t>{bytes}, std::vector<size_t>{256});
}

struct Parameters {
  char tag;
  short coefficients[5];
  double factor;
  struct {
    float x, y;
  } origin;
};

__global__ void useStructure(Parameters parameters, double *out, char last) {
  unsigned i = threadIdx.x;
  out[i] = parameters.factor * parameters.coefficients[i % 5] +
           static_cast<double>(parameters.origin.x) * parameters.origin.y +
           parameters.tag + last;
}

CONFORMANCE_CASE(StructByValue) {
  Parameters parameters{'a', {1, -2, 3, -4, 5}, 0.125, {1.5f, -2}};
  std::vector<double> want(32);
  for (size_t i = 0; i < 32; ++i)
    want[i] = 0.125 * parameters.coefficients[i % 5] + 1.5 * -2 + 'a' + 9;
  Buffer<double> out(32);
  useStructure<<<1, 32>>>(parameters, out, 9);
  expectEqual("out", out.read(), want);
}

__global__ void histogram(const unsigned char *in, int *out, unsigned count) {
  int local[16];
  for (int &bin : local)
    bin = 0;
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x)
    ++local[in[i] & 15];
  // An insertion sort, whose indices are only known at run time.
  for (int i = 1; i < 16; ++i) {
    int value = local[i], at = i;
    for (; at && local[at - 1] > value; --at)
      local[at] = local[at - 1];
    local[at] = value;
  }
  for (int i = 0; i < 16; ++i)
    out[threadIdx.x * 16 + static_cast<unsigned>(i)] = local[i];
}

// Arrays in private memory, indexed at run time.
CONFORMANCE_CASE(LocalArrays) {
  constexpr unsigned kCount = 5000, kThreads = 80;
  std::vector<unsigned char> values(kCount);
  for (unsigned i = 0; i < kCount; ++i)
    values[i] = static_cast<unsigned char>(scramble(i) >> 9);
  std::vector<int> want(kThreads * 16);
  for (unsigned i = 0; i < kCount; ++i)
    ++want[i % kThreads * 16 + (values[i] & 15)];
  for (unsigned t = 0; t < kThreads; ++t)
    std::sort(want.begin() + t * 16, want.begin() + t * 16 + 16);
  Buffer<unsigned char> in(values);
  Buffer<int> out(want.size());
  histogram<<<1, kThreads>>>(in, out, kCount);
  expectEqual("out", out.read(), want);
}

__global__ void fillGrid(unsigned *out, unsigned width, unsigned height,
                         unsigned depth) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < width && y < height && z < depth)
    out[(z * height + y) * width + x] =
        x | y << 8 | z << 16 | (gridDim.x * gridDim.y + gridDim.z) << 24;
}

// The group size is not a multiple of a wave, and there are more groups than
// the data need.
CONFORMANCE_CASE(Grids) {
  constexpr unsigned kWidth = 13, kHeight = 9, kDepth = 7;
  std::vector<unsigned> want(kWidth * kHeight * kDepth);
  for (unsigned i = 0; i < want.size(); ++i)
    want[i] = i % kWidth | i / kWidth % kHeight << 8 |
              i / kWidth / kHeight << 16 | (3 * 3 + 4) << 24;
  Buffer<unsigned> out(want.size());
  fillGrid<<<dim3(3, 3, 4), dim3(5, 3, 2)>>>(out, kWidth, kHeight, kDepth);
  expectEqual("out", out.read(), want);
}

__global__ void convolve(const float *in, const float *filter, float *out,
                         int size, int taps) {
  int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= size || y >= size)
    return;
  float sum = 0;
  for (int r = 0; r < taps; ++r)
    for (int s = 0; s < taps; ++s) {
      int fromX = x + s - taps / 2, fromY = y + r - taps / 2;
      if (fromX >= 0 && fromX < size && fromY >= 0 && fromY < size)
        sum += in[fromY * size + fromX] * filter[r * taps + s];
    }
  out[y * size + x] = sum;
}

CONFORMANCE_CASE(Convolution) {
  constexpr int kSize = 19, kTaps = 5;
  std::vector<float> image(kSize * kSize), filter(kTaps * kTaps),
      want(kSize * kSize);
  for (size_t i = 0; i < image.size(); ++i)
    image[i] = static_cast<float>(scramble(static_cast<uint32_t>(i)) % 9) - 4;
  for (size_t i = 0; i < filter.size(); ++i)
    filter[i] = static_cast<float>(i) - 12;
  for (int i = 0; i < kSize * kSize; ++i)
    for (int tap = 0; tap < kTaps * kTaps; ++tap) {
      int x = i % kSize + tap % kTaps - 2, y = i / kSize + tap / kTaps - 2;
      if (x >= 0 && x < kSize && y >= 0 && y < kSize)
        want[static_cast<size_t>(i)] +=
            image[static_cast<size_t>(y * kSize + x)] *
            filter[static_cast<size_t>(tap)];
    }
  Buffer<float> in(image), weight(filter), out(want.size());
  convolve<<<dim3(3, 5), dim3(8, 4)>>>(in, weight, out, kSize, kTaps);
  expectEqual("out", out.read(), want);
}
