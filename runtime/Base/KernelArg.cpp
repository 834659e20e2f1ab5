//===- KernelArg.cpp - Names of a kernel's arguments ----------------------===//

#include "runtime/Base/KernelArg.h"

using namespace tessera;

static constexpr std::string_view kTensorNames[kMaxTensors] = {
    "t0", "t1", "t2",  "t3",  "t4",  "t5",  "t6",  "t7",
    "t8", "t9", "t10", "t11", "t12", "t13", "t14", "t15"};
static constexpr std::string_view kScalarNames[kMaxScalars] = {
    "s0", "s1", "s2", "s3", "s4", "s5"};

std::string_view tessera::getName(KernelArg arg) {
  if (isOfSizes(arg))
    return arg == KernelArg::Size ? "size" : "divisor";
  if (arg >= KernelArg::Scalar0)
    return kScalarNames[getOffset(arg, KernelArg::Scalar0)];
  if (isRowTensor(arg))
    return kTensorNames[getOffset(arg, KernelArg::Tensor0)];
  switch (arg) {
  case KernelArg::X:
    return "x";
  case KernelArg::W:
    return "w";
  case KernelArg::Y:
    return "y";
  case KernelArg::Workspace:
    return "workspace";
  case KernelArg::Bias:
    return "bias";
  case KernelArg::Residual:
    return "residual";
  case KernelArg::Indices:
    return "indices";
  case KernelArg::Mean:
    return "mean";
  case KernelArg::Variance:
    return "variance";
  case KernelArg::Alpha:
    return "alpha";
  case KernelArg::Beta:
    return "beta";
  case KernelArg::ActivAlpha:
    return "activ_alpha";
  case KernelArg::ActivBeta:
    return "activ_beta";
  case KernelArg::ActivGamma:
    return "activ_gamma";
  default:
    break;
  }
  __builtin_unreachable();
}

std::optional<KernelArg> tessera::parseKernelArg(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(KernelArg::Divisor); ++i)
    if (getName(static_cast<KernelArg>(i)) == name)
      return static_cast<KernelArg>(i);
  return std::nullopt;
}
