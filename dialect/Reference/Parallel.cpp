//===- Parallel.cpp - A loop on all processors ----------------------------===//

#include "dialect/Reference/Parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

void tessera::reference::parallelFor(int64_t count,
                                     const std::function<void(int64_t)> &body) {
  std::atomic<int64_t> next{0};
  auto work = [&] {
    for (int64_t i; (i = next.fetch_add(1)) < count;)
      body(i);
  };
  const int64_t processors = std::thread::hardware_concurrency();
  std::vector<std::thread> threads;
  for (int64_t i = 1; i < std::min(processors, count); ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
}
