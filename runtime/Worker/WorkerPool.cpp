//===- WorkerPool.cpp - The compile workers of a process ------------------===//

#include "runtime/Worker/WorkerPool.h"

#include "runtime/Worker/Protocol.h"

#include <unistd.h>

using namespace tessera;

WorkerPool::Loan::~Loan() {
  if (!pool)
    return;
  if (!isKept)
    worker.reset(); // The worker must have ended before another replaces it.
  pool->giveBack(std::move(worker));
}

/// Takes a waiting worker with the caller's niceness out of `idle`. A worker
/// that a background thread started would be slow for others, and an ordinary
/// user may not lower its niceness. Workers that have ended go to `gone`.
std::unique_ptr<WorkerProcess>
WorkerPool::findIdle(std::vector<std::unique_ptr<WorkerProcess>> &gone) {
  const int niceness = getNiceness();
  // The search begins with the worker that was returned last, so that the
  // others reach their idle time and end.
  for (size_t index = idle.size(); index-- != 0;) {
    if (idle[index]->getNiceness() != niceness)
      continue;
    std::unique_ptr<WorkerProcess> worker = std::move(idle[index]);
    idle.erase(idle.begin() + static_cast<ptrdiff_t>(index));
    if (worker->isWaiting())
      return worker;
    gone.push_back(std::move(worker));
  }
  return nullptr;
}

/// Returns an idle worker, or null if the caller may start one.
std::unique_ptr<WorkerProcess> WorkerPool::takeIdle() {
  // Workers that have ended are waited for without the mutex.
  std::vector<std::unique_ptr<WorkerProcess>> gone;
  std::unique_lock lock(mutex);
  if (owner != getpid()) { // This process is a fork, or the pool is new.
    gone = std::move(idle);
    idle.clear();
    lent = 0;
    owner = getpid();
  }
  freed.wait(lock, [&] { return lent < maxWorkers; });
  ++lent;
  std::unique_ptr<WorkerProcess> worker = findIdle(gone);
  // The worker that the caller will start replaces one of another niceness.
  if (!worker && lent + idle.size() > maxWorkers) {
    gone.push_back(std::move(idle.front()));
    idle.erase(idle.begin());
  }
  return worker;
}

void WorkerPool::giveBack(std::unique_ptr<WorkerProcess> worker) {
  const std::lock_guard lock(mutex);
  --lent;
  if (worker)
    idle.push_back(std::move(worker));
  freed.notify_one();
}

/// Starts a worker and waits until it says that it has its compiler.
ErrorOr<std::unique_ptr<WorkerProcess>> WorkerPool::start() {
  ErrorOr<std::unique_ptr<WorkerProcess>> worker =
      WorkerProcess::start(settings);
  if (!worker)
    return worker;
  const ErrorOr<std::string> greeting = (*worker)->receiveGreeting();
  if (!greeting)
    return greeting.getStatus();
  const ErrorOr<WorkerReply> reply = decodeReply(*greeting);
  if (!reply)
    return unavailable(reply.getStatus().getMessage());
  if (!reply->status.isOk())
    return reply->status;
  return worker;
}

ErrorOr<WorkerPool::Loan> WorkerPool::borrow() {
  if (std::unique_ptr<WorkerProcess> worker = takeIdle())
    return Loan(*this, std::move(worker));
  ErrorOr<std::unique_ptr<WorkerProcess>> worker = start();
  if (worker)
    return Loan(*this, std::move(*worker));
  giveBack(nullptr);
  return worker.getStatus();
}
