//===- TrialWatch.cpp - Who notices a kernel that never ends --------------===//

#include "runtime/Tuning/TrialWatch.h"

#include <cstdio>
#include <utility>

using namespace tessera;

std::string tessera::describeLate(std::chrono::milliseconds limit) {
  char text[64];
  std::snprintf(text, sizeof text, "it did not end within %g s",
                static_cast<double>(limit.count()) / 1000);
  return text;
}

TrialWatch::TrialWatch(Clock::duration limit)
    : limit(limit), thread([this] { work(); }) {}

TrialWatch::~TrialWatch() {
  {
    const std::lock_guard lock(mutex);
    isOver = true;
  }
  changed.notify_all();
  thread.join();
}

void TrialWatch::begin(Callback onLate) {
  const std::lock_guard lock(mutex);
  callback = std::move(onLate);
  deadline = Clock::now() + limit;
  changed.notify_all();
}

void TrialWatch::end() {
  const std::lock_guard lock(mutex);
  callback = nullptr;
}

void TrialWatch::work() {
  std::unique_lock lock(mutex);
  while (!isOver) {
    if (!callback) {
      changed.wait(lock);
    } else if (Clock::now() < deadline) {
      changed.wait_until(lock, deadline);
    } else {
      callback();
      callback = nullptr;
    }
  }
}
