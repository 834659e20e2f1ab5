//===- FusedConvolution.h - A convolution and what follows it --*- C++ -*--===//
//
// Fusion plans and miopenConvolutionBiasActivationForward() use the same
// kernels, through the functions of this file.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_LIB_FUSION_FUSEDCONVOLUTION_H
#define TESSERA_CAPI_LIB_FUSION_FUSEDCONVOLUTION_H

#include "capi/lib/Activation/ActivationDescriptor.h"
#include "capi/lib/Convolution/ConvolutionProblem.h"
#include "capi/lib/Handle/HandleState.h"

namespace tessera::capi {

/// Converts the activation of a descriptor to that of a problem.
Activation getActivation(miopenActivationMode_t mode);

/// InvalidArgument unless `bias` has a value of x's data type for each channel
/// of the result.
Status checkBias(const ConvolutionOperands &operands,
                 const miopenTensorDescriptor &bias);

/// Prepares the kernel for a forward convolution with `epilogue`. NotSupported
/// also for transposed convolutions and for data types that only convolutions
/// without an epilogue have.
ErrorOr<const LoadedKernel *> prepareFused(miopenHandle &handle,
                                           const ConvolutionOperands &operands,
                                           const Epilogue &epilogue);

/// Launches the kernel, with `args.workspace` if that is large enough, else
/// with scratch memory of the handle.
Status launchFused(miopenHandle &handle, const LoadedKernel &kernel,
                   LaunchArgs args, size_t workspaceBytes);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_FUSION_FUSEDCONVOLUTION_H
