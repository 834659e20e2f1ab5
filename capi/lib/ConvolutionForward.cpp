//===- ConvolutionForward.cpp - miopen/convolution_forward.h --------------===//

#include <miopen/convolution_forward.h>

#include "capi/lib/ConvolutionCall.h"

using namespace tessera;
using namespace tessera::capi;

static constexpr Direction kDirection = Direction::Forward;

extern "C" {

miopenStatus_t miopenConvolutionForwardGetWorkSpaceSize(
    miopenHandle_t handle, const miopenTensorDescriptor_t wDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, size_t *workSpaceSize) {
  return guard(__func__,
               {{handle, "handle"},
                {wDesc, "wDesc"},
                {xDesc, "xDesc"},
                {convDesc, "convDesc"},
                {yDesc, "yDesc"},
                {workSpaceSize, "workSpaceSize"}},
               [&]() -> ApiResult {
                 return getWorkspaceSize(
                     {*handle, kDirection, {*xDesc, *wDesc, *convDesc, *yDesc}},
                     *workSpaceSize);
               });
}

miopenStatus_t miopenFindConvolutionForwardAlgorithm(
    miopenHandle_t handle, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t wDesc, const void *w,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, void *y, const int requestAlgoCount,
    int *returnedAlgoCount, miopenConvAlgoPerf_t *perfResults, void *workSpace,
    size_t workSpaceSize, bool exhaustiveSearch) {
  return guard(__func__,
               {{handle, "handle"},
                {xDesc, "xDesc"},
                {x, "x"},
                {wDesc, "wDesc"},
                {w, "w"},
                {convDesc, "convDesc"},
                {yDesc, "yDesc"},
                {y, "y"},
                {returnedAlgoCount, "returnedAlgoCount"},
                {perfResults, "perfResults"}},
               [&]() -> ApiResult {
                 return findAlgorithm(
                     {*handle, kDirection, {*xDesc, *wDesc, *convDesc, *yDesc}},
                     {x, w, y, workSpace, workSpaceSize}, requestAlgoCount,
                     *returnedAlgoCount, perfResults);
               });
}

miopenStatus_t
miopenConvolutionForward(miopenHandle_t handle, const void *alpha,
                         const miopenTensorDescriptor_t xDesc, const void *x,
                         const miopenTensorDescriptor_t wDesc, const void *w,
                         const miopenConvolutionDescriptor_t convDesc,
                         miopenConvFwdAlgorithm_t algo, const void *beta,
                         const miopenTensorDescriptor_t yDesc, void *y,
                         void *workSpace, size_t workSpaceSize) {
  return guard(__func__,
               {{handle, "handle"},
                {alpha, "alpha"},
                {xDesc, "xDesc"},
                {x, "x"},
                {wDesc, "wDesc"},
                {w, "w"},
                {convDesc, "convDesc"},
                {beta, "beta"},
                {yDesc, "yDesc"},
                {y, "y"}},
               [&]() -> ApiResult {
                 return runAlgorithm(
                     {*handle, kDirection, {*xDesc, *wDesc, *convDesc, *yDesc}},
                     {x, w, y, workSpace, workSpaceSize}, algo, alpha, beta);
               });
}

miopenStatus_t miopenConvolutionForwardGetSolutionCount(
    miopenHandle_t handle, const miopenTensorDescriptor_t wDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, size_t *solutionCount) {
  return guard(__func__,
               {{handle, "handle"},
                {wDesc, "wDesc"},
                {xDesc, "xDesc"},
                {convDesc, "convDesc"},
                {yDesc, "yDesc"},
                {solutionCount, "solutionCount"}},
               [&]() -> ApiResult {
                 return countSolutions(
                     {*handle, kDirection, {*xDesc, *wDesc, *convDesc, *yDesc}},
                     *solutionCount);
               });
}

miopenStatus_t miopenConvolutionForwardGetSolution(
    miopenHandle_t handle, const miopenTensorDescriptor_t wDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, const size_t maxSolutionCount,
    size_t *solutionCount, miopenConvSolution_t *solutions) {
  return guard(__func__,
               {{handle, "handle"},
                {wDesc, "wDesc"},
                {xDesc, "xDesc"},
                {convDesc, "convDesc"},
                {yDesc, "yDesc"},
                {solutionCount, "solutionCount"},
                {solutions, "solutions"}},
               [&]() -> ApiResult {
                 return getSolutions(
                     {*handle, kDirection, {*xDesc, *wDesc, *convDesc, *yDesc}},
                     maxSolutionCount, *solutionCount, solutions);
               });
}

miopenStatus_t miopenConvolutionForwardGetSolutionWorkspaceSize(
    miopenHandle_t handle, const miopenTensorDescriptor_t wDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, const uint64_t solution_id,
    size_t *workSpaceSize) {
  return guard(__func__,
               {{handle, "handle"},
                {wDesc, "wDesc"},
                {xDesc, "xDesc"},
                {convDesc, "convDesc"},
                {yDesc, "yDesc"},
                {workSpaceSize, "workSpaceSize"}},
               [&]() -> ApiResult {
                 return getSolutionWorkspaceSize(
                     {*handle, kDirection, {*xDesc, *wDesc, *convDesc, *yDesc}},
                     solution_id, *workSpaceSize);
               });
}

miopenStatus_t miopenConvolutionForwardCompileSolution(
    miopenHandle_t handle, const miopenTensorDescriptor_t wDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, const uint64_t solution_id) {
  return guard(__func__,
               {{handle, "handle"},
                {wDesc, "wDesc"},
                {xDesc, "xDesc"},
                {convDesc, "convDesc"},
                {yDesc, "yDesc"}},
               [&]() -> ApiResult {
                 return compileSolution(
                     {*handle, kDirection, {*xDesc, *wDesc, *convDesc, *yDesc}},
                     solution_id);
               });
}

miopenStatus_t miopenConvolutionForwardImmediate(
    miopenHandle_t handle, const miopenTensorDescriptor_t wDesc, const void *w,
    const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, void *y, void *workSpace,
    size_t workSpaceSize, const uint64_t solution_id) {
  return guard(__func__,
               {{handle, "handle"},
                {wDesc, "wDesc"},
                {w, "w"},
                {xDesc, "xDesc"},
                {x, "x"},
                {convDesc, "convDesc"},
                {yDesc, "yDesc"},
                {y, "y"}},
               [&]() -> ApiResult {
                 return runSolution(
                     {*handle, kDirection, {*xDesc, *wDesc, *convDesc, *yDesc}},
                     {x, w, y, workSpace, workSpaceSize}, solution_id);
               });
}

} // extern "C"
