//===- KernelStoreTest.cpp - All files that kernels may come from ---------===//

#include "runtime/Db/KernelStore.h"

#include "runtime/Base/Problem.h"
#include "runtime/Db/KernelRow.h"
#include "runtime/Db/PackageWriter.h"
#include "runtime/Db/Packages.h"

#include "test/unit/Support/OpenFile.h"
#include "test/unit/Support/SampleKernel.h"
#include "test/unit/Support/TemporaryDirectory.h"

#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::test;

static const KernelKey kKey = {"conv-a", "gfx942", "r1"};
static const TuningKey kTuningKey = {"conv-a", "gfx942", 304};

static Tuning makeTuning(const std::string &tile, double value,
                         const std::string &device = "MI300X") {
  Tuning tuning;
  tuning.tile = tile;
  tuning.device = device;
  tuning.value = value;
  return tuning;
}

namespace {
struct KernelStoreTest : testing::Test {
  TemporaryDirectory folder;
  const std::string home = folder.get("home");
  const std::string file = home + "/kernels.db";
  std::vector<std::string> packages;

  /// Adds a package with what `fill` writes.
  template <typename Fill>
  void addPackage(Fill fill) {
    packages.push_back(
        folder.get("p" + std::to_string(packages.size()) + ".db"));
    ErrorOr<std::unique_ptr<PackageWriter>> writer =
        PackageWriter::create(packages.back());
    ASSERT_TRUE(writer) << writer.getStatus().getMessage();
    fill(**writer);
    Status status = (*writer)->finish();
    ASSERT_TRUE(status.isOk()) << status.getMessage();
  }
  void addPackage(const KernelKey &key, const std::string &tile) {
    addPackage([&](PackageWriter &writer) {
      EXPECT_TRUE(writer.add(key, makeSampleKernel(tile)).isOk());
    });
  }

  void storeTuning(const Tuning &tuning) {
    PerfDatabase(openFile(home)).store(kTuningKey, tuning);
  }

  std::string findTile(const std::string &device = "MI300X") {
    KernelStore store(file, packages);
    std::optional<TunedTile> found =
        store.findTile(kTuningKey, Objective::MeasuredTime, device);
    return found ? found->tile.toText() : "none";
  }

  std::string find(const KernelKey &key = kKey) {
    KernelStore store(file, packages);
    std::optional<FoundKernel> found = store.find(key);
    if (!found)
      return "none";
    return (found->isFromPackage ? "package " : "user ") + found->kernel.tile;
  }

  std::vector<std::string> explain(const KernelKey &key = kKey) {
    std::vector<std::string> lines = KernelStore(file, packages).explain(key);
    for (std::string &line : lines)
      line.erase(0, line.find(": ") + 2);
    return lines;
  }
};
using Lines = std::vector<std::string>;
} // namespace

// The user's file comes first, then packages in their order.
TEST_F(KernelStoreTest, SearchesTheUsersFileFirst) {
  EXPECT_EQ(find(), "none");
  addPackage(kKey, "first");
  addPackage(kKey, "second");
  EXPECT_EQ(find(), "package first");
  KernelStore(file, packages).store(kKey, makeSampleKernel("own"));
  EXPECT_EQ(find(), "user own");
}

// A package of another compiler is used if none of this one exists; the user's
// file must be of this one.
TEST_F(KernelStoreTest, TakesOtherRevisionsFromPackagesOnly) {
  KernelStore(file, {}).store({"conv-a", "gfx942", "r0"}, makeSampleKernel());
  EXPECT_EQ(find(), "none");
  addPackage({"conv-a", "gfx942", "r0"}, "old");
  EXPECT_EQ(find(), "package old");
  addPackage(kKey, "exact");
  EXPECT_EQ(find(), "package exact");
}

// A package whose launches have another format is not used.
TEST_F(KernelStoreTest, TakesNoOtherFormat) {
  addPackage([&](PackageWriter &writer) {
    KernelRow row;
    row.key = kKey;
    row.format = kKernelFormat + 1;
    row.launches = "in another way\n";
    EXPECT_TRUE(writeKernelRow(writer.getDatabase(), row).isOk());
  });
  EXPECT_EQ(find(), "none");
  EXPECT_EQ(explain()[1],
            "other format: there are kernels of format 5, but this library "
            "launches format 4");
}

// Without a folder for the user, packages are still searched.
TEST_F(KernelStoreTest, WorksWithoutAUsersFile) {
  addPackage(kKey, "t");
  KernelStore store("", packages);
  store.store(kKey, makeSampleKernel("own"));
  EXPECT_EQ(store.find(kKey)->kernel.tile, "t");
  EXPECT_EQ(store.getClaimFile(), "");
}

// Each file says in one line why the lookup went on.
TEST_F(KernelStoreTest, ExplainsMisses) {
  EXPECT_EQ(explain(), Lines{"no row: there is no kernel for this problem"});
  KernelStore store(file, {});
  store.store({"conv-a", "gfx950", "r1"}, makeSampleKernel());
  store.store({"conv-a", "gfx90a", "r1"}, makeSampleKernel());
  EXPECT_EQ(explain(), Lines{"other target: there are kernels for gfx90a, "
                             "gfx950, but none for gfx942"});
  store.store({"conv-a", "gfx942", "r0"}, makeSampleKernel());
  EXPECT_EQ(explain(), Lines{"other revision: there are kernels of r0, but "
                             "this compiler is r1"});
  store.store(kKey, makeSampleKernel());
  EXPECT_EQ(explain(), Lines{"found"});
  EXPECT_TRUE(SqliteDatabase::open(file)
                  ->execute("UPDATE kernels SET workspace_bytes = 0 WHERE "
                            "revision = 'r1' AND target = 'gfx942'")
                  .isOk());
  EXPECT_EQ(explain(),
            Lines{"damaged: there is a kernel, but its checksum is wrong"});
  EXPECT_TRUE(
      SqliteDatabase::open(file)->execute("DELETE FROM code_objects").isOk());
  EXPECT_EQ(explain({"conv-a", "gfx942", "r0"}),
            Lines{"damaged: there is a kernel, but its code object is not in "
                  "the file"});
}

// The explanation of a closed file says why it is closed.
TEST_F(KernelStoreTest, ExplainsClosedFiles) {
  folder.write("file", "");
  packages = {folder.get("absent.db")};
  KernelStore store(folder.get("file/home/kernels.db"), packages);
  std::vector<std::string> lines = store.explain(kKey);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0].find("closed: cannot create directory"), std::string::npos)
      << lines[0];
  EXPECT_NE(lines[1].find("closed: "), std::string::npos) << lines[1];
  EXPECT_NE(lines[1].find("cannot open"), std::string::npos) << lines[1];
}

// The best tile of this device is taken, else that of another one of its kind.
TEST_F(KernelStoreTest, FindsTheBestTile) {
  EXPECT_EQ(findTile(), "none");
  storeTuning(makeTuning("igemm-slow", 9));
  storeTuning(makeTuning("igemm-fast", 5));
  storeTuning(makeTuning("igemm-other", 1, "MI300A"));
  EXPECT_EQ(findTile(), "igemm-fast");
  EXPECT_EQ(findTile("MI300A"), "igemm-other");
  EXPECT_EQ(findTile("MI325X"), "igemm-other");
}

// A package's tunings count, but not against a failure that the user's file
// has.
TEST_F(KernelStoreTest, DoesNotTakeTilesInQuarantine) {
  addPackage([&](PackageWriter &writer) {
    EXPECT_TRUE(writer.add(kTuningKey, makeTuning("igemm-bad", 1)).isOk());
    EXPECT_TRUE(writer.add(kTuningKey, makeTuning("igemm-good", 2)).isOk());
  });
  EXPECT_EQ(findTile(), "igemm-bad");
  Tuning failed = makeTuning("igemm-bad", 0, "MI300A");
  failed.failure = "wrong result";
  storeTuning(failed);
  EXPECT_EQ(findTile(), "igemm-good");
}

// A problem that was never tuned borrows from the nearest one that was, but not
// from a distant one, and not a tile that failed for itself.
TEST_F(KernelStoreTest, BorrowsFromTheNearestNeighbour) {
  auto makeKey = [](int64_t batch, uint32_t computeUnits) {
    ConvProblem problem;
    problem.batch = batch;
    return TuningKey{Problem(problem).toNetworkConfig(), "gfx942",
                     computeUnits};
  };
  auto addTile = [&](const TuningKey &key, const Tuning &tuning) {
    PerfDatabase(openFile(home)).store(key, tuning);
  };
  auto getTile = [&](const TuningKey &key) {
    KernelStore store(file, packages);
    std::optional<TunedTile> found =
        store.findTile(key, Objective::MeasuredTime, "MI300X");
    return found ? found->tile.toText() : "none";
  };
  addTile(makeKey(32, 304), makeTuning("igemm-far", 1));
  EXPECT_EQ(getTile(makeKey(8, 304)), "none") << "four times the batch";
  EXPECT_EQ(getTile(makeKey(16, 304)), "igemm-far");
  addTile(makeKey(16, 228), makeTuning("igemm-near", 9));
  EXPECT_EQ(getTile(makeKey(16, 304)), "igemm-near") << "304 / 228 < 2";
  Tuning failed = makeTuning("igemm-near", 0);
  failed.failure = "wrong result";
  addTile(makeKey(16, 304), failed);
  EXPECT_EQ(getTile(makeKey(16, 304)), "igemm-far");
  addTile(makeKey(16, 304), makeTuning("igemm-own", 99));
  EXPECT_EQ(getTile(makeKey(16, 304)), "igemm-own");
}

// A tile whose text cannot be parsed is not used.
TEST_F(KernelStoreTest, RefusesTilesThatAreNone) {
  storeTuning(makeTuning("", 1));
  testing::internal::CaptureStderr();
  EXPECT_EQ(findTile(), "none");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("is not used"),
            std::string::npos);
}

// Keys that differ in anything have separate claims; the same key has one.
TEST_F(KernelStoreTest, ClaimsAKey) {
  KernelStore first(file, {}), second(file, {});
  const auto noTime = std::chrono::milliseconds(0);
  CompileClaim claim(first, kKey, noTime);
  EXPECT_FALSE(claim.hasWaited());
  EXPECT_TRUE(CompileClaim(second, kKey, noTime).hasWaited());
  for (const KernelKey &other : {KernelKey{"conv-b", "gfx942", "r1"},
                                 KernelKey{"conv-a", "gfx950", "r1"},
                                 KernelKey{"conv-a", "gfx942", "r2"}})
    EXPECT_FALSE(CompileClaim(second, other, noTime).hasWaited());
}

// Where nothing can be locked there is no claim, and no wait.
TEST_F(KernelStoreTest, WorksWithoutClaims) {
  std::filesystem::create_directories(file + ".claims");
  KernelStore first(file, {}), second(file, {});
  first.store(kKey, makeSampleKernel());
  EXPECT_TRUE(second.find(kKey));
  CompileClaim claim(first, kKey, std::chrono::seconds(60));
  EXPECT_FALSE(
      CompileClaim(second, kKey, std::chrono::seconds(60)).hasWaited());
}

// Variables name files and folders; a folder stands for its *.db in the order
// of names.
TEST_F(KernelStoreTest, FindsPackagesThroughTheEnvironment) {
  folder.write("c.db", "");
  folder.write("b.db", "");
  folder.write("gfx90a68.HIP.fdb.txt", "");
  setenv("TESSERA_SYSTEM_DB", folder.get("c.db").c_str(), 1);
  setenv("MIOPEN_SYSTEM_DB_PATH", folder.getPath().c_str(), 1);
  std::vector<std::string> found = findPackages();
  ASSERT_GE(found.size(), 2u);
  found.resize(2); // The other packages are installed on this machine.
  EXPECT_EQ(found, (Lines{folder.get("c.db"), folder.get("b.db")}));
  setenv("MIOPEN_DISABLE_CACHE", "1", 1);
  EXPECT_TRUE(findPackages().empty());
  unsetenv("MIOPEN_DISABLE_CACHE");
  unsetenv("TESSERA_SYSTEM_DB");
  unsetenv("MIOPEN_SYSTEM_DB_PATH");
}
