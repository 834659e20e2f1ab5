//===- ConvolutionForward.cpp - miopen/convolution_forward.h --------------===//

#include <miopen/convolution_forward.h>

#include "capi/lib/Convolution/ConvolutionCall.h"

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
               REQUIRED(handle, anyLayout(wDesc), anyLayout(xDesc), convDesc,
                        anyLayout(yDesc), workSpaceSize),
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
               REQUIRED(handle, anyLayout(xDesc), x, anyLayout(wDesc), w,
                        convDesc, anyLayout(yDesc), y, returnedAlgoCount,
                        perfResults),
               [&]() -> ApiResult {
                 return findAlgorithm(
                     {*handle, kDirection, {*xDesc, *wDesc, *convDesc, *yDesc}},
                     {x, w, y, workSpace, workSpaceSize}, requestAlgoCount,
                     *returnedAlgoCount, perfResults, exhaustiveSearch);
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
               REQUIRED(handle, alpha, anyLayout(xDesc), x, anyLayout(wDesc), w,
                        convDesc, beta, anyLayout(yDesc), y),
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
               REQUIRED(handle, anyLayout(wDesc), anyLayout(xDesc), convDesc,
                        anyLayout(yDesc), solutionCount),
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
               REQUIRED(handle, anyLayout(wDesc), anyLayout(xDesc), convDesc,
                        anyLayout(yDesc), solutionCount, solutions),
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
               REQUIRED(handle, anyLayout(wDesc), anyLayout(xDesc), convDesc,
                        anyLayout(yDesc), workSpaceSize),
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
               REQUIRED(handle, anyLayout(wDesc), anyLayout(xDesc), convDesc,
                        anyLayout(yDesc)),
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
               REQUIRED(handle, anyLayout(wDesc), w, anyLayout(xDesc), x,
                        convDesc, anyLayout(yDesc), y),
               [&]() -> ApiResult {
                 return runSolution(
                     {*handle, kDirection, {*xDesc, *wDesc, *convDesc, *yDesc}},
                     {x, w, y, workSpace, workSpaceSize}, solution_id);
               });
}

} // extern "C"
