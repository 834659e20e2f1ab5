//===- KernelDatabaseTest.cpp - Kernels that outlive the process ----------===//

#include "runtime/Db/KernelDatabase.h"

#include "test/unit/Support/OpenFile.h"
#include "test/unit/Support/SampleKernel.h"
#include "test/unit/Support/TemporaryDirectory.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

using namespace tessera;
using namespace tessera::test;

static const KernelKey kKey = {"conv-a", "gfx942", "r1"};

namespace {
struct KernelDatabaseTest : testing::Test {
  TemporaryDirectory folder;
};
} // namespace

// Every field is kept, also in another connection, as after a restart.
TEST_F(KernelDatabaseTest, KeepsKernels) {
  Kernel kernel = makeSampleKernel();
  {
    KernelDatabase database(openFile(folder.getPath()));
    EXPECT_FALSE(database.find(kKey));
    database.store(kKey, kernel);
  }
  KernelDatabase database(openFile(folder.getPath()));
  std::optional<Kernel> found = database.find(kKey);
  ASSERT_TRUE(found);
  EXPECT_EQ(getStoredFields(*found), getStoredFields(kernel));
  EXPECT_TRUE(found->stageTimes.empty());
}

// A kernel without arguments or code is kept as well.
TEST_F(KernelDatabaseTest, KeepsEmptyKernels) {
  KernelDatabase database(openFile(folder.getPath()));
  database.store(kKey, Kernel());
  std::optional<Kernel> found = database.find(kKey);
  ASSERT_TRUE(found);
  EXPECT_EQ(getStoredFields(*found), getStoredFields(Kernel()));
}

// Another problem, chip or compiler is a miss.
TEST_F(KernelDatabaseTest, MatchesTheWholeKey) {
  KernelDatabase database(openFile(folder.getPath()));
  database.store(kKey, makeSampleKernel());
  EXPECT_TRUE(database.find(kKey));
  EXPECT_FALSE(database.find({"conv-b", "gfx942", "r1"}));
  EXPECT_FALSE(database.find({"conv-a", "gfx90a", "r1"}));
  EXPECT_FALSE(database.find({"conv-a", "gfx942", "r2"}));
}

// A lookup without a compiler finds the kernels of any revision.
TEST_F(KernelDatabaseTest, FindsAnyRevisionOnRequest) {
  KernelDatabase database(openFile(folder.getPath()));
  database.store(kKey, makeSampleKernel("old"));
  database.store({"conv-a", "gfx942", "r2"}, makeSampleKernel("new"));
  std::optional<Kernel> found = database.find({"conv-a", "gfx942", ""});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->tile, "new");
}

// Of several tiles the one stored last is found, so a better one takes over.
TEST_F(KernelDatabaseTest, FindsTheTileStoredLast) {
  KernelDatabase database(openFile(folder.getPath()));
  for (const char *tile : {"first", "second", "first"}) {
    database.store(kKey, makeSampleKernel(tile));
    std::optional<Kernel> found = database.find(kKey);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->tile, tile);
  }
}

// The directory is made with its parents.
TEST_F(KernelDatabaseTest, CreatesTheDirectory) {
  KernelDatabase database(openFile(folder.get("a/b/c")));
  EXPECT_TRUE(database.isOpen());
  EXPECT_TRUE(std::filesystem::exists(folder.get("a/b/c/kernels.db")));
}

// Threads with a database each write and read the same key.
TEST_F(KernelDatabaseTest, IsSharedByThreads) {
  std::vector<std::thread> threads;
  std::atomic<int> misses = 0;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      KernelDatabase database(openFile(folder.getPath()));
      for (int round = 0; round < 20; ++round) {
        database.store(kKey, makeSampleKernel(std::to_string(i)));
        misses += !database.find(kKey);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(misses, 0);
}

/// Runs `work` in a child and returns its id.
template <typename Work>
static pid_t startChild(Work work) {
  pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  return child;
}

// Processes that begin at once create one file and write the same key.
TEST_F(KernelDatabaseTest, IsSharedByProcesses) {
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i)
    children.push_back(startChild([&] {
      KernelDatabase database(openFile(folder.getPath()));
      for (int round = 0; round < 20; ++round) {
        database.store(kKey, makeSampleKernel(std::to_string(i)));
        if (!database.find(kKey))
          _exit(1);
      }
    }));
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_TRUE(KernelDatabase(openFile(folder.getPath())).find(kKey));
}

// A process that is killed while it writes leaves a file that others can use.
TEST_F(KernelDatabaseTest, SurvivesAKilledWriter) {
  for (int delayMs : {1, 5, 20}) {
    pid_t child = startChild([&] {
      KernelDatabase database(openFile(folder.getPath()));
      Kernel large = makeSampleKernel();
      large.codeObject.resize(1 << 20, 'c');
      while (true)
        database.store(kKey, large);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(delayMs));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    KernelDatabase database(openFile(folder.getPath()));
    database.store({"conv-b", "gfx942", "r1"}, makeSampleKernel());
    EXPECT_TRUE(database.find({"conv-b", "gfx942", "r1"}));
  }
  EXPECT_FALSE(std::filesystem::exists(folder.get("kernels.db.corrupt-1")));
}
