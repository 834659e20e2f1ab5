//===- compat.h - What programs of 2019 expect of HIP's headers -*- C++ -*-===//
//
// Included before the first line of a program that was written for HIP 1:
// the names that HIP 5's headers no longer have, and standard headers that came
// along with others then. Nothing here is about MIOpen.
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
// The kernel alone, for NVIDIA's chips: clang's language without a toolkit.
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

// HIP 1 gave every kernel a first parameter of its own.
typedef int hipLaunchParm;
#undef hipLaunchKernel
#define hipLaunchKernel(kernel, grid, block, sharedBytes, stream, ...)         \
  hipLaunchKernelGGL(kernel, grid, block, sharedBytes, stream,                 \
                     hipLaunchParm(), __VA_ARGS__)

#endif // TESSERA_TOOLS_DEV_CLIENTS_COMPAT_H
