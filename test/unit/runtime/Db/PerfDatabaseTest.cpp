//===- PerfDatabaseTest.cpp - What tuning has found -----------------------===//

#include "runtime/Db/PerfDatabase.h"

#include "runtime/Base/Problem.h"
#include "runtime/Db/DatabaseFile.h"

#include "test/unit/Support/OpenFile.h"
#include "test/unit/Support/TemporaryDirectory.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tessera;
using namespace tessera::test;

static const TuningKey kKey = {"conv-a", "gfx942", 304};

/// A tuning in which every field differs from its default.
static Tuning makeTuning(const std::string &tile, double value) {
  Tuning tuning;
  tuning.tile = tile;
  tuning.revision = "r1";
  tuning.device = "MI300X";
  tuning.value = value;
  tuning.spread = 0.125;
  tuning.modelCost = 123456.75;
  tuning.measuredAt = 1795000000;
  return tuning;
}

namespace {
struct PerfDatabaseTest : testing::Test {
  TemporaryDirectory folder;

  PerfDatabase open() { return PerfDatabase(openFile(folder.getPath())); }

  std::vector<std::string>
  getTiles(const TuningKey &key,
           Objective objective = Objective::MeasuredTime) {
    std::vector<std::string> tiles;
    for (const Tuning &tuning : open().find(key, objective))
      tiles.push_back(tuning.tile);
    return tiles;
  }

  void execute(const std::string &sql) {
    ErrorOr<SqliteDatabase> database =
        SqliteDatabase::open(folder.get("kernels.db"));
    ASSERT_TRUE(database);
    Status status = database->execute(sql);
    ASSERT_TRUE(status.isOk()) << status.getMessage();
  }
};
using Tiles = std::vector<std::string>;
} // namespace

// Every field is kept, also in another connection.
TEST_F(PerfDatabaseTest, KeepsTunings) {
  Tuning tuning = makeTuning("t", -0.0);
  tuning.objective = Objective::IssueCycles;
  tuning.failure = "wrong result at 3";
  open().store(kKey, tuning);
  std::vector<Tuning> found = open().find(kKey, Objective::IssueCycles);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].tile, "t");
  EXPECT_EQ(found[0].revision, "r1");
  EXPECT_EQ(found[0].device, "MI300X");
  EXPECT_EQ(found[0].objective, Objective::IssueCycles);
  EXPECT_EQ(found[0].value, 0);
  EXPECT_EQ(found[0].spread, 0.125);
  EXPECT_EQ(found[0].modelCost, 123456.75);
  EXPECT_EQ(found[0].measuredAt, 1795000000);
  EXPECT_EQ(found[0].failure, "wrong result at 3");
}

// The best comes first; what failed comes last, however fast it was.
TEST_F(PerfDatabaseTest, OrdersByValueWithFailuresLast) {
  PerfDatabase database = open();
  Tuning wrong = makeTuning("wrong", 1);
  wrong.failure = "wrong result";
  for (const Tuning &tuning :
       {makeTuning("slow", 9), wrong, makeTuning("fast", 2)})
    database.store(kKey, tuning);
  EXPECT_EQ(getTiles(kKey), (Tiles{"fast", "slow", "wrong"}));
}

// Measured times and estimated cycles are kept separate; so are problems, chips
// and sizes of chips.
TEST_F(PerfDatabaseTest, KeepsObjectivesAndKeysSeparate) {
  PerfDatabase database = open();
  Tuning cycles = makeTuning("cycles", 1);
  cycles.objective = Objective::IssueCycles;
  database.store(kKey, cycles);
  database.store(kKey, makeTuning("us", 2));
  EXPECT_EQ(getTiles(kKey), Tiles{"us"});
  EXPECT_EQ(getTiles(kKey, Objective::IssueCycles), Tiles{"cycles"});
  EXPECT_EQ(getTiles({"conv-b", "gfx942", 304}), Tiles{});
  EXPECT_EQ(getTiles({"conv-a", "gfx950", 304}), Tiles{});
  EXPECT_EQ(getTiles({"conv-a", "gfx942", 80}), Tiles{});
}

// A tile that is measured again has one row; one of another device has its own.
TEST_F(PerfDatabaseTest, ReplacesTheSameTileOfTheSameDevice) {
  PerfDatabase database = open();
  database.store(kKey, makeTuning("t", 5));
  database.store(kKey, makeTuning("t", 3));
  std::vector<Tuning> found = database.find(kKey, Objective::MeasuredTime);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].value, 3);
  Tuning other = makeTuning("t", 4);
  other.device = "MI300A";
  database.store(kKey, other);
  EXPECT_EQ(database.find(kKey, Objective::MeasuredTime).size(), 2u);
}

// A row that was changed by accident is deleted and reported once.
TEST_F(PerfDatabaseTest, DeletesRowsWithAWrongChecksum) {
  for (const char *change :
       {"value = 0.5", "failure = ''", "tile = 'u'", "revision = 'r2'",
        "device = 'MI325X'", "spread = 0", "model_cost = 1", "measured_at = 0",
        "checksum = checksum + 1"}) {
    Tuning tuning = makeTuning("t", 1);
    tuning.failure = "wrong result";
    open().store(kKey, tuning);
    open().store(kKey, makeTuning("sound", 2));
    execute(std::string("UPDATE tunings SET ") + change + " WHERE tile = 't'");
    testing::internal::CaptureStderr();
    EXPECT_EQ(getTiles(kKey), Tiles{"sound"}) << change;
    EXPECT_EQ(getTiles(kKey), Tiles{"sound"}) << change;
    std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(said.find("checksum"), said.rfind("checksum")) << said;
    EXPECT_NE(said.find("checksum"), std::string::npos) << said;
    execute("DELETE FROM tunings");
  }
}

// NaN is refused; the file is not blamed.
TEST_F(PerfDatabaseTest, RefusesWhatIsNotANumber) {
  PerfDatabase database = open();
  testing::internal::CaptureStderr();
  database.store(kKey, makeTuning("t", std::nan("")));
  std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("is not a number"), std::string::npos) << said;
  EXPECT_EQ(getTiles(kKey), Tiles{});
  EXPECT_FALSE(std::filesystem::exists(folder.get("kernels.db.corrupt-1")));
}

// Keys are listed once each.
TEST_F(PerfDatabaseTest, ListsKeys) {
  PerfDatabase database = open();
  const TuningKey other = {"conv-b", "gfx950", 256};
  database.store(other, makeTuning("t", 5));
  database.store(kKey, makeTuning("t", 5));
  database.store(kKey, makeTuning("u", 5));
  EXPECT_EQ(database.getKeys(), (std::vector<TuningKey>{kKey, other}));
}

// Neighbours differ only in the batch or in the size of the chip.
TEST_F(PerfDatabaseTest, ListsNeighbours) {
  PerfDatabase database = open();
  auto makeKey = [](int64_t batch, int64_t inChannels, uint32_t computeUnits) {
    ConvProblem problem;
    problem.batch = batch;
    problem.inChannels = inChannels;
    return TuningKey{Problem(problem).toNetworkConfig(), "gfx942",
                     computeUnits};
  };
  const TuningKey key = makeKey(32, 64, 304);
  const std::vector<TuningKey> neighbours = {makeKey(32, 64, 80),
                                             makeKey(64, 64, 304)};
  for (const TuningKey &other : neighbours)
    for (const char *tile : {"t", "u"})
      database.store(other, makeTuning(tile, 5));
  TuningKey ofAnotherChip = makeKey(64, 64, 304);
  ofAnotherChip.target = "gfx950";
  for (const TuningKey &other : {key, makeKey(32, 65, 304), ofAnotherChip})
    database.store(other, makeTuning("t", 5));
  EXPECT_EQ(database.getNeighbours(key), neighbours);
  EXPECT_TRUE(database.getNeighbours(kKey).empty()) << "it is no problem";
}

// A file that cannot be used costs only the tunings.
TEST_F(PerfDatabaseTest, WorksWithoutAFile) {
  folder.write("file", "");
  PerfDatabase database(openFile(folder.get("file/cache")));
  database.store(kKey, makeTuning("t", 5));
  EXPECT_TRUE(database.find(kKey, Objective::MeasuredTime).empty());
  EXPECT_TRUE(database.getKeys().empty());
  EXPECT_TRUE(database.getNeighbours(kKey).empty());
}

// checkKept() says why nothing is kept.
TEST_F(PerfDatabaseTest, SaysWhatIsNotKept) {
  PerfDatabase database = open();
  database.store(kKey, makeTuning("t", 5));
  EXPECT_TRUE(database.checkKept().isOk());

  const std::string path = folder.get("kernels.db");
  PerfDatabase read(
      std::make_shared<DatabaseFile>(path, DatabaseFile::Use::Package));
  EXPECT_EQ(read.checkKept().getMessage(),
            path + " can be read, but not written");

  folder.write("file", "no folder");
  PerfDatabase closed(
      std::make_shared<DatabaseFile>(folder.get("file") + "/kernels.db"));
  closed.store(kKey, makeTuning("t", 5));
  EXPECT_EQ(closed.checkKept().getCode(), StatusCode::Unavailable);
}
