//===- KernelArg.h - What a kernel takes -----------------------*- C++ -*-===//

#ifndef TESSERA_RUNTIME_BASE_KERNELARG_H
#define TESSERA_RUNTIME_BASE_KERNELARG_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace tessera {

/// What one argument of a kernel is. Every argument has eight bytes: a device
/// pointer, or a scalar as a double, whatever the kernel computes with. So a
/// list of arguments has no padding.
enum class KernelArg : uint8_t {
  // Pointers.
  X,
  W,
  Y,
  Workspace,
  Bias,
  Residual,
  Indices,
  // Scalars.
  Alpha,
  Beta,
  ActivAlpha,
  ActivBeta,
  ActivGamma,
};

constexpr bool isScalar(KernelArg arg) { return arg >= KernelArg::Alpha; }

/// "x", "workspace", "activ_alpha", ...: in the IR (`dnn.arg`) and in the
/// kernel database.
std::string_view getName(KernelArg arg);
std::optional<KernelArg> parseKernelArg(std::string_view name);

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_KERNELARG_H
