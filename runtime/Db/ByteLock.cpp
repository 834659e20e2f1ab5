//===- ByteLock.cpp - A lock that dies with its owner ---------------------===//

#include "runtime/Db/ByteLock.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

using namespace tessera;
using Clock = std::chrono::steady_clock;

/// Locks or unlocks the byte without waiting. Returns the errno of the failure,
/// else 0. The lock belongs to the open file and not to the process: other
/// threads would not notice a lock of their own process.
static int setLock(int file, short type, uint64_t byte) {
  struct flock range = {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  // A lock may not reach beyond the largest offset of a file.
  range.l_start = static_cast<off_t>(byte >> 2);
  range.l_len = 1;
  return fcntl(file, F_OFD_SETLK, &range) == 0 ? 0 : errno;
}

ByteLock::ByteLock(const std::string &path, uint64_t byte,
                   std::chrono::milliseconds limit)
    : byte(byte),
      // O_NOFOLLOW: we never make such a link, so it would lead to a file of
      // somebody else.
      file(
          open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644)) {
  if (file < 0)
    return;
  const Clock::time_point end = Clock::now() + limit;
  // The lock is polled, because waiting for it could not be limited in time.
  // Most owners are done after some tens of milliseconds.
  auto pause = std::chrono::milliseconds(1);
  while (true) {
    const int failure = setLock(file, F_WRLCK, byte);
    if (failure == 0) {
      state = State::Held;
      return;
    }
    if (failure != EAGAIN && failure != EACCES && failure != EINTR)
      return;
    waited = true;
    if (Clock::now() >= end) {
      state = State::TimedOut;
      return;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(20));
  }
}

ByteLock::~ByteLock() {
  if (file < 0)
    return;
  // Closing is not enough: a child process that was forked meanwhile holds the
  // same open file.
  if (state == State::Held)
    (void)setLock(file, F_UNLCK, byte);
  close(file);
}
