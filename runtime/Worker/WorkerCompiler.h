//===- WorkerCompiler.h - The compiler in other processes ------*- C++ -*-===//
//
// LLVM may abort, loop or eat the memory of the process that it runs in, and
// that should not be a training job. So kernels are made by small processes of
// ours, tessera-compile-worker, that are started when they are needed, kept for
// the next kernel, and replaced when they die. What they do wrong is a Status.
// What others do to them is none of the caller's business as long as it can be
// avoided: a request whose worker was killed goes to another one, once.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_WORKER_WORKERCOMPILER_H
#define TESSERA_RUNTIME_WORKER_WORKERCOMPILER_H

#include "runtime/Worker/LibraryCompiler.h"
#include "runtime/Worker/WorkerPool.h"

#include <atomic>

namespace tessera {

struct WorkerReply;
struct WorkerRequest;

/// Owns the workers of this process. Every method may be called from several
/// threads at once: each call has a worker to itself, and waits for one when
/// all are busy. A fork of the process starts workers of its own.
class WorkerCompiler final : public KernelCompiler {
public:
  /// `settings` as WorkerPool has them.
  WorkerCompiler(WorkerSettings settings, unsigned maxWorkers)
      : inProcess(settings.revision), pool(std::move(settings), maxWorkers) {}

  std::string getRevision() const override { return inProcess.getRevision(); }
  ErrorOr<TileConfig> chooseTile(const Problem &problem,
                                 const GpuTarget &target) const override;
  ErrorOr<std::vector<RankedTile>> rankTiles(const Problem &problem,
                                             const GpuTarget &target,
                                             size_t limit) const override;

  /// Unavailable, with the tile and what happened, if the worker dies of it;
  /// ResourceExhausted if two workers were killed from outside.
  ErrorOr<Kernel> compile(const Problem &problem, const TileConfig &tile,
                          const GpuTarget &target) override;

  ErrorOr<Kernel> compileHere(const Problem &problem, const TileConfig &tile,
                              const GpuTarget &target) override {
    return inProcess.compile(problem, tile, target);
  }

private:
  ErrorOr<WorkerReply> call(const WorkerRequest &request) const;

  /// For machines where no worker can be started, or none is left alive.
  mutable LibraryCompiler inProcess;
  mutable std::atomic<bool> isWithoutWorkers = false;
  mutable WorkerPool pool;
};

/// The compiler as the product uses it, from the environment: worker processes,
/// or LLVM in this one where TESSERA_COMPILE_WORKER is off.
std::unique_ptr<KernelCompiler> createCompiler(const std::string &revision);

} // namespace tessera

#endif // TESSERA_RUNTIME_WORKER_WORKERCOMPILER_H
