//===- ChildProcess.h - A process that a test may kill ---------*- C++ -*-===//

#ifndef TESSERA_TEST_UNIT_SUPPORT_CHILDPROCESS_H
#define TESSERA_TEST_UNIT_SUPPORT_CHILDPROCESS_H

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <type_traits>
#include <utility>

namespace tessera::test {

/// Runs a function in a fork of the test; ended and waited for by its owner.
class ChildProcess {
public:
  /// `work` returns nothing, or the exit status.
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
  /// The other one ends what was here.
  ChildProcess &operator=(ChildProcess &&other) noexcept {
    std::swap(id, other.id);
    return *this;
  }
  ~ChildProcess() { kill(); }

  /// 0 once it has been waited for.
  pid_t getId() const { return id; }

  /// Ends it as no program can prevent.
  void kill() {
    if (id == 0)
      return;
    ::kill(id, SIGKILL);
    (void)wait();
  }

  /// What waitpid() says of it: 0 if it ended with 0, or was waited for before.
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
  pid_t id; ///< 0 once it has ended.
};

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_SUPPORT_CHILDPROCESS_H
