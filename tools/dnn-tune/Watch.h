//===- Watch.h - A process that outlives its kernels -----------*- C++ -*--===//
//
// HIP cannot stop a kernel that never ends, and after a fault the driver
// refuses every call of the process. Only the end of the process helps. So
// tuning runs in a child that reports what it is about to try; if a trial takes
// too long, the child is killed and another one continues after that trial, as
// after a kill by the user: earlier results are in the database.
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

/// Tiles that ended a process, by network config and tile text, with the
/// reason.
using CondemnedTiles =
    std::map<std::string, std::map<std::string, std::string>>;

/// What the watcher tells a child about earlier children.
struct Attempt {
  bool isFirst = true;
  CondemnedTiles condemned;
  size_t printed = 0; ///< Problems that were printed.
  /// When the first child began, by two clocks; the latter in seconds since
  /// 1970.
  const std::chrono::steady_clock::time_point begin =
      std::chrono::steady_clock::now();
  const int64_t beginTime =
      std::chrono::duration_cast<std::chrono::seconds>(
          std::chrono::system_clock::now().time_since_epoch())
          .count();
};

/// The child's end of the pipe to the watcher. Without a watcher it reports
/// nothing.
class WatchLine {
public:
  explicit WatchLine(int pipe = -1) : pipe(pipe) {}

  bool isWatched() const { return pipe >= 0; }
  /// Reports that a database stores trials, so that another process can
  /// continue.
  void sayKept() const { say("K"); }
  /// Reports that the trial of `tile` begins, and how long it may take.
  void sayBegin(const std::string &problem, const std::string &tile,
                std::chrono::milliseconds limit) const;
  void sayEnd() const { say("E"); }
  void sayPrinted() const { say("P"); }

private:
  void say(std::string_view words) const;

  const int pipe;
};

/// The exit status of a child that cannot continue though another one can: the
/// device is lost.
inline constexpr int kNeedsAnother = 75;

/// Runs `work` in a child and returns its exit status. A child that a trial has
/// ended is followed by another one, if its results are stored. Must be called
/// while the process has one thread and has not used a device.
int watch(const std::function<int(const Attempt &, const WatchLine &)> &work);

} // namespace tessera::tune_tool

#endif // TESSERA_TOOLS_DNN_TUNE_WATCH_H
