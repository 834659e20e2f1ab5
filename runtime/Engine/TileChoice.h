//===- TileChoice.h - Which tile a kernel is made with ---------*- C++ -*--===//
//
// The compiler's model ranks tiles for every problem. Experience with this
// device overrules it: a tile that tuning has measured is preferred, and one
// over which the compiler has failed is not tried again.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_ENGINE_TILECHOICE_H
#define TESSERA_RUNTIME_ENGINE_TILECHOICE_H

#include "runtime/Db/KernelStore.h"
#include "runtime/Engine/KernelCompiler.h"
#include "runtime/Gpu/GpuApi.h"

namespace tessera {

/// The choice for one problem on the current device. Borrows everything; used
/// by one thread.
class TileChoice {
public:
  TileChoice(const GpuApi &gpu, KernelStore &store,
             const KernelCompiler &compiler, const Problem &problem,
             const GpuTarget &target);

  /// The tile that tuning has found to be the best of the problem, or of its
  /// nearest neighbour, if any.
  std::optional<TileConfig> findTuned();

  /// The compiler's choice; if the compiler has failed over it, the next best
  /// of the ranking.
  ErrorOr<TileConfig> choose();

  /// Records that this revision of the compiler fails over `tile`, in the
  /// user's file if there is one.
  void quarantine(const TileConfig &tile, const Status &failure);

private:
  KernelStore &store;
  const KernelCompiler &compiler;
  const Problem &problem;
  const GpuTarget &target;
  const Objective objective;
  TuningKey key;
  std::string device;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_ENGINE_TILECHOICE_H
