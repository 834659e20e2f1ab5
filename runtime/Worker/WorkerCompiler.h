//===- WorkerCompiler.h - The compiler in other processes ------*- C++ -*--===//
//
// LLVM may abort, loop or exhaust the memory of its process, which should not
// be a training job. So kernels are compiled by small processes of ours,
// tessera-compile-worker, which are started when they are needed, kept for the
// next kernel, and replaced when they die. What they do wrong is a Status. What
// others do to them is hidden from the caller as far as possible: a request
// whose worker was killed is sent to another one, once.
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
  /// `settings` are those of WorkerPool.
  WorkerCompiler(WorkerSettings settings, unsigned maxWorkers)
      : inProcess(settings.revision), pool(std::move(settings), maxWorkers) {}

  std::string getRevision() const override { return inProcess.getRevision(); }
  ErrorOr<TileConfig> chooseTile(const Problem &problem,
                                 const GpuTarget &target) const override;
  ErrorOr<std::vector<RankedTile>> rankTiles(const Problem &problem,
                                             const GpuTarget &target,
                                             size_t limit) const override;

  /// Fails with Unavailable, the tile and what happened, if the worker dies of
  /// it; with ResourceExhausted if two workers were killed from outside.
  ErrorOr<std::vector<TileConfig>>
  findNeighbours(const Problem &problem, const TileConfig &tile,
                 const GpuTarget &target) override;
  ErrorOr<Kernel> compile(const Problem &problem, const TileConfig &tile,
                          const GpuTarget &target) override;

  ErrorOr<Kernel> compileHere(const Problem &problem, const TileConfig &tile,
                              const GpuTarget &target) override {
    return inProcess.compile(problem, tile, target);
  }

private:
  ErrorOr<WorkerReply> call(const WorkerRequest &request) const;

  /// Used where no worker can be started, or all are killed.
  mutable LibraryCompiler inProcess;
  mutable std::atomic<bool> isWithoutWorkers = false;
  mutable WorkerPool pool;
};

/// The compiler of the product, configured by the environment: worker
/// processes, or LLVM in this process where TESSERA_COMPILE_WORKER is off.
std::unique_ptr<KernelCompiler> createCompiler(const std::string &revision);

} // namespace tessera

#endif // TESSERA_RUNTIME_WORKER_WORKERCOMPILER_H
