//===- ConvolutionCall.h - What the API does in any direction --*- C++ -*-===//
//
// Every way to run a convolution is the same three steps: descriptors to a
// problem, problem to a loaded kernel (a lookup, after the first time), launch.
// Directions differ only in which tensor is written, so the public functions
// name the roles of their arguments and leave the rest to what is here.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_LIB_CONVOLUTIONCALL_H
#define TESSERA_CAPI_LIB_CONVOLUTIONCALL_H

#include "capi/lib/Convolution/ConvolutionProblem.h"
#include "capi/lib/Common/ErrorGuard.h"
#include "capi/lib/Handle/HandleState.h"

namespace tessera::capi {

/// One call of the API. Borrows handle and descriptors.
struct ConvolutionCall {
  miopenHandle &handle;
  Direction direction; ///< As the API's function is named.
  ConvolutionOperands operands;
};

/// Device memory of the operands, in their roles, and to work in.
struct ConvolutionData {
  const void *x;
  const void *w;
  const void *y;
  void *workspace;
  size_t workspaceBytes;
};

/// The kernel, loaded on the device: found in memory, in the database, or
/// compiled. A hit in memory allocates nothing.
ErrorOr<const LoadedKernel *> prepareKernel(const ConvolutionCall &call);

// Find 1.0.

ApiResult getWorkspaceSize(const ConvolutionCall &call, size_t &bytes);
/// Measures; fills one result. Searches before if the client or the environment
/// asks for it (FindSearch.h).
ApiResult findAlgorithm(const ConvolutionCall &call,
                        const ConvolutionData &data, int requestedCount,
                        int &returnedCount, miopenConvAlgoPerf_t *results,
                        bool isSearchAsked);
ApiResult runAlgorithm(const ConvolutionCall &call, const ConvolutionData &data,
                       int algorithm, const void *alpha, const void *beta);

// Immediate mode.

/// The id of a direction's one solution.
uint64_t getSolution(Direction direction);

ApiResult countSolutions(const ConvolutionCall &call, size_t &count);
ApiResult getSolutions(const ConvolutionCall &call, size_t maxCount,
                       size_t &count, miopenConvSolution_t *solutions);
ApiResult getSolutionWorkspaceSize(const ConvolutionCall &call,
                                   uint64_t solution, size_t &bytes);
ApiResult compileSolution(const ConvolutionCall &call, uint64_t solution);
ApiResult runSolution(const ConvolutionCall &call, const ConvolutionData &data,
                      uint64_t solution);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_CONVOLUTIONCALL_H
