//===- KernelCompiler.h - What the engine asks of a compiler ---*- C++ -*--===//
//
// The runtime never sees the compiler: it owns this interface, compiler/Driver
// implements it, and capi/lib joins the two. So a runtime that finds every
// kernel in a database needs no LLVM, and its tests use a fake.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_ENGINE_KERNELCOMPILER_H
#define TESSERA_RUNTIME_ENGINE_KERNELCOMPILER_H

#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/GpuTarget.h"
#include "runtime/Base/Kernel.h"
#include "runtime/Base/Problem.h"
#include "runtime/Base/TileConfig.h"

#include <string>
#include <utility>
#include <vector>

namespace tessera {

/// A tile that is worth trying, and its cost by the model.
struct RankedTile {
  TileConfig tile;
  /// Clocks of the whole chip: comparable between the tiles of one problem on
  /// one target, but not a time.
  double cost = 0;
};

/// Compiles kernels. Every method may be called from several threads at once.
class KernelCompiler {
public:
  virtual ~KernelCompiler() = default;

  /// Changes whenever generated code may change; part of the key of every
  /// stored kernel.
  virtual std::string getRevision() const = 0;

  /// The tile that this compiler prefers without measuring. NotSupported if no
  /// algorithm covers the problem on the target.
  virtual ErrorOr<TileConfig> chooseTile(const Problem &problem,
                                         const GpuTarget &target) const = 0;

  /// The best `limit` tiles by the model, best first; fails like chooseTile().
  /// A compiler that knows one tile has nothing to rank.
  virtual ErrorOr<std::vector<RankedTile>> rankTiles(const Problem &problem,
                                                     const GpuTarget &target,
                                                     size_t /*limit*/) const {
    ErrorOr<TileConfig> tile = chooseTile(problem, target);
    if (!tile)
      return tile.getStatus();
    return std::vector<RankedTile>{{std::move(*tile), 0}};
  }

  /// Tiles whose kernel differs from that of `tile` in one decision of its plan
  /// that the text of a tile can name; none where there is no such decision.
  virtual ErrorOr<std::vector<TileConfig>>
  findNeighbours(const Problem & /*problem*/, const TileConfig & /*tile*/,
                 const GpuTarget & /*target*/) {
    return std::vector<TileConfig>();
  }

  /// Compiles one kernel; blocks for some tens of milliseconds.
  virtual ErrorOr<Kernel> compile(const Problem &problem,
                                  const TileConfig &tile,
                                  const GpuTarget &target) = 0;

  /// Like compile(), but always in this process: the last resort if another
  /// process fails.
  virtual ErrorOr<Kernel> compileHere(const Problem &problem,
                                      const TileConfig &tile,
                                      const GpuTarget &target) {
    return compile(problem, tile, target);
  }
};

/// The function that libtessera-compiler.so exports by this name. It returns a
/// new compiler, owned by the caller, or null if its revision is not
/// `revision`. `own` is set to its revision.
using CreateCompilerFunction = KernelCompiler *(const char *revision,
                                                const char **own);
inline constexpr char kCreateCompilerName[] = "tesseraCreateCompiler";

} // namespace tessera

#endif // TESSERA_RUNTIME_ENGINE_KERNELCOMPILER_H
