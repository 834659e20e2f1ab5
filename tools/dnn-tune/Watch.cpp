//===- Watch.cpp - A process that outlives its kernels --------------------===//

#include "tools/dnn-tune/Watch.h"

#include "runtime/Tuning/TrialWatch.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tessera;
using namespace tessera::tune_tool;
using Clock = std::chrono::steady_clock;

/// The exit status of dnn-tune if nothing could be done.
static constexpr int kFailed = 2;

//===----------------------------------------------------------------------===//
// The child's end: lines, with tabs between their words
//===----------------------------------------------------------------------===//

void WatchLine::say(std::string_view words) const {
  if (!isWatched())
    return;
  // A line is shorter than an atomic write to a pipe. A failed write means that
  // the watcher is gone; the child is then about to be killed.
  const std::string line = std::string(words) + "\n";
  while (write(pipe, line.data(), line.size()) < 0 && errno == EINTR)
    ;
}

void WatchLine::sayBegin(const std::string &problem, const std::string &tile,
                         std::chrono::milliseconds limit) const {
  say("B" + std::to_string(limit.count()) + "\t" + problem + "\t" + tile);
}

//===----------------------------------------------------------------------===//
// The watcher
//===----------------------------------------------------------------------===//

namespace {
/// The trial that is under way.
struct Trial {
  std::string problem;
  std::string tile;
  std::chrono::milliseconds limit{};
  Clock::time_point begin;
};

/// One child, and what it has reported.
class Child {
public:
  Child(pid_t process, int pipe) : process(process), pipe(pipe) {}
  ~Child() { close(pipe); }
  Child(const Child &) = delete;
  Child &operator=(const Child &) = delete;

  /// Reads reports until the child ends or its trial takes too long.
  void listen();
  /// The status from waitpid(); nothing if the child does not end.
  std::optional<int> end();

  std::optional<Trial> trial;
  bool isLate = false; ///< The trial takes too long.
  bool isKept = false;
  size_t trials = 0; ///< Trials that were begun.
  size_t printed = 0;

private:
  int getPatience() const;
  void take(const std::string &line);
  void takeBegin(const std::string &words);

  const pid_t process;
  const int pipe;
  std::string rest; ///< The beginning of an incomplete line.
};
} // namespace

/// Milliseconds until the trial takes too long, -1 if there is none.
int Child::getPatience() const {
  if (!trial)
    return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(
      trial->begin + trial->limit - Clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1 << 30));
}

void Child::takeBegin(const std::string &words) {
  const size_t first = words.find('\t'), second = words.find('\t', first + 1);
  if (first == words.npos || second == words.npos)
    return;
  ++trials;
  trial = Trial{
      words.substr(first + 1, second - first - 1), words.substr(second + 1),
      std::chrono::milliseconds(std::atoll(words.c_str() + 1)), Clock::now()};
}

void Child::take(const std::string &line) {
  if (line.starts_with("B"))
    takeBegin(line);
  else if (line == "E")
    trial.reset();
  else if (line == "P")
    ++printed;
  else if (line == "K")
    isKept = true;
}

void Child::listen() {
  while (true) {
    pollfd entry = {pipe, POLLIN, 0};
    const int ready = poll(&entry, 1, getPatience());
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready == 0) {
      isLate = getPatience() == 0;
      if (isLate)
        return;
      continue;
    }
    char bytes[4096];
    const ssize_t count = read(pipe, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return;
    rest.append(bytes, static_cast<size_t>(count));
    for (size_t at; (at = rest.find('\n')) != rest.npos; rest.erase(0, at + 1))
      take(rest.substr(0, at));
  }
}

std::optional<int> Child::end() {
  // A driver may need some time to remove a kernel from its device.
  constexpr auto kPatience = std::chrono::seconds(60);
  if (isLate)
    kill(process, SIGKILL);
  const Clock::time_point begin = Clock::now();
  while (true) {
    int state = 0;
    const pid_t waited = waitpid(process, &state, isLate ? WNOHANG : 0);
    if (waited == process)
      return state;
    if (waited < 0 && errno != EINTR)
      return std::nullopt;
    if (isLate && Clock::now() - begin > kPatience)
      return std::nullopt;
    if (waited == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

/// The exit status, if the child exited and needs no successor.
static std::optional<int> getAnswer(int state) {
  if (WIFEXITED(state) && WEXITSTATUS(state) != kNeedsAnother)
    return WEXITSTATUS(state);
  return std::nullopt;
}

static std::string describe(const Child &child, int state) {
  if (child.isLate)
    return describeLate(child.trial->limit);
  if (WIFSIGNALED(state))
    return std::string("its process died: ") + strsignal(WTERMSIG(state));
  return "the device was lost";
}

/// Records what happened to a child that gave no answer. False if another one
/// would fail in the same way.
static bool learn(const Child &child, int state, Attempt &attempt) {
  const std::string reason = describe(child, state);
  attempt.isFirst = false;
  attempt.printed += child.printed;
  if (child.isLate)
    attempt.condemned[child.trial->problem][child.trial->tile] = reason;
  const bool goesOn = child.isKept && child.trials > 0;
  std::fprintf(stderr, "dnn-tune: %s%s%s%s\n",
               child.trial ? (child.trial->tile + " of ").c_str() : "",
               child.trial ? (child.trial->problem + ": ").c_str() : "",
               reason.c_str(), goesOn ? "; another process goes on" : "");
  return goesOn;
}

int tune_tool::watch(
    const std::function<int(const Attempt &, const WatchLine &)> &work) {
  Attempt attempt;
  while (true) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      return work(attempt, WatchLine());
    std::fflush(nullptr);
    const pid_t parent = getpid();
    const pid_t process = fork();
    if (process == 0) {
      // If the watcher is killed, the child must end, too.
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent)
        _exit(kFailed);
      close(ends[0]);
      signal(SIGPIPE, SIG_IGN);
      std::exit(work(attempt, WatchLine(ends[1])));
    }
    close(ends[1]);
    Child child(process, ends[0]);
    if (process < 0)
      return work(attempt, WatchLine());
    child.listen();
    const std::optional<int> state = child.end();
    if (!state) {
      std::fprintf(stderr, "dnn-tune: process %d cannot be ended\n",
                   static_cast<int>(process));
      return kFailed;
    }
    if (const std::optional<int> answer = getAnswer(*state))
      return *answer;
    if (!learn(child, *state, attempt))
      return kFailed;
  }
}
