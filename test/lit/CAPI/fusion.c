/* A fusion plan for a client in C11: convolution, bias and ReLU in one kernel,
 * and the same with a residual in one call without a plan.
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
static const float biasValue[1] = {5};
static const float one = 1, zero = 0;

static void *copy(const float *numbers, size_t bytes) {
  void *memory = NULL;
  HIP(hipMalloc(&memory, bytes));
  HIP(hipMemcpy(memory, numbers, bytes, hipMemcpyHostToDevice));
  return memory;
}

static void print(const char *road, const void *result) {
  float numbers[9];
  HIP(hipDeviceSynchronize());
  HIP(hipMemcpy(numbers, result, sizeof numbers, hipMemcpyDeviceToHost));
  printf("%s:", road);
  for (int i = 0; i < 9; ++i)
    printf(" %g", (double)numbers[i]);
  printf("\n");
}

int main(void) {
  miopenHandle_t handle;
  miopenTensorDescriptor_t desc, biasDesc;
  miopenConvolutionDescriptor_t conv;
  miopenFusionPlanDescriptor_t plan;
  miopenFusionOpDescriptor_t convOp, biasOp, reluOp;
  miopenOperatorArgs_t args;
  miopenActivationDescriptor_t relu;
  MIOPEN(miopenCreate(&handle));
  MIOPEN(miopenCreateTensorDescriptor(&desc));
  MIOPEN(miopenSet4dTensorDescriptor(desc, miopenFloat, 1, 1, 3, 3));
  MIOPEN(miopenCreateTensorDescriptor(&biasDesc));
  MIOPEN(miopenSet4dTensorDescriptor(biasDesc, miopenFloat, 1, 1, 1, 1));
  MIOPEN(miopenCreateConvolutionDescriptor(&conv));
  MIOPEN(miopenInitConvolutionDescriptor(conv, miopenConvolution, 1, 1, 1, 1, 1,
                                         1));
  void *x = copy(image, sizeof image), *w = copy(filter, sizeof filter);
  void *b = copy(biasValue, sizeof biasValue), *y = copy(image, sizeof image);

  MIOPEN(miopenCreateFusionPlan(&plan, miopenVerticalFusion, desc));
  MIOPEN(miopenCreateOpConvForward(plan, &convOp, conv, desc));
  MIOPEN(miopenCreateOpBiasForward(plan, &biasOp, biasDesc));
  MIOPEN(miopenCreateOpActivationForward(plan, &reluOp, miopenActivationRELU));
  MIOPEN(miopenCompileFusionPlan(handle, plan));
  MIOPEN(miopenCreateOperatorArgs(&args));
  MIOPEN(miopenSetOpArgsConvForward(args, convOp, &one, &zero, w));
  MIOPEN(miopenSetOpArgsBiasForward(args, biasOp, &one, &zero, b));
  MIOPEN(miopenSetOpArgsActivForward(args, reluOp, &one, &zero, 0, 0, 0));
  MIOPEN(miopenExecuteFusionPlan(handle, plan, desc, x, desc, y, args));
  print("plan", y);
  MIOPEN(miopenDestroyOperatorArgs(args));
  MIOPEN(miopenDestroyFusionPlan(plan));

  MIOPEN(miopenCreateActivationDescriptor(&relu));
  MIOPEN(miopenSetActivationDescriptor(relu, miopenActivationRELU, 0, 0, 0));
  MIOPEN(miopenConvolutionBiasActivationForward(
      handle, &one, desc, x, desc, w, conv, miopenConvolutionFwdAlgoDirect,
      NULL, 0, &one, desc, x, biasDesc, b, relu, desc, y));
  print("residual", y);
  MIOPEN(miopenDestroyActivationDescriptor(relu));
  MIOPEN(miopenDestroyConvolutionDescriptor(conv));
  MIOPEN(miopenDestroyTensorDescriptor(biasDesc));
  MIOPEN(miopenDestroyTensorDescriptor(desc));
  MIOPEN(miopenDestroy(handle));
  return 0;
}

/* CHECK: plan: 7 6 1 2 5 0 0 0 0
 * CHECK: residual: 8 8 4 6 10 4 0 2 0
 */
