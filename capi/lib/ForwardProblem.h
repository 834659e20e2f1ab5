//===- ForwardProblem.h - From descriptors to a problem --------*- C++ -*-===//

#ifndef TESSERA_CAPI_LIB_FORWARDPROBLEM_H
#define TESSERA_CAPI_LIB_FORWARDPROBLEM_H

#include "capi/lib/ConvolutionDescriptor.h"
#include "runtime/Base/Problem.h"

namespace tessera::capi {

/// The problem y = conv(x, w). InvalidArgument if the descriptors are
/// inconsistent, NotSupported if they ask for what no kernel of ours can do.
/// Runs on every execution: allocates nothing unless it fails.
ErrorOr<ConvProblem> makeForwardProblem(const miopenTensorDescriptor &x,
                                        const miopenTensorDescriptor &w,
                                        const miopenConvolutionDescriptor &conv,
                                        const miopenTensorDescriptor &y);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_FORWARDPROBLEM_H
