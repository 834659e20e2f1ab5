//===- Lanes.hip - Lanes, waves and groups that work together -------------===//

#include "Conformance.h"

#include <numeric>

using namespace conformance;

static constexpr unsigned kGroup = 256;

static std::vector<int> makeIntegers(size_t count) {
  std::vector<int> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<int>(scramble(static_cast<uint32_t>(i)) % 2001) -
                1000;
  return values;
}

__global__ void sumTree(const int *in, int *out, unsigned count) {
  __shared__ int partial[kGroup];
  unsigned i = blockIdx.x * kGroup + threadIdx.x;
  partial[threadIdx.x] = i < count ? in[i] : 0;
  for (unsigned half = kGroup / 2; half; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half)
      partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = partial[0];
}

__global__ void sumShuffle(const int *in, int *out, unsigned count) {
  __shared__ int waves[kGroup / 32];
  unsigned i = blockIdx.x * kGroup + threadIdx.x;
  int sum = i < count ? in[i] : 0;
  for (int step = warpSize / 2; step; step /= 2)
    sum += __shfl_xor(sum, step);
  if (threadIdx.x % warpSize == 0)
    waves[threadIdx.x / warpSize] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned wave = 1; wave < kGroup / warpSize; ++wave)
      sum += waves[wave];
    out[blockIdx.x] = sum;
  }
}

// Reductions by a tree in LDS and by shuffles; the last group is only partly
// filled with data.
CONFORMANCE_CASE(Reductions) {
  constexpr unsigned kCount = 3 * kGroup + 77;
  std::vector<int> values = makeIntegers(kCount), want(4);
  for (unsigned i = 0; i < kCount; ++i)
    want[i / kGroup] += values[i];
  Buffer<int> in(values), tree(4), shuffle(4);
  sumTree<<<4, kGroup>>>(in, tree, kCount);
  sumShuffle<<<4, kGroup>>>(in, shuffle, kCount);
  expectEqual("tree", tree.read(), want);
  expectEqual("shuffle", shuffle.read(), want);
}

__global__ void scan(const int *in, int *out) {
  __shared__ int values[2][kGroup];
  unsigned i = threadIdx.x, from = 0;
  values[0][i] = in[blockIdx.x * kGroup + i];
  __syncthreads();
  for (unsigned step = 1; step < kGroup; step *= 2) {
    int value = values[from][i];
    if (i >= step)
      value += values[from][i - step];
    values[1 - from][i] = value;
    from = 1 - from;
    __syncthreads();
  }
  out[blockIdx.x * kGroup + i] = values[from][i];
}

__global__ void scanShuffle(const int *in, int *out) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  int value = in[i], lane = static_cast<int>(threadIdx.x) % warpSize;
  for (int step = 1; step < warpSize; step *= 2) {
    int below = __shfl_up(value, step);
    if (lane >= step)
      value += below;
  }
  out[i] = value;
}

// Inclusive prefix sums over a group and over a wave.
CONFORMANCE_CASE(Scans) {
  std::vector<int> values = makeIntegers(2 * kGroup), want(2 * kGroup);
  Buffer<int> in(values), out(2 * kGroup);
  scan<<<2, kGroup>>>(in, out);
  for (unsigned i = 0; i < 2 * kGroup; ++i)
    want[i] = values[i] + (i % kGroup ? want[i - 1] : 0);
  expectEqual("group", out.read(), want);
  scanShuffle<<<2, kGroup>>>(in, out);
  hipDeviceProp_t properties;
  CHECK_HIP(hipGetDeviceProperties(&properties, 0));
  for (unsigned i = 0; i < 2 * kGroup; ++i)
    want[i] = values[i] +
              (i % static_cast<unsigned>(properties.warpSize) ? want[i - 1] : 0);
  expectEqual("wave", out.read(), want);
}

__global__ void transpose(const float *in, float *out, unsigned width,
                          unsigned height) {
  __shared__ float tile[16][17];
  unsigned x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < width && y < height)
    tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  unsigned outX = blockIdx.y * 16 + threadIdx.x;
  unsigned outY = blockIdx.x * 16 + threadIdx.y;
  if (outX < height && outY < width)
    out[outY * height + outX] = tile[threadIdx.x][threadIdx.y];
}

// Neither length of the matrix is a multiple of the tile.
CONFORMANCE_CASE(Transpose) {
  constexpr unsigned kWidth = 37, kHeight = 21;
  std::vector<float> values(kWidth * kHeight), want(kWidth * kHeight);
  std::iota(values.begin(), values.end(), 1.0f);
  for (unsigned y = 0; y < kHeight; ++y)
    for (unsigned x = 0; x < kWidth; ++x)
      want[x * kHeight + y] = values[y * kWidth + x];
  Buffer<float> in(values), out(values.size());
  transpose<<<dim3(3, 2), dim3(16, 16)>>>(in, out, kWidth, kHeight);
  expectEqual("out", out.read(), want);
}

__global__ void exchange(const int *in, uint64_t *ballots, int *shuffled,
                         int *counts) {
  int lane = static_cast<int>(threadIdx.x) % warpSize;
  int value = in[threadIdx.x];
  ballots[threadIdx.x] = __ballot(value > 0);
  shuffled[threadIdx.x] = __shfl(value, (lane * 5 + 3) % warpSize) * 3 +
                          __shfl_down(value, 1, 16) + __any(value == 7) * 2 +
                          __all(value < 5000);
  int count = 0;
  // Only the lanes with an odd value execute this.
  if (value & 1)
    count = __popcll(__ballot(1));
  counts[threadIdx.x] = count;
}

CONFORMANCE_CASE(Votes) {
  hipDeviceProp_t properties;
  CHECK_HIP(hipGetDeviceProperties(&properties, 0));
  auto wave = static_cast<unsigned>(properties.warpSize);
  std::vector<int> values = makeIntegers(kGroup);
  values[wave + 3] = 7;
  Buffer<int> in(values), shuffled(kGroup), counts(kGroup);
  Buffer<uint64_t> ballots(kGroup);
  exchange<<<1, kGroup>>>(in, ballots, shuffled, counts);
  std::vector<uint64_t> wantBallots(kGroup);
  std::vector<int> wantShuffled(kGroup), wantCounts(kGroup);
  for (unsigned i = 0; i < kGroup; ++i) {
    unsigned lane = i % wave, base = i - lane;
    int odd = 0;
    bool seven = false;
    for (unsigned k = 0; k < wave; ++k) {
      wantBallots[i] |= uint64_t(values[base + k] > 0) << k;
      odd += values[base + k] & 1;
      seven |= values[base + k] == 7;
    }
    unsigned down = lane % 16 == 15 ? lane : lane + 1;
    wantShuffled[i] = values[base + (lane * 5 + 3) % wave] * 3 +
                      values[base + down] + seven * 2 + 1;
    wantCounts[i] = values[i] & 1 ? odd : 0;
  }
  expectEqual("ballot", ballots.read(), wantBallots);
  expectEqual("shuffled", shuffled.read(), wantShuffled);
  expectEqual("count", counts.read(), wantCounts);
}

__global__ void softmax(const float *in, float *out, unsigned width) {
  extern __shared__ float row[];
  __shared__ float shared;
  const float *from = in + blockIdx.x * width;
  for (unsigned i = threadIdx.x; i < width; i += blockDim.x)
    row[i] = from[i];
  __syncthreads();
  if (threadIdx.x == 0) {
    float top = row[0];
    for (unsigned i = 1; i < width; ++i)
      top = fmaxf(top, row[i]);
    shared = top;
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < width; i += blockDim.x)
    row[i] = expf(row[i] - shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0;
    for (unsigned i = 0; i < width; ++i)
      sum += row[i];
    shared = sum;
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < width; i += blockDim.x)
    out[blockIdx.x * width + i] = row[i] / shared;
}

// The kernel has dynamic LDS, whose size is in the launch, beside static LDS.
CONFORMANCE_CASE(Softmax) {
  constexpr unsigned kRows = 3, kWidth = 100;
  std::vector<float> values(kRows * kWidth);
  std::vector<double> want(values.size());
  for (unsigned i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(scramble(i) % 1000) * 0.02f - 10;
  for (unsigned row = 0; row < kRows; ++row) {
    double sum = 0;
    for (unsigned i = 0; i < kWidth; ++i)
      sum += std::exp(double(values[row * kWidth + i]) - 10);
    for (unsigned i = 0; i < kWidth; ++i)
      want[row * kWidth + i] =
          std::exp(double(values[row * kWidth + i]) - 10) / sum;
  }
  Buffer<float> in(values), out(values.size());
  softmax<<<kRows, 64, kWidth * sizeof(float)>>>(in, out, kWidth);
  expectNear("out", out.read(), want, 1e-5);
}

__global__ void multiply(const float *a, const float *b, float *c, unsigned n) {
  __shared__ float tileA[8][8], tileB[8][8];
  unsigned x = threadIdx.x, y = threadIdx.y;
  unsigned row = blockIdx.y * 8 + y, column = blockIdx.x * 8 + x;
  float sum = 0;
  for (unsigned k = 0; k < n; k += 8) {
    tileA[y][x] = row < n && k + x < n ? a[row * n + k + x] : 0;
    tileB[y][x] = column < n && k + y < n ? b[(k + y) * n + column] : 0;
    __syncthreads();
    for (unsigned i = 0; i < 8; ++i)
      sum += tileA[y][i] * tileB[i][x];
    __syncthreads();
  }
  if (row < n && column < n)
    c[row * n + column] = sum;
}

// The elements are small integers, so that sums are exact in every order.
CONFORMANCE_CASE(MatrixProduct) {
  constexpr unsigned kN = 20;
  std::vector<float> a(kN * kN), b(kN * kN), want(kN * kN);
  for (unsigned i = 0; i < kN * kN; ++i) {
    a[i] = static_cast<float>(scramble(i) % 17) - 8;
    b[i] = static_cast<float>(scramble(i + 1000) % 17) - 8;
  }
  for (unsigned i = 0; i < kN * kN; ++i)
    for (unsigned k = 0; k < kN; ++k)
      want[i] += a[i / kN * kN + k] * b[k * kN + i % kN];
  Buffer<float> deviceA(a), deviceB(b), deviceC(want.size());
  multiply<<<dim3(3, 3), dim3(8, 8)>>>(deviceA, deviceB, deviceC, kN);
  expectEqual("c", deviceC.read(), want);
}
