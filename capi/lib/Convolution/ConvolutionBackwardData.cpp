//===- ConvolutionBackwardData.cpp - miopen/convolution_backward_data.h ---===//

#include <miopen/convolution_backward_data.h>

#include "capi/lib/Convolution/ConvolutionCall.h"

using namespace tessera;
using namespace tessera::capi;

static constexpr Direction kDirection = Direction::BackwardData;

extern "C" {

miopenStatus_t miopenConvolutionBackwardDataGetWorkSpaceSize(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const miopenTensorDescriptor_t wDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t dxDesc, size_t *workSpaceSize) {
  return guard(
      __func__,
      REQUIRED(handle, anyLayout(dyDesc), anyLayout(wDesc), convDesc,
               anyLayout(dxDesc), workSpaceSize),
      [&]() -> ApiResult {
        return getWorkspaceSize(
            {*handle, kDirection, {*dxDesc, *wDesc, *convDesc, *dyDesc}},
            *workSpaceSize);
      });
}

miopenStatus_t miopenFindConvolutionBackwardDataAlgorithm(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const void *dy, const miopenTensorDescriptor_t wDesc, const void *w,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t dxDesc, void *dx, const int requestAlgoCount,
    int *returnedAlgoCount, miopenConvAlgoPerf_t *perfResults, void *workSpace,
    size_t workSpaceSize, bool exhaustiveSearch) {
  return guard(
      __func__,
      REQUIRED(handle, anyLayout(dyDesc), dy, anyLayout(wDesc), w, convDesc,
               anyLayout(dxDesc), dx, returnedAlgoCount, perfResults),
      [&]() -> ApiResult {
        return findAlgorithm(
            {*handle, kDirection, {*dxDesc, *wDesc, *convDesc, *dyDesc}},
            {dx, w, dy, workSpace, workSpaceSize}, requestAlgoCount,
            *returnedAlgoCount, perfResults, exhaustiveSearch);
      });
}

miopenStatus_t miopenConvolutionBackwardData(
    miopenHandle_t handle, const void *alpha,
    const miopenTensorDescriptor_t dyDesc, const void *dy,
    const miopenTensorDescriptor_t wDesc, const void *w,
    const miopenConvolutionDescriptor_t convDesc,
    miopenConvBwdDataAlgorithm_t algo, const void *beta,
    const miopenTensorDescriptor_t dxDesc, void *dx, void *workSpace,
    size_t workSpaceSize) {
  return guard(
      __func__,
      REQUIRED(handle, alpha, anyLayout(dyDesc), dy, anyLayout(wDesc), w,
               convDesc, beta, anyLayout(dxDesc), dx),
      [&]() -> ApiResult {
        return runAlgorithm(
            {*handle, kDirection, {*dxDesc, *wDesc, *convDesc, *dyDesc}},
            {dx, w, dy, workSpace, workSpaceSize}, algo, alpha, beta);
      });
}

miopenStatus_t miopenConvolutionBackwardDataGetSolutionCount(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const miopenTensorDescriptor_t wDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t dxDesc, size_t *solutionCount) {
  return guard(__func__,
               REQUIRED(handle, anyLayout(dyDesc), anyLayout(wDesc), convDesc,
                        anyLayout(dxDesc), solutionCount),
               [&]() -> ApiResult {
                 return countSolutions({*handle,
                                        kDirection,
                                        {*dxDesc, *wDesc, *convDesc, *dyDesc}},
                                       *solutionCount);
               });
}

miopenStatus_t miopenConvolutionBackwardDataGetSolution(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const miopenTensorDescriptor_t wDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t dxDesc, const size_t maxSolutionCount,
    size_t *solutionCount, miopenConvSolution_t *solutions) {
  return guard(
      __func__,
      REQUIRED(handle, anyLayout(dyDesc), anyLayout(wDesc), convDesc,
               anyLayout(dxDesc), solutionCount, solutions),
      [&]() -> ApiResult {
        return getSolutions(
            {*handle, kDirection, {*dxDesc, *wDesc, *convDesc, *dyDesc}},
            maxSolutionCount, *solutionCount, solutions);
      });
}

miopenStatus_t miopenConvolutionBackwardDataGetSolutionWorkspaceSize(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const miopenTensorDescriptor_t wDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t dxDesc, const uint64_t solution_id,
    size_t *workSpaceSize) {
  return guard(
      __func__,
      REQUIRED(handle, anyLayout(dyDesc), anyLayout(wDesc), convDesc,
               anyLayout(dxDesc), workSpaceSize),
      [&]() -> ApiResult {
        return getSolutionWorkspaceSize(
            {*handle, kDirection, {*dxDesc, *wDesc, *convDesc, *dyDesc}},
            solution_id, *workSpaceSize);
      });
}

miopenStatus_t miopenConvolutionBackwardDataCompileSolution(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const miopenTensorDescriptor_t wDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t dxDesc, const uint64_t solution_id) {
  return guard(__func__,
               REQUIRED(handle, anyLayout(dyDesc), anyLayout(wDesc), convDesc,
                        anyLayout(dxDesc)),
               [&]() -> ApiResult {
                 return compileSolution({*handle,
                                         kDirection,
                                         {*dxDesc, *wDesc, *convDesc, *dyDesc}},
                                        solution_id);
               });
}

miopenStatus_t miopenConvolutionBackwardDataImmediate(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const void *dy, const miopenTensorDescriptor_t wDesc, const void *w,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t dxDesc, void *dx, void *workSpace,
    size_t workSpaceSize, const uint64_t solution_id) {
  return guard(
      __func__,
      REQUIRED(handle, anyLayout(dyDesc), dy, anyLayout(wDesc), w, convDesc,
               anyLayout(dxDesc), dx),
      [&]() -> ApiResult {
        return runSolution(
            {*handle, kDirection, {*dxDesc, *wDesc, *convDesc, *dyDesc}},
            {dx, w, dy, workSpace, workSpaceSize}, solution_id);
      });
}

} // extern "C"
