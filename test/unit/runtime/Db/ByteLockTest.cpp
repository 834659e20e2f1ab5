//===- ByteLockTest.cpp - A lock that dies with its owner -----------------===//

#include "runtime/Db/ByteLock.h"

#include "test/unit/Support/ChildProcess.h"
#include "test/unit/Support/TemporaryDirectory.h"

#include <gtest/gtest.h>

#include <thread>

using namespace tessera;
using namespace tessera::test;
using namespace std::chrono_literals;
using State = ByteLock::State;

namespace {
struct ByteLockTest : testing::Test {
  TemporaryDirectory folder;
  const std::string path = folder.get("claims");
};
} // namespace

// The second owner gets nothing, in the same process too; another byte is free.
TEST_F(ByteLockTest, ExcludesOthers) {
  ByteLock first(path, 1000, 0ms);
  EXPECT_EQ(first.getState(), State::Held);
  EXPECT_FALSE(first.hasWaited());
  ByteLock second(path, 1000, 5ms);
  EXPECT_EQ(second.getState(), State::TimedOut);
  EXPECT_TRUE(second.hasWaited());
  EXPECT_EQ(ByteLock(path, 2000, 0ms).getState(), State::Held);
  EXPECT_EQ(ByteLock(path, ~uint64_t(0), 0ms).getState(), State::Held);
}

// A waiting owner gets the byte soon after it is free.
TEST_F(ByteLockTest, IsHandedOn) {
  auto first = std::make_unique<ByteLock>(path, 1000, 0ms);
  std::thread owner([&] {
    std::this_thread::sleep_for(30ms);
    first.reset();
  });
  ByteLock second(path, 1000, 10s);
  EXPECT_EQ(second.getState(), State::Held);
  EXPECT_TRUE(second.hasWaited());
  owner.join();
}

// A process that is killed leaves nothing behind.
TEST_F(ByteLockTest, DiesWithItsOwner) {
  ChildProcess owner([&] {
    ByteLock lock(path, 1000, 0ms);
    ChildProcess::sleepForever();
  });
  while (ByteLock(path, 1000, 0ms).getState() == State::Held)
    std::this_thread::sleep_for(1ms); // Until the child has it.
  owner.kill();
  EXPECT_EQ(ByteLock(path, 1000, 10s).getState(), State::Held);
}

// A child that was forked meanwhile, and holds the open file, does not keep the
// byte locked.
TEST_F(ByteLockTest, IsNotKeptByChildren) {
  auto lock = std::make_unique<ByteLock>(path, 1000, 0ms);
  ChildProcess bystander([] { ChildProcess::sleepForever(); });
  lock.reset();
  EXPECT_EQ(ByteLock(path, 1000, 0ms).getState(), State::Held);
}

// Without the file there is no lock, and no wait.
TEST_F(ByteLockTest, NeedsAFile) {
  ByteLock lock(folder.get("none/claims"), 1000, 60s);
  EXPECT_EQ(lock.getState(), State::Unavailable);
  EXPECT_FALSE(lock.hasWaited());
}

// The file stays empty, whatever byte is locked.
TEST_F(ByteLockTest, WritesNothing) {
  ByteLock lock(path, ~uint64_t(0), 0ms);
  EXPECT_EQ(std::filesystem::file_size(path), 0u);
}
