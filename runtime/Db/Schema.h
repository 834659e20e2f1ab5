//===- Schema.h - The versions of our database file ------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_DB_SCHEMA_H
#define TESSERA_RUNTIME_DB_SCHEMA_H

#include "runtime/Db/Sqlite.h"

namespace tessera {

/// The scripts Schema/NNN-*.sql in order. A file whose user_version is n has
/// run the first n of them.
std::span<const std::string_view> getMigrations();

/// Migrates a file to the newest version; safe if other processes do the same
/// at the same time. NotSupported for a file of a future version, which is left
/// as it is; Internal for a file that we cannot have written.
Status migrate(SqliteDatabase &database);

/// Whether the file has the newest version, for files that may not be changed.
/// Fails like migrate(), and also with NotSupported for an old version and with
/// NotFound for a database of another program.
Status checkSchema(SqliteDatabase &database);

/// Whether migrate() may touch the file: it is ours, or has no content.
/// `hasLog`: a write-ahead log lies beside it, which was not read. NotSupported
/// for a database of another program; ok where the file cannot be read, which
/// other code reports.
Status checkOwner(SqliteDatabase &database, bool hasLog);

} // namespace tessera

#endif // TESSERA_RUNTIME_DB_SCHEMA_H
