//===- WorkerProcess.h - One process that compiles -------------*- C++ -*-===//
//
// What the client holds of a compile worker: its socket, its process id and the
// file of its last words. The client is somebody else's program, so nothing of
// ours may show there: no signal but that of a child's end, no descriptor that
// an exec would hand on, no wait for children that are not ours.
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

/// An address sanitizer takes terabytes of addresses.
inline constexpr bool kWorkersLimitMemory =
#if defined(__SANITIZE_ADDRESS__)
    false;
#elif defined(__has_feature)
    !__has_feature(address_sanitizer);
#else
    true;
#endif

/// What a worker is started with. Plain data.
struct WorkerSettings {
  std::string program;  ///< Path of tessera-compile-worker.
  std::string library;  ///< Of the compiler; see getCompilerLibrary().
  std::string revision; ///< That the compiler must have.
  /// Of addresses; what needs more ends the worker. 0: no limit.
  uint64_t memoryMib = 4096;
  int niceness = 0;
  /// After which a worker that nobody asks ends by itself.
  std::chrono::milliseconds idleTime = std::chrono::minutes(5);
  /// For one request, after which the worker is killed.
  std::chrono::milliseconds timeLimit = std::chrono::seconds(60);
};

/// An open descriptor, closed by its owner's end.
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

/// That of the calling thread.
int getNiceness();

/// Owns the process: it is ended, waited for and forgotten with this. Used by
/// one thread at a time.
class WorkerProcess {
public:
  static ErrorOr<std::unique_ptr<WorkerProcess>>
  start(const WorkerSettings &settings);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess &) = delete;
  WorkerProcess &operator=(const WorkerProcess &) = delete;

  /// Waits for the first message, which the worker sends by itself.
  ErrorOr<std::string> receiveGreeting() { return receive(); }

  /// One request and its reply. What failed has to be thrown away: NotFound if
  /// the worker had left of its own will before; else with how the process
  /// ended ("died of SIGSEGV", "took longer than 60 s") and what it wrote last:
  /// ResourceExhausted if something outside has killed it, as a system short of
  /// memory does, or if nobody knows; else Unavailable.
  ErrorOr<std::string> call(std::string_view request);

  /// Whether the process that started it is the one that asks, and not a fork.
  bool isOurs() const;

  /// Of the thread that started it, which it has inherited and cannot shed.
  int getNiceness() const { return niceness; }

  /// Whether it is there and waits for a request.
  bool isWaiting() const;

  /// What the worker has written on its outputs since this was asked last.
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
  const pid_t owner; ///< Who started it.
  const int niceness;
  const std::chrono::milliseconds timeLimit;
  bool isWaitedFor = false;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_WORKER_WORKERPROCESS_H
