//===- NvidiaDevice.h - HIP's device functions for PTX ---------*- C++ -*--===//
//
// HIP's own device headers are for AMD's chips, and CUDA's are not installed.
// For the device's side of the conformance set, this file replaces
// hip_runtime.h: it defines what the kernels use by clang's builtins for PTX.
// Programs are compiled with `-x cuda --cuda-device-only -U__CUDA__`
// (CMakeLists.txt). Shuffles and votes take the active lanes, as on AMD's
// chips.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_CONFORMANCE_NVIDIADEVICE_H
#define TESSERA_TEST_CONFORMANCE_NVIDIADEVICE_H

// Without __HIP__ HIP's headers would define these attributes as empty.
#define HIP_INCLUDE_HIP_AMD_DETAIL_HOST_DEFINES_H
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __hip_img_chk__
#include <cstdint>
#include <cstdlib>
#include <hip/hip_runtime_api.h>

#define HIP_SYMBOL(x) x
#define __HIP_DEVICE_COMPILE__ 1

// Declares clang's threadIdx and so on; its uint3 is not HIP's.
#define uint3 ClangUint3
#include <__clang_cuda_builtin_vars.h>
#undef uint3

// clang needs this declaration for kernel<<<...>>> in host code, which is not
// compiled here.
extern "C" int cudaConfigureCall(dim3, dim3, size_t = 0, void * = nullptr);
extern "C" int __cudaPushCallConfiguration(dim3, dim3, size_t = 0,
                                           void * = nullptr);

#define TESSERA_DEVICE static __device__ inline __attribute__((always_inline))

// A warp has 32 lanes on every chip. __syncthreads() is a builtin of clang.
static constexpr int kWarp = 32;

// The active lanes, and the clamp operands of shuffles as PTX encodes them,
// with segments of `width` lanes.
TESSERA_DEVICE unsigned getMask() { return __nvvm_activemask(); }
TESSERA_DEVICE int getClamp(int width, int last) {
  return (kWarp - width) << 8 | last;
}
TESSERA_DEVICE int __shfl(int value, int lane, int width = kWarp) {
  return __nvvm_shfl_sync_idx_i32(getMask(), value, lane,
                                  getClamp(width, kWarp - 1));
}
TESSERA_DEVICE int __shfl_xor(int value, int step, int width = kWarp) {
  return __nvvm_shfl_sync_bfly_i32(getMask(), value, step,
                                   getClamp(width, kWarp - 1));
}
TESSERA_DEVICE int __shfl_down(int value, int step, int width = kWarp) {
  return __nvvm_shfl_sync_down_i32(getMask(), value, step,
                                   getClamp(width, kWarp - 1));
}
TESSERA_DEVICE int __shfl_up(int value, int step, int width = kWarp) {
  return __nvvm_shfl_sync_up_i32(getMask(), value, step, getClamp(width, 0));
}
TESSERA_DEVICE uint64_t __ballot(int value) {
  return __nvvm_vote_ballot_sync(getMask(), value != 0);
}
TESSERA_DEVICE int __any(int value) {
  return __nvvm_vote_any_sync(getMask(), value != 0);
}
TESSERA_DEVICE int __all(int value) {
  return __nvvm_vote_all_sync(getMask(), value != 0);
}
TESSERA_DEVICE int __popcll(uint64_t value) {
  return __builtin_popcountll(value);
}

#define TESSERA_ATOMIC(name, operation)                                        \
  template <typename T>                                                        \
  TESSERA_DEVICE T name(T *address, T value) {                                 \
    return __atomic_##operation(address, value, __ATOMIC_RELAXED);             \
  }
TESSERA_ATOMIC(atomicAdd, fetch_add)
TESSERA_ATOMIC(atomicMin, fetch_min)
TESSERA_ATOMIC(atomicMax, fetch_max)
TESSERA_ATOMIC(atomicOr, fetch_or)
TESSERA_ATOMIC(atomicXor, fetch_xor)
TESSERA_ATOMIC(atomicExch, exchange_n)
#undef TESSERA_ATOMIC
template <typename T>
TESSERA_DEVICE T atomicCAS(T *address, T assumed, T value) {
  __atomic_compare_exchange_n(address, &assumed, value, false, __ATOMIC_RELAXED,
                              __ATOMIC_RELAXED);
  return assumed;
}
#define __HIP_MEMORY_SCOPE_AGENT __MEMORY_SCOPE_DEVICE
#define __hip_atomic_fetch_add __scoped_atomic_fetch_add
#define __hip_atomic_load __scoped_atomic_load_n

TESSERA_DEVICE float fmaxf(float x, float y) { return __builtin_fmaxf(x, y); }
// This is accurate to some ulp.
TESSERA_DEVICE float expf(float x) {
  return __nvvm_ex2_approx_f(x * 1.44269504f);
}

#undef TESSERA_DEVICE

#endif // TESSERA_TEST_CONFORMANCE_NVIDIADEVICE_H
