//===- ConvolutionCall.h - The calls of every direction --------*- C++ -*--===//
//
// Every way to run a convolution has the same three steps: make a problem from
// the descriptors, get a loaded kernel for the problem (a lookup, after the
// first time), and launch it. Directions differ only in which tensor is
// written, so that the public functions name the roles of their arguments and
// call the functions of this file.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_LIB_CONVOLUTION_CONVOLUTIONCALL_H
#define TESSERA_CAPI_LIB_CONVOLUTION_CONVOLUTIONCALL_H

#include "capi/lib/Common/ErrorGuard.h"
#include "capi/lib/Convolution/ConvolutionProblem.h"
#include "capi/lib/Handle/HandleState.h"

namespace tessera::capi {

/// A call of the API. Borrows handle and descriptors.
struct ConvolutionCall {
  miopenHandle &handle;
  Direction direction; ///< That of the API's function.
  ConvolutionOperands operands;
};

/// Device memory of the operands, by their roles, and the workspace.
struct ConvolutionData {
  const void *x;
  const void *w;
  const void *y;
  void *workspace;
  size_t workspaceBytes;
};

/// InvalidArgument for a number that is no algorithm of the direction.
Status checkAlgorithm(Direction direction, int algorithm);

/// Gets the kernel, loaded on the device: from memory, from the database, or
/// compiled. A hit in memory allocates nothing on the host.
ErrorOr<const LoadedKernel *> prepareKernel(const ConvolutionCall &call);

// Find 1.0.

ApiResult getWorkspaceSize(const ConvolutionCall &call, size_t &bytes);
/// Measures the kernel and fills one result. Tunes before if the client or the
/// environment asks for it (FindSearch.h).
ApiResult findAlgorithm(const ConvolutionCall &call,
                        const ConvolutionData &data, int requestedCount,
                        int &returnedCount, miopenConvAlgoPerf_t *results,
                        bool isSearchAsked);
ApiResult runAlgorithm(const ConvolutionCall &call, const ConvolutionData &data,
                       int algorithm, const void *alpha, const void *beta);

// Immediate mode.

/// The id of the one solution of a direction.
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

#endif // TESSERA_CAPI_LIB_CONVOLUTION_CONVOLUTIONCALL_H
