//===- RobustCompile.h - A kernel, though not the best one -----*- C++ -*--===//
//
// If the compiler crashes or contradicts itself over a tile, that is our
// mistake and no reason to leave the caller without a result: nearly every
// problem has other tiles.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_ENGINE_ROBUSTCOMPILE_H
#define TESSERA_RUNTIME_ENGINE_ROBUSTCOMPILE_H

#include "runtime/Engine/KernelCompiler.h"

namespace tessera {

/// A kernel, and whether it has the tile that was asked for.
struct CompiledKernel {
  Kernel kernel;
  /// Why the kernel has another tile; ok if it has the right one.
  Status detour;
};

/// Compiles `problem` with `tile`. If the compiler fails, other than by
/// refusing, and `takesOthers`, it is asked once more: with the tile of
/// `general`, the algorithm with the least that can go wrong, or else with the
/// best other one. The user hears of it as a warning. If something on the
/// machine kills the compiler that time, too, the kernel is compiled in this
/// process.
ErrorOr<CompiledKernel> compileRobustly(KernelCompiler &compiler,
                                        const Problem &problem,
                                        const TileConfig &tile,
                                        const GpuTarget &target,
                                        bool takesOthers);

/// Whether something on the machine killed the compiler, which may succeed the
/// next time.
bool wasKilled(const Status &failure);

/// Whether the compiler will fail again in the same way over the same tile.
bool isOwnFault(const Status &failure);

} // namespace tessera

#endif // TESSERA_RUNTIME_ENGINE_ROBUSTCOMPILE_H
