/* A client in C11 that was written for MIOpen: it uses MIOpen's header and
 * library name and links a HIP runtime itself. It runs one 3x3 convolution with
 * a known result in each of the three ways: execution without Find, Find and
 * execution, and immediate mode.
 *
 * RUN: %clang -std=c11 -Wall -Wextra -pedantic -Werror %s -o %t \
 * RUN:   -I %tessera_source/capi/include -L %tessera_lib -lMIOpen \
 * RUN:   -ltessera-emulator -Wl,-rpath,%tessera_lib
 * RUN: %t | FileCheck %s
 */
#include <miopen/miopen.h>
#include <tessera/tessera.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int failed, const char *what) {
  if (!failed)
    return;
  printf("%s: %s\n", what, tesseraGetLastErrorMessage());
  exit(1);
}
#define MIOPEN(call) check((call) != miopenStatusSuccess, #call)
#define HIP(call) check((call) != hipSuccess, #call)

static const float image[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
static const float filter[9] = {0, 1, 0, 1, -4, 1, 0, 1, 0};
static float *x, *w, *y;

/* Overwrites y, so that the next way must write it again. */
static void forget(void) { HIP(hipMemset(y, 0xff, sizeof image)); }

static void print(const char *way) {
  float result[9];
  HIP(hipDeviceSynchronize());
  HIP(hipMemcpy(result, y, sizeof result, hipMemcpyDeviceToHost));
  printf("%s:", way);
  for (int i = 0; i < 9; ++i)
    printf(" %g", (double)result[i]);
  printf("\n");
  forget();
}

int main(void) {
  miopenHandle_t handle;
  miopenTensorDescriptor_t xDesc, wDesc, yDesc;
  miopenConvolutionDescriptor_t conv;
  int n, c, h, wd;
  MIOPEN(miopenCreate(&handle));
  MIOPEN(miopenCreateTensorDescriptor(&xDesc));
  MIOPEN(miopenCreateTensorDescriptor(&wDesc));
  MIOPEN(miopenCreateTensorDescriptor(&yDesc));
  MIOPEN(miopenCreateConvolutionDescriptor(&conv));
  MIOPEN(miopenSet4dTensorDescriptor(xDesc, miopenFloat, 1, 1, 3, 3));
  MIOPEN(miopenSet4dTensorDescriptor(wDesc, miopenFloat, 1, 1, 3, 3));
  MIOPEN(miopenInitConvolutionDescriptor(conv, miopenConvolution, 1, 1, 1, 1, 1,
                                         1));
  MIOPEN(miopenGetConvolutionForwardOutputDim(conv, xDesc, wDesc, &n, &c, &h,
                                              &wd));
  MIOPEN(miopenSet4dTensorDescriptor(yDesc, miopenFloat, n, c, h, wd));
  HIP(hipMalloc((void **)&x, sizeof image));
  HIP(hipMalloc((void **)&w, sizeof filter));
  HIP(hipMalloc((void **)&y, sizeof image));
  HIP(hipMemcpy(x, image, sizeof image, hipMemcpyHostToDevice));
  HIP(hipMemcpy(w, filter, sizeof filter, hipMemcpyHostToDevice));
  forget();

  // CHECK: execute: 2 1 -4 -3 0 -7 -16 -11 -22
  const float alpha = 1, beta = 0;
  MIOPEN(miopenConvolutionForward(handle, &alpha, xDesc, x, wDesc, w, conv,
                                  miopenConvolutionFwdAlgoDirect, &beta, yDesc,
                                  y, NULL, 0));
  print("execute");

  // CHECK: find: 2 1 -4 -3 0 -7 -16 -11 -22
  // CHECK: found 1, algorithm 1
  int found = 0;
  size_t bytes = 1;
  miopenConvAlgoPerf_t perf;
  MIOPEN(miopenConvolutionForwardGetWorkSpaceSize(handle, wDesc, xDesc, conv,
                                                  yDesc, &bytes));
  MIOPEN(miopenFindConvolutionForwardAlgorithm(handle, xDesc, x, wDesc, w, conv,
                                               yDesc, y, 1, &found, &perf, NULL,
                                               bytes, false));
  forget();
  MIOPEN(miopenConvolutionForward(handle, &alpha, xDesc, x, wDesc, w, conv,
                                  perf.fwd_algo, &beta, yDesc, y, NULL,
                                  perf.memory));
  print("find");
  printf("found %d, algorithm %d\n", found, (int)perf.fwd_algo);

  // CHECK: immediate: 2 1 -4 -3 0 -7 -16 -11 -22
  size_t count = 0;
  miopenConvSolution_t solution;
  MIOPEN(miopenConvolutionForwardGetSolution(handle, wDesc, xDesc, conv, yDesc,
                                             1, &count, &solution));
  MIOPEN(miopenConvolutionForwardCompileSolution(
      handle, wDesc, xDesc, conv, yDesc, solution.solution_id));
  MIOPEN(miopenConvolutionForwardImmediate(handle, wDesc, w, xDesc, x, conv,
                                           yDesc, y, NULL, 0,
                                           solution.solution_id));
  print("immediate");

  /* All three ways use one kernel. */
  // CHECK: kernels 1
  tesseraCounters counters = TESSERA_COUNTERS_INIT;
  MIOPEN(tesseraGetCounters(&counters));
  printf("kernels %d\n", (int)(counters.compiled + counters.fromDatabase));

  HIP(hipFree(x));
  HIP(hipFree(w));
  HIP(hipFree(y));
  MIOPEN(miopenDestroyConvolutionDescriptor(conv));
  MIOPEN(miopenDestroyTensorDescriptor(yDesc));
  MIOPEN(miopenDestroyTensorDescriptor(wDesc));
  MIOPEN(miopenDestroyTensorDescriptor(xDesc));
  MIOPEN(miopenDestroy(handle));
  return 0;
}
