//===- Kernel.cpp - Names of a kernel's arguments -------------------------===//

#include "runtime/Base/KernelArg.h"

using namespace tessera;

std::string_view tessera::getName(KernelArg arg) {
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
  }
  __builtin_unreachable();
}

std::optional<KernelArg> tessera::parseKernelArg(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(KernelArg::ActivGamma); ++i)
    if (getName(static_cast<KernelArg>(i)) == name)
      return static_cast<KernelArg>(i);
  return std::nullopt;
}
