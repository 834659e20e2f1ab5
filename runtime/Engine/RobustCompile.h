//===- RobustCompile.h - A kernel, though not the best one -----*- C++ -*-===//
//
// A tile that the compiler cannot make a kernel of, because it crashes or
// contradicts itself there, is our mistake and no reason to leave the caller
// without a result: nearly every problem has other tiles.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_ENGINE_ROBUSTCOMPILE_H
#define TESSERA_RUNTIME_ENGINE_ROBUSTCOMPILE_H

#include "runtime/Engine/KernelCompiler.h"

namespace tessera {

/// A kernel and what became of the tile that was asked for.
struct CompiledKernel {
  Kernel kernel;
  /// Why the kernel has another tile; ok if it has not.
  Status detour;
};

/// Compiles `problem` with `tile`. If the compiler fails, and not because it
/// refuses, and `takesOthers`, it is asked once more with the tile of
/// `general`, the algorithm with the least that can go wrong, or else with the
/// best other one; the user hears of it as a warning. If something else kills
/// the compiler over that too, it is made in this process.
ErrorOr<CompiledKernel> compileRobustly(KernelCompiler &compiler,
                                        const Problem &problem,
                                        const TileConfig &tile,
                                        const GpuTarget &target,
                                        bool takesOthers);

/// Whether something else on the machine has done it to the compiler, which may
/// succeed the next time.
bool wasKilled(const Status &failure);

/// Whether the compiler will fail like this again over the same tile.
bool isOwnFault(const Status &failure);

} // namespace tessera

#endif // TESSERA_RUNTIME_ENGINE_ROBUSTCOMPILE_H
