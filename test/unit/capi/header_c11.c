/*===- header_c11.c - The headers are plain C ----------------------------===*\
|*
|* A client written in C11: it only has to compile, with every warning an
|* error, and to link.
|*
\*===----------------------------------------------------------------------===*/

#include <miopen/miopen.h>
#include <tessera/problem.h>
#include <tessera/tessera.h>

#include <stdio.h>

int main(void) {
  size_t major = 0;
  tesseraCounters counters = TESSERA_COUNTERS_INIT;
  miopenTensorDescriptor_t x = NULL;
  miopenConvolutionDescriptor_t conv = NULL;
  miopenConvAlgoPerf_t perf;
  perf.fwd_algo = miopenConvolutionFwdAlgoDirect;
  tesseraProblemArguments arguments = TESSERA_PROBLEM_ARGUMENTS_INIT;
  size_t bytes = 0;

  if (miopenGetVersion(&major, NULL, NULL) != miopenStatusSuccess ||
      major != MIOPEN_VERSION_MAJOR)
    return 1;
  if (tesseraGetCounters(&counters) != miopenStatusSuccess)
    return 2;
  if (miopenCreateTensorDescriptor(&x) != miopenStatusSuccess ||
      miopenSet4dTensorDescriptor(x, miopenHalf, 1, 2, 3, 4) !=
          miopenStatusSuccess ||
      miopenDestroyTensorDescriptor(x) != miopenStatusSuccess)
    return 3;
  if (miopenCreateConvolutionDescriptor(&conv) != miopenStatusSuccess ||
      miopenDestroyConvolutionDescriptor(conv) != miopenStatusSuccess)
    return 4;
  if (miopenConvolutionBackwardDataGetWorkSpaceSize(
          NULL, NULL, NULL, NULL, NULL, &bytes) != miopenStatusBadParm ||
      miopenConvolutionBackwardWeightsGetWorkSpaceSize(
          NULL, NULL, NULL, NULL, NULL, &bytes) != miopenStatusBadParm ||
      tesseraRunProblem(NULL, "", &arguments) != miopenStatusBadParm)
    return 5;
  /* Clients of MIOpen 2.1 to 2.5 name every algorithm. */
  switch (perf.fwd_algo) {
  case miopenConvolutionFwdAlgoStaticCompiledGEMM:
    return miopenConvolutionAlgoStaticCompiledGEMM;
  default:
    break;
  }
  printf("%s %d\n", miopenGetErrorString(miopenStatusSuccess),
         (int)perf.fwd_algo);
  return 0;
}
