//===- BackgroundTuner.cpp - Tuning beside the client's work --------------===//

#include "runtime/Tuning/BackgroundTuner.h"

#include "runtime/Base/Log.h"

#include <sys/resource.h>
#include <unistd.h>

using namespace tessera;

BackgroundTuner &BackgroundTuner::get() {
  static BackgroundTuner tuner;
  return tuner;
}

BackgroundTuner::~BackgroundTuner() {
  if (!thread.joinable())
    return;
  if (owner != getpid()) {
    thread.detach();
    return;
  }
  {
    const std::lock_guard lock(mutex);
    isOver = true;
  }
  changed.notify_all();
  thread.join();
}

void BackgroundTuner::add(Engine &engine, const Problem &problem,
                          TuningOptions options) {
  int device = 0;
  if (engine.getGpu().hipGetDevice(&device) != hipSuccess)
    return;
  const std::lock_guard lock(mutex);
  if (owner != 0 && owner != getpid())
    return;
  jobs.push_back({engine, problem, std::move(options), device});
  changed.notify_all();
  if (thread.joinable())
    return;
  owner = getpid();
  thread = std::thread([this] { work(); });
}

void BackgroundTuner::drain() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return jobs.empty() && !isBusy; });
}

void BackgroundTuner::work() {
  // On Linux each thread has its own priority.
  constexpr int kLeastPriority = 19;
  (void)setpriority(PRIO_PROCESS, gettid(), kLeastPriority);
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return isOver || !jobs.empty(); });
    if (isOver)
      return;
    Job job = std::move(jobs.front());
    jobs.pop_front();
    isBusy = true;
    lock.unlock();
    run(job);
    lock.lock();
    isBusy = false;
    changed.notify_all();
  }
}

void BackgroundTuner::run(Job &job) {
  if (job.engine.getGpu().hipSetDevice(job.device) != hipSuccess)
    return;
  job.options.jobs = 1;
  job.options.isCancelled = [this] {
    const std::lock_guard lock(mutex);
    return isOver;
  };
  const ErrorOr<TuningResult> result =
      tune(job.engine, job.problem, job.options);
  const std::string name = job.problem.toNetworkConfig();
  logMessage(LogLevel::Info,
             result ? "tuned in the background: " + name + ": " +
                          result->search.getBest()->ranked.tile.toText()
                    : "tuning in the background: " +
                          result.getStatus().getMessage());
}
