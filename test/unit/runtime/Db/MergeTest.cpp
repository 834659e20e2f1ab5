//===- MergeTest.cpp - Rows from one file into another --------------------===//

#include "runtime/Db/Merge.h"

#include "runtime/Db/KernelDatabase.h"
#include "runtime/Db/KernelRow.h"
#include "runtime/Db/PerfDatabase.h"

#include "test/unit/Support/OpenFile.h"
#include "test/unit/Support/SampleKernel.h"
#include "test/unit/Support/TemporaryDirectory.h"

#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::test;
namespace fs = std::filesystem;

static const KernelKey kKey = {"conv-a", "gfx942", "r1"};
static const TuningKey kTuningKey = {"conv-a", "gfx942", 304};

static Tuning makeTuning(int64_t measuredAt, double value,
                         const std::string &failure = "") {
  Tuning tuning;
  tuning.tile = "t";
  tuning.measuredAt = measuredAt;
  tuning.value = value;
  tuning.failure = failure;
  return tuning;
}

namespace {
struct Merge : testing::Test {
  TemporaryDirectory folder;

  std::string getPath(const std::string &name) const {
    return folder.get(name) + "/kernels.db";
  }
  std::shared_ptr<DatabaseFile> open(const std::string &name) {
    return openFile(folder.get(name));
  }
  void addTuning(const std::string &name, const Tuning &tuning) {
    PerfDatabase(open(name)).store(kTuningKey, tuning);
  }
  /// Adds a kernel whose workspace distinguishes it from others of the same key
  /// and tile.
  void addKernel(const std::string &name, const KernelKey &key,
                 uint64_t workspaceBytes, int64_t storedAt,
                 const std::string &tile = "t") {
    KernelRow row;
    row.key = key;
    row.kernel.tile = tile;
    row.kernel.workspaceBytes = workspaceBytes;
    row.storedAt = storedAt;
    Status status = open(name)->run("add", [&](SqliteDatabase &database) {
      return writeKernelRow(database, row);
    });
    ASSERT_TRUE(status.isOk()) << status.getMessage();
  }

  ErrorOr<MergeResult> merge(const std::vector<std::string> &names,
                             const RowFilter &filter = {}) {
    std::vector<std::string> paths;
    for (const std::string &name : names)
      paths.push_back(getPath(name));
    return mergeIntoPackage(paths, folder.get("out.db"), filter);
  }
  std::shared_ptr<DatabaseFile> openResult() {
    return std::make_shared<DatabaseFile>(folder.get("out.db"),
                                          DatabaseFile::Use::Package);
  }
  std::vector<Tuning> getTunings() {
    return PerfDatabase(openResult()).find(kTuningKey, Objective::MeasuredTime);
  }
};
} // namespace

// The result has all rows of all files, with their code objects.
TEST_F(Merge, JoinsFiles) {
  KernelDatabase(open("a")).store(kKey, makeSampleKernel());
  KernelDatabase(open("b")).store({"conv-b", "gfx950", "r1"},
                                  makeSampleKernel());
  addTuning("b", makeTuning(1, 5));
  ErrorOr<MergeResult> result = merge({"a", "b"});
  ASSERT_TRUE(result) << result.getStatus().getMessage();
  EXPECT_EQ(result->added.kernels, 2);
  EXPECT_EQ(result->added.tunings, 1);
  KernelDatabase kernels(openResult());
  std::optional<Kernel> found = kernels.find(kKey);
  ASSERT_TRUE(found);
  EXPECT_EQ(getStoredFields(*found), getStoredFields(makeSampleKernel()));
  EXPECT_TRUE(kernels.find({"conv-b", "gfx950", "r1"}));
  EXPECT_EQ(getTunings().size(), 1u);
}

// Of two measurements the newer one wins, in whatever order the files come;
// within one second the verified one.
TEST_F(Merge, TheNewerMeasurementWins) {
  addTuning("old", makeTuning(1, 5));
  addTuning("new", makeTuning(2, 7));
  addTuning("failed", makeTuning(2, 3, "wrong result"));
  for (const std::vector<std::string> &order :
       {std::vector<std::string>{"old", "new", "failed"},
        {"failed", "new", "old"},
        {"new", "old", "failed"}}) {
    ErrorOr<MergeResult> result = merge(order);
    ASSERT_TRUE(result) << result.getStatus().getMessage();
    std::vector<Tuning> tunings = getTunings();
    ASSERT_EQ(tunings.size(), 1u);
    EXPECT_EQ(tunings[0].value, 7);
    const MergeResult &counts = *result;
    EXPECT_EQ(counts.added.tunings, 1);
    EXPECT_EQ(counts.replaced.tunings + counts.kept.tunings, 2);
  }
}

// Of two kernels of one key and tile the one stored later wins, and it is the
// one that is found among several tiles.
TEST_F(Merge, TheNewerKernelWins) {
  addKernel("old", kKey, 1, 100);
  addKernel("new", kKey, 2, 200);
  for (const std::vector<std::string> &order :
       {std::vector<std::string>{"old", "new"}, {"new", "old"}}) {
    ASSERT_TRUE(merge(order));
    EXPECT_EQ(KernelDatabase(openResult()).find(kKey)->workspaceBytes, 2u);
  }
}

// A row of an older file does not take precedence over another tile that was
// stored later.
TEST_F(Merge, KeepsTheOrderOfTiles) {
  addKernel("old", kKey, 1, 100, "earlier");
  addKernel("new", kKey, 2, 200, "later");
  ASSERT_TRUE(merge({"new", "old"}));
  EXPECT_EQ(KernelDatabase(openResult()).find(kKey)->tile, "later");
}

// Rows that the filter does not select are not merged.
TEST_F(Merge, FiltersRows) {
  addKernel("a", kKey, 1, 100);
  addKernel("a", {"conv-b", "gfx942", "r1"}, 1, 100);
  addKernel("a", {"conv-b", "gfx950", "r1"}, 1, 100);
  addTuning("a", makeTuning(1, 5));
  RowFilter filter;
  filter.target = "gfx942";
  filter.problem = "-b";
  EXPECT_EQ(merge({"a"}, filter)->added.kernels, 1);
  filter = {};
  filter.hasKernels = false;
  ErrorOr<MergeResult> result = merge({"a"}, filter);
  EXPECT_EQ(result->added.kernels, 0);
  EXPECT_EQ(result->added.tunings, 1);
}

// A damaged input is refused with a sentence that names it, and nothing is
// written.
TEST_F(Merge, RefusesDamagedInputs) {
  KernelDatabase(open("good")).store(kKey, makeSampleKernel());
  KernelDatabase(open("bad")).store(kKey, makeSampleKernel());
  ASSERT_TRUE(SqliteDatabase::open(getPath("bad"))
                  ->execute("UPDATE kernels SET workspace_bytes = 1")
                  .isOk());
  Status status = merge({"good", "bad"}).getStatus();
  EXPECT_NE(
      status.getMessage().find("bad/kernels.db is damaged: kernel 1 of "
                               "conv-a for gfx942: its checksum is wrong"),
      std::string::npos)
      << status.getMessage();
  EXPECT_FALSE(fs::exists(folder.get("out.db")));
  fs::create_directories(folder.get("garbage"));
  folder.write("garbage/kernels.db", std::string(5000, 'g'));
  EXPECT_NE(merge({"good", "garbage"}).getStatus().getMessage().find("garbage"),
            std::string::npos);
  EXPECT_NE(merge({"good", "absent"}).getStatus().getMessage().find("absent"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(folder.get("out.db")));
  EXPECT_FALSE(fs::exists(folder.get("absent")));
}

// Rows are merged into a file in use, too.
TEST_F(Merge, GoesIntoAnOpenFile) {
  KernelDatabase mine(open("mine"));
  mine.store({"conv-b", "gfx942", "r1"}, makeSampleKernel());
  KernelDatabase(open("other")).store(kKey, makeSampleKernel());
  DatabaseFile from(getPath("other"), DatabaseFile::Use::Named);
  ErrorOr<MergeResult> result = mergeFile(*open("mine"), from);
  ASSERT_TRUE(result) << result.getStatus().getMessage();
  EXPECT_TRUE(mine.find(kKey));
  EXPECT_TRUE(mine.find({"conv-b", "gfx942", "r1"}));
}
