//===- LogCommand.cpp - The line that repeats a problem -------------------===//

#include "runtime/DriverCommand/LogCommand.h"

#include "runtime/Base/Log.h"
#include "runtime/Base/RowOp.h"
#include "runtime/DriverCommand/DriverCommand.h"

using namespace tessera;

/// The forward normalisations of layers, groups and T5 are one operation, which
/// is logged under the name of the first. MIOpen logs no gated linear units:
/// that name is ours.
static std::string_view getLogName(RowOp op) {
  switch (op) {
  case RowOp::ActivationForward:
  case RowOp::ActivationBackward:
    return "LogCmdActivation";
  case RowOp::OpTensor:
  case RowOp::SetTensor:
  case RowOp::ScaleTensor:
  case RowOp::TransformTensor:
    return "LogCmdTensorOp";
  case RowOp::Dropout:
  case RowOp::DropoutMask:
  case RowOp::DropoutAdvance:
    return "LogCmdDropout";
  case RowOp::GluForward:
  case RowOp::GluBackward:
    return "LogCmdGLU";
  case RowOp::PReluBackward:
    return "LogCmdPReLU";
  case RowOp::Rope:
    return "LogCmdRoPE";
  case RowOp::SoftmaxForward:
  case RowOp::SoftmaxBackward:
    return "LogCmdSoftmax";
  case RowOp::Reduce:
    return "LogCmdRedux";
  case RowOp::BatchNormInference:
  case RowOp::BatchNormTraining:
  case RowOp::BatchNormBackward:
    return "LogCmdBNorm";
  case RowOp::LrnSum:
  case RowOp::LrnForward:
  case RowOp::LrnBackwardSum:
  case RowOp::LrnBackward:
    return "LogCmdLRN";
  case RowOp::NormForward:
    return "LogCmdLayerNorm";
  case RowOp::T5Backward:
  case RowOp::T5BackwardWeight:
    return "LogCmdT5LayerNorm";
  }
  __builtin_unreachable();
}

/// Any convolution may have alpha and beta; only a fusion has the other terms.
static bool isFused(const Epilogue &epilogue) {
  return epilogue.bias || epilogue.residual ||
         epilogue.activation != Activation::None;
}

/// The name in brackets: MIOpen names the function of its own that logs. These
/// names are those of version 3.3 (ROCm/MIOpen, src/*_api.cpp, src/fusion.cpp).
static std::string_view getLogName(const Problem &problem) {
  if (problem.getPool())
    return "Pooling_logging_cmd";
  if (const RowProblem *rows = problem.getRows())
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
