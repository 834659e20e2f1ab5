//===- hipblas.h - hipBLAS's product, for benchmarks of MIOpen -*- C++ -*--===//
//
// Networks end in a matrix product, for which clients of MIOpen call hipBLAS,
// another library that does not exist here. The two functions that they use are
// implemented by a convolution with a window of one pixel: its images are the
// columns of the result, its channels the rows, and transpositions are strides.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_DEV_CLIENTS_HIPBLAS_H
#define TESSERA_TOOLS_DEV_CLIENTS_HIPBLAS_H

#include <hip/hip_runtime_api.h>
#include <miopen/miopen.h>

#include <cstddef>

typedef void *hipblasHandle_t;
typedef enum {
  HIPBLAS_STATUS_SUCCESS = 0,
  HIPBLAS_STATUS_EXECUTION_FAILED = 6
} hipblasStatus_t;
typedef enum { HIPBLAS_OP_N = 111, HIPBLAS_OP_T = 112 } hipblasOperation_t;

/// One handle serves all callers: they create one for every product, and none
/// is destroyed.
inline hipblasStatus_t hipblasCreate(hipblasHandle_t *handle) {
  static miopenHandle_t shared = [] {
    miopenHandle_t made = nullptr;
    miopenCreate(&made);
    return made;
  }();
  *handle = shared;
  return shared ? HIPBLAS_STATUS_SUCCESS : HIPBLAS_STATUS_EXECUTION_FAILED;
}

namespace tessera_clients {
/// `images` times `channels` numbers with these strides in elements.
inline miopenTensorDescriptor_t describe(int images, int channels,
                                         int imageStride, int channelStride) {
  miopenTensorDescriptor_t desc = nullptr;
  int lengths[] = {images, channels, 1, 1};
  int strides[] = {imageStride, channelStride, 1, 1};
  miopenCreateTensorDescriptor(&desc);
  miopenSetTensorDescriptor(desc, miopenFloat, 4, lengths, strides);
  return desc;
}

inline miopenStatus_t multiply(miopenHandle_t handle,
                               miopenTensorDescriptor_t xDesc, const void *x,
                               miopenTensorDescriptor_t wDesc, const void *w,
                               miopenConvolutionDescriptor_t window,
                               miopenTensorDescriptor_t yDesc, void *y) {
  size_t bytes = 0;
  if (miopenStatus_t status = miopenConvolutionForwardGetWorkSpaceSize(
          handle, wDesc, xDesc, window, yDesc, &bytes))
    return status;
  void *workspace = nullptr;
  if (bytes && hipMalloc(&workspace, bytes) != hipSuccess)
    return miopenStatusAllocFailed;
  float one = 1, zero = 0;
  miopenStatus_t status = miopenConvolutionForward(
      handle, &one, xDesc, x, wDesc, w, window, miopenConvolutionFwdAlgoDirect,
      &zero, yDesc, y, workspace, bytes);
  if (workspace)
    (void)hipFree(workspace);
  return status;
}
} // namespace tessera_clients

/// Column-major, as in BLAS. Clients here use only 1 and 0 for alpha and beta.
inline hipblasStatus_t hipblasSgemm(hipblasHandle_t handle,
                                    hipblasOperation_t opA,
                                    hipblasOperation_t opB, int m, int n, int k,
                                    const float *alpha, const float *a, int lda,
                                    const float *b, int ldb, const float *beta,
                                    float *c, int ldc) {
  using namespace tessera_clients;
  if (*alpha != 1 || *beta != 0)
    return HIPBLAS_STATUS_EXECUTION_FAILED;
  bool plainA = opA == HIPBLAS_OP_N, plainB = opB == HIPBLAS_OP_N;
  miopenTensorDescriptor_t xDesc =
      describe(n, k, plainB ? ldb : 1, plainB ? 1 : ldb);
  miopenTensorDescriptor_t wDesc =
      describe(m, k, plainA ? 1 : lda, plainA ? lda : 1);
  miopenTensorDescriptor_t yDesc = describe(n, m, ldc, 1);
  miopenConvolutionDescriptor_t window = nullptr;
  miopenCreateConvolutionDescriptor(&window);
  miopenInitConvolutionDescriptor(window, miopenConvolution, 0, 0, 1, 1, 1, 1);
  miopenStatus_t status = multiply(static_cast<miopenHandle_t>(handle), xDesc,
                                   b, wDesc, a, window, yDesc, c);
  miopenDestroyConvolutionDescriptor(window);
  for (miopenTensorDescriptor_t desc : {xDesc, wDesc, yDesc})
    miopenDestroyTensorDescriptor(desc);
  return status == miopenStatusSuccess ? HIPBLAS_STATUS_SUCCESS
                                       : HIPBLAS_STATUS_EXECUTION_FAILED;
}

#endif // TESSERA_TOOLS_DEV_CLIENTS_HIPBLAS_H
