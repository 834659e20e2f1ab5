//===- Kernel.h - The compiled answer to a problem -------------*- C++ -*-===//

#ifndef TESSERA_RUNTIME_BASE_KERNEL_H
#define TESSERA_RUNTIME_BASE_KERNEL_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

/// What one pointer argument of a kernel is. Arguments are 64-bit device
/// pointers in the order listed, with no padding between them.
enum class KernelArg : uint8_t { X, W, Y, Workspace };

/// Everything hipModuleLaunchKernel needs besides the pointers.
struct LaunchRecipe {
  std::string symbol;
  std::array<uint32_t, 3> grid{1, 1, 1};  ///< Workgroups.
  std::array<uint32_t, 3> block{1, 1, 1}; ///< Threads of a workgroup.
  uint32_t dynamicLdsBytes = 0;
  std::vector<KernelArg> args;
  uint64_t workspaceBytes = 0;
};

/// Read back from the code object's metadata.
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

/// A code object with its launch recipe. Plain data: goes into the kernel
/// database as it is. `stageTimes` is empty when it came from a database.
struct Kernel {
  std::vector<char> codeObject;
  LaunchRecipe launch;
  KernelResources resources;
  std::string tile; ///< Canonical text of the tile it was made with.
  std::vector<StageTime> stageTimes;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_KERNEL_H
