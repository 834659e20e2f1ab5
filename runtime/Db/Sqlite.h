//===- Sqlite.h - SQLite behind Status and owners --------------*- C++ -*--===//
//
// As much of SQLite as our databases use. Only Sqlite.cpp includes sqlite3.h.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_DB_SQLITE_H
#define TESSERA_RUNTIME_DB_SQLITE_H

#include "runtime/Base/ErrorOr.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct sqlite3_stmt;

namespace tessera {

class SqliteStatement;

/// The access to a file.
enum class SqliteAccess {
  Create,    ///< Read and write; created if it is missing.
  Write,     ///< Read and write; must exist.
  Immutable, ///< Read a file that never changes: without locks or journals.
};

/// Owns a connection. Not for several threads at once.
///
/// Failures: ResourceExhausted when the disk is full, Unavailable when the
/// file cannot be used (locked, unreadable, damaged), else Internal.
class SqliteDatabase {
public:
  static ErrorOr<SqliteDatabase>
  open(const std::string &path, SqliteAccess access = SqliteAccess::Create);
  SqliteDatabase(SqliteDatabase &&) noexcept;
  SqliteDatabase &operator=(SqliteDatabase &&) noexcept;
  ~SqliteDatabase();

  /// How long a call waits for other connections.
  void setBusyTimeout(int timeMs);

  /// Runs statements that return nothing of interest.
  Status execute(const std::string &sql);

  /// The number that a query such as "PRAGMA user_version" gives; 0 if it
  /// gives no row.
  ErrorOr<int64_t> queryInt(const std::string &sql);

  /// Runs `work` in a transaction, which is rolled back if it fails. The
  /// transaction waits for other writers before it begins, so that what it
  /// reads stays valid.
  template <typename Work>
  Status transact(Work work) {
    if (Status status = execute("BEGIN IMMEDIATE"); !status.isOk())
      return status;
    Status status = work();
    if (status.isOk())
      status = execute("COMMIT");
    if (!status.isOk())
      (void)execute("ROLLBACK"); // Fails if SQLite has already rolled back.
    return status;
  }

  /// The statement must not outlive the database, which keeps some for the next
  /// call with the same text.
  ErrorOr<SqliteStatement> prepare(std::string_view sql);

  /// True once SQLite has found that the file is not a database.
  bool isDamaged() const;

  /// Whether a call failed since the last takeBusy() because another connection
  /// holds the file, which says nothing about the file.
  bool takeBusy();

private:
  friend class SqliteStatement;
  struct Connection;
  explicit SqliteDatabase(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection;
};

/// Owns a prepared statement. Parameters count from 1, columns from 0, as in
/// SQLite.
class SqliteStatement {
public:
  void bind(int parameter, int64_t value);
  void bind(int parameter, double value);
  void bind(int parameter, std::string_view text);
  void bindBlob(int parameter, std::span<const char> bytes);

  /// Runs up to the next row; false at the end.
  ErrorOr<bool> step();

  /// Calls `visit` at each row that is left.
  template <typename Visit>
  Status forEachRow(Visit visit) {
    while (true) {
      ErrorOr<bool> hasRow = step();
      if (!hasRow || !*hasRow)
        return hasRow.getStatus();
      visit();
    }
  }

  /// Columns of the current row. Texts and blobs are valid until the next
  /// step().
  int64_t getInt(int column) const;
  double getDouble(int column) const;
  std::string_view getText(int column) const;
  std::span<const char> getBlob(int column) const;

private:
  friend class SqliteDatabase;
  struct GiveBack {
    SqliteDatabase::Connection *connection;
    void operator()(sqlite3_stmt *statement) const;
  };
  SqliteStatement(SqliteDatabase::Connection &connection,
                  sqlite3_stmt *statement)
      : connection(&connection), statement(statement, {&connection}) {}

  SqliteDatabase::Connection *connection;
  std::unique_ptr<sqlite3_stmt, GiveBack> statement;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_DB_SQLITE_H
