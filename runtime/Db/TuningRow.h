//===- TuningRow.h - A tuning as a row of a table --------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_DB_TUNINGROW_H
#define TESSERA_RUNTIME_DB_TUNINGROW_H

#include "runtime/Db/PerfDatabase.h"
#include "runtime/Db/Sqlite.h"

#include <functional>

namespace tessera {

/// Inserts or replaces the row of (key, tile, objective, device).
Status writeTuningRow(SqliteDatabase &database, const TuningKey &key,
                      const Tuning &tuning);

/// A row of the table tunings.
struct TuningRow {
  int64_t id = 0;
  bool isSound = false; ///< Whether its checksum is right.
  TuningKey key;
  Tuning tuning;
};

/// Visits the rows of `key` and `objective`, the verified ones by value, then
/// the ones in quarantine.
Status visitTuningRows(SqliteDatabase &database, const TuningKey &key,
                       Objective objective,
                       const std::function<void(const TuningRow &)> &visit);

/// Visits all rows, ordered by key.
Status visitTuningRows(SqliteDatabase &database,
                       const std::function<void(const TuningRow &)> &visit);

/// Visits each key once whose target and problem match the GLOB patterns.
Status visitTuningKeys(SqliteDatabase &database, const std::string &targets,
                       const std::string &problems,
                       const std::function<void(const TuningKey &)> &visit);

/// The row that writing `tuning` would replace, if it exists and is sound.
ErrorOr<std::optional<Tuning>> readTuningRow(SqliteDatabase &database,
                                             const TuningKey &key,
                                             const Tuning &tuning);

Status deleteTuningRow(SqliteDatabase &database, int64_t id);

} // namespace tessera

#endif // TESSERA_RUNTIME_DB_TUNINGROW_H
