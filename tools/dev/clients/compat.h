//===- compat.h - What programs of 2019 expect of HIP's headers -*- C++ -*-===//
//
// Included before the first line of a program that was written for HIP 1: names
// that HIP 5's headers lack, and standard headers that other headers included
// then. None of this is about MIOpen.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_DEV_CLIENTS_COMPAT_H
#define TESSERA_TOOLS_DEV_CLIENTS_COMPAT_H

#ifndef TESSERA_CLIENT_PTX
#include <cassert>
#include <map>
#include <memory>
#endif

#ifdef TESSERA_CLIENT_PTX
// Only the kernel is compiled for NVIDIA's chips: clang's language without a
// toolkit.
#define __global__ __attribute__((global))
typedef __SIZE_TYPE__ size_t;
#define hipBlockIdx_x __nvvm_read_ptx_sreg_ctaid_x()
#define hipBlockDim_x __nvvm_read_ptx_sreg_ntid_x()
#define hipThreadIdx_x __nvvm_read_ptx_sreg_tid_x()
#define hipGridDim_x __nvvm_read_ptx_sreg_nctaid_x()
#else
#include "test/conformance/DeviceLibrary.h"
#define hipBlockIdx_x blockIdx.x
#define hipBlockDim_x blockDim.x
#define hipThreadIdx_x threadIdx.x
#define hipGridDim_x gridDim.x
#endif

// HIP 1 had an additional first parameter in every kernel.
typedef int hipLaunchParm;
#undef hipLaunchKernel
#define hipLaunchKernel(kernel, grid, block, sharedBytes, stream, ...)         \
  hipLaunchKernelGGL(kernel, grid, block, sharedBytes, stream,                 \
                     hipLaunchParm(), __VA_ARGS__)

#endif // TESSERA_TOOLS_DEV_CLIENTS_COMPAT_H
