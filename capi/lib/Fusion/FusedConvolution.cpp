//===- FusedConvolution.cpp - A convolution and what follows it -----------===//

#include "capi/lib/Fusion/FusedConvolution.h"

#include "capi/lib/Common/ErrorGuard.h"
#include "capi/lib/Handle/KernelChecks.h"
#include "runtime/Base/Log.h"
#include "runtime/DriverCommand/LogCommand.h"

#include <miopen/fusion.h>

#include <string>

using namespace tessera;
using namespace tessera::capi;

Activation capi::getActivation(miopenActivationMode_t mode) {
  switch (mode) {
  case miopenActivationPASTHRU:
    return Activation::None;
  case miopenActivationLOGISTIC:
    return Activation::Logistic;
  case miopenActivationTANH:
    return Activation::Tanh;
  case miopenActivationRELU:
    return Activation::Relu;
  case miopenActivationSOFTRELU:
    return Activation::SoftRelu;
  case miopenActivationABS:
    return Activation::Abs;
  case miopenActivationPOWER:
    return Activation::Power;
  case miopenActivationCLIPPEDRELU:
    return Activation::ClippedRelu;
  case miopenActivationLEAKYRELU:
    return Activation::LeakyRelu;
  case miopenActivationELU:
    return Activation::Elu;
  }
  __builtin_unreachable(); // The setters check the mode.
}

Status capi::checkBias(const ConvolutionOperands &operands,
                       const miopenTensorDescriptor &bias) {
  const int64_t channels = operands.w.getRank() ? operands.w.lengths[0] : 0;
  if (bias.dataType != operands.x.dataType)
    return invalidArgument("the bias and x have different data types");
  for (int i = 0; i < bias.getRank(); ++i)
    if (bias.lengths[i] != (i == 1 ? channels : 1))
      return invalidArgument("the bias must have one value for each of " +
                             std::to_string(channels) + " channels");
  return bias.getRank() > 1 ? Status::ok()
                            : invalidArgument("the bias was never set");
}

ErrorOr<const LoadedKernel *>
capi::prepareFused(miopenHandle &handle, const ConvolutionOperands &operands,
                   const Epilogue &epilogue) {
  const miopenDataType_t type = operands.x.dataType;
  if (operands.areSwapped() ||
      (type != miopenHalf && type != miopenBFloat16 && type != miopenFloat))
    return notSupported("only convolutions of half, bfloat16 and float that "
                        "are not transposed are fused with other operations");
  ErrorOr<ConvProblem> problem = makeConvProblem(Direction::Forward, operands);
  if (!problem)
    return problem.getStatus();
  problem->epilogue = epilogue;
  logCommand(*problem);
  const ErrorOr<const LoadedKernel *> kernel = handle.engine.prepare(*problem);
  if (!kernel || operands.conv.deterministic == 0)
    return kernel;
  if (Status status = checkDeterministic(**kernel); !status.isOk())
    return status;
  return kernel;
}

Status capi::launchFused(miopenHandle &handle, const LoadedKernel &kernel,
                         LaunchArgs args, size_t workspaceBytes) {
  const uint64_t needed = kernel.getKernel().workspaceBytes;
  if (!args.workspace || workspaceBytes < needed) {
    const ErrorOr<void *> scratch = handle.getScratch(needed);
    if (!scratch)
      return scratch.getStatus();
    args.workspace = *scratch;
  }
  if (Status status = checkArguments(kernel, args); !status.isOk())
    return status;
  return handle.launch(kernel, args);
}

//===----------------------------------------------------------------------===//
// The function that needs no plan
//===----------------------------------------------------------------------===//

static float readFactor(const void *factor) {
  return *static_cast<const float *>(factor);
}

/// Ok if the epilogue can add z: factor 1, and the layout of y.
static Status checkResidual(const miopenTensorDescriptor &z,
                            const miopenTensorDescriptor &y, float factor) {
  if (factor != 1)
    return notSupported("only alpha2 = 0 and 1 are implemented");
  if (z.dataType != y.dataType || z.lengths != y.lengths ||
      z.strides != y.strides)
    return notSupported("only z of the type, lengths and strides of y is "
                        "implemented");
  return Status::ok();
}

extern "C" {

miopenStatus_t miopenConvolutionBiasActivationForward(
    miopenHandle_t handle, const void *alpha1,
    const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t wDesc, const void *w,
    const miopenConvolutionDescriptor_t convDesc, miopenConvFwdAlgorithm_t,
    void *workspace, size_t workspaceSizeInBytes, const void *alpha2,
    const miopenTensorDescriptor_t zDesc, const void *z,
    const miopenTensorDescriptor_t biasDesc, const void *bias,
    const miopenActivationDescriptor_t activationDesc,
    const miopenTensorDescriptor_t yDesc, void *y) {
  return guard(
      __func__,
      REQUIRED(handle, alpha1, xDesc, x, wDesc, w, convDesc, orNull(zDesc),
               biasDesc, bias, activationDesc, yDesc, y),
      [&]() -> ApiResult {
        const ConvolutionOperands operands{*xDesc, *wDesc, *convDesc, *yDesc};
        const float residual = alpha2 ? readFactor(alpha2) : 0;
        Status status = checkBias(operands, *biasDesc);
        if (status.isOk() && residual != 0)
          status = checkPointers(REQUIRED(zDesc, z));
        if (status.isOk() && residual != 0)
          status = checkResidual(*zDesc, *yDesc, residual);
        if (!status.isOk())
          return status;
        LaunchArgs args;
        args.x = x;
        args.w = w;
        args.y = y;
        args.workspace = workspace;
        args.bias = bias;
        args.residual = residual != 0 ? z : nullptr;
        args.alpha = readFactor(alpha1);
        args.activAlpha = activationDesc->alpha;
        args.activBeta = activationDesc->beta;
        args.activGamma = activationDesc->gamma;
        const ErrorOr<const LoadedKernel *> kernel =
            prepareFused(*handle, operands,
                         {.alpha = args.alpha != 1,
                          .bias = true,
                          .residual = residual != 0,
                          .activation = getActivation(activationDesc->mode)});
        if (!kernel)
          return kernel.getStatus();
        return launchFused(*handle, **kernel, args, workspaceSizeInBytes);
      });
}

} // extern "C"
