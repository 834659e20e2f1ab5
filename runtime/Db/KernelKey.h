//===- KernelKey.h - What a stored kernel is looked for by -----*- C++ -*--===//

#ifndef TESSERA_RUNTIME_DB_KERNELKEY_H
#define TESSERA_RUNTIME_DB_KERNELKEY_H

#include <cstdint>
#include <string>

namespace tessera {

/// The format of launches, and what a kernel assumes of its caller. It must be
/// raised with every change that an older or newer engine would launch wrongly:
/// kernels of another format are not used, whoever made them.
inline constexpr int64_t kKernelFormat = 4;

/// What a stored kernel was made for, and by which compiler.
struct KernelKey {
  std::string networkConfig;
  std::string target; ///< GpuTarget::name.
  /// Empty when finding a kernel of any compiler.
  std::string revision;

  friend bool operator==(const KernelKey &, const KernelKey &) = default;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_DB_KERNELKEY_H
