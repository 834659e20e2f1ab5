/*===- convolution.c - One convolution through MIOpen's C API ------------===*\
|*
|* Blurs an image with a 3x3 filter of ones, as a client of MIOpen does: it
|* describes the tensors, asks Find for an algorithm, runs it, and compares the
|* result with one that it computes itself. It leaves with 0 if they agree.
|*
|*   cc convolution.c -o convolution $(pkg-config --cflags --libs miopen) \
|*      -lamdhip64
|*
|* The file CMakeLists.txt beside this one builds it with find_package(). To run
|* it on the emulated device, where PREFIX is Tessera's folder:
|*
|*   LD_LIBRARY_PATH=PREFIX/lib:PREFIX/lib/hip TESSERA_DEVICE=emulated:gfx942 \
|*     ./convolution
|*
\*===----------------------------------------------------------------------===*/

#include <miopen/miopen.h>

#include <stdio.h>
#include <stdlib.h>

enum { kSize = 8, kPixels = kSize * kSize, kTaps = 9 };

/* Ends the program with a sentence if a call has failed. */
static void check(int failed, const char *call) {
  if (!failed)
    return;
  fprintf(stderr, "failed: %s\n", call);
  exit(1);
}
#define HIP(call) check((call) != hipSuccess, #call)
#define MIOPEN(call) check((call) != miopenStatusSuccess, #call)

/* The sum of a pixel and its neighbours; there are none beyond the border. */
static float blur(const float *image, int row, int column) {
  float sum = 0;
  for (int r = row - 1; r <= row + 1; ++r)
    for (int c = column - 1; c <= column + 1; ++c)
      if (r >= 0 && r < kSize && c >= 0 && c < kSize)
        sum += image[r * kSize + c];
  return sum;
}

static int countWrongPixels(const float *image, const float *result) {
  int wrong = 0;
  for (int row = 0; row < kSize; ++row)
    for (int column = 0; column < kSize; ++column)
      wrong += result[row * kSize + column] != blur(image, row, column);
  return wrong;
}

/* Memory of the device with a copy of `values`. */
static void *copyToDevice(const float *values, size_t bytes) {
  void *memory = NULL;
  HIP(hipMalloc(&memory, bytes));
  HIP(hipMemcpy(memory, values, bytes, hipMemcpyHostToDevice));
  return memory;
}

static miopenTensorDescriptor_t describe(int height, int width) {
  miopenTensorDescriptor_t tensor;
  MIOPEN(miopenCreateTensorDescriptor(&tensor));
  MIOPEN(miopenSet4dTensorDescriptor(tensor, miopenFloat, 1, 1, height, width));
  return tensor;
}

int main(void) {
  float image[kPixels], filter[kTaps], result[kPixels];
  for (int i = 0; i < kPixels; ++i)
    image[i] = (float)(i % 7);
  for (int i = 0; i < kTaps; ++i)
    filter[i] = 1;

  miopenHandle_t handle;
  MIOPEN(miopenCreate(&handle));
  miopenTensorDescriptor_t x = describe(kSize, kSize), w = describe(3, 3),
                           y = describe(kSize, kSize);
  miopenConvolutionDescriptor_t conv;
  MIOPEN(miopenCreateConvolutionDescriptor(&conv));
  const int pad = 1, stride = 1, dilation = 1;
  MIOPEN(miopenInitConvolutionDescriptor(conv, miopenConvolution, pad, pad,
                                         stride, stride, dilation, dilation));

  void *xData = copyToDevice(image, sizeof image),
       *wData = copyToDevice(filter, sizeof filter), *yData = NULL,
       *workspace = NULL;
  HIP(hipMalloc(&yData, sizeof result));
  size_t workspaceBytes = 0;
  MIOPEN(miopenConvolutionForwardGetWorkSpaceSize(handle, w, x, conv, y,
                                                  &workspaceBytes));
  if (workspaceBytes > 0)
    HIP(hipMalloc(&workspace, workspaceBytes));

  /* The kernel is made here, or taken from the database. */
  miopenConvAlgoPerf_t best;
  int found = 0;
  MIOPEN(miopenFindConvolutionForwardAlgorithm(
      handle, x, xData, w, wData, conv, y, yData, 1, &found, &best, workspace,
      workspaceBytes, false));
  check(found != 1, "Find, which knows no algorithm");

  const float alpha = 1, beta = 0;
  MIOPEN(miopenConvolutionForward(handle, &alpha, x, xData, w, wData, conv,
                                  best.fwd_algo, &beta, y, yData, workspace,
                                  workspaceBytes));
  HIP(hipMemcpy(result, yData, sizeof result, hipMemcpyDeviceToHost));
  const int wrong = countWrongPixels(image, result);
  printf("%d of %d pixels are wrong\n", wrong, kPixels);

  HIP(hipFree(workspace));
  HIP(hipFree(yData));
  HIP(hipFree(wData));
  HIP(hipFree(xData));
  MIOPEN(miopenDestroyConvolutionDescriptor(conv));
  MIOPEN(miopenDestroyTensorDescriptor(y));
  MIOPEN(miopenDestroyTensorDescriptor(w));
  MIOPEN(miopenDestroyTensorDescriptor(x));
  MIOPEN(miopenDestroy(handle));
  return wrong == 0 ? 0 : 2;
}
