//===- Runtime.hip - What the runtime knows of registered kernels ---------===//
//
// The code object of this file is compressed in the program, unlike those of
// the other files.
//
//===----------------------------------------------------------------------===//

#include "Conformance.h"

using namespace conformance;

/// Lets other waves run.
static __device__ void pause() {
#ifdef CONFORMANCE_PTX
  __nvvm_nanosleep(100);
#else
  __builtin_amdgcn_s_sleep(1);
#endif
}

__global__ void meet(int *values, int *sums, int *arrived) {
  __shared__ int last;
  int group = static_cast<int>(blockIdx.x), count = static_cast<int>(gridDim.x);
  if (threadIdx.x == 0) {
    values[group] = group + 1;
    __hip_atomic_fetch_add(arrived, 1, __ATOMIC_RELEASE,
                           __HIP_MEMORY_SCOPE_AGENT);
    while (__hip_atomic_load(arrived, __ATOMIC_ACQUIRE,
                             __HIP_MEMORY_SCOPE_AGENT) < count)
      pause();
    int sum = 0;
    for (int i = 0; i < count; ++i)
      sum += values[i];
    last = sum;
  }
  __syncthreads();
  sums[blockIdx.x * blockDim.x + threadIdx.x] = last;
}

// Every group waits for all others, so that all must be resident.
CONFORMANCE_CASE(CooperativeLaunch) {
  constexpr unsigned kGroups = 6, kThreads = 40;
  Buffer<int> values(kGroups), sums(kGroups * kThreads), arrived(1);
  int *pointers[] = {values, sums, arrived};
  void *arguments[] = {&pointers[0], &pointers[1], &pointers[2]};
  CHECK_HIP(hipLaunchCooperativeKernel(reinterpret_cast<const void *>(meet),
                                       dim3(kGroups), dim3(kThreads), arguments,
                                       0, nullptr));
  expectEqual("sums", sums.read(),
              std::vector<int>(kGroups * kThreads, kGroups * (kGroups + 1) / 2));
}

__global__ void holdLds(int *out) {
  __shared__ int values[8192];
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = values[threadIdx.x ^ 1];
}

// Each group has 32 KiB of LDS, which limits the groups of a compute unit.
CONFORMANCE_CASE(Occupancy) {
  const auto *kernel = reinterpret_cast<const void *>(holdLds);
  hipFuncAttributes attributes;
  CHECK_HIP(hipFuncGetAttributes(&attributes, kernel));
  hipDeviceProp_t properties;
  CHECK_HIP(hipGetDeviceProperties(&properties, 0));
  int groups = 0, grid = 0, block = 0, reserved = 0;
  size_t total = properties.maxSharedMemoryPerMultiProcessor;
  // AMD's chips reserve nothing, and their runtime does not know the attribute.
  if (hipDeviceGetAttribute(&reserved,
                            hipDeviceAttributeReservedSharedMemPerBlock, 0))
    (void)hipGetLastError();
  CHECK_HIP(
      hipOccupancyMaxActiveBlocksPerMultiprocessor(&groups, kernel, 64, 0));
  expectEqual("groups", {attributes.sharedSizeBytes, size_t(groups)},
              std::vector<size_t>{32768, total / (32768 + size_t(reserved))});
  CHECK_HIP(hipOccupancyMaxPotentialBlockSize(&grid, &block, kernel, 0, 512));
  expectEqual("block",
              {block % properties.warpSize, block > 0, block <= 512,
               grid % properties.multiProcessorCount},
              std::vector<int>{0, 1, 1, 0});
  CHECK_HIP(
      hipOccupancyMaxActiveBlocksPerMultiprocessor(&groups, kernel, 64, 1 << 20));
  expectEqual("too much", std::vector<int>{groups}, std::vector<int>{0});
}
