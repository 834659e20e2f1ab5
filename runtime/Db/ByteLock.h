//===- ByteLock.h - A lock that dies with its owner ------------*- C++ -*--===//
//
// Processes agree on who does a piece of work by locking one byte of a file
// that stays empty. The operating system drops the lock when its owner dies,
// however it dies: nothing expires, and nothing is left to clean. Threads of
// one process exclude each other too, because each lock opens the file anew.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_DB_BYTELOCK_H
#define TESSERA_RUNTIME_DB_BYTELOCK_H

#include <chrono>
#include <cstdint>
#include <string>

namespace tessera {

/// Holds one byte of a file, or says why it does not. Released by the
/// destructor; belongs to one thread.
class ByteLock {
public:
  enum class State {
    Held,
    TimedOut,    ///< Another owner held it for the whole limit.
    Unavailable, ///< No file, or a file system without locks.
  };

  /// Waits for at most `limit`. Creates the file if it does not exist; the byte
  /// may lie beyond its end.
  ByteLock(const std::string &path, uint64_t byte,
           std::chrono::milliseconds limit);
  ~ByteLock();
  ByteLock(const ByteLock &) = delete;
  ByteLock &operator=(const ByteLock &) = delete;

  State getState() const { return state; }
  /// Whether another owner held the byte at first.
  bool hasWaited() const { return waited; }

private:
  const uint64_t byte;
  const int file;
  State state = State::Unavailable;
  bool waited = false;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_DB_BYTELOCK_H
