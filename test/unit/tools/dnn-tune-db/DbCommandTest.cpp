//===- DbCommandTest.cpp - dnn-tune db: look after the databases ----------===//

#include "tools/dnn-tune/DbCommand.h"

#include "runtime/Db/KernelDatabase.h"
#include "runtime/Db/PerfDatabase.h"

#include "runtime/DriverCommand/DriverCommand.h"
#include "test/unit/Support/OpenFile.h"
#include "test/unit/Support/SampleKernel.h"
#include "test/unit/Support/TemporaryDirectory.h"

#include "runtime/Base/Problem.h"

#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::test;
using namespace tessera::tune_tool;

namespace {
struct DbCommand : testing::Test {
  TemporaryDirectory folder;
  const std::string home = folder.get("home");
  const std::string file = home + "/kernels.db";
  const std::string problem = Problem().toNetworkConfig();
  std::string out, err; ///< Output of the last run.

  DbCommand() {
    setenv("MIOPEN_CUSTOM_CACHE_DIR", home.c_str(), 1);
    setenv("TESSERA_SYSTEM_DB", folder.get("packages").c_str(), 1);
    std::filesystem::create_directories(folder.get("packages"));
  }
  ~DbCommand() override {
    unsetenv("MIOPEN_CUSTOM_CACHE_DIR");
    unsetenv("TESSERA_SYSTEM_DB");
  }

  int run(const std::vector<std::string> &words) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int status = runDatabaseCommand(words, "r1");
    out = testing::internal::GetCapturedStdout();
    err = testing::internal::GetCapturedStderr();
    return status;
  }

  void storeKernel(const std::string &target = "gfx942",
                   const std::string &revision = "r1") {
    KernelDatabase(openFile(home))
        .store({problem, target, revision}, makeSampleKernel());
  }
  void storeTuning(const std::string &tile, double value,
                   const std::string &failure = "") {
    Tuning tuning;
    tuning.tile = tile;
    tuning.device = "MI300X";
    tuning.value = value;
    tuning.failure = failure;
    PerfDatabase(openFile(home)).store({problem, "gfx942", 304}, tuning);
  }
  void execute(const std::string &sql) {
    ASSERT_TRUE(SqliteDatabase::open(file)->execute(sql).isOk());
  }
  void expectOut(const std::string &text) {
    EXPECT_NE(out.find(text), std::string::npos) << text << " in\n" << out;
  }
};
} // namespace

// The list has a line for each kernel and for each tuned problem, and their
// numbers.
TEST_F(DbCommand, ListsRows) {
  storeKernel();
  storeTuning("igemm-slow", 20);
  storeTuning("igemm-fast", 12.5);
  storeTuning("igemm-bad", 1, "wrong result");
  ASSERT_EQ(run({"list"}), 0) << err;
  expectOut("igemm-tile");
  expectOut("1 kernels\n");
  expectOut("12.5 us");
  expectOut("3 tried, 1 failed  igemm-fast");
  expectOut("1 problems tuned\n");
  ASSERT_EQ(run({"list", "--target", "gfx950"}), 0);
  EXPECT_EQ(out, "0 kernels\n0 problems tuned\n");
  ASSERT_EQ(run({"list", "--tunings"}), 0);
  EXPECT_EQ(out.find("kernels"), out.npos) << out;
}

// Everything that is stored for a problem is shown, however the problem is
// written.
TEST_F(DbCommand, ShowsAProblem) {
  storeKernel();
  storeTuning("igemm-fast", 12.5);
  storeTuning("igemm-bad", 1, "wrong result");
  ASSERT_EQ(run({"show", problem}), 0) << err;
  expectOut("kernel 1 for gfx942: igemm-tile\n");
  expectOut("conv, 11x12x13 workgroups of 14x15x16");
  expectOut("value      12.5 us");
  expectOut("quarantine wrong result");
  const std::string before = out;
  ASSERT_EQ(run({"show", toDriverCommand(Problem())}), 0) << err;
  EXPECT_EQ(out, before);
  execute("UPDATE kernels SET tile = 'other'");
  ASSERT_EQ(run({"show", problem}), 0);
  expectOut("DAMAGED    its checksum is wrong");
  EXPECT_EQ(run({"show", problem, "--target", "gfx950"}), 1);
  expectOut("there is no row of ");
}

// The explanation has each file that a lookup visits, why it goes on, and what
// happens then.
TEST_F(DbCommand, ExplainsAMiss) {
  EXPECT_EQ(run({"explain", problem, "--target", "gfx942"}), 1);
  expectOut("there is no " + file + " yet");
  EXPECT_FALSE(std::filesystem::exists(file)) << "asking makes nothing";
  storeKernel("gfx942", "r0");
  EXPECT_EQ(run({"explain", problem, "--target", "gfx942"}), 1);
  expectOut(problem + " for gfx942, by r1\n");
  expectOut("other revision: there are kernels of r0, but this compiler is r1");
  expectOut("made with the model's tile");
  storeTuning("igemm-fast", 12.5);
  EXPECT_EQ(run({"explain", problem, "--target", "gfx942"}), 1);
  expectOut(
      "made with igemm-fast, the best in us of the tunings of it for 304 CUs");
  EXPECT_EQ(run({"explain", problem, "--target", "gfx942", "--revision", "r0"}),
            0);
  expectOut(": found\n");
  EXPECT_EQ(run({"export", folder.get("packages/p.db")}), 0) << err;
  EXPECT_EQ(run({"explain", problem, "--target", "gfx942"}), 0);
  expectOut("packages/p.db: found\n");
}

// An export that is imported has the same rows; a second import adds nothing.
TEST_F(DbCommand, ExportsAndImports) {
  storeKernel();
  storeTuning("igemm-fast", 12.5);
  const std::string package = folder.get("out.db");
  ASSERT_EQ(run({"export", package}), 0) << err;
  expectOut("new: 1 kernels, 1 tunings\n");
  std::filesystem::remove_all(home);
  ASSERT_EQ(run({"import", package}), 0) << err;
  expectOut("new: 1 kernels, 1 tunings\n");
  ASSERT_EQ(run({"import", package}), 0) << err;
  expectOut("new: 0 kernels, 0 tunings\n");
  expectOut("older or the same: 1 kernels, 1 tunings\n");
  std::optional<Kernel> found =
      KernelDatabase(openFile(home)).find({problem, "gfx942", "r1"});
  ASSERT_TRUE(found);
  EXPECT_EQ(getStoredFields(*found), getStoredFields(makeSampleKernel()));
}

// A file may be named without a folder.
TEST_F(DbCommand, TakesRelativePaths) {
  storeKernel();
  ASSERT_EQ(run({"export", folder.get("a.db")}), 0) << err;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.getPath());
  EXPECT_EQ(run({"import", "a.db", "--file", "mine.db"}), 0) << err;
  EXPECT_EQ(run({"verify", "mine.db"}), 0) << err;
  expectOut("mine.db: 1 kernels");
  std::filesystem::current_path(before);
}

// --db also accepts the folder that dnn-tune uses.
TEST_F(DbCommand, WorksOnTheDatabaseOfAFolder) {
  storeKernel();
  setenv("MIOPEN_CUSTOM_CACHE_DIR", folder.get("absent").c_str(), 1);
  EXPECT_EQ(run({"verify"}), 2);
  EXPECT_EQ(run({"verify", "--db", home}), 0) << err;
  expectOut("1 kernels");
}

// Several files become one; a damaged one is refused.
TEST_F(DbCommand, Merges) {
  storeKernel();
  ASSERT_EQ(run({"export", folder.get("a.db")}), 0) << err;
  storeKernel("gfx950");
  ASSERT_EQ(run({"export", folder.get("b.db"), "--target", "gfx950"}), 0);
  const std::string merged = folder.get("merged.db");
  ASSERT_EQ(run({"merge", merged, folder.get("a.db"), folder.get("b.db")}), 0)
      << err;
  expectOut("new: 2 kernels, 0 tunings\n");
  folder.write("bad.db", "this is not a database, but long enough for one");
  EXPECT_EQ(run({"merge", merged, folder.get("a.db"), folder.get("bad.db")}),
            2);
  EXPECT_NE(err.find("bad.db"), err.npos) << err;
  EXPECT_EQ(run({"verify", merged}), 0) << "the old one is still there";
  expectOut("2 kernels, 1 code objects, 0 tunings, 0 faults\n");
}

// Damage is reported and gives an exit code of its own.
TEST_F(DbCommand, Verifies) {
  storeKernel();
  EXPECT_EQ(run({"verify"}), 0) << err;
  execute("UPDATE kernels SET workspace_bytes = 1");
  EXPECT_EQ(run({"verify"}), 1);
  expectOut("its checksum is wrong\n");
  expectOut("1 kernels, 1 code objects, 0 tunings, 1 faults\n");
  EXPECT_EQ(run({"verify", folder.get("absent.db")}), 2);
  EXPECT_NE(err.find("absent.db"), err.npos) << err;
}

// Kernels of old revisions are deleted.
TEST_F(DbCommand, Prunes) {
  storeKernel("gfx942", "r0");
  storeKernel("gfx942", "r1");
  ASSERT_EQ(run({"prune"}), 0) << err;
  expectOut("1 kernels deleted; ");
  ASSERT_EQ(run({"prune", "--max-mb", "0"}), 0) << err;
  expectOut("1 kernels deleted; ");
}

// A wrong command line is answered with a sentence.
TEST_F(DbCommand, RefusesWrongCommandLines) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{}, "there is no command ''"},
      {{"drop"}, "there is no command 'drop'"},
      {{"list", "x"}, "list does not take 'x'"},
      {{"show"}, "show lacks an operand"},
      {{"merge", "out.db"}, "merge lacks an operand"},
      {{"list", "--colour", "red"}, "there is no option --colour"},
      {{"list", "--db"}, "--db needs a value"},
      {{"prune", "--max-mb", "-1"}, "--max-mb takes a number of megabytes"},
      {{"prune", "--max-mb", "9999999999999999"}, "--max-mb takes a number"},
      {{"show", "conv-nonsense"}, "'conv-nonsense' names no problem"},
      {{"explain", problem, "--target", "gfx1"}, "'gfx1' is no target"},
      {{"list", "--db", "/absent"}, "cannot open '/absent/kernels.db'"},
      {{"list", "--file", "/absent/x.db"}, "cannot open '/absent/x.db'"},
      {{"list", "--db", "/dev/null"},
       "--db names the folder of a database, but '/dev/null' is a file"},
      {{"list", "--db", "a", "--file", "b"}, "--db and --file name two"},
  };
  for (const auto &[words, sentence] : cases) {
    EXPECT_EQ(run(words), 2) << sentence;
    EXPECT_NE(err.find(sentence), err.npos) << sentence << " in " << err;
    EXPECT_EQ(err.find("dnn-tune db: "), 0u) << err;
  }
  EXPECT_EQ(run({"--help"}), 0);
  expectOut("usage: dnn-tune db COMMAND");
}

// If the user has no database, a sentence says so.
TEST_F(DbCommand, NeedsAFile) {
  setenv("MIOPEN_DISABLE_CACHE", "1", 1);
  EXPECT_EQ(run({"list"}), 2);
  EXPECT_NE(err.find("name its folder with --db"), err.npos) << err;
  unsetenv("MIOPEN_DISABLE_CACHE");
}
