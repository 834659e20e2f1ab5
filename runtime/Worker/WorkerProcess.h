//===- WorkerProcess.h - One process that compiles -------------*- C++ -*--===//
//
// The client's side of a compile worker: its socket, its process id and the
// file of its last output. The client is somebody else's program, so nothing of
// ours may show there: no signal except that of a child's end, no descriptor
// that an exec would pass on, no wait for children that are not ours.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_WORKER_WORKERPROCESS_H
#define TESSERA_RUNTIME_WORKER_WORKERPROCESS_H

#include "runtime/Worker/Channel.h"

#include <memory>
#include <optional>
#include <sys/types.h>

namespace tessera {

/// The worker's end of the socket: its only descriptor besides 0, 1 and 2.
inline constexpr int kWorkerSocket = 3;

/// The address sanitizer maps terabytes of addresses.
inline constexpr bool kWorkersLimitMemory =
#if defined(__SANITIZE_ADDRESS__)
    false;
#elif defined(__has_feature)
    !__has_feature(address_sanitizer);
#else
    true;
#endif

/// The settings of a worker's start. Plain data.
struct WorkerSettings {
  std::string program;  ///< Path of tessera-compile-worker.
  std::string library;  ///< The compiler's; see getCompilerLibrary().
  std::string revision; ///< The compiler's required one.
  /// The limit of addresses; a worker that needs more ends. 0: no limit.
  uint64_t memoryMib = 4096;
  int niceness = 0;
  /// A worker that gets no request for this time ends by itself.
  std::chrono::milliseconds idleTime = std::chrono::minutes(5);
  /// A worker that takes longer for one request is killed.
  std::chrono::milliseconds timeLimit = std::chrono::seconds(60);
};

/// An open descriptor, closed by the destructor.
class OwnDescriptor {
public:
  OwnDescriptor() = default;
  explicit OwnDescriptor(int number) : number(number) {}
  OwnDescriptor(OwnDescriptor &&other) noexcept;
  OwnDescriptor &operator=(OwnDescriptor &&other) noexcept;
  ~OwnDescriptor();

  int get() const { return number; }

private:
  int number = -1;
};

/// The niceness of the calling thread.
int getNiceness();

/// Owns the process: the destructor ends it and waits for it. Used by one
/// thread at a time.
class WorkerProcess {
public:
  static ErrorOr<std::unique_ptr<WorkerProcess>>
  start(const WorkerSettings &settings);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess &) = delete;
  WorkerProcess &operator=(const WorkerProcess &) = delete;

  /// Waits for the first message, which the worker sends by itself.
  ErrorOr<std::string> receiveGreeting() { return receive(); }

  /// Sends one request and receives its reply. After a failure the worker has
  /// to be thrown away: NotFound if it had ended by itself before; else with
  /// how the process ended ("died of SIGSEGV", "took longer than 60 s") and
  /// what it wrote last: ResourceExhausted if something outside has killed it,
  /// as a system short of memory does, or if that is unknown; else Unavailable.
  ErrorOr<std::string> call(std::string_view request);

  /// Whether the calling process started it, and is not a fork of that process.
  bool isOurs() const;

  /// The niceness of the thread that started it, which it has inherited and
  /// cannot lower.
  int getNiceness() const { return niceness; }

  /// Whether the worker is alive and waits for a request.
  bool isWaiting() const;

  /// What the worker has written to its outputs since the last call.
  std::string takeOutput();

private:
  WorkerProcess(OwnDescriptor socket, OwnDescriptor output, pid_t process,
                std::chrono::milliseconds timeLimit);
  ErrorOr<std::string> receive();
  Status explain(const Status &failure);
  std::optional<int> end();

  OwnDescriptor socket;
  OwnDescriptor output; ///< A file in memory.
  const pid_t process;
  const pid_t owner; ///< The process that started it.
  const int niceness;
  const std::chrono::milliseconds timeLimit;
  bool isWaitedFor = false;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_WORKER_WORKERPROCESS_H
