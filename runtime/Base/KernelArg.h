//===- KernelArg.h - What a kernel takes -----------------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_BASE_KERNELARG_H
#define TESSERA_RUNTIME_BASE_KERNELARG_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace tessera {

/// Tensors and scalars that a RowWiseProblem may have.
inline constexpr int kMaxTensors = 16;
inline constexpr int kMaxScalars = 6;

/// What one argument of a kernel is. Every argument has eight bytes: a device
/// pointer, or a scalar as a double, whatever type the kernel computes with. So
/// a list of arguments has no padding.
enum class KernelArg : uint8_t {
  // Pointers.
  X,
  W,
  Y,
  Workspace,
  Bias,
  Residual,
  Indices,
  Mean, ///< Statistics of a convolution's result.
  Variance,
  Tensor0, ///< First tensor of a RowWiseProblem; others follow.
  LastTensor = Tensor0 + kMaxTensors - 1,
  // Scalars.
  Alpha,
  Beta,
  ActivAlpha,
  ActivBeta,
  ActivGamma,
  Scalar0, ///< First scalar of a RowWiseProblem; others follow.
  LastScalar = Scalar0 + kMaxScalars - 1,
  // Numbers that the runtime computes of the problem's sizes (SizeExpr.h), as
  // 64-bit integers.
  Size,
  Divisor, ///< What makeDivisor() gives.
};

constexpr bool isScalar(KernelArg arg) { return arg >= KernelArg::Alpha; }

/// Whether the value follows from the problem, and not from the call.
constexpr bool isOfSizes(KernelArg arg) { return arg >= KernelArg::Size; }

/// Whether it is one of a RowWiseProblem's tensors.
constexpr bool isRowTensor(KernelArg arg) {
  return arg >= KernelArg::Tensor0 && arg <= KernelArg::LastTensor;
}

/// The distance of `arg` from `first` in the enum.
constexpr int getOffset(KernelArg arg, KernelArg first) {
  return static_cast<int>(arg) - static_cast<int>(first);
}
constexpr KernelArg getTensorArg(int tensor) {
  return static_cast<KernelArg>(static_cast<int>(KernelArg::Tensor0) + tensor);
}
constexpr KernelArg getScalarArg(int scalar) {
  return static_cast<KernelArg>(static_cast<int>(KernelArg::Scalar0) + scalar);
}

/// What backward data with a normalisation's gradient takes and gives
/// (NormGradient), among the numbered tensors. One f32 for each channel, but
/// the input and the mask, which are as the gradient.
namespace norm_gradient {
inline constexpr KernelArg kInput = getTensorArg(0), ///< The saved z.
    kMean = getTensorArg(1),
                           kInverse = getTensorArg(2), ///< 1 / deviation.
    kSum = getTensorArg(3),   ///< Written: the sum of g.
    kDot = getTensorArg(4),   ///< Written: that of g times the normalised z.
    kScale = getTensorArg(5), ///< With Relu.
    kBias = getTensorArg(6),  ///< With Relu.
    kMask = getTensorArg(7);  ///< With Mask.
} // namespace norm_gradient

/// The name in the IR (`dnn.arg`) and in the kernel database: "x", "workspace",
/// "activ_alpha", "t0", "s0", "size", ...
std::string_view getName(KernelArg arg);
std::optional<KernelArg> parseKernelArg(std::string_view name);

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_KERNELARG_H
