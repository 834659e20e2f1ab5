/* Find 2.0 for a client in C11: a solution is found, run and saved. Another
 * process without a compiler and a database loads and runs it. Another chip
 * refuses it with the reason.
 *
 * RUN: %clang -std=c11 -Wall -Wextra -pedantic -Werror %s -o %t \
 * RUN:   -I %tessera_source/capi/include -L %tessera_lib -lMIOpen \
 * RUN:   -ltessera-emulator -Wl,-rpath,%tessera_lib
 * RUN: env TESSERA_DEVICE=emulated:gfx942 %t save %t.solution \
 * RUN:   | FileCheck %s --check-prefixes=CHECK,SAVE
 * RUN: env TESSERA_DEVICE=emulated:gfx942 MIOPEN_DISABLE_CACHE=1 \
 * RUN:   TESSERA_COMPILER_LIBRARY=/nowhere/compiler.so %t load %t.solution \
 * RUN:   | FileCheck %s --check-prefixes=CHECK,LOAD
 * RUN: env TESSERA_DEVICE=emulated:gfx90a not %t load %t.solution 2>/dev/null \
 * RUN:   | FileCheck %s --check-prefix=OTHER
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

static miopenHandle_t handle;
static miopenTensorDescriptor_t desc; /* All tensors are 1x1x3x3. */

static miopenSolution_t find(miopenFindOptions_t options) {
  miopenConvolutionDescriptor_t conv;
  miopenProblem_t problem;
  miopenSolution_t solutions[4];
  size_t count = 0;
  MIOPEN(miopenCreateConvolutionDescriptor(&conv));
  MIOPEN(miopenInitConvolutionDescriptor(conv, miopenConvolution, 1, 1, 1, 1, 1,
                                         1));
  MIOPEN(
      miopenCreateConvProblem(&problem, conv, miopenProblemDirectionForward));
  MIOPEN(miopenDestroyConvolutionDescriptor(conv));
  for (int id = miopenTensorConvolutionX; id <= miopenTensorConvolutionY; ++id)
    MIOPEN(miopenSetProblemTensorDescriptor(
        problem, (miopenTensorArgumentId_t)id, desc));
  MIOPEN(miopenFindSolutions(handle, problem, options, solutions, &count, 4));
  MIOPEN(miopenDestroyProblem(problem));
  printf("%zu solution\n", count);
  return solutions[0];
}

static void save(miopenSolution_t solution, const char *path) {
  size_t size = 0;
  MIOPEN(miopenGetSolutionSize(solution, &size));
  char *bytes = malloc(size);
  MIOPEN(miopenSaveSolution(solution, bytes));
  FILE *file = fopen(path, "wb");
  check(!file || fwrite(bytes, 1, size, file) != size || fclose(file), path);
  free(bytes);
}

static miopenSolution_t load(const char *path) {
  static char bytes[1 << 20];
  miopenSolution_t solution = NULL;
  FILE *file = fopen(path, "rb");
  check(!file, path);
  const size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  MIOPEN(miopenLoadSolution(&solution, bytes, size));
  return solution;
}

static void *copy(const float *numbers) {
  void *memory = NULL;
  HIP(hipMalloc(&memory, sizeof image));
  HIP(hipMemcpy(memory, numbers, sizeof image, hipMemcpyHostToDevice));
  return memory;
}

static void refuse(const char *what, miopenStatus_t status) {
  printf("%s: %s\n", what, miopenGetErrorString(status));
}

static void run(miopenSolution_t solution) {
  size_t bytes = 0;
  float time = -1, numbers[9];
  uint64_t id = 0;
  miopenTensorDescriptor_t other;
  MIOPEN(miopenGetSolutionWorkspaceSize(solution, &bytes));
  MIOPEN(miopenGetSolutionTime(solution, &time));
  MIOPEN(miopenGetSolutionSolverId(solution, &id));
  printf("id %d, workspace %zu, measured %d\n", (int)id, bytes, time > 0);
  miopenTensorArgument_t tensors[3] = {
      {miopenTensorConvolutionW, &desc, copy(filter)},
      {miopenTensorConvolutionY, NULL, copy(image)},
      {miopenTensorConvolutionX, NULL, copy(image)}};
  MIOPEN(miopenRunSolution(handle, solution, 3, tensors, NULL, 0));
  HIP(hipDeviceSynchronize());
  HIP(hipMemcpy(numbers, tensors[1].buffer, sizeof numbers,
                hipMemcpyDeviceToHost));
  printf("y:");
  for (int i = 0; i < 9; ++i)
    printf(" %g", (double)numbers[i]);
  printf("\n");

  refuse("missing tensor",
         miopenRunSolution(handle, solution, 2, tensors, NULL, 0));
  MIOPEN(miopenCreateTensorDescriptor(&other));
  MIOPEN(miopenSet4dTensorDescriptor(other, miopenFloat, 2, 1, 3, 3));
  tensors[0].descriptor = &other;
  refuse("other descriptor",
         miopenRunSolution(handle, solution, 3, tensors, NULL, 0));
  tensors[0].descriptor = NULL;
  tensors[0].id = miopenTensorMhaK;
  refuse("other name",
         miopenRunSolution(handle, solution, 3, tensors, NULL, 0));
}

static uint64_t getLaunched(void) {
  tesseraCounters counters = TESSERA_COUNTERS_INIT;
  MIOPEN(tesseraGetCounters(&counters));
  return counters.launched;
}

int main(int argc, char **argv) {
  miopenSolution_t solution;
  check(argc != 3, "usage");
  MIOPEN(miopenCreate(&handle));
  MIOPEN(miopenCreateTensorDescriptor(&desc));
  MIOPEN(miopenSet4dTensorDescriptor(desc, miopenFloat, 1, 1, 3, 3));
  if (strcmp(argv[1], "save") == 0) {
    miopenFindOptions_t options;
    MIOPEN(miopenCreateFindOptions(&options));
    MIOPEN(miopenSetFindOptionWorkspaceLimit(options, 1 << 20));
    MIOPEN(miopenSetFindOptionPreallocatedTensor(
        options, miopenTensorConvolutionX, copy(image)));
    solution = find(options);
    /* A second search takes the time from the database. */
    uint64_t launched = getLaunched();
    MIOPEN(miopenDestroySolution(find(options)));
    printf("launched again: %d\n", (int)(getLaunched() - launched));
    MIOPEN(miopenDestroyFindOptions(options));
    save(solution, argv[2]);
  } else {
    solution = load(argv[2]);
  }
  run(solution);
  MIOPEN(miopenDestroySolution(solution));
  tesseraCounters counters = TESSERA_COUNTERS_INIT;
  MIOPEN(tesseraGetCounters(&counters));
  printf("compiled %d\n", (int)counters.compiled);
  return 0;
}

/* SAVE: 1 solution
 * SAVE: launched again: 0
 * CHECK: id 1001, workspace 0, measured 1
 * CHECK: y: 2 1 -4 -3 0 -7 -16 -11 -22
 * CHECK: missing tensor: miopenStatusInvalidValue
 * CHECK: other descriptor: miopenStatusBadParm
 * CHECK: other name: miopenStatusBadParm
 * LOAD: compiled 0
 * OTHER: miopenRunSolution{{.*}} the solution is for gfx942, but the device is a gfx90a
 */
