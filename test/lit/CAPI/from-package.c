/* On a machine with a package and without a compiler, the distinct convolutions
 * of ResNet-50 run forward through MIOpen's calls. The library is in a
 * directory with neither libtessera-compiler.so nor the worker, so that a
 * kernel that is not in the package would be an error. All images and filters
 * are ones: away from the border a result is the number of products.
 *
 * RUN: rm -rf %t && mkdir %t
 * RUN: dnn-opt --aot %tessera_source/tools/bench/resnet50.txt \
 * RUN:   --target gfx942 -o %t/kernels.db
 * RUN: cp -L %tessera_lib/libMIOpen.so.1 %tessera_lib/libtessera-emulator.so %t
 * RUN: %clang -std=c11 -Wall -Wextra -Werror %s -o %t/client \
 * RUN:   -I %tessera_source/capi/include -L %tessera_lib -ltessera \
 * RUN:   -ltessera-emulator
 * RUN: env LD_LIBRARY_PATH=%t TESSERA_SYSTEM_DB=%t/kernels.db \
 * RUN:   MIOPEN_CUSTOM_CACHE_DIR=%t/cache TESSERA_DEVICE=emulated:gfx942 \
 * RUN:   %t/client | FileCheck %s
 * RUN: env LD_LIBRARY_PATH=%t MIOPEN_CUSTOM_CACHE_DIR=%t/cache \
 * RUN:   TESSERA_DEVICE=emulated:gfx942 not %t/client 2>&1 \
 * RUN:   | FileCheck %s --check-prefix=WITHOUT
 *
 * CHECK: 23 right, 0 compiled, 23 from a database
 * WITHOUT: there is no compiler to make it
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

/* Input channels, size, output channels, filter, stride. */
static const int layers[][5] = {
    {3, 224, 64, 7, 2},    {64, 56, 64, 1, 1},    {64, 56, 64, 3, 1},
    {64, 56, 256, 1, 1},   {256, 56, 64, 1, 1},   {256, 56, 128, 1, 1},
    {128, 56, 128, 3, 2},  {128, 28, 512, 1, 1},  {256, 56, 512, 1, 2},
    {512, 28, 128, 1, 1},  {128, 28, 128, 3, 1},  {512, 28, 256, 1, 1},
    {256, 28, 256, 3, 2},  {256, 14, 1024, 1, 1}, {512, 28, 1024, 1, 2},
    {1024, 14, 256, 1, 1}, {256, 14, 256, 3, 1},  {1024, 14, 512, 1, 1},
    {512, 14, 512, 3, 2},  {512, 7, 2048, 1, 1},  {1024, 14, 2048, 1, 2},
    {2048, 7, 512, 1, 1},  {512, 7, 512, 3, 1}};
enum { layerCount = sizeof layers / sizeof layers[0] };

static void *copyOnes(size_t count) {
  _Float16 *ones = malloc(count * sizeof *ones);
  for (size_t i = 0; i < count; ++i)
    ones[i] = 1;
  void *device;
  HIP(hipMalloc(&device, count * sizeof *ones));
  HIP(hipMemcpy(device, ones, count * sizeof *ones, hipMemcpyHostToDevice));
  free(ones);
  return device;
}

/* Returns 1 if the middle of the result is right. */
static int run(miopenHandle_t handle, const int layer[5]) {
  const int c = layer[0], size = layer[1], k = layer[2], filter = layer[3];
  const int out = size / layer[4], pad = filter / 2;
  miopenTensorDescriptor_t xDesc, wDesc, yDesc;
  miopenConvolutionDescriptor_t conv;
  MIOPEN(miopenCreateTensorDescriptor(&xDesc));
  MIOPEN(miopenCreateTensorDescriptor(&wDesc));
  MIOPEN(miopenCreateTensorDescriptor(&yDesc));
  MIOPEN(miopenCreateConvolutionDescriptor(&conv));
  MIOPEN(miopenSet4dTensorDescriptor(xDesc, miopenHalf, 1, c, size, size));
  MIOPEN(miopenSet4dTensorDescriptor(wDesc, miopenHalf, k, c, filter, filter));
  MIOPEN(miopenSet4dTensorDescriptor(yDesc, miopenHalf, 1, k, out, out));
  MIOPEN(miopenInitConvolutionDescriptor(conv, miopenConvolution, pad, pad,
                                         layer[4], layer[4], 1, 1));
  void *x = copyOnes((size_t)c * size * size);
  void *w = copyOnes((size_t)k * c * filter * filter);
  void *y = copyOnes((size_t)k * out * out), *workspace = NULL;
  size_t bytes = 0;
  MIOPEN(miopenConvolutionForwardGetWorkSpaceSize(handle, wDesc, xDesc, conv,
                                                  yDesc, &bytes));
  if (bytes)
    HIP(hipMalloc(&workspace, bytes));
  int found = 0;
  miopenConvAlgoPerf_t perf;
  MIOPEN(miopenFindConvolutionForwardAlgorithm(handle, xDesc, x, wDesc, w, conv,
                                               yDesc, y, 1, &found, &perf,
                                               workspace, bytes, false));
  const float alpha = 1, beta = 0;
  MIOPEN(miopenConvolutionForward(handle, &alpha, xDesc, x, wDesc, w, conv,
                                  perf.fwd_algo, &beta, yDesc, y, workspace,
                                  bytes));
  HIP(hipDeviceSynchronize());
  _Float16 middle;
  const size_t at = (size_t)(k - 1) * out * out + out / 2 * out + out / 2;
  HIP(hipMemcpy(&middle, (_Float16 *)y + at, sizeof middle,
                hipMemcpyDeviceToHost));
  HIP(hipFree(x));
  HIP(hipFree(w));
  HIP(hipFree(y));
  HIP(hipFree(workspace));
  MIOPEN(miopenDestroyConvolutionDescriptor(conv));
  MIOPEN(miopenDestroyTensorDescriptor(yDesc));
  MIOPEN(miopenDestroyTensorDescriptor(wDesc));
  MIOPEN(miopenDestroyTensorDescriptor(xDesc));
  return (float)middle == (float)(c * filter * filter);
}

int main(void) {
  miopenHandle_t handle;
  MIOPEN(miopenCreate(&handle));
  int right = 0;
  for (int i = 0; i < layerCount; ++i)
    right += run(handle, layers[i]);
  tesseraCounters counters = TESSERA_COUNTERS_INIT;
  MIOPEN(tesseraGetCounters(&counters));
  printf("%d right, %d compiled, %d from a database\n", right,
         (int)counters.compiled, (int)counters.fromDatabase);
  MIOPEN(miopenDestroy(handle));
  return 0;
}
