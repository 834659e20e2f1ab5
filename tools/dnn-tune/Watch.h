//===- Watch.h - A process that outlives its kernels -----------*- C++ -*-===//
//
// HIP has no means to end a kernel that never ends, and after a fault the
// driver refuses everything that its process asks. Only the end of the process
// helps. So tuning runs in a child that says what it is about to try; a trial
// that takes too long ends the child, and another one goes on behind it, as
// after a kill by the user: what was found before is in the database.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_DNN_TUNE_WATCH_H
#define TESSERA_TOOLS_DNN_TUNE_WATCH_H

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace tessera::tune_tool {

/// Tiles that ended a process, with the reason: of each problem's network
/// config, by their text.
using CondemnedTiles =
    std::map<std::string, std::map<std::string, std::string>>;

/// What a child knows of those before it.
struct Attempt {
  bool isFirst = true;
  CondemnedTiles condemned;
  size_t printed = 0; ///< Problems of which the user has read.
  /// Of the first child, by two clocks; the latter in seconds since 1970.
  const std::chrono::steady_clock::time_point begin =
      std::chrono::steady_clock::now();
  const int64_t beginTime =
      std::chrono::duration_cast<std::chrono::seconds>(
          std::chrono::system_clock::now().time_since_epoch())
          .count();
};

/// The child's end. One without a watcher says nothing.
class WatchLine {
public:
  explicit WatchLine(int pipe = -1) : pipe(pipe) {}

  bool isWatched() const { return pipe >= 0; }
  /// Trials are kept by a database, so that another process can go on.
  void sayKept() const { say("K"); }
  /// The trial of `tile` begins, and may take so long.
  void sayBegin(const std::string &problem, const std::string &tile,
                std::chrono::milliseconds limit) const;
  void sayEnd() const { say("E"); }
  void sayPrinted() const { say("P"); }

private:
  void say(std::string_view words) const;

  const int pipe;
};

/// What a child returns that cannot go on, but another can: the device is lost.
inline constexpr int kNeedsAnother = 75;

/// Runs `work` in a child and returns what it returns. A child that a trial has
/// ended is followed by another one, if what it did is kept. Must be called
/// while the process has one thread and has not touched a device.
int watch(const std::function<int(const Attempt &, const WatchLine &)> &work);

} // namespace tessera::tune_tool

#endif // TESSERA_TOOLS_DNN_TUNE_WATCH_H
