//===- SqliteTest.cpp - SQLite behind Status and owners -------------------===//

#include "runtime/Db/Sqlite.h"

#include "test/unit/Support/TemporaryDirectory.h"

#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::test;

static SqliteDatabase open(const std::string &path) {
  ErrorOr<SqliteDatabase> database = SqliteDatabase::open(path);
  EXPECT_TRUE(database) << database.getStatus().getMessage();
  return std::move(*database);
}

// Numbers, texts and blobs are read as they were bound, including zero bytes.
TEST(Sqlite, KeepsValues) {
  SqliteDatabase database = open(":memory:");
  ASSERT_TRUE(database.execute("CREATE TABLE t (i, s TEXT, b BLOB)").isOk());
  {
    ErrorOr<SqliteStatement> insert =
        database.prepare("INSERT INTO t VALUES (?1, ?2, ?3)");
    ASSERT_TRUE(insert);
    insert->bind(1, INT64_MIN);
    insert->bind(2, std::string_view("a\0b", 3));
    insert->bindBlob(3, std::string_view("\0\xff", 2));
    ErrorOr<bool> hasRow = insert->step();
    ASSERT_TRUE(hasRow);
    EXPECT_FALSE(*hasRow);
  }
  ErrorOr<SqliteStatement> query = database.prepare("SELECT * FROM t");
  ASSERT_TRUE(query);
  ErrorOr<bool> hasRow = query->step();
  ASSERT_TRUE(hasRow && *hasRow);
  EXPECT_EQ(query->getInt(0), INT64_MIN);
  EXPECT_EQ(query->getText(1), std::string_view("a\0b", 3));
  std::span<const char> blob = query->getBlob(2);
  EXPECT_EQ(std::string(blob.begin(), blob.end()), std::string("\0\xff", 2));
  hasRow = query->step();
  ASSERT_TRUE(hasRow);
  EXPECT_FALSE(*hasRow);
}

// A statement that is kept for the next call with its text begins anew: it has
// no bindings, holds no lock, and is not shared by two that live at once.
TEST(Sqlite, KeepsStatements) {
  TemporaryDirectory folder;
  const std::string path = folder.get("a.db");
  SqliteDatabase database = open(path), other = open(path);
  ASSERT_TRUE(database
                  .execute("CREATE TABLE t (i); INSERT INTO t VALUES (1);"
                           "INSERT INTO t VALUES (2)")
                  .isOk());
  const auto prepare = [&] {
    return std::move(*database.prepare("SELECT i, ?1 FROM t ORDER BY i"));
  };
  {
    SqliteStatement first = prepare(), second = prepare();
    first.bind(1, int64_t(7));
    ASSERT_TRUE(*first.step());
    ASSERT_TRUE(*second.step());
    ASSERT_TRUE(*second.step());
    EXPECT_EQ(first.getInt(0), 1);
    EXPECT_EQ(first.getInt(1), 7);
    EXPECT_EQ(second.getInt(0), 2);
    EXPECT_EQ(second.getInt(1), 0);
  }
  EXPECT_TRUE(other.execute("INSERT INTO t VALUES (0)").isOk());
  for (int i = 0; i < 20; ++i) {
    SqliteStatement again = prepare();
    ASSERT_TRUE(*again.step());
    EXPECT_EQ(again.getInt(0), 0);
    EXPECT_EQ(again.getInt(1), 0);
    EXPECT_EQ(*database.queryInt("SELECT " + std::to_string(i)), i);
  }
}

// An empty blob is not NULL.
TEST(Sqlite, KeepsEmptyBlobs) {
  SqliteDatabase database = open(":memory:");
  ASSERT_TRUE(database.execute("CREATE TABLE t (b BLOB NOT NULL)").isOk());
  ErrorOr<SqliteStatement> insert =
      database.prepare("INSERT INTO t VALUES (?1)");
  ASSERT_TRUE(insert);
  insert->bindBlob(1, {});
  EXPECT_TRUE(insert->step());
}

// A wrong statement is reported as our own mistake, with SQLite's words.
TEST(Sqlite, ReportsMistakes) {
  SqliteDatabase database = open(":memory:");
  Status status = database.execute("SELEKT");
  EXPECT_EQ(status.getCode(), StatusCode::Internal);
  EXPECT_NE(status.getMessage().find("syntax error"), std::string::npos);
  EXPECT_EQ(database.prepare("SELECT * FROM nowhere").getStatus().getCode(),
            StatusCode::Internal);
  EXPECT_FALSE(database.isDamaged());
}

// The failure names a file that cannot be opened.
TEST(Sqlite, ReportsUnusableFiles) {
  Status status = SqliteDatabase::open("/proc/none/x.db").getStatus();
  EXPECT_EQ(status.getCode(), StatusCode::Unavailable);
  EXPECT_EQ(status.getMessage().find("cannot open '/proc/none/x.db': "), 0u)
      << status.getMessage();
}

// A file that is no database is noticed at the first statement.
TEST(Sqlite, NoticesDamage) {
  TemporaryDirectory folder;
  folder.write("x.db", std::string(5000, 'x'));
  SqliteDatabase database = open(folder.get("x.db"));
  EXPECT_FALSE(database.isDamaged());
  EXPECT_EQ(database.execute("CREATE TABLE t (i)").getCode(),
            StatusCode::Unavailable);
  EXPECT_TRUE(database.isDamaged());
}

// A connection waits for a lock only as long as it was told.
TEST(Sqlite, ReportsALockedFile) {
  TemporaryDirectory folder;
  SqliteDatabase first = open(folder.get("x.db"));
  SqliteDatabase second = open(folder.get("x.db"));
  ASSERT_TRUE(first.execute("CREATE TABLE t (i); BEGIN IMMEDIATE").isOk());
  second.setBusyTimeout(1);
  Status status = second.execute("BEGIN IMMEDIATE");
  EXPECT_EQ(status.getCode(), StatusCode::Unavailable);
  EXPECT_NE(status.getMessage().find("locked"), std::string::npos);
  EXPECT_FALSE(second.isDamaged());
}

// SQLITE_FULL is distinguished from other failures: the caller may free space.
TEST(Sqlite, ReportsAFullDisk) {
  SqliteDatabase database = open(":memory:");
  ASSERT_TRUE(
      database.execute("PRAGMA max_page_count = 2; CREATE TABLE t (b)").isOk());
  EXPECT_EQ(
      database.execute("INSERT INTO t VALUES (zeroblob(100000))").getCode(),
      StatusCode::ResourceExhausted);
}
