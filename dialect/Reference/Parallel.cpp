//===- Parallel.cpp - A loop on all processors ----------------------------===//

#include "dialect/Reference/Parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

void tessera::reference::parallelFor(int64_t count,
                                     const std::function<void(int64_t)> &body) {
  std::atomic<int64_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure; // The first exception ends all threads.
  auto work = [&] {
    try {
      for (int64_t i; (i = next.fetch_add(1)) < count;)
        body(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure)
        failure = std::current_exception();
      next = count;
    }
  };
  const int64_t processors = std::thread::hardware_concurrency();
  std::vector<std::thread> threads;
  threads.reserve(static_cast<size_t>(processors));
  try {
    for (int64_t i = 1; i < std::min(processors, count); ++i)
      threads.emplace_back(work);
  } catch (const std::system_error &) {
    // If there is no memory for another thread, those that were started do it
    // all.
  }
  work();
  for (std::thread &thread : threads)
    thread.join();
  if (failure)
    std::rethrow_exception(failure);
}
