//===- KeepMemoryTest.cpp - Memory that a process of ours keeps -----------===//

#include "runtime/Base/KeepMemory.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tessera;

/// Pages that the process was given so far.
static long countFaults() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

/// Writes to a new block of so many bytes, gives it back, and returns how many
/// pages that took.
static long touch(size_t bytes) {
  const long before = countFaults();
  void *volatile block = malloc(bytes);
  memset(block, 1, bytes);
  free(block);
  return countFaults() - before;
}

/// The pages that the second of two blocks of `bytes` takes, in a process of
/// its own, as a share of what it writes; at most 100.
static int getNewShare(bool keeps, size_t bytes) {
  const pid_t child = fork();
  if (child == 0) {
    if (keeps)
      keepFreedMemory();
    touch(bytes);
    const long pages = static_cast<long>(bytes) / getpagesize();
    _exit(static_cast<int>(touch(bytes) * 100 / pages));
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// What is freed is used again, without a fault; without the call it goes back.
// The C library's own allocator must be there, which a sanitizer replaces, and
// its pages must be small.
TEST(KeepMemory, KeepsWhatIsFreed) {
  constexpr size_t kBlock = 8 << 20;
  if (getNewShare(/*keeps=*/false, kBlock) < 50)
    GTEST_SKIP() << "this allocator keeps what is freed";
  EXPECT_LT(getNewShare(/*keeps=*/true, kBlock), 5);
}

// A larger block than any compilation frees goes back in any case, so that a
// worker does not hold on to what one problem took.
TEST(KeepMemory, GivesLargeBlocksBack) {
  constexpr size_t kBlock = 40 << 20;
  if (getNewShare(/*keeps=*/false, kBlock) < 50)
    GTEST_SKIP() << "this allocator keeps what is freed";
  EXPECT_GE(getNewShare(/*keeps=*/true, kBlock), 50);
}
