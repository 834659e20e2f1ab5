//===- WorkerPool.h - The compile workers of a process ---------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_WORKER_WORKERPOOL_H
#define TESSERA_RUNTIME_WORKER_WORKERPOOL_H

#include "runtime/Worker/WorkerProcess.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace tessera {

/// Lends workers and takes them back. If no idle worker has the caller's
/// niceness, it starts one, up to a number; beyond that the caller waits. Safe
/// from any thread, also in a fork of the process, which forgets the workers of
/// its parent.
class WorkerPool {
public:
  WorkerPool(WorkerSettings settings, unsigned maxWorkers)
      : settings(std::move(settings)), maxWorkers(maxWorkers) {}

  /// A borrowed worker. When the loan ends, it is returned if it was kept, and
  /// ended otherwise.
  class Loan {
  public:
    Loan(WorkerPool &pool, std::unique_ptr<WorkerProcess> worker)
        : pool(&pool), worker(std::move(worker)) {}
    Loan(Loan &&other) noexcept
        : pool(std::exchange(other.pool, nullptr)),
          worker(std::move(other.worker)), isKept(other.isKept) {}
    Loan &operator=(Loan &&) = delete;
    ~Loan();

    WorkerProcess *operator->() { return worker.get(); }
    /// Marks the worker as fit for another request.
    void keep() { isKept = true; }

  private:
    WorkerPool *pool;
    std::unique_ptr<WorkerProcess> worker;
    bool isKept = false;
  };

  /// Waits for a worker, or starts one and waits for its greeting. Unavailable
  /// if the system does not let us start one; NotSupported, permanently, if the
  /// workers have no compiler.
  ErrorOr<Loan> borrow();

private:
  std::unique_ptr<WorkerProcess> takeIdle();
  std::unique_ptr<WorkerProcess>
  findIdle(std::vector<std::unique_ptr<WorkerProcess>> &gone);
  void giveBack(std::unique_ptr<WorkerProcess> worker);
  ErrorOr<std::unique_ptr<WorkerProcess>> start();

  const WorkerSettings settings;
  const unsigned maxWorkers;
  std::mutex mutex; ///< Guards what follows; never held for long.
  std::condition_variable freed;
  std::vector<std::unique_ptr<WorkerProcess>> idle;
  unsigned lent = 0;
  int owner = 0; ///< The process of `idle` and `lent`.
};

} // namespace tessera

#endif // TESSERA_RUNTIME_WORKER_WORKERPOOL_H
