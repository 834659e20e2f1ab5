//===- LaunchArgs.h - The values of one launch -----------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_ENGINE_LAUNCHARGS_H
#define TESSERA_RUNTIME_ENGINE_LAUNCHARGS_H

#include "runtime/Base/TileOrder.h"

#include <array>

namespace tessera {

/// The values of one call. Pointers are on the device; the problem's direction
/// says which tensor is written. Values that no launch of the kernel uses are
/// ignored.
struct LaunchArgs {
  const void *x = nullptr;
  const void *w = nullptr;
  const void *y = nullptr;
  const void *workspace = nullptr;
  const void *bias = nullptr;
  const void *residual = nullptr;
  const void *indices = nullptr;
  const void *mean = nullptr;
  const void *variance = nullptr;
  double alpha = 1;
  double beta = 0;
  double activAlpha = 0;
  double activBeta = 0;
  double activGamma = 0;
  /// The tensors of a RowWiseProblem, in its order.
  std::array<const void *, kMaxTensors> tensors{};
  std::array<double, kMaxScalars> scalars{};

  /// The pointer of `arg`, which must not be a scalar.
  const void *&getPointer(KernelArg arg);
  const void *getPointer(KernelArg arg) const {
    return const_cast<LaunchArgs *>(this)->getPointer(arg);
  }
  /// The value of `arg`, which must be a scalar.
  double getScalar(KernelArg arg) const;
  /// Begins with the last tile (TileOrder.h); not of a RowWiseProblem.
  void setFromEnd(bool isFromEnd) {
    scalars[getOffset(kFromEndArg, KernelArg::Scalar0)] = isFromEnd ? 1 : 0;
  }
};

inline const void *&LaunchArgs::getPointer(KernelArg arg) {
  switch (arg) {
  case KernelArg::X:
    return x;
  case KernelArg::W:
    return w;
  case KernelArg::Y:
    return y;
  case KernelArg::Workspace:
    return workspace;
  case KernelArg::Bias:
    return bias;
  case KernelArg::Residual:
    return residual;
  case KernelArg::Indices:
    return indices;
  case KernelArg::Mean:
    return mean;
  case KernelArg::Variance:
    return variance;
  default:
    return tensors[getOffset(arg, KernelArg::Tensor0)];
  }
}

inline double LaunchArgs::getScalar(KernelArg arg) const {
  switch (arg) {
  case KernelArg::Alpha:
    return alpha;
  case KernelArg::Beta:
    return beta;
  case KernelArg::ActivAlpha:
    return activAlpha;
  case KernelArg::ActivBeta:
    return activBeta;
  case KernelArg::ActivGamma:
    return activGamma;
  default:
    return scalars[getOffset(arg, KernelArg::Scalar0)];
  }
}

} // namespace tessera

#endif // TESSERA_RUNTIME_ENGINE_LAUNCHARGS_H
