//===- ConvolutionBackwardWeights.cpp - The gradient of the filter --------===//

#define MIOPEN_BETA_API 1
#include <miopen/convolution_backward_weights.h>
#include <miopen/graph.h>

#include "capi/lib/Convolution/ConvolutionCall.h"

using namespace tessera;
using namespace tessera::capi;

static constexpr Direction kDirection = Direction::BackwardWeights;

extern "C" {

miopenStatus_t miopenConvolutionBackwardWeightsGetWorkSpaceSize(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t dwDesc, size_t *workSpaceSize) {
  return guard(
      __func__,
      REQUIRED(handle, anyLayout(dyDesc), anyLayout(xDesc), convDesc,
               anyLayout(dwDesc), workSpaceSize),
      [&]() -> ApiResult {
        return getWorkspaceSize(
            {*handle, kDirection, {*xDesc, *dwDesc, *convDesc, *dyDesc}},
            *workSpaceSize);
      });
}

miopenStatus_t miopenFindConvolutionBackwardWeightsAlgorithm(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const void *dy, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t dwDesc, void *dw, const int requestAlgoCount,
    int *returnedAlgoCount, miopenConvAlgoPerf_t *perfResults, void *workSpace,
    size_t workSpaceSize, bool exhaustiveSearch) {
  return guard(
      __func__,
      REQUIRED(handle, anyLayout(dyDesc), dy, anyLayout(xDesc), x, convDesc,
               anyLayout(dwDesc), dw, returnedAlgoCount, perfResults),
      [&]() -> ApiResult {
        return findAlgorithm(
            {*handle, kDirection, {*xDesc, *dwDesc, *convDesc, *dyDesc}},
            {x, dw, dy, workSpace, workSpaceSize}, requestAlgoCount,
            *returnedAlgoCount, perfResults, exhaustiveSearch);
      });
}

miopenStatus_t miopenConvolutionBackwardWeights(
    miopenHandle_t handle, const void *alpha,
    const miopenTensorDescriptor_t dyDesc, const void *dy,
    const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenConvolutionDescriptor_t convDesc,
    miopenConvBwdWeightsAlgorithm_t algo, const void *beta,
    const miopenTensorDescriptor_t dwDesc, void *dw, void *workSpace,
    size_t workSpaceSize) {
  return guard(
      __func__,
      REQUIRED(handle, alpha, anyLayout(dyDesc), dy, anyLayout(xDesc), x,
               convDesc, beta, anyLayout(dwDesc), dw),
      [&]() -> ApiResult {
        return runAlgorithm(
            {*handle, kDirection, {*xDesc, *dwDesc, *convDesc, *dyDesc}},
            {x, dw, dy, workSpace, workSpaceSize}, algo, alpha, beta);
      });
}

miopenStatus_t miopenConvolutionBackwardWeightsGetSolutionCount(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t dwDesc, size_t *solutionCount) {
  return guard(__func__,
               REQUIRED(handle, anyLayout(dyDesc), anyLayout(xDesc), convDesc,
                        anyLayout(dwDesc), solutionCount),
               [&]() -> ApiResult {
                 return countSolutions({*handle,
                                        kDirection,
                                        {*xDesc, *dwDesc, *convDesc, *dyDesc}},
                                       *solutionCount);
               });
}

miopenStatus_t miopenConvolutionBackwardWeightsGetSolution(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t dwDesc, const size_t maxSolutionCount,
    size_t *solutionCount, miopenConvSolution_t *solutions) {
  return guard(
      __func__,
      REQUIRED(handle, anyLayout(dyDesc), anyLayout(xDesc), convDesc,
               anyLayout(dwDesc), solutionCount, solutions),
      [&]() -> ApiResult {
        return getSolutions(
            {*handle, kDirection, {*xDesc, *dwDesc, *convDesc, *dyDesc}},
            maxSolutionCount, *solutionCount, solutions);
      });
}

miopenStatus_t miopenConvolutionBackwardWeightsGetSolutionWorkspaceSize(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t dwDesc, const uint64_t solution_id,
    size_t *workSpaceSize) {
  return guard(
      __func__,
      REQUIRED(handle, anyLayout(dyDesc), anyLayout(xDesc), convDesc,
               anyLayout(dwDesc), workSpaceSize),
      [&]() -> ApiResult {
        return getSolutionWorkspaceSize(
            {*handle, kDirection, {*xDesc, *dwDesc, *convDesc, *dyDesc}},
            solution_id, *workSpaceSize);
      });
}

miopenStatus_t miopenConvolutionBackwardWeightsCompileSolution(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const miopenTensorDescriptor_t xDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t dwDesc, const uint64_t solution_id) {
  return guard(__func__,
               REQUIRED(handle, anyLayout(dyDesc), anyLayout(xDesc), convDesc,
                        anyLayout(dwDesc)),
               [&]() -> ApiResult {
                 return compileSolution({*handle,
                                         kDirection,
                                         {*xDesc, *dwDesc, *convDesc, *dyDesc}},
                                        solution_id);
               });
}

miopenStatus_t miopenConvolutionBackwardWeightsImmediate(
    miopenHandle_t handle, const miopenTensorDescriptor_t dyDesc,
    const void *dy, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t dwDesc, void *dw, void *workSpace,
    size_t workSpaceSize, const uint64_t solution_id) {
  return guard(
      __func__,
      REQUIRED(handle, anyLayout(dyDesc), dy, anyLayout(xDesc), x, convDesc,
               anyLayout(dwDesc), dw),
      [&]() -> ApiResult {
        return runSolution(
            {*handle, kDirection, {*xDesc, *dwDesc, *convDesc, *dyDesc}},
            {x, dw, dy, workSpace, workSpaceSize}, solution_id);
      });
}

miopenStatus_t miopenConvolutionABBackwardWeightsGetWorkSpaceSize(
    const miopenAlphaBetaCase_t alpha_beta_case,
    const miopenTensorDescriptor_t inputTensorDesc,
    const miopenTensorDescriptor_t outputTensorDesc,
    const miopenConvolutionDescriptor_t convDesc, size_t *buffer_size) {
  return guard(
      __func__,
      REQUIRED(inputTensorDesc, outputTensorDesc, convDesc, buffer_size),
      [&]() -> ApiResult {
        if (alpha_beta_case < DEFAULT || alpha_beta_case > BILINEAR)
          return invalidArgument("alpha_beta_case is unknown");
        const int rank = convDesc->spatialRank + 2;
        if (inputTensorDesc->getRank() != rank ||
            outputTensorDesc->getRank() != rank)
          return invalidArgument("a tensor does not have the "
                                 "dimensions of the convolution");
        *buffer_size = 0;
        return Status::ok();
      });
}

} // extern "C"
