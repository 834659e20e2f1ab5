//===- Progress.h - A bar that shows how far a tool is ---------*- C++ -*--===//

#ifndef TESSERA_TOOLS_SUPPORT_PROGRESS_H
#define TESSERA_TOOLS_SUPPORT_PROGRESS_H

#include <chrono>
#include <cstdio>
#include <string>
#include <unistd.h>

namespace tessera {

/// Draws a line of progress on stderr, and only if that is a terminal.
class Progress {
public:
  explicit Progress(size_t count)
      : count(count), isShown(isatty(STDERR_FILENO)) {}

  /// Shows that `done` of all are finished, and `current` is next.
  void show(size_t done, const std::string &current) const {
    constexpr size_t kWidth = 24;
    if (!isShown)
      return;
    const std::string bar(count ? kWidth * done / count : kWidth, '#');
    std::fprintf(stderr, "\r\033[K[%-24s] %zu of %zu%s  %.60s", bar.c_str(),
                 done, count, getRemaining(done).c_str(), current.c_str());
  }

  /// Clears the line for other text.
  void clear() const {
    if (isShown)
      std::fputs("\r\033[K", stderr);
  }

private:
  /// The remaining time, estimated from the average of the finished ones.
  std::string getRemaining(size_t done) const {
    if (done == 0)
      return "";
    const std::chrono::duration<double> spent =
        std::chrono::steady_clock::now() - begin;
    const double seconds = spent.count() / static_cast<double>(done) *
                           static_cast<double>(count - done);
    char text[48];
    std::snprintf(text, sizeof text, ", %d:%02d to go",
                  static_cast<int>(seconds) / 60,
                  static_cast<int>(seconds) % 60);
    return text;
  }

  const size_t count;
  const bool isShown;
  const std::chrono::steady_clock::time_point begin =
      std::chrono::steady_clock::now();
};

} // namespace tessera

#endif // TESSERA_TOOLS_SUPPORT_PROGRESS_H
