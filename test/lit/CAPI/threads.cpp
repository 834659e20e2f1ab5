// Many threads, each with its own handle, stream and descriptors, share the
// engine of the process. All ask for the same few kernels at the same time: by
// both Finds, in immediate mode, for poolings and for row-wise operations. The
// database is empty at first, and what Find 1.0 was asked for is tuned in the
// background. Every result is checked. tools/dev/sanitize.sh runs this under
// the thread sanitizer.
//
// RUN: %clang -std=c++20 -Wall -Wextra -Werror -xc++ %s -o %t \
// RUN:   -I %tessera_source/capi/include -L %tessera_lib -lMIOpen \
// RUN:   -ltessera-emulator -lstdc++ -lm -Wl,-rpath,%tessera_lib
// RUN: rm -rf %t.cache
// RUN: env TESSERA_DEVICE=emulated:gfx942 MIOPEN_CUSTOM_CACHE_DIR=%t.cache %t \
// RUN:   2>&1 | FileCheck %s --implicit-check-not="emulated device"
//
// Background launches while the process ends are no errors.
// CHECK: 8 threads, 144 results, 0 wrong

#define MIOPEN_BETA_API 1
#include <miopen/miopen.h>
#include <tessera/tessera.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

static std::atomic<int> results, wrong;

static void check(int failed, const char *what) {
  if (!failed)
    return;
  std::printf("%s: %s\n", what, tesseraGetLastErrorMessage());
  std::exit(1);
}
#define MIOPEN(call) check((call) != miopenStatusSuccess, #call)
#define HIP(call) check((call) != hipSuccess, #call)

static float *upload(const std::vector<float> &values) {
  void *memory = nullptr;
  size_t bytes = values.size() * sizeof(float);
  HIP(hipMalloc(&memory, bytes));
  HIP(hipMemcpy(memory, values.data(), bytes, hipMemcpyHostToDevice));
  return static_cast<float *>(memory);
}

/// Checks that all `count` elements of a tensor are `expected`.
static void judge(hipStream_t stream, const float *memory, int count,
                  float expected) {
  std::vector<float> values(count);
  HIP(hipStreamSynchronize(stream));
  HIP(hipMemcpy(values.data(), memory, count * sizeof(float),
                hipMemcpyDeviceToHost));
  bool isRight = true;
  for (float value : values)
    isRight &= value == expected;
  ++results;
  wrong += !isRight;
}

enum class Way { Find, Immediate, Solution };

static void runSolution(miopenHandle_t handle,
                        miopenConvolutionDescriptor_t conv,
                        miopenTensorDescriptor_t xDesc, void *x,
                        miopenTensorDescriptor_t wDesc, void *w,
                        miopenTensorDescriptor_t yDesc, void *y) {
  miopenProblem_t problem;
  miopenSolution_t solution;
  const miopenTensorArgument_t tensors[] = {
      {miopenTensorConvolutionX, &xDesc, x},
      {miopenTensorConvolutionW, &wDesc, w},
      {miopenTensorConvolutionY, &yDesc, y}};
  MIOPEN(
      miopenCreateConvProblem(&problem, conv, miopenProblemDirectionForward));
  for (const miopenTensorArgument_t &tensor : tensors)
    MIOPEN(miopenSetProblemTensorDescriptor(problem, tensor.id,
                                            *tensor.descriptor));
  MIOPEN(miopenFindSolutions(handle, problem, nullptr, &solution, nullptr, 1));
  MIOPEN(miopenRunSolution(handle, solution, 3, tensors, nullptr, 0));
  MIOPEN(miopenDestroySolution(solution));
  MIOPEN(miopenDestroyProblem(problem));
}

static void runConvolution(miopenHandle_t handle, hipStream_t stream,
                           int channels, Way way) {
  constexpr int kPixels = 25;
  miopenTensorDescriptor_t xDesc, wDesc, yDesc;
  miopenConvolutionDescriptor_t conv;
  MIOPEN(miopenCreateTensorDescriptor(&xDesc));
  MIOPEN(miopenCreateTensorDescriptor(&wDesc));
  MIOPEN(miopenCreateTensorDescriptor(&yDesc));
  MIOPEN(miopenCreateConvolutionDescriptor(&conv));
  MIOPEN(miopenSet4dTensorDescriptor(xDesc, miopenFloat, 1, channels, 5, 5));
  MIOPEN(miopenSet4dTensorDescriptor(wDesc, miopenFloat, 8, channels, 1, 1));
  MIOPEN(miopenSet4dTensorDescriptor(yDesc, miopenFloat, 1, 8, 5, 5));
  MIOPEN(miopenInitConvolutionDescriptor(conv, miopenConvolution, 0, 0, 1, 1, 1,
                                         1));
  float *x = upload(std::vector<float>(channels * kPixels, 1));
  float *w = upload(std::vector<float>(channels * 8, 2));
  float *y = upload(std::vector<float>(8 * kPixels, -1));
  if (way == Way::Solution) {
    runSolution(handle, conv, xDesc, x, wDesc, w, yDesc, y);
  } else if (way == Way::Immediate) {
    size_t count = 0;
    miopenConvSolution_t solution;
    MIOPEN(miopenConvolutionForwardGetSolution(handle, wDesc, xDesc, conv,
                                               yDesc, 1, &count, &solution));
    MIOPEN(miopenConvolutionForwardImmediate(handle, wDesc, w, xDesc, x, conv,
                                             yDesc, y, nullptr, 0,
                                             solution.solution_id));
  } else {
    int count = 0;
    float one = 1, zero = 0;
    miopenConvAlgoPerf_t found;
    MIOPEN(miopenFindConvolutionForwardAlgorithm(handle, xDesc, x, wDesc, w,
                                                 conv, yDesc, y, 1, &count,
                                                 &found, nullptr, 0, false));
    MIOPEN(miopenConvolutionForward(handle, &one, xDesc, x, wDesc, w, conv,
                                    found.fwd_algo, &zero, yDesc, y, nullptr,
                                    0));
  }
  judge(stream, y, 8 * kPixels, 2.0f * channels);
  for (float *memory : {x, w, y})
    HIP(hipFree(memory));
  MIOPEN(miopenDestroyConvolutionDescriptor(conv));
  for (miopenTensorDescriptor_t desc : {xDesc, wDesc, yDesc})
    MIOPEN(miopenDestroyTensorDescriptor(desc));
}

static void runPooling(miopenHandle_t handle, hipStream_t stream) {
  miopenTensorDescriptor_t xDesc, yDesc;
  miopenPoolingDescriptor_t pool;
  MIOPEN(miopenCreateTensorDescriptor(&xDesc));
  MIOPEN(miopenCreateTensorDescriptor(&yDesc));
  MIOPEN(miopenCreatePoolingDescriptor(&pool));
  MIOPEN(miopenSet4dTensorDescriptor(xDesc, miopenFloat, 1, 4, 6, 6));
  MIOPEN(miopenSet4dTensorDescriptor(yDesc, miopenFloat, 1, 4, 3, 3));
  MIOPEN(miopenSet2dPoolingDescriptor(pool, miopenPoolingAverage, 2, 2, 0, 0, 2,
                                      2));
  float *x = upload(std::vector<float>(4 * 36, 3));
  float *y = upload(std::vector<float>(4 * 9, -1));
  float one = 1, zero = 0;
  MIOPEN(miopenPoolingForward(handle, pool, &one, xDesc, x, &zero, yDesc, y,
                              false, nullptr, 0));
  judge(stream, y, 4 * 9, 3);
  HIP(hipFree(x));
  HIP(hipFree(y));
  MIOPEN(miopenDestroyPoolingDescriptor(pool));
  MIOPEN(miopenDestroyTensorDescriptor(xDesc));
  MIOPEN(miopenDestroyTensorDescriptor(yDesc));
}

/// Runs a softmax of equal numbers, or a ReLU of negative ones.
static void runRowWise(miopenHandle_t handle, hipStream_t stream,
                       bool isSoftmax) {
  constexpr int kChannels = 4, kElements = 2 * kChannels * 9;
  miopenTensorDescriptor_t desc;
  miopenActivationDescriptor_t relu;
  MIOPEN(miopenCreateTensorDescriptor(&desc));
  MIOPEN(miopenCreateActivationDescriptor(&relu));
  MIOPEN(miopenSet4dTensorDescriptor(desc, miopenFloat, 2, kChannels, 3, 3));
  MIOPEN(miopenSetActivationDescriptor(relu, miopenActivationRELU, 0, 0, 0));
  float *x = upload(std::vector<float>(kElements, -2));
  float *y = upload(std::vector<float>(kElements, -1));
  float one = 1, zero = 0;
  if (isSoftmax)
    MIOPEN(miopenSoftmaxForward_V2(handle, &one, desc, x, &zero, desc, y,
                                   MIOPEN_SOFTMAX_ACCURATE,
                                   MIOPEN_SOFTMAX_MODE_CHANNEL));
  else
    MIOPEN(
        miopenActivationForward(handle, relu, &one, desc, x, &zero, desc, y));
  judge(stream, y, kElements, isSoftmax ? 1.0f / kChannels : 0);
  HIP(hipFree(x));
  HIP(hipFree(y));
  MIOPEN(miopenDestroyActivationDescriptor(relu));
  MIOPEN(miopenDestroyTensorDescriptor(desc));
}

/// Creates and destroys handles, and runs the problems in an order that differs
/// between threads.
static void work(int thread) {
  for (int round = 0; round < 2; ++round) {
    hipStream_t stream;
    miopenHandle_t handle;
    HIP(hipStreamCreate(&stream));
    MIOPEN(miopenCreateWithStream(&handle, stream));
    for (int i = 0; i < 9; ++i) {
      const int which = (i + thread) % 9;
      if (which < 6)
        runConvolution(handle, stream, 4 + which,
                       static_cast<Way>((thread + i) % 3));
      else if (which == 6)
        runPooling(handle, stream);
      else
        runRowWise(handle, stream, which == 7);
    }
    MIOPEN(miopenDestroy(handle));
    HIP(hipStreamDestroy(stream));
  }
}

int main() {
  constexpr int kThreads = 8;
  setenv("TESSERA_BACKGROUND_TUNING", "1", 1);
  setenv("MIOPEN_DEBUG_TUNING_ITERATIONS_MAX", "2", 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back(work, i);
  for (std::thread &thread : threads)
    thread.join();
  std::printf("%d threads, %d results, %d wrong\n", kThreads, results.load(),
              wrong.load());
  return wrong != 0;
}
