//===- LibraryCompiler.h - The compiler, once it is needed -----*- C++ -*--===//
//
// LLVM is in a shared object of its own, libtessera-compiler.so. A process that
// finds all its kernels in a database never opens it, and a machine may lack
// it.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_WORKER_LIBRARYCOMPILER_H
#define TESSERA_RUNTIME_WORKER_LIBRARYCOMPILER_H

#include "runtime/Engine/KernelCompiler.h"

#include <memory>
#include <mutex>

namespace tessera {

/// The file of the compiler: TESSERA_COMPILER_LIBRARY; else the first one
/// beside our own binary; else its bare name, for the loader to find.
std::string getCompilerLibrary();

/// Opens `file` and makes its compiler; NotSupported with the reason if there
/// is none, or one of another revision. The library stays open.
ErrorOr<std::unique_ptr<KernelCompiler>>
loadCompiler(const std::string &file, const std::string &revision);

/// A compiler that is loaded into this process when a method first needs it. If
/// it cannot be loaded, every method says why. Safe from any thread.
class LibraryCompiler final : public KernelCompiler {
public:
  explicit LibraryCompiler(std::string revision)
      : revision(std::move(revision)) {}

  /// Loads the compiler at once; the failure says why it cannot be loaded.
  Status load() const { return get().getStatus(); }

  std::string getRevision() const override { return revision; }
  ErrorOr<TileConfig> chooseTile(const Problem &problem,
                                 const GpuTarget &target) const override;
  ErrorOr<std::vector<RankedTile>> rankTiles(const Problem &problem,
                                             const GpuTarget &target,
                                             size_t limit) const override;
  ErrorOr<std::vector<TileConfig>>
  findNeighbours(const Problem &problem, const TileConfig &tile,
                 const GpuTarget &target) override;
  ErrorOr<Kernel> compile(const Problem &problem, const TileConfig &tile,
                          const GpuTarget &target) override;

private:
  ErrorOr<KernelCompiler *> get() const;

  const std::string revision;
  mutable std::once_flag isTried;
  mutable std::unique_ptr<KernelCompiler> compiler;
  mutable Status failure;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_WORKER_LIBRARYCOMPILER_H
