//===- LogCommand.cpp - The line that repeats a problem -------------------===//

#include "runtime/DriverCommand/LogCommand.h"

#include "runtime/Base/Log.h"
#include "runtime/Base/RowWiseKind.h"
#include "runtime/DriverCommand/DriverCommand.h"

using namespace tessera;

/// The forward normalisations of layers, groups and T5 are one operation, which
/// is logged under the name of the first. MIOpen logs no gated linear units:
/// that name is ours.
static std::string_view getLogName(RowWiseKind op) {
  switch (op) {
  case RowWiseKind::ActivationForward:
  case RowWiseKind::ActivationBackward:
    return "LogCmdActivation";
  case RowWiseKind::OpTensor:
  case RowWiseKind::SetTensor:
  case RowWiseKind::ScaleTensor:
  case RowWiseKind::TransformTensor:
    return "LogCmdTensorOp";
  case RowWiseKind::Dropout:
  case RowWiseKind::DropoutMask:
  case RowWiseKind::DropoutAdvance:
    return "LogCmdDropout";
  case RowWiseKind::Adam:
  case RowWiseKind::AdamStep:
    return "LogCmdAdam";
  case RowWiseKind::GluForward:
  case RowWiseKind::GluBackward:
    return "LogCmdGLU";
  case RowWiseKind::PReluBackward:
    return "LogCmdPReLU";
  case RowWiseKind::Rope:
    return "LogCmdRoPE";
  case RowWiseKind::RnnForward:
  case RowWiseKind::RnnBackward:
  case RowWiseKind::LstmForward:
  case RowWiseKind::LstmBackward:
  case RowWiseKind::GruForward:
  case RowWiseKind::GruBackward:
  case RowWiseKind::RnnStep:
  case RowWiseKind::RnnStepBackward:
  case RowWiseKind::LstmStep:
  case RowWiseKind::LstmStepBackward:
  case RowWiseKind::GruStep:
  case RowWiseKind::GruStepBackward:
    return "LogCmdRNN";
  case RowWiseKind::SoftmaxForward:
  case RowWiseKind::SoftmaxBackward:
    return "LogCmdSoftmax";
  case RowWiseKind::KthStep:
  case RowWiseKind::KthFind:
    return "LogCmdKthvalue";
  case RowWiseKind::Number:
  case RowWiseKind::GetitemBackward:
  case RowWiseKind::GetitemError:
    return "LogCmdGetitem";
  case RowWiseKind::Reduce:
  case RowWiseKind::Moments:
    return "LogCmdRedux";
  case RowWiseKind::BatchNormInference:
  case RowWiseKind::BatchNormTraining:
  case RowWiseKind::BatchNormBackward:
    return "LogCmdBNorm";
  case RowWiseKind::LrnSum:
  case RowWiseKind::LrnForward:
  case RowWiseKind::LrnBackwardSum:
  case RowWiseKind::LrnBackward:
    return "LogCmdLRN";
  case RowWiseKind::CtcGather:
  case RowWiseKind::CtcStep:
  case RowWiseKind::CtcLoss:
  case RowWiseKind::CtcOccupancy:
  case RowWiseKind::CtcGradient:
    return "LogCmdCTCLoss";
  case RowWiseKind::SoftMargin:
  case RowWiseKind::SoftMarginGradient:
    return "LogCmdSoftMarginLoss";
  case RowWiseKind::MultiMargin:
    return "LogCmdMultiMarginLoss";
  case RowWiseKind::NormForward:
  case RowWiseKind::NormBackward:
  case RowWiseKind::NormBackwardWeight:
    return "LogCmdLayerNorm";
  case RowWiseKind::T5Backward:
  case RowWiseKind::T5BackwardWeight:
    return "LogCmdT5LayerNorm";
  }
  __builtin_unreachable();
}

/// Any convolution may have alpha and beta; only a fusion has the other terms.
static bool isFused(const Epilogue &epilogue) {
  return epilogue.bias || epilogue.residual || epilogue.hasChannelResults() ||
         epilogue.activation != Activation::None;
}

/// The name in brackets: MIOpen names the function of its own that logs. These
/// names are those of version 3.3 (ROCm/MIOpen, src/*_api.cpp, src/fusion.cpp).
static std::string_view getLogName(const Problem &problem) {
  if (problem.getPool())
    return "Pooling_logging_cmd";
  if (const RowWiseProblem *rows = problem.getRows())
    return getLogName(rows->op);
  return isFused(problem.getConv()->epilogue) ? "LogCmdFusion"
                                              : "LogCmdConvolution";
}

void tessera::logCommand(const Problem &problem) {
  if (!areCommandsLogged())
    return;
  std::string line = "Command [";
  line += getLogName(problem);
  logCall(line + "] ./bin/MIOpenDriver " + toDriverCommand(problem));
}
