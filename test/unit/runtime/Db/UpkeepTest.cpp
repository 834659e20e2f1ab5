//===- UpkeepTest.cpp - Is a file sound, and not too large? ---------------===//

#include "runtime/Db/Upkeep.h"

#include "runtime/Db/KernelDatabase.h"
#include "runtime/Db/PerfDatabase.h"

#include "test/unit/Support/OpenFile.h"
#include "test/unit/Support/SampleKernel.h"
#include "test/unit/Support/TemporaryDirectory.h"

#include <gtest/gtest.h>

#include <random>

using namespace tessera;
using namespace tessera::test;

namespace {
struct Upkeep : testing::Test {
  TemporaryDirectory folder;
  std::shared_ptr<DatabaseFile> file = openFile(folder.getPath());
  KernelDatabase kernels{file};

  /// Stores a kernel of 20 KB that do not compress.
  void store(int number, const std::string &revision = "r1") {
    Kernel kernel = makeSampleKernel();
    std::minstd_rand random(number + 1);
    for (int i = 0; i < 20000; ++i)
      kernel.codeObject.push_back(static_cast<char>(random() >> 8));
    kernels.store(getKey(number, revision), kernel);
  }
  static KernelKey getKey(int number, const std::string &revision = "r1") {
    return {"conv-" + std::to_string(number), "gfx942", revision};
  }
  void execute(const std::string &sql) {
    Status status = file->run("test", [&](SqliteDatabase &database) {
      return database.execute(sql);
    });
    ASSERT_TRUE(status.isOk()) << status.getMessage();
  }
  std::vector<std::string> getFaults() {
    ErrorOr<VerifyResult> result = verifyFile(*file);
    EXPECT_TRUE(result) << result.getStatus().getMessage();
    return result->faults;
  }
};
using Faults = std::vector<std::string>;
} // namespace

// A sound file has no fault, and its rows are counted.
TEST_F(Upkeep, CountsWhatIsThere) {
  store(1);
  store(2);
  PerfDatabase(file).store({"conv-1", "gfx942", 304}, Tuning());
  ErrorOr<VerifyResult> result = verifyFile(*file);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->kernels, 2);
  EXPECT_EQ(result->codeObjects, 2);
  EXPECT_EQ(result->tunings, 1);
  EXPECT_EQ(result->faults, Faults{});
}

// Every kind of damage is named; nothing is changed.
TEST_F(Upkeep, NamesFaults) {
  store(1);
  store(2);
  store(3);
  PerfDatabase(file).store({"conv-1", "gfx942", 304}, Tuning());
  execute("UPDATE kernels SET tile = 'u' WHERE id = 1;"
          "UPDATE code_objects SET compressed = x'00' WHERE hash = "
          "(SELECT code_object FROM kernels WHERE id = 2);"
          "UPDATE tunings SET value = 1");
  const Faults faults = getFaults();
  ASSERT_EQ(faults.size(), 4u);
  EXPECT_NE(faults[0].find("code object "), std::string::npos) << faults[0];
  EXPECT_EQ(faults[1], "kernel 1 of conv-1 for gfx942: its checksum is wrong");
  EXPECT_EQ(faults[2],
            "kernel 2 of conv-2 for gfx942: its code object is damaged");
  EXPECT_EQ(faults[3], "tuning 1 of conv-1 for gfx942: its checksum is wrong");
  EXPECT_EQ(getFaults(), faults);
}

// Kernels of old revisions are deleted, those of the newest stay.
TEST_F(Upkeep, PrunesOldRevisions) {
  store(1, "r1");
  store(2, "r2");
  store(3, "r3");
  PerfDatabase(file).store({"conv-1", "gfx942", 304}, Tuning());
  ErrorOr<PruneResult> result = pruneFile(*file, {{"r1", "r3"}});
  ASSERT_TRUE(result) << result.getStatus().getMessage();
  EXPECT_EQ(result->kernels, 1);
  EXPECT_TRUE(kernels.find(getKey(1, "r1")));
  EXPECT_FALSE(kernels.find(getKey(2, "r2")));
  result = pruneFile(*file, {});
  ASSERT_TRUE(result);
  EXPECT_FALSE(kernels.find(getKey(1, "r1")));
  EXPECT_TRUE(kernels.find(getKey(3, "r3")));
  ErrorOr<VerifyResult> verified = verifyFile(*file);
  EXPECT_EQ(verified->codeObjects, 1) << "they go with their kernels";
  EXPECT_EQ(verified->tunings, 1);
  EXPECT_EQ(verified->faults, Faults{});
}

// A file that is too large loses the rows that were stored first.
TEST_F(Upkeep, PrunesToASize) {
  for (int i = 0; i < 40; ++i)
    store(i);
  ErrorOr<PruneResult> result = pruneFile(*file, {{}, 400000});
  ASSERT_TRUE(result) << result.getStatus().getMessage();
  EXPECT_GT(result->bytesBefore, 800000);
  EXPECT_LE(result->bytesAfter, 400000);
  EXPECT_GT(result->bytesAfter, 250000);
  EXPECT_GE(result->kernels, 20);
  EXPECT_FALSE(kernels.find(getKey(0)));
  EXPECT_TRUE(kernels.find(getKey(39)));
  EXPECT_EQ(getFaults(), Faults{});
}

// A size that nothing fits in empties the file and ends.
TEST_F(Upkeep, PrunesToNothing) {
  store(1);
  ErrorOr<PruneResult> result = pruneFile(*file, {{}, 1});
  ASSERT_TRUE(result) << result.getStatus().getMessage();
  EXPECT_EQ(result->kernels, 1);
}

// Replacing a kernel deletes the code object that only it used.
TEST_F(Upkeep, CodeObjectsGoWithTheirLastKernel) {
  store(1);
  kernels.store(getKey(1), makeSampleKernel());
  EXPECT_EQ(verifyFile(*file)->codeObjects, 1);
  kernels.store(getKey(2), makeSampleKernel());
  EXPECT_EQ(verifyFile(*file)->codeObjects, 1) << "two kernels share it";
  execute("DELETE FROM kernels WHERE problem = 'conv-1'");
  EXPECT_TRUE(kernels.find(getKey(2)));
}
