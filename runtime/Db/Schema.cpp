//===- Schema.cpp - The versions of our database file ---------------------===//

#include "runtime/Db/Schema.h"

using namespace tessera;

/// Marks our files in SQLite's header: "Tess". Set by the first script.
static constexpr int64_t kApplicationId = 0x54657373;

static ErrorOr<int64_t> getPragma(SqliteDatabase &database, const char *sql) {
  ErrorOr<SqliteStatement> query = database.prepare(sql);
  if (!query)
    return query.getStatus();
  ErrorOr<bool> hasRow = query->step();
  if (!hasRow)
    return hasRow.getStatus();
  return query->getInt(0);
}

/// Scripts that the file has run.
static ErrorOr<int64_t> getVersion(SqliteDatabase &database) {
  ErrorOr<int64_t> version = getPragma(database, "PRAGMA user_version");
  if (!version || *version == 0)
    return version;
  ErrorOr<int64_t> id = getPragma(database, "PRAGMA application_id");
  if (!id)
    return id;
  if (*id != kApplicationId || *version < 0)
    return internalError("the file is not one of ours");
  return version;
}

/// Runs inside a transaction, so that nobody else changes the version.
static Status runMissingMigrations(SqliteDatabase &database) {
  ErrorOr<int64_t> version = getVersion(database);
  if (!version)
    return version.getStatus();
  std::span<const std::string_view> migrations = getMigrations();
  for (size_t done = *version; done < migrations.size(); ++done)
    if (Status status = database.execute(std::string(migrations[done]));
        !status.isOk())
      return status.withContext("migration " + std::to_string(done + 1));
  return database.execute("PRAGMA user_version = " +
                          std::to_string(migrations.size()));
}

Status tessera::migrate(SqliteDatabase &database) {
  ErrorOr<int64_t> version = getVersion(database);
  if (!version)
    return version.getStatus();
  int64_t newest = static_cast<int64_t>(getMigrations().size());
  if (*version > newest)
    return notSupported(
        "the file has schema version " + std::to_string(*version) +
        ", but this library knows only up to " + std::to_string(newest));
  if (*version == newest)
    return Status::ok();
  // Immediate: wait here for another process that migrates.
  if (Status status = database.execute("BEGIN IMMEDIATE"); !status.isOk())
    return status;
  Status status = runMissingMigrations(database);
  Status end = database.execute(status.isOk() ? "COMMIT" : "ROLLBACK");
  return status.isOk() ? end : status;
}
