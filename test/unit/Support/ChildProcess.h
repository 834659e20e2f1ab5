//===- ChildProcess.h - A process that a test may kill ---------*- C++ -*--===//

#ifndef TESSERA_TEST_UNIT_SUPPORT_CHILDPROCESS_H
#define TESSERA_TEST_UNIT_SUPPORT_CHILDPROCESS_H

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <type_traits>
#include <utility>

namespace tessera::test {

/// Runs a function in a fork of the test. The destructor kills the process and
/// waits for it.
class ChildProcess {
public:
  /// `work` returns the exit status, or nothing for 0.
  template <typename Work>
  explicit ChildProcess(Work work) : id(fork()) {
    if (id < 0)
      std::abort();
    if (id != 0)
      return;
    if constexpr (std::is_void_v<decltype(work())>) {
      work();
      _exit(0);
    } else {
      _exit(work());
    }
  }
  ChildProcess(ChildProcess &&other) noexcept
      : id(std::exchange(other.id, 0)) {}
  /// `other` takes over the process of this object and ends it.
  ChildProcess &operator=(ChildProcess &&other) noexcept {
    std::swap(id, other.id);
    return *this;
  }
  ~ChildProcess() { kill(); }

  /// Returns the process id, or 0 once the process has been waited for.
  pid_t getId() const { return id; }

  /// Ends the process by SIGKILL, which no program can catch.
  void kill() {
    if (id == 0)
      return;
    ::kill(id, SIGKILL);
    (void)wait();
  }

  /// Waits for the process and returns the status of waitpid(): 0 if it ended
  /// with 0 or was waited for before.
  int wait() {
    int status = 0;
    if (id == 0)
      return status;
    waitpid(id, &status, 0);
    id = 0;
    return status;
  }

  [[noreturn]] static void sleepForever() {
    while (true)
      pause();
  }

private:
  pid_t id; ///< 0 once the process has been waited for.
};

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_SUPPORT_CHILDPROCESS_H
