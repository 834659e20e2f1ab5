/*===- config.h - What clients ask about the build of the library ---------===*/
/**
 * @file
 * Clients test these macros to choose between HIP and OpenCL. This library has
 * HIP only.
 */

#ifndef MIOPEN_CONFIG_H
#define MIOPEN_CONFIG_H

/** Streams and memory are those of HIP. */
#define MIOPEN_BACKEND_HIP 1
/** There is no OpenCL backend. */
#define MIOPEN_BACKEND_OPENCL 0
/** The library runs kernels. */
#define MIOPEN_MODE_NOGPU 0

/* HIP's headers need a macro for their platform, which hipcc defines. A plain C
   compiler does not, and the AMD headers are the only ones that this library is
   built for. */
#if !defined(__HIP_PLATFORM_AMD__) && !defined(__HIP_PLATFORM_HCC__) &&        \
    !defined(__HIP_PLATFORM_NVIDIA__) && !defined(__HIP_PLATFORM_NVCC__)
/** The platform for a compiler that names none. */
#define __HIP_PLATFORM_AMD__
#endif

#endif /* MIOPEN_CONFIG_H */
