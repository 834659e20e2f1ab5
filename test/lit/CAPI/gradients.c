/* Gradients and a transposed convolution for a client in C11. All of them
 * compute the numbers of forward-convolution.c: the filter is symmetric, so
 * that backward data is the convolution itself, and with the filter as dy,
 * backward weights adds the same products. Each runs by Find 1.0 and in
 * immediate mode.
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
static const float alpha = 1, beta = 0;

static miopenHandle_t handle;
static miopenTensorDescriptor_t desc; /* All tensors are 1x1x3x3. */
static miopenConvolutionDescriptor_t conv;
static float *a, *b, *result;

/* Overwrites the result, so that the next way must write it again. */
static void forget(void) { HIP(hipMemset(result, 0xff, sizeof image)); }

static void print(const char *road) {
  float numbers[9];
  HIP(hipDeviceSynchronize());
  HIP(hipMemcpy(numbers, result, sizeof image, hipMemcpyDeviceToHost));
  printf("%s:", road);
  for (int i = 0; i < 9; ++i)
    printf(" %g", (double)numbers[i]);
  printf("\n");
  forget();
}

static void *allocate(size_t bytes) {
  void *memory = NULL;
  if (bytes)
    HIP(hipMalloc(&memory, bytes));
  return memory;
}

/* `a` is dy, `b` is w. */
static void runBackwardData(void) {
  int found = 0;
  size_t bytes = 0, count = 0;
  miopenConvAlgoPerf_t perf;
  miopenConvSolution_t solution;
  MIOPEN(miopenConvolutionBackwardDataGetWorkSpaceSize(handle, desc, desc, conv,
                                                       desc, &bytes));
  void *space = allocate(bytes);
  MIOPEN(miopenFindConvolutionBackwardDataAlgorithm(
      handle, desc, a, desc, b, conv, desc, result, 1, &found, &perf, space,
      bytes, false));
  forget();
  MIOPEN(miopenConvolutionBackwardData(handle, &alpha, desc, a, desc, b, conv,
                                       perf.bwd_data_algo, &beta, desc, result,
                                       space, bytes));
  print("backward data, find");
  MIOPEN(miopenConvolutionBackwardDataGetSolution(handle, desc, desc, conv,
                                                  desc, 1, &count, &solution));
  MIOPEN(miopenConvolutionBackwardDataImmediate(handle, desc, a, desc, b, conv,
                                                desc, result, space, bytes,
                                                solution.solution_id));
  print("backward data, immediate");
  HIP(hipFree(space));
}

/* `a` is x, `b` is dy. */
static void runBackwardWeights(void) {
  int found = 0;
  size_t bytes = 0, count = 0;
  miopenConvAlgoPerf_t perf;
  miopenConvSolution_t solution;
  MIOPEN(miopenConvolutionBackwardWeightsGetWorkSpaceSize(handle, desc, desc,
                                                          conv, desc, &bytes));
  void *space = allocate(bytes);
  MIOPEN(miopenFindConvolutionBackwardWeightsAlgorithm(
      handle, desc, b, desc, a, conv, desc, result, 1, &found, &perf, space,
      bytes, false));
  forget();
  MIOPEN(miopenConvolutionBackwardWeights(
      handle, &alpha, desc, b, desc, a, conv, perf.bwd_weights_algo, &beta,
      desc, result, space, bytes));
  print("backward weights, find");
  MIOPEN(miopenConvolutionBackwardWeightsGetSolution(
      handle, desc, desc, conv, desc, 1, &count, &solution));
  MIOPEN(miopenConvolutionBackwardWeightsImmediate(
      handle, desc, b, desc, a, conv, desc, result, space, bytes,
      solution.solution_id));
  print("backward weights, immediate");
  HIP(hipFree(space));
}

/* `a` is x, `b` is w. */
static void runTransposed(void) {
  size_t bytes = 0;
  MIOPEN(miopenInitConvolutionDescriptor(conv, miopenTranspose, 1, 1, 1, 1, 1,
                                         1));
  MIOPEN(miopenConvolutionForwardGetWorkSpaceSize(handle, desc, desc, conv,
                                                  desc, &bytes));
  void *space = allocate(bytes);
  MIOPEN(miopenConvolutionForward(handle, &alpha, desc, a, desc, b, conv,
                                  miopenConvolutionFwdAlgoGEMM, &beta, desc,
                                  result, space, bytes));
  print("transposed");
  HIP(hipFree(space));
}

int main(void) {
  MIOPEN(miopenCreate(&handle));
  MIOPEN(miopenCreateTensorDescriptor(&desc));
  MIOPEN(miopenCreateConvolutionDescriptor(&conv));
  MIOPEN(miopenSet4dTensorDescriptor(desc, miopenFloat, 1, 1, 3, 3));
  MIOPEN(miopenInitConvolutionDescriptor(conv, miopenConvolution, 1, 1, 1, 1, 1,
                                         1));
  a = allocate(sizeof image);
  b = allocate(sizeof image);
  result = allocate(sizeof image);
  HIP(hipMemcpy(a, image, sizeof image, hipMemcpyHostToDevice));
  HIP(hipMemcpy(b, filter, sizeof image, hipMemcpyHostToDevice));
  forget();

  // CHECK: backward data, find: 2 1 -4 -3 0 -7 -16 -11 -22
  // CHECK: backward data, immediate: 2 1 -4 -3 0 -7 -16 -11 -22
  runBackwardData();
  // CHECK: backward weights, find: 2 1 -4 -3 0 -7 -16 -11 -22
  // CHECK: backward weights, immediate: 2 1 -4 -3 0 -7 -16 -11 -22
  runBackwardWeights();
  // CHECK: transposed: 2 1 -4 -3 0 -7 -16 -11 -22
  runTransposed();

  HIP(hipFree(a));
  HIP(hipFree(b));
  HIP(hipFree(result));
  MIOPEN(miopenDestroyConvolutionDescriptor(conv));
  MIOPEN(miopenDestroyTensorDescriptor(desc));
  MIOPEN(miopenDestroy(handle));
  return 0;
}
