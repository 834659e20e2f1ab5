//===- WorkerProcess.cpp - One process that compiles ----------------------===//

#include "runtime/Worker/WorkerProcess.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace tessera;

extern char **environ;

OwnDescriptor::OwnDescriptor(OwnDescriptor &&other) noexcept
    : number(std::exchange(other.number, -1)) {}

OwnDescriptor &OwnDescriptor::operator=(OwnDescriptor &&other) noexcept {
  std::swap(number, other.number);
  return *this;
}

OwnDescriptor::~OwnDescriptor() {
  if (number >= 0)
    close(number);
}

//===----------------------------------------------------------------------===//
// Start
//===----------------------------------------------------------------------===//

/// Moves a descriptor beyond the standard streams, which a client may lack, and
/// beyond those that the worker will have.
static OwnDescriptor moveUp(OwnDescriptor descriptor) {
  return OwnDescriptor(
      fcntl(descriptor.get(), F_DUPFD_CLOEXEC, kWorkerSocket + 1));
}

namespace {
/// How the new process begins: with default signals, in a process group of its
/// own, so that Ctrl-C at the terminal only reaches the client, and with no
/// descriptor that is not meant for it.
class SpawnPlan {
public:
  SpawnPlan(int socket, int output) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                     O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&actions, socket, kWorkerSocket);
    posix_spawn_file_actions_addclosefrom_np(&actions, kWorkerSocket + 1);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETPGROUP);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawnattr_setpgroup(&attributes, 0);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnPlan(const SpawnPlan &) = delete;
  SpawnPlan &operator=(const SpawnPlan &) = delete;

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};
} // namespace

static Status getError(const std::string &what, int error) {
  return unavailable(what + ": " + std::strerror(error));
}

ErrorOr<std::unique_ptr<WorkerProcess>>
WorkerProcess::start(const WorkerSettings &settings) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return getError("cannot make a socket", errno);
  OwnDescriptor socket = moveUp(OwnDescriptor(ends[0]));
  OwnDescriptor theirs = moveUp(OwnDescriptor(ends[1]));
  OwnDescriptor output =
      moveUp(OwnDescriptor(memfd_create("tessera-worker", MFD_CLOEXEC)));
  if (socket.get() < 0 || theirs.get() < 0 || output.get() < 0 ||
      fcntl(output.get(), F_SETFL, O_APPEND) != 0)
    return getError("cannot make a file in memory", errno);
  std::vector<std::string> words = {settings.program,
                                    settings.library,
                                    settings.revision,
                                    std::to_string(settings.memoryMib),
                                    std::to_string(settings.niceness),
                                    std::to_string(settings.idleTime.count())};
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  SpawnPlan plan(theirs.get(), output.get());
  pid_t process = 0;
  const int error =
      posix_spawn(&process, settings.program.c_str(), &plan.actions,
                  &plan.attributes, arguments.data(), environ);
  if (error)
    return getError("cannot run " + settings.program, error);
  return std::unique_ptr<WorkerProcess>(new WorkerProcess(
      std::move(socket), std::move(output), process, settings.timeLimit));
}

WorkerProcess::WorkerProcess(OwnDescriptor socket, OwnDescriptor output,
                             pid_t process, std::chrono::milliseconds timeLimit)
    : socket(std::move(socket)), output(std::move(output)), process(process),
      owner(getpid()), niceness(tessera::getNiceness()), timeLimit(timeLimit) {}

int tessera::getNiceness() {
  // On Linux each thread has its own niceness.
  return getpriority(PRIO_PROCESS, 0);
}

WorkerProcess::~WorkerProcess() {
  if (isOurs())
    end();
}

bool WorkerProcess::isOurs() const { return owner == getpid(); }

/// A worker sends nothing without a request, so a readable socket means that it
/// has ended.
bool WorkerProcess::isWaiting() const {
  pollfd entry = {socket.get(), POLLIN, 0};
  return poll(&entry, 1, 0) == 0;
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

ErrorOr<std::string> WorkerProcess::receive() {
  ErrorOr<std::string> message = receiveMessage(
      socket.get(), std::chrono::steady_clock::now() + timeLimit);
  if (!message)
    return explain(message.getStatus());
  return message;
}

ErrorOr<std::string> WorkerProcess::call(std::string_view request) {
  // The end of a worker shows when its reply is read.
  (void)sendMessage(socket.get(), request);
  return receive();
}

std::string WorkerProcess::takeOutput() {
  constexpr off_t kMaxBytes = 2048;
  const off_t size = lseek(output.get(), 0, SEEK_END);
  if (size <= 0)
    return "";
  const off_t first = std::max<off_t>(0, size - kMaxBytes);
  std::string text(static_cast<size_t>(size - first), '\0');
  const ssize_t count = pread(output.get(), text.data(), text.size(), first);
  text.resize(static_cast<size_t>(std::max<ssize_t>(0, count)));
  // If the file cannot be emptied, its text is reported again, which does no
  // harm.
  (void)!ftruncate(output.get(), 0);
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  return text;
}

//===----------------------------------------------------------------------===//
// End
//===----------------------------------------------------------------------===//

/// Ends the process and returns its status from waitpid(); nothing if the
/// status is unknown, because the client waits for every child or ignores them.
std::optional<int> WorkerProcess::end() {
  if (std::exchange(isWaitedFor, true))
    return std::nullopt;
  int state = 0;
  pid_t waited = waitpid(process, &state, WNOHANG);
  // Until the child has been waited for, no other process can get its id.
  if (waited == 0)
    kill(process, SIGKILL);
  while (waited == 0 || (waited < 0 && errno == EINTR))
    waited = waitpid(process, &state, 0);
  if (waited != process)
    return std::nullopt;
  return state;
}

static std::string describe(std::optional<int> state) {
  if (!state)
    return "ended";
  if (!WIFSIGNALED(*state))
    return "ended with status " + std::to_string(WEXITSTATUS(*state));
  const int signal = WTERMSIG(*state);
  const char *name = sigabbrev_np(signal);
  return "died of " + (name ? "SIG" + std::string(name)
                            : "signal " + std::to_string(signal));
}

/// Whether something outside ended the process. A compiler that fails raises
/// other signals, or exits with a status. If the status is unknown, the
/// compiler is not blamed, because failures of the compiler are remembered.
static bool wasKilled(std::optional<int> state) {
  if (!state)
    return true;
  if (!WIFSIGNALED(*state))
    return false;
  static constexpr int kOfOthers[] = {SIGKILL, SIGTERM, SIGINT,  SIGHUP,
                                      SIGQUIT, SIGPWR,  SIGUSR1, SIGUSR2};
  return std::ranges::find(kOfOthers, WTERMSIG(*state)) != std::end(kOfOthers);
}

/// Says how the worker ended, of which `failure` is the first sign, and ends it
/// if it still runs.
Status WorkerProcess::explain(const Status &failure) {
  std::string what;
  StatusCode code = StatusCode::Unavailable;
  if (failure.getCode() == StatusCode::NotFound) {
    const std::optional<int> state = end();
    if (wasKilled(state))
      code = StatusCode::ResourceExhausted;
    if (state && WIFEXITED(*state) && WEXITSTATUS(*state) == 0)
      return notFound("the compile worker had nothing to do and left");
    what = describe(state);
  } else if (failure.getCode() == StatusCode::Unavailable) {
    what = "took longer than " +
           std::to_string(
               std::chrono::ceil<std::chrono::seconds>(timeLimit).count()) +
           " s";
    end();
  } else {
    what = "broke the protocol: " + failure.getMessage();
    end();
  }
  const std::string words = takeOutput();
  return Status(code, "the compile worker " + what +
                          (words.empty() ? "" : "; it said: " + words));
}
