//===- SchemaTest.cpp - The versions of our database file -----------------===//

#include "runtime/Db/Schema.h"

#include "runtime/Db/KernelDatabase.h"

#include "test/unit/Support/SampleKernel.h"
#include "test/unit/Support/TemporaryDirectory.h"

#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::test;

namespace {
struct Schema : testing::Test {
  TemporaryDirectory folder;
  SqliteDatabase database =
      std::move(*SqliteDatabase::open(folder.get("x.db")));

  int64_t getVersion() {
    ErrorOr<SqliteStatement> query = database.prepare("PRAGMA user_version");
    EXPECT_TRUE(query && query->step());
    return query->getInt(0);
  }
};
} // namespace

// A new file runs every script; a second run executes none.
TEST_F(Schema, MigratesToTheNewestVersion) {
  ASSERT_TRUE(migrate(database).isOk());
  EXPECT_EQ(getVersion(), static_cast<int64_t>(getMigrations().size()));
  EXPECT_TRUE(database.execute("SELECT problem FROM kernels").isOk());
  ASSERT_TRUE(migrate(database).isOk()) << "CREATE TABLE would fail again";
}

// A file of a newer library is refused before anything is written.
TEST_F(Schema, LeavesTheFutureAlone) {
  ASSERT_TRUE(database
                  .execute("PRAGMA application_id = 0x54657373;"
                           "PRAGMA user_version = 99")
                  .isOk());
  Status status = migrate(database);
  EXPECT_EQ(status.getCode(), StatusCode::NotSupported);
  EXPECT_NE(status.getMessage().find("schema version 99"), std::string::npos);
  EXPECT_EQ(getVersion(), 99);
  EXPECT_FALSE(database.execute("SELECT problem FROM kernels").isOk());
}

// A version in a file that is not marked as ours means nothing.
TEST_F(Schema, RefusesFilesOfOthers) {
  for (const char *version : {"1", "99", "-1"}) {
    ASSERT_TRUE(
        database.execute(std::string("PRAGMA user_version = ") + version)
            .isOk());
    EXPECT_EQ(migrate(database).getCode(), StatusCode::Internal) << version;
  }
}

// A script that fails leaves the file as it was.
TEST_F(Schema, IsAllOrNothing) {
  // The table makes the first script fail.
  ASSERT_TRUE(database.execute("CREATE TABLE kernels (other)").isOk());
  Status status = migrate(database);
  EXPECT_EQ(status.getMessage().find("migration 1: "), 0u)
      << status.getMessage();
  EXPECT_EQ(getVersion(), 0);
  EXPECT_TRUE(database.execute("BEGIN; COMMIT").isOk())
      << "no open transaction";
}

// A file of any older library becomes one of ours, without its old content.
TEST_F(Schema, MigratesOldFiles) {
  for (size_t age = 1; age < getMigrations().size(); ++age) {
    const std::string path = folder.get(std::to_string(age) + ".db");
    SqliteDatabase old = std::move(*SqliteDatabase::open(path));
    for (size_t done = 0; done < age; ++done)
      ASSERT_TRUE(old.execute(std::string(getMigrations()[done])).isOk());
    ASSERT_TRUE(
        old.execute("PRAGMA user_version = " + std::to_string(age)).isOk());
    EXPECT_EQ(checkSchema(old).getCode(), StatusCode::NotSupported);
    KernelDatabase kernels(std::make_shared<DatabaseFile>(path));
    kernels.store({"conv-a", "gfx942", "r1"}, makeSampleKernel());
    EXPECT_TRUE(kernels.find({"conv-a", "gfx942", "r1"})) << age;
    EXPECT_TRUE(checkSchema(old).isOk());
    EXPECT_FALSE(std::filesystem::exists(path + ".corrupt-1"));
  }
}

// A file that may not be changed must have the newest version and be ours.
TEST_F(Schema, IsCheckedWithoutAWrite) {
  EXPECT_EQ(checkSchema(database).getCode(), StatusCode::NotFound);
  ASSERT_TRUE(migrate(database).isOk());
  EXPECT_TRUE(checkSchema(database).isOk());
  ASSERT_TRUE(database.execute("PRAGMA user_version = 99").isOk());
  EXPECT_EQ(checkSchema(database).getCode(), StatusCode::NotSupported);
}
