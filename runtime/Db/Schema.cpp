//===- Schema.cpp - The versions of our database file ---------------------===//

#include "runtime/Db/Schema.h"

using namespace tessera;

/// The application id in SQLite's header that marks our files: "Tess". The
/// first script sets it.
static constexpr int64_t kApplicationId = 0x54657373;

/// The number of scripts that the file has run.
static ErrorOr<int64_t> getVersion(SqliteDatabase &database) {
  ErrorOr<int64_t> version = database.queryInt("PRAGMA user_version");
  if (!version || *version == 0)
    return version;
  ErrorOr<int64_t> id = database.queryInt("PRAGMA application_id");
  if (!id)
    return id;
  if (*id != kApplicationId || *version < 0)
    return internalError("the file is not one of ours");
  return version;
}

/// Runs inside a transaction, so that no other process changes the version.
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

static Status refuseVersion(int64_t version) {
  return notSupported("the file has schema version " + std::to_string(version) +
                      ", but this library reads version " +
                      std::to_string(getMigrations().size()));
}

Status tessera::checkSchema(SqliteDatabase &database) {
  ErrorOr<int64_t> id = database.queryInt("PRAGMA application_id");
  if (!id)
    return id.getStatus();
  if (*id != kApplicationId)
    return notFound("the file is a database of another program");
  ErrorOr<int64_t> version = getVersion(database);
  if (!version)
    return version.getStatus();
  if (*version != static_cast<int64_t>(getMigrations().size()))
    return refuseVersion(*version);
  return Status::ok();
}

Status tessera::checkOwner(SqliteDatabase &database, bool hasLog) {
  ErrorOr<int64_t> id = database.queryInt("PRAGMA application_id");
  ErrorOr<int64_t> version = database.queryInt("PRAGMA user_version");
  ErrorOr<int64_t> count =
      database.queryInt("SELECT count(*) FROM sqlite_master");
  // If the header of one of our files was overwritten, our tables are still
  // there.
  ErrorOr<int64_t> ours = database.queryInt(
      "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN "
      "('kernels', 'code_objects', 'tunings')");
  if (!id || !version || !count || !ours || *id == kApplicationId ||
      *ours == 3 || (*id == 0 && *version == 0 && *count == 0 && !hasLog))
    return Status::ok();
  return notSupported(
      "the file is a database of another program, which is left "
      "as it is; move it away, or name another folder with "
      "MIOPEN_CUSTOM_CACHE_DIR");
}

Status tessera::migrate(SqliteDatabase &database) {
  ErrorOr<int64_t> version = getVersion(database);
  if (!version)
    return version.getStatus();
  int64_t newest = static_cast<int64_t>(getMigrations().size());
  if (*version > newest)
    return refuseVersion(*version);
  if (*version == newest)
    return Status::ok();
  // An immediate transaction: it waits here for another process that migrates.
  return database.transact([&] { return runMissingMigrations(database); });
}
