//===- WorkerPool.cpp - The compile workers of a process ------------------===//

#include "runtime/Worker/WorkerPool.h"

#include "runtime/Worker/Protocol.h"

#include <unistd.h>

using namespace tessera;

WorkerPool::Loan::~Loan() {
  if (!pool)
    return;
  if (!isKept)
    worker.reset(); // Before another takes its place.
  pool->giveBack(std::move(worker));
}

/// Null: the caller may start one.
std::unique_ptr<WorkerProcess> WorkerPool::takeIdle() {
  // Those that have left meanwhile are waited for without the mutex.
  std::vector<std::unique_ptr<WorkerProcess>> gone;
  std::unique_lock lock(mutex);
  if (owner != getpid()) { // We are a fork, or new.
    gone = std::move(idle);
    idle.clear();
    lent = 0;
    owner = getpid();
  }
  freed.wait(lock, [&] { return lent < maxWorkers; });
  ++lent;
  // The one that came back last: the others may get old and leave.
  while (!idle.empty()) {
    std::unique_ptr<WorkerProcess> worker = std::move(idle.back());
    idle.pop_back();
    if (worker->isWaiting())
      return worker;
    gone.push_back(std::move(worker));
  }
  return nullptr;
}

void WorkerPool::giveBack(std::unique_ptr<WorkerProcess> worker) {
  const std::lock_guard lock(mutex);
  --lent;
  if (worker)
    idle.push_back(std::move(worker));
  freed.notify_one();
}

/// A worker that has said that it has its compiler.
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
