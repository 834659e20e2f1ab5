//===- CompileAhead.h - The next kernels while one is measured -*- C++ -*--===//

#ifndef TESSERA_RUNTIME_TUNING_COMPILEAHEAD_H
#define TESSERA_RUNTIME_TUNING_COMPILEAHEAD_H

#include "runtime/Tuning/Bench.h"

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera {

/// Makes kernels number 0, 1, ... in threads of its own, never more than `jobs`
/// of them ahead of the one that is taken. One thread takes them in order. The
/// destructor waits for those that are being made.
class CompileAhead {
public:
  /// `make` is called from several threads. `jobs` is at least 1.
  CompileAhead(size_t count, unsigned jobs,
               std::function<MadeKernel(size_t)> make);
  ~CompileAhead();

  /// Waits for kernel number `index`, which must be the next one.
  MadeKernel take(size_t index);

private:
  void work();

  const size_t count;
  const unsigned jobs;
  const std::function<MadeKernel(size_t)> make;
  std::mutex mutex; ///< Guards what follows except the threads.
  std::condition_variable changed;
  std::map<size_t, MadeKernel> made;
  size_t next = 0;  ///< The next one to begin.
  size_t taken = 0; ///< Number of kernels taken.
  bool isOver = false;
  std::vector<std::thread> threads;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_TUNING_COMPILEAHEAD_H
