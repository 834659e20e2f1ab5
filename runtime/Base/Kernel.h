//===- Kernel.h - The compiled answer to a problem -------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_BASE_KERNEL_H
#define TESSERA_RUNTIME_BASE_KERNEL_H

#include "runtime/Base/SizeExpr.h"
#include "runtime/Base/TensorMap.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tessera {

/// One argument of a launch.
struct LaunchArg {
  KernelArg kind = KernelArg::X;
  /// Bytes that a tensor's address must be a multiple of: a power of two.
  uint32_t alignment = 1;
  /// The value of a Size or a Divisor; of the latter, what it divides by. Of a
  /// tensor, the bytes from its address to what the kernel is given.
  SizeExpr size;

  LaunchArg() = default;
  LaunchArg(KernelArg kind, uint32_t alignment = 1)
      : kind(kind), alignment(alignment) {}
  LaunchArg(KernelArg kind, SizeExpr size)
      : kind(kind), size(std::move(size)) {}

  friend bool operator==(const LaunchArg &, const LaunchArg &) = default;
};

/// Everything hipModuleLaunchKernel needs besides the values.
struct LaunchRecipe {
  std::string symbol;
  /// In workgroups. The first number is 0 if `workgroups` says what it is.
  std::array<uint32_t, 3> grid{1, 1, 1};
  std::array<uint32_t, 3> block{1, 1, 1}; ///< In threads.
  uint32_t dynamicLdsBytes = 0;
  /// Descriptors of 128 bytes each, which are the kernel's first arguments.
  std::vector<TensorMap> maps;
  std::vector<LaunchArg> args;
  /// The kernel waits by itself for the launch in front, so that the runtime
  /// need not wait for it. An ordinary launch is right, too.
  bool isDependent = false;
  /// Of unknown sizes: the number of workgroups; else 0.
  SizeExpr workgroups = {};
  /// The same of the workspace's bytes that this launch uses.
  SizeExpr workspace = {};

  /// Whether the launch depends on sizes that are not known yet.
  bool hasUnknownSizes() const {
    return workgroups != SizeExpr() || workspace != SizeExpr();
  }

  friend bool operator==(const LaunchRecipe &, const LaunchRecipe &) = default;
};

/// Resources as the code object's metadata states them; of several launches,
/// the most that one of them uses.
struct KernelResources {
  uint32_t vgprs = 0; ///< Architected and accumulation registers together.
  uint32_t agprs = 0;
  uint32_t sgprs = 0;
  uint32_t vgprSpills = 0;
  uint32_t sgprSpills = 0;
  uint32_t ldsBytes = 0;
  uint32_t scratchBytes = 0; ///< Per lane.
};

/// Wall time of one stage of a compilation.
struct StageTime {
  std::string stage;
  double timeMs = 0;
};

/// A code object with its launches. Plain data: goes into the kernel database
/// as it is. `stageTimes` is empty when it came from a database.
struct Kernel {
  std::vector<char> codeObject;
  /// In the order in which they run, one after the other on one stream.
  std::vector<LaunchRecipe> launches;
  /// Device memory that the launches share; its content does not matter. Of
  /// unknown sizes, the part whose size is known.
  uint64_t workspaceBytes = 0;
  KernelResources resources;
  std::string tile; ///< Canonical text of the tile it was made with.
  std::vector<StageTime> stageTimes;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_KERNEL_H
