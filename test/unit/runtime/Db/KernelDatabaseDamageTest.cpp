//===- KernelDatabaseDamageTest.cpp - What a bad file may not do ----------===//
//
// Whatever the file contains, opening, finding and storing end without a
// failure, and the next process finds what was stored.
//
//===----------------------------------------------------------------------===//

#include "runtime/Db/KernelDatabase.h"

#include "test/unit/Support/OpenFile.h"
#include "test/unit/Support/RandomProblem.h"
#include "test/unit/Support/SampleKernel.h"
#include "test/unit/Support/TemporaryDirectory.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace tessera;
using namespace tessera::test;
namespace fs = std::filesystem;

static const KernelKey kKey = {"conv-a", "gfx942", "r1"};

namespace {
struct KernelDatabaseDamage : testing::Test {
  TemporaryDirectory folder;
  const std::string file = folder.get("kernels.db");

  /// Makes a sound file with some kernels and no journal beside it.
  void makeFile() {
    KernelDatabase database(openFile(folder.getPath()));
    for (int i = 0; i < 20; ++i) {
      Kernel kernel = makeSampleKernel(std::to_string(i));
      kernel.codeObject.resize(3000, 'c');
      database.store({"conv-" + std::to_string(i), "gfx942", "r1"}, kernel);
    }
    database.store(kKey, makeSampleKernel());
  }

  std::string readFile(const std::string &suffix = "") const {
    std::ifstream bytes(file + suffix, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(bytes), {});
  }

  void emptyFolder() const {
    for (const fs::directory_entry &entry :
         fs::directory_iterator(folder.getPath()))
      fs::remove(entry);
  }

  bool isPutAside(int n = 1) const {
    return fs::exists(file + ".corrupt-" + std::to_string(n));
  }

  /// Checks that finding and storing work in this process and in the next one.
  void expectUsable() {
    {
      KernelDatabase database(openFile(folder.getPath()));
      EXPECT_TRUE(database.isOpen());
      (void)database.find(kKey);
      database.store(kKey, makeSampleKernel("new"));
      std::optional<Kernel> found = database.find(kKey);
      ASSERT_TRUE(found);
      EXPECT_EQ(found->tile, "new");
    }
    EXPECT_TRUE(KernelDatabase(openFile(folder.getPath())).find(kKey));
  }

  void execute(const std::string &sql) {
    ErrorOr<SqliteDatabase> database = SqliteDatabase::open(file);
    ASSERT_TRUE(database);
    Status status = database->execute(sql);
    ASSERT_TRUE(status.isOk()) << status.getMessage();
  }
};
} // namespace

// An empty file is as good as none.
TEST_F(KernelDatabaseDamage, EmptyFile) {
  folder.write("kernels.db", "");
  expectUsable();
  EXPECT_FALSE(isPutAside());
}

// A file of something else is put aside, not overwritten.
TEST_F(KernelDatabaseDamage, Garbage) {
  std::string garbage(10000, 'g');
  folder.write("kernels.db", garbage);
  expectUsable();
  EXPECT_EQ(readFile(".corrupt-1"), garbage);
}

// Each damaged file gets a name of its own.
TEST_F(KernelDatabaseDamage, GarbageTwice) {
  for (int n : {1, 2}) {
    folder.write("kernels.db", std::string(5000, 'g'));
    expectUsable();
    EXPECT_TRUE(isPutAside(n));
  }
}

// A file cut off anywhere is repaired, though the damage may show only later.
TEST_F(KernelDatabaseDamage, TruncatedFile) {
  makeFile();
  const std::string whole = readFile();
  for (double part : {0.001, 0.1, 0.3, 0.5, 0.9}) {
    emptyFolder();
    folder.write("kernels.db", whole.substr(0, whole.size() * part));
    expectUsable();
  }
}

// Bytes overwritten anywhere are repaired, and never give a wrong kernel.
TEST_F(KernelDatabaseDamage, OverwrittenBytes) {
  RandomProblem random;
  SCOPED_TRACE(testing::Message() << "TESSERA_TEST_SEED=" << random.getSeed());
  makeFile();
  const std::string whole = readFile();
  for (int round = 0; round < 50; ++round) {
    std::string spoilt = whole;
    size_t begin = random.pick(0, whole.size() - 64);
    for (size_t i = begin; i < begin + 64; ++i)
      spoilt[i] = static_cast<char>(random.pick(0, 255));
    emptyFolder();
    folder.write("kernels.db", spoilt);
    {
      KernelDatabase database(openFile(folder.getPath()));
      if (std::optional<Kernel> found = database.find(kKey))
        EXPECT_EQ(getStoredFields(*found), getStoredFields(makeSampleKernel()));
    }
    expectUsable();
  }
}

// A file that is damaged under an open connection is replaced during use.
TEST_F(KernelDatabaseDamage, SpoiltWhileOpen) {
  makeFile();
  KernelDatabase database(openFile(folder.getPath()));
  folder.write("kernels.db", std::string(fs::file_size(file), 'g'));
  database.store(kKey, makeSampleKernel("new"));
  EXPECT_TRUE(database.find(kKey));
  EXPECT_TRUE(isPutAside());
}

// Two users of one damaged file put one file aside; the second uses the first's
// new file instead of throwing it away.
TEST_F(KernelDatabaseDamage, IsMendedOnce) {
  makeFile();
  KernelDatabase first(openFile(folder.getPath())),
      second(openFile(folder.getPath()));
  folder.write("kernels.db", std::string(fs::file_size(file), 'g'));
  first.store(kKey, makeSampleKernel("new"));
  std::optional<Kernel> found = second.find(kKey);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->tile, "new");
  EXPECT_FALSE(isPutAside(2));
}

// A row whose content changed is not trusted: it is deleted, and the next one
// is found.
TEST_F(KernelDatabaseDamage, WrongChecksum) {
  for (const char *change :
       {"launches = replace(launches, ' 11 ', ' 12 ')", "scratch_bytes = 0",
        "launches = replace(launches, 'conv_sum', 'pool')",
        "launches = replace(launches, ',x,w', ',w,x')",
        "launches = replace(launches, ',x,w', ',z')", "launches = 'conv'",
        "launches = replace(launches, 'y:33554432', 'y:3')",
        "launches = replace(launches, 'y:33554432', 'y:1')",
        "launches = replace(launches, 'y:33554432', 'y:')",
        "code_object = code_object + 1", "format = format + 1",
        "stored_at = stored_at + 1", "workspace_bytes = 0",
        "checksum = checksum + 1", "tile = 'other'"}) {
    {
      KernelDatabase database(openFile(folder.getPath()));
      database.store(kKey, makeSampleKernel("old"));
      database.store(kKey, makeSampleKernel("new"));
    }
    execute(std::string("UPDATE kernels SET ") + change +
            " WHERE tile = 'new'");
    KernelDatabase database(openFile(folder.getPath()));
    std::optional<Kernel> found = database.find(kKey);
    ASSERT_TRUE(found) << change;
    EXPECT_EQ(found->tile, "old") << change;
    EXPECT_FALSE(isPutAside());
  }
}

// A row of one key under another key is not trusted either.
TEST_F(KernelDatabaseDamage, RowUnderAWrongKey) {
  makeFile();
  execute("DELETE FROM kernels WHERE problem = 'conv-1';"
          "UPDATE kernels SET problem = 'conv-1' WHERE problem = 'conv-2'");
  KernelDatabase database(openFile(folder.getPath()));
  EXPECT_FALSE(database.find({"conv-1", "gfx942", "r1"}));
}

// A file of a newer library is left as it is, and nothing is cached.
TEST_F(KernelDatabaseDamage, FutureSchema) {
  makeFile();
  execute("PRAGMA user_version = 99; UPDATE kernels SET tile = 'future'");
  {
    KernelDatabase database(openFile(folder.getPath()));
    EXPECT_FALSE(database.isOpen());
    database.store(kKey, makeSampleKernel("now"));
    EXPECT_FALSE(database.find(kKey));
  }
  execute("CREATE TABLE proof (i); INSERT INTO proof SELECT 1 WHERE 21 = "
          "(SELECT count(*) FROM kernels WHERE tile = 'future')");
  ErrorOr<SqliteDatabase> database = SqliteDatabase::open(file);
  ErrorOr<SqliteStatement> query = database->prepare("SELECT i FROM proof");
  ErrorOr<bool> hasRow = query->step();
  EXPECT_TRUE(hasRow && *hasRow) << "the rows are not as they were";
}

// Where nothing can be written there is no cache and no failure. Tests run as
// root, whom permissions do not stop, so the directory is one that cannot be
// made: its parent is a file.
TEST_F(KernelDatabaseDamage, DirectoryThatCannotBeMade) {
  folder.write("file", "");
  testing::internal::CaptureStderr();
  {
    KernelDatabase database(openFile(folder.get("file/cache")));
    EXPECT_FALSE(database.isOpen());
    for (int i = 0; i < 3; ++i) {
      database.store(kKey, makeSampleKernel());
      EXPECT_FALSE(database.find(kKey));
    }
  }
  std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("Warning kernels are not cached on disk: cannot create "
                      "directory"),
            std::string::npos)
      << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
}

// /proc refuses new files even to root: a directory that exists but cannot be
// written to.
TEST_F(KernelDatabaseDamage, ReadOnlyDirectory) {
  KernelDatabase database(openFile("/proc/self"));
  EXPECT_FALSE(database.isOpen());
  database.store(kKey, makeSampleKernel());
  EXPECT_FALSE(database.find(kKey));
}

// A directory at the path of the file can neither be opened nor replaced by
// mistake.
TEST_F(KernelDatabaseDamage, DirectoryInPlaceOfTheFile) {
  fs::create_directory(file);
  folder.write("kernels.db/precious", "");
  EXPECT_FALSE(KernelDatabase(openFile(folder.getPath())).isOpen());
  EXPECT_TRUE(fs::exists(folder.get("kernels.db/precious")));
}
