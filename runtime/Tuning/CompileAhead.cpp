//===- CompileAhead.cpp - The next kernels while one is measured ----------===//

#include "runtime/Tuning/CompileAhead.h"

#include <algorithm>
#include <cassert>

using namespace tessera;

CompileAhead::CompileAhead(size_t count, unsigned jobs,
                           std::function<MadeKernel(size_t)> make)
    : count(count), jobs(jobs), make(std::move(make)) {
  for (size_t i = 0; i < std::min<size_t>(jobs, count); ++i)
    threads.emplace_back([this] { work(); });
}

CompileAhead::~CompileAhead() {
  {
    const std::lock_guard lock(mutex);
    isOver = true;
  }
  changed.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

void CompileAhead::work() {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(
        lock, [&] { return isOver || next == count || next <= taken + jobs; });
    if (isOver || next == count)
      return;
    const size_t index = next++;
    lock.unlock();
    MadeKernel kernel = make(index);
    lock.lock();
    made.emplace(index, std::move(kernel));
    changed.notify_all();
  }
}

MadeKernel CompileAhead::take(size_t index) {
  std::unique_lock lock(mutex);
  assert(index == taken && index < count && "kernels are taken in order");
  changed.wait(lock, [&] { return made.contains(index); });
  MadeKernel kernel = std::move(made.extract(index).mapped());
  ++taken;
  changed.notify_all();
  return kernel;
}
