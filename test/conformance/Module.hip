//===- Module.hip - Kernels that are loaded as a module -------------------===//

#include "Conformance.h"

extern "C" __device__ int offset = 5;

extern "C" __global__ void addOffset(int *values, int factor, int count) {
  int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count)
    values[i] = values[i] * factor + offset;
}

/// Reverses an array with one group and dynamic LDS for all values.
extern "C" __global__ void reverseAll(int *values, int count) {
  extern __shared__ int held[];
  for (int i = static_cast<int>(threadIdx.x); i < count;
       i += static_cast<int>(blockDim.x))
    held[i] = values[i];
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < count;
       i += static_cast<int>(blockDim.x))
    values[i] = held[count - 1 - i];
}

/// Computes for a long time and then writes the result, so that work that does
/// not wait for it reads the old value.
extern "C" __global__ void mixLong(unsigned *value, int rounds) {
  unsigned x = *value;
  for (int i = 0; i < rounds; ++i)
    x = x * 1664525u + 1013904223u;
  *value = x;
}
