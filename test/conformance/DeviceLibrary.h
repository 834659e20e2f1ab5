//===- DeviceLibrary.h - What HIP's headers expect to be linked -*- C++ -*-===//
//
// HIP 5.2's device headers call functions of AMD's device libraries, and
// Debian's package of them has no chip after gfx90a and gfx1036. This file
// defines those that need no more than a builtin of clang, so that `-nogpulib
// -include DeviceLibrary.h` compiles ordinary kernels for every chip. Printf,
// malloc, images, grid synchronisation and the long functions of <cmath> are
// not here: using one is an error of the device linker that names it.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_CONFORMANCE_DEVICELIBRARY_H
#define TESSERA_TEST_CONFORMANCE_DEVICELIBRARY_H

// clang 22 does not define this macro; HIP 5.2's headers need it on the host
// too.
#if defined(__HIP_DEVICE_COMPILE__) && !defined(__GFX9__)
#define __AMDGCN_WAVEFRONT_SIZE 32
#else
#define __AMDGCN_WAVEFRONT_SIZE 64
#endif

#include <hip/hip_runtime.h>

#ifdef __HIP_DEVICE_COMPILE__

#define TESSERA_DEVICE                                                         \
  extern "C" __device__ inline __attribute__((always_inline))

namespace tessera_device {
// Reads hidden arguments of code object version 5 (LLVM's AMDGPU usage guide,
// "Code Object V5 Kernel Argument Metadata"): the number of full groups of the
// grid, their size, and the size of the last group if it is smaller.
template <typename T>
__device__ inline T getHidden(unsigned offset) {
  auto *base = (const __attribute__((
      address_space(4))) char *)__builtin_amdgcn_implicitarg_ptr();
  return *(const __attribute__((address_space(4))) T *)(base + offset);
}
__device__ inline unsigned getFullGroups(unsigned d) {
  return getHidden<unsigned>(4 * d);
}
__device__ inline unsigned getFullSize(unsigned d) {
  return getHidden<unsigned short>(12 + 2 * d);
}
__device__ inline unsigned getRemainder(unsigned d) {
  return getHidden<unsigned short>(18 + 2 * d);
}
} // namespace tessera_device

TESSERA_DEVICE size_t __ockl_get_local_id(unsigned d) {
  return d == 0   ? __builtin_amdgcn_workitem_id_x()
         : d == 1 ? __builtin_amdgcn_workitem_id_y()
         : d == 2 ? __builtin_amdgcn_workitem_id_z()
                  : 0;
}
TESSERA_DEVICE size_t __ockl_get_group_id(unsigned d) {
  return d == 0   ? __builtin_amdgcn_workgroup_id_x()
         : d == 1 ? __builtin_amdgcn_workgroup_id_y()
         : d == 2 ? __builtin_amdgcn_workgroup_id_z()
                  : 0;
}
TESSERA_DEVICE size_t __ockl_get_local_size(unsigned d) {
  if (d > 2)
    return 1;
  return __ockl_get_group_id(d) < tessera_device::getFullGroups(d)
             ? tessera_device::getFullSize(d)
             : tessera_device::getRemainder(d);
}
TESSERA_DEVICE size_t __ockl_get_num_groups(unsigned d) {
  if (d > 2)
    return 1;
  return tessera_device::getFullGroups(d) +
         (tessera_device::getRemainder(d) != 0);
}
TESSERA_DEVICE size_t __ockl_get_global_size(unsigned d) {
  if (d > 2)
    return 1;
  return size_t(tessera_device::getFullGroups(d)) *
             tessera_device::getFullSize(d) +
         tessera_device::getRemainder(d);
}

// The fence is sequentially consistent, whatever weaker order is asked for.
TESSERA_DEVICE void __atomic_work_item_fence(__cl_mem_fence_flags,
                                             __memory_order,
                                             __memory_scope scope) {
  if (scope == __memory_scope_work_group)
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
  else if (scope == __memory_scope_device)
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
  else
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "");
}

TESSERA_DEVICE uint32_t __ockl_lane_u32() {
  unsigned low = __builtin_amdgcn_mbcnt_lo(~0u, 0u);
  return __AMDGCN_WAVEFRONT_SIZE == 32 ? low
                                       : __builtin_amdgcn_mbcnt_hi(~0u, low);
}
TESSERA_DEVICE bool __ockl_wfany_i32(int value) {
  return __builtin_amdgcn_ballot_w64(value != 0) != 0;
}
TESSERA_DEVICE bool __ockl_wfall_i32(int value) {
  return __builtin_amdgcn_ballot_w64(value == 0) == 0;
}
TESSERA_DEVICE uint32_t __ockl_clz_u32(uint32_t value) {
  return value ? static_cast<uint32_t>(__builtin_clz(value)) : 32;
}
TESSERA_DEVICE uint64_t __ockl_clz_u64(uint64_t value) {
  return value ? static_cast<uint64_t>(__builtin_clzll(value)) : 64;
}
TESSERA_DEVICE uint32_t __ockl_mul_hi_u32(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>(uint64_t(a) * b >> 32);
}
TESSERA_DEVICE int __ockl_mul_hi_i32(int a, int b) {
  return static_cast<int>(int64_t(a) * b >> 32);
}

// assert() prints nothing here; it only executes its trap.
TESSERA_DEVICE uint64_t __ockl_fprintf_stderr_begin() { return 0; }
TESSERA_DEVICE uint64_t __ockl_fprintf_append_args(uint64_t, uint32_t, uint64_t,
                                                   uint64_t, uint64_t, uint64_t,
                                                   uint64_t, uint64_t, uint64_t,
                                                   uint32_t) {
  return 0;
}
TESSERA_DEVICE uint64_t __ockl_fprintf_append_string_n(uint64_t, const char *,
                                                       uint64_t, uint32_t) {
  return 0;
}

#define TESSERA_MATH1(name)                                                    \
  TESSERA_DEVICE float __ocml_##name##_f32(float x) {                          \
    return __builtin_##name##f(x);                                             \
  }                                                                            \
  TESSERA_DEVICE double __ocml_##name##_f64(double x) {                        \
    return __builtin_##name(x);                                                \
  }
TESSERA_MATH1(fabs)
TESSERA_MATH1(floor)
TESSERA_MATH1(ceil)
TESSERA_MATH1(trunc)
TESSERA_MATH1(rint)
TESSERA_MATH1(round)
TESSERA_MATH1(sqrt)
#undef TESSERA_MATH1

#define TESSERA_MATH2(name)                                                    \
  TESSERA_DEVICE float __ocml_##name##_f32(float x, float y) {                 \
    return __builtin_##name##f(x, y);                                          \
  }                                                                            \
  TESSERA_DEVICE double __ocml_##name##_f64(double x, double y) {              \
    return __builtin_##name(x, y);                                             \
  }
TESSERA_MATH2(fmin)
TESSERA_MATH2(fmax)
TESSERA_MATH2(copysign)
#undef TESSERA_MATH2

TESSERA_DEVICE float __ocml_fma_f32(float x, float y, float z) {
  return __builtin_fmaf(x, y, z);
}
TESSERA_DEVICE double __ocml_fma_f64(double x, double y, double z) {
  return __builtin_fma(x, y, z);
}
// These have the accuracy of clang's intrinsics, some ulp.
TESSERA_DEVICE float __ocml_exp_f32(float x) { return __builtin_expf(x); }
TESSERA_DEVICE float __ocml_exp2_f32(float x) { return __builtin_exp2f(x); }
TESSERA_DEVICE float __ocml_log_f32(float x) { return __builtin_logf(x); }
TESSERA_DEVICE float __ocml_log2_f32(float x) { return __builtin_log2f(x); }
TESSERA_DEVICE float __ocml_log10_f32(float x) { return __builtin_log10f(x); }

#undef TESSERA_DEVICE
#endif // __HIP_DEVICE_COMPILE__

#endif // TESSERA_TEST_CONFORMANCE_DEVICELIBRARY_H
