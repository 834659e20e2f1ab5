//===- Progress.h - A bar that shows how far a sweep is --------*- C++ -*--===//

#ifndef TESSERA_TEST_SWEEP_PROGRESS_H
#define TESSERA_TEST_SWEEP_PROGRESS_H

#include "test/sweep/SweepState.h"

#include <chrono>
#include <cstdio>
#include <string>
#include <unistd.h>

namespace tessera::sweep {

/// Prints the bar on stderr if that is a terminal.
class Progress {
public:
  Progress(int64_t from, int64_t to)
      : from(from), to(to), isShown(isatty(STDERR_FILENO)) {}

  void show(const SweepState &state) const {
    constexpr int64_t kWidth = 30;
    if (!isShown)
      return;
    const int64_t done = state.next - from;
    const int64_t filled = to > from ? kWidth * done / (to - from) : kWidth;
    const std::string bar(filled, '#');
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
            .count();
    std::fprintf(
        stderr, "\r[%-30s] %lld of %lld, %lld wrong, %lld refused, %.0f s ",
        bar.c_str(), static_cast<long long>(done),
        static_cast<long long>(to - from), static_cast<long long>(state.failed),
        static_cast<long long>(state.refused), seconds);
  }

  void finish(const SweepState &state) const {
    show(state);
    if (isShown)
      std::fputc('\n', stderr);
  }

private:
  int64_t from;
  int64_t to;
  bool isShown;
  std::chrono::steady_clock::time_point begin =
      std::chrono::steady_clock::now();
};

} // namespace tessera::sweep

#endif // TESSERA_TEST_SWEEP_PROGRESS_H
