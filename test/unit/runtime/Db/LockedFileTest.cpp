//===- LockedFileTest.cpp - A file that another process holds -------------===//
//
// Another process may hold the file for any time: that costs a short wait, and
// what is made meanwhile reaches the file later. The last process that closes
// the file leaves nothing beside it.
//
//===----------------------------------------------------------------------===//

#include "runtime/Db/ByteLock.h"
#include "runtime/Db/KernelStore.h"

#include "test/unit/Support/ChildProcess.h"
#include "test/unit/Support/OpenFile.h"
#include "test/unit/Support/SampleKernel.h"
#include "test/unit/Support/TemporaryDirectory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

using namespace tessera;
using namespace tessera::test;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

static KernelKey makeKey(int number) {
  return {"conv-" + std::to_string(number), "gfx942", "r1"};
}

namespace {
struct LockedFile : testing::Test {
  TemporaryDirectory folder;
  const std::string file = folder.get("kernels.db");

  /// A process that has run `sql` on the file when this returns, and keeps its
  /// connection open.
  ChildProcess lockWith(const std::string &sql) {
    const std::string sign = folder.get("locked");
    fs::remove(sign);
    ChildProcess process([&] {
      ErrorOr<SqliteDatabase> database = SqliteDatabase::open(file);
      if (!database || !database->execute(sql).isOk())
        _exit(1);
      std::ofstream(sign).close();
      ChildProcess::sleepForever();
    });
    while (!fs::exists(sign))
      std::this_thread::sleep_for(1ms);
    return process;
  }

  void store(int number) {
    KernelDatabase(openFile(folder.getPath()))
        .store(makeKey(number), makeSampleKernel());
  }
  /// Whether a later process finds the kernel.
  bool isStored(int number) {
    return KernelDatabase(openFile(folder.getPath()))
        .find(makeKey(number))
        .has_value();
  }

  static void expectShort(Clock::time_point start) {
    EXPECT_LT(Clock::now() - start, 1s);
  }

  std::vector<std::string> getFiles() const {
    std::vector<std::string> names;
    for (const auto &entry : fs::directory_iterator(folder.getPath()))
      names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }
};
} // namespace

// A process that finds a file locked against readers waits for a moment, serves
// what it can read without a lock, and keeps new kernels in memory; they are
// written once the file is free.
TEST_F(LockedFile, HeldWhenOpened) {
  store(1);
  ChildProcess holder = lockWith("PRAGMA locking_mode = EXCLUSIVE;"
                                 "BEGIN EXCLUSIVE");
  testing::internal::CaptureStderr();
  const Clock::time_point start = Clock::now();
  KernelDatabase database(openFile(folder.getPath()));
  EXPECT_TRUE(database.find(makeKey(1)));
  for (int number = 2; number < 20; ++number) {
    EXPECT_FALSE(database.find(makeKey(number)));
    database.store(makeKey(number), makeSampleKernel());
  }
  expectShort(start);
  EXPECT_TRUE(database.isOpen());
  EXPECT_FALSE(database.isShared());
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said.find("Warning kernels are kept in memory for now"),
            said.find("Warning"));
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;

  holder.kill();
  std::this_thread::sleep_for(150ms);
  EXPECT_TRUE(database.find(makeKey(1)));
  EXPECT_TRUE(database.isShared());
  for (int number = 1; number < 20; ++number)
    EXPECT_TRUE(isStored(number)) << number;
}

// The same holds for a new file that is locked before it has tables.
TEST_F(LockedFile, HeldWhenNew) {
  ChildProcess holder = lockWith("BEGIN EXCLUSIVE");
  const Clock::time_point start = Clock::now();
  {
    KernelDatabase database(openFile(folder.getPath()));
    EXPECT_FALSE(database.find(makeKey(1)));
    database.store(makeKey(1), makeSampleKernel());
    expectShort(start);
    holder.kill();
  }
  EXPECT_TRUE(isStored(1));
}

// While another process writes for long, reading continues, and no kernel waits
// longer than the first one: they are written when the process ends.
TEST_F(LockedFile, HeldByAWriter) {
  store(1);
  {
    KernelDatabase database(openFile(folder.getPath()));
    ChildProcess holder = lockWith("BEGIN IMMEDIATE");
    const Clock::time_point start = Clock::now();
    for (int number = 2; number < 20; ++number) {
      database.store(makeKey(number), makeSampleKernel());
      EXPECT_TRUE(database.find(makeKey(1)));
    }
    database.remove(makeKey(2));
    expectShort(start);
  }
  EXPECT_FALSE(isStored(2));
  EXPECT_TRUE(isStored(3));
  EXPECT_TRUE(isStored(19));
}

// A process that hangs while it opens the file does not make others hang.
TEST_F(LockedFile, HeldWhileOpening) {
  store(1);
  std::optional<ByteLock> opening(std::in_place, getLockFile(file), 0, 0ms);
  ASSERT_EQ(opening->getState(), ByteLock::State::Held);
  const Clock::time_point start = Clock::now();
  KernelDatabase database(openFile(folder.getPath()));
  database.store(makeKey(2), makeSampleKernel());
  expectShort(start);
  opening.reset();
  std::this_thread::sleep_for(150ms);
  EXPECT_TRUE(database.find(makeKey(1)));
  EXPECT_TRUE(isStored(2));
}

// A process that cannot share its kernels does not let others wait for them.
TEST_F(LockedFile, NobodyWaitsForAKernel) {
  store(1);
  KernelStore open(file, {});
  EXPECT_NE(open.getClaimFile(), "");
  ChildProcess holder = lockWith("BEGIN IMMEDIATE");
  open.store(makeKey(2), makeSampleKernel());
  EXPECT_EQ(open.getClaimFile(), "");
}

// Processes that exit all at once without closing anything delete the journals;
// also those of a process that was killed.
TEST_F(LockedFile, JournalsGoWithTheLastProcess) {
  const std::vector<std::string> expected = {"kernels.db", "kernels.db.claims"};
  auto work = [&](int number) {
    auto *database = new KernelDatabase(openFile(folder.getPath()));
    database->store(makeKey(number), makeSampleKernel());
  };
  ChildProcess killed([&] {
    work(0);
    kill(getpid(), SIGKILL);
  });
  (void)killed.wait();
  EXPECT_TRUE(fs::exists(file + "-wal"));
  for (int round = 0; round < 5; ++round) {
    std::vector<ChildProcess> processes;
    for (int number = 0; number < 16; ++number)
      processes.emplace_back([&, number] {
        work(number);
        exit(0);
      });
    for (ChildProcess &process : processes)
      EXPECT_EQ(process.wait(), 0);
    ASSERT_EQ(getFiles(), expected);
  }
  EXPECT_TRUE(isStored(15));
}

// A fork that exits leaves its parent's connection alone.
TEST_F(LockedFile, AForkLeavesItsParentAlone) {
  KernelDatabase database(openFile(folder.getPath()));
  database.store(makeKey(1), makeSampleKernel());
  ChildProcess fork([] { exit(0); });
  EXPECT_EQ(fork.wait(), 0);
  EXPECT_TRUE(fs::exists(file + "-wal"));
  database.store(makeKey(2), makeSampleKernel());
  EXPECT_TRUE(isStored(2));
}
