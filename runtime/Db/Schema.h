//===- Schema.h - The versions of our database file ------------*- C++ -*-===//

#ifndef TESSERA_RUNTIME_DB_SCHEMA_H
#define TESSERA_RUNTIME_DB_SCHEMA_H

#include "runtime/Db/Sqlite.h"

namespace tessera {

/// The scripts Schema/NNN-*.sql in order. A file whose user_version is n has
/// run the first n of them.
std::span<const std::string_view> getMigrations();

/// Brings a file to the newest version; safe if other processes do the same
/// at the same time. NotSupported for a file of a future version, which is
/// left as it is; Internal for a file that we cannot have written.
Status migrate(SqliteDatabase &database);

/// Whether the file has the newest version, for files that may not be changed;
/// the same failures, NotSupported for an old version too, and NotFound for a
/// database of another program.
Status checkSchema(SqliteDatabase &database);

/// Whether migrate() may touch the file: ours, or without any content.
/// `hasLog`: a write-ahead log lies beside it, which was not read.
/// NotSupported for a database of another program; ok where the file cannot be
/// read, which is for others to find.
Status checkOwner(SqliteDatabase &database, bool hasLog);

} // namespace tessera

#endif // TESSERA_RUNTIME_DB_SCHEMA_H
