//===- FusedConvolution.h - A convolution and what follows it --*- C++ -*-===//
//
// Fusion plans and miopenConvolutionBiasActivationForward() are two ways to ask
// for one kernel.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_LIB_FUSEDCONVOLUTION_H
#define TESSERA_CAPI_LIB_FUSEDCONVOLUTION_H

#include "capi/lib/Activation/ActivationDescriptor.h"
#include "capi/lib/Convolution/ConvolutionProblem.h"
#include "capi/lib/Handle/HandleState.h"

namespace tessera::capi {

/// The activation of a problem for that of a descriptor.
Activation getActivation(miopenActivationMode_t mode);

/// Ok if `bias` has a value of x's type for each channel of the result.
Status checkBias(const ConvolutionOperands &operands,
                 const miopenTensorDescriptor &bias);

/// The kernel for a forward convolution with `epilogue`. NotSupported also for
/// what only convolutions without one can do.
ErrorOr<const LoadedKernel *> prepareFused(miopenHandle &handle,
                                           const ConvolutionOperands &operands,
                                           const Epilogue &epilogue);

/// Launches it; in `args.workspace` if that has as many bytes as it needs, else
/// in memory of the handle.
Status launchFused(miopenHandle &handle, const LoadedKernel &kernel,
                   LaunchArgs args, size_t workspaceBytes);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_FUSEDCONVOLUTION_H
