//===- BackgroundQueue.cpp - Work that nobody waits for -------------------===//

#include "runtime/Engine/BackgroundQueue.h"

#include <sys/resource.h>
#include <unistd.h>
#include <utility>

using namespace tessera;

void BackgroundQueue::end() {
  std::thread ended;
  // A forked child has the object, but not the thread, nor perhaps the mutex.
  if (owner != 0 && owner != getpid()) {
    if (thread.joinable())
      thread.detach();
    return;
  }
  {
    const std::lock_guard lock(mutex);
    isOver = true;
    jobs.clear();
    ended = std::move(thread);
  }
  changed.notify_all();
  if (ended.joinable())
    ended.join();
}

void BackgroundQueue::add(std::function<void()> job) {
  const std::lock_guard lock(mutex);
  if (isOver || (owner != 0 && owner != getpid()) || jobs.size() >= mostJobs)
    return;
  jobs.push_back(std::move(job));
  changed.notify_all();
  if (thread.joinable())
    return;
  owner = getpid();
  thread = std::thread([this] { work(); });
}

void BackgroundQueue::drain() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return jobs.empty() && !isBusy; });
}

bool BackgroundQueue::isEnding() {
  const std::lock_guard lock(mutex);
  return isOver;
}

void BackgroundQueue::work() {
  // On Linux each thread has its own priority.
  constexpr int kLeastPriority = 19;
  (void)setpriority(PRIO_PROCESS, gettid(), kLeastPriority);
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return isOver || !jobs.empty(); });
    if (isOver)
      return;
    const std::function<void()> job = std::move(jobs.front());
    jobs.pop_front();
    isBusy = true;
    lock.unlock();
    job();
    lock.lock();
    isBusy = false;
    changed.notify_all();
  }
}
