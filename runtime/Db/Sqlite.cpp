//===- Sqlite.cpp - SQLite behind Status and owners -----------------------===//

#include "runtime/Db/Sqlite.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>
#include <vector>

#include <sqlite3.h>

using namespace tessera;

struct SqliteDatabase::Connection {
  sqlite3 *handle = nullptr;
  bool damaged = false;
  bool busy = false;

  /// Statements that nobody runs, kept because preparing one takes longer than
  /// a lookup with it.
  std::vector<sqlite3_stmt *> idle;

  ~Connection() {
    for (sqlite3_stmt *statement : idle)
      sqlite3_finalize(statement);
    sqlite3_close_v2(handle);
  }

  /// The idle statement with that text; null if there is none.
  sqlite3_stmt *take(std::string_view sql) {
    const auto found = std::ranges::find_if(idle, [&](sqlite3_stmt *statement) {
      return sql == sqlite3_sql(statement);
    });
    if (found == idle.end())
      return nullptr;
    sqlite3_stmt *statement = *found;
    idle.erase(found);
    return statement;
  }

  /// A reset statement holds no lock.
  void giveBack(sqlite3_stmt *statement) {
    constexpr size_t kMostIdle = 8;
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    idle.push_back(statement);
    if (idle.size() <= kMostIdle)
      return;
    sqlite3_finalize(idle.front());
    idle.erase(idle.begin());
  }

  /// Returns ok, or what SQLite says about its last call.
  Status check(int result) {
    // The file ends too early, or its journal was removed together with a file
    // that was put aside. Other I/O errors are the disk's.
    const int extended = sqlite3_extended_errcode(handle);
    if (extended == SQLITE_IOERR_SHORT_READ ||
        extended == SQLITE_IOERR_DELETE_NOENT)
      damaged = true;
    switch (result & 0xff) { // The low byte is the code without its extension.
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
      return Status::ok();
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      damaged = true;
      return unavailable(getMessage());
    case SQLITE_FULL:
    case SQLITE_NOMEM:
      return {StatusCode::ResourceExhausted, getMessage()};
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
      return unavailable(getMessage() + getSystemReason());
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL: // The same for a write-ahead log.
      busy = true;
      return unavailable(getMessage());
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return unavailable(getMessage());
    default:
      return internalError(getMessage());
    }
  }

private:
  std::string getMessage() const {
    return std::string("SQLite: ") + sqlite3_errmsg(handle);
  }
  /// The reason of a failed system call: " (No such file or directory)".
  std::string getSystemReason() const {
    const int reason = sqlite3_system_errno(handle);
    return reason ? std::string(" (") + strerror(reason) + ")" : "";
  }
};

SqliteDatabase::SqliteDatabase(std::unique_ptr<Connection> connection)
    : connection(std::move(connection)) {}
SqliteDatabase::SqliteDatabase(SqliteDatabase &&) noexcept = default;
SqliteDatabase &SqliteDatabase::operator=(SqliteDatabase &&) noexcept = default;
SqliteDatabase::~SqliteDatabase() = default;

static int getFlags(SqliteAccess access) {
  switch (access) {
  case SqliteAccess::Create:
    return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  case SqliteAccess::Write:
    return SQLITE_OPEN_READWRITE;
  case SqliteAccess::Immutable:
    return SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  }
  __builtin_unreachable();
}

/// Builds "file:/a%20b?immutable=1": SQLite accepts the option only in a URI.
static std::string getImmutableUri(const std::string &path) {
  std::string uri = "file:";
  for (char c : path) {
    if (c != '%' && c != '?' && c != '#') {
      uri += c;
      continue;
    }
    constexpr char digits[] = "0123456789ABCDEF";
    uri += {'%', digits[c >> 4], digits[c & 15]};
  }
  return uri + "?immutable=1";
}

ErrorOr<SqliteDatabase> SqliteDatabase::open(const std::string &path,
                                             SqliteAccess access) {
  auto connection = std::make_unique<Connection>();
  const std::string name =
      access == SqliteAccess::Immutable ? getImmutableUri(path) : path;
  int result = sqlite3_open_v2(name.c_str(), &connection->handle,
                               getFlags(access) | SQLITE_OPEN_NOMUTEX, nullptr);
  if (Status status = connection->check(result); !status.isOk())
    return status.withContext("cannot open '" + path + "'");
  return SqliteDatabase(std::move(connection));
}

void SqliteDatabase::setBusyTimeout(int timeMs) {
  sqlite3_busy_timeout(connection->handle, timeMs);
}

Status SqliteDatabase::execute(const std::string &sql) {
  return connection->check(
      sqlite3_exec(connection->handle, sql.c_str(), nullptr, nullptr, nullptr));
}

ErrorOr<int64_t> SqliteDatabase::queryInt(const std::string &sql) {
  ErrorOr<SqliteStatement> query = prepare(sql);
  if (!query)
    return query.getStatus();
  ErrorOr<bool> hasRow = query->step();
  if (!hasRow)
    return hasRow.getStatus();
  return *hasRow ? query->getInt(0) : 0;
}

ErrorOr<SqliteStatement> SqliteDatabase::prepare(std::string_view sql) {
  if (sqlite3_stmt *idle = connection->take(sql))
    return SqliteStatement(*connection, idle);
  sqlite3_stmt *statement = nullptr;
  int result =
      sqlite3_prepare_v2(connection->handle, sql.data(),
                         static_cast<int>(sql.size()), &statement, nullptr);
  if (Status status = connection->check(result); !status.isOk())
    return status;
  return SqliteStatement(*connection, statement);
}

bool SqliteDatabase::isDamaged() const { return connection->damaged; }

bool SqliteDatabase::takeBusy() {
  return std::exchange(connection->busy, false);
}

void SqliteStatement::GiveBack::operator()(sqlite3_stmt *statement) const {
  connection->giveBack(statement);
}

// Binding fails only for a parameter that the statement lacks or for lack of
// memory; the next step reports the latter.
static void assertBound(int result) {
  assert(result != SQLITE_RANGE && "the statement has no such parameter");
  (void)result;
}

void SqliteStatement::bind(int parameter, int64_t value) {
  assertBound(sqlite3_bind_int64(statement.get(), parameter, value));
}

void SqliteStatement::bind(int parameter, double value) {
  assertBound(sqlite3_bind_double(statement.get(), parameter, value));
}

void SqliteStatement::bind(int parameter, std::string_view text) {
  assertBound(sqlite3_bind_text64(statement.get(), parameter, text.data(),
                                  text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void SqliteStatement::bindBlob(int parameter, std::span<const char> bytes) {
  // A null pointer would bind NULL instead of an empty blob.
  const char *data = bytes.empty() ? "" : bytes.data();
  assertBound(sqlite3_bind_blob64(statement.get(), parameter, data,
                                  bytes.size(), SQLITE_TRANSIENT));
}

ErrorOr<bool> SqliteStatement::step() {
  int result = sqlite3_step(statement.get());
  if (Status status = connection->check(result); !status.isOk())
    return status;
  return result == SQLITE_ROW;
}

int64_t SqliteStatement::getInt(int column) const {
  return sqlite3_column_int64(statement.get(), column);
}

double SqliteStatement::getDouble(int column) const {
  return sqlite3_column_double(statement.get(), column);
}

std::string_view SqliteStatement::getText(int column) const {
  auto *text = reinterpret_cast<const char *>(
      sqlite3_column_text(statement.get(), column));
  size_t size = sqlite3_column_bytes(statement.get(), column);
  return text ? std::string_view(text, size) : std::string_view();
}

std::span<const char> SqliteStatement::getBlob(int column) const {
  auto *bytes =
      static_cast<const char *>(sqlite3_column_blob(statement.get(), column));
  size_t size = sqlite3_column_bytes(statement.get(), column);
  return {bytes, bytes ? size : 0};
}
