//===- TuningRow.cpp - A tuning as a row of a table -----------------------===//

#include "runtime/Db/TuningRow.h"

#include "runtime/Base/Hash.h"

#include <bit>
#include <cmath>

using namespace tessera;

// Columns of a query count from 0 in this order, parameters from 1.
#define TUNING_COLUMNS                                                         \
  "problem, target, compute_units, tile, objective, device, revision, value, " \
  "spread, model_cost, measured_at, failure, checksum"
namespace {
enum Column {
  Problem,
  Target,
  ComputeUnits,
  Tile,
  ObjectiveName,
  Device,
  Revision,
  Value,
  Spread,
  ModelCost,
  MeasuredAt,
  Failure,
  Checksum,
  Id,
};
} // namespace

static int64_t getChecksum(const TuningKey &key, const Tuning &tuning) {
  Fnv1a hash;
  hash.addField(key.networkConfig);
  hash.addField(key.target);
  hash.addField(uint64_t(key.computeUnits));
  hash.addField(tuning.tile);
  hash.addField(getName(tuning.objective));
  hash.addField(tuning.device);
  hash.addField(tuning.revision);
  for (double number : {tuning.value, tuning.spread, tuning.modelCost})
    // SQLite stores -0.0 as 0.
    hash.addField(std::bit_cast<uint64_t>(number + 0.0));
  hash.addField(static_cast<uint64_t>(tuning.measuredAt));
  hash.addField(tuning.failure);
  return static_cast<int64_t>(hash.get());
}

Status tessera::writeTuningRow(SqliteDatabase &database, const TuningKey &key,
                               const Tuning &tuning) {
  if (std::isnan(tuning.value + tuning.spread + tuning.modelCost))
    return invalidArgument("a tuning of " + key.networkConfig +
                           " is not a number"); // SQLite cannot store NaN.
  ErrorOr<SqliteStatement> insert = database.prepare(
      "INSERT OR REPLACE INTO tunings (" TUNING_COLUMNS
      ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)");
  if (!insert)
    return insert.getStatus();
  insert->bind(1 + Problem, key.networkConfig);
  insert->bind(1 + Target, key.target);
  insert->bind(1 + ComputeUnits, int64_t(key.computeUnits));
  insert->bind(1 + Tile, tuning.tile);
  insert->bind(1 + ObjectiveName, getName(tuning.objective));
  insert->bind(1 + Device, tuning.device);
  insert->bind(1 + Revision, tuning.revision);
  insert->bind(1 + Value, tuning.value);
  insert->bind(1 + Spread, tuning.spread);
  insert->bind(1 + ModelCost, tuning.modelCost);
  insert->bind(1 + MeasuredAt, tuning.measuredAt);
  insert->bind(1 + Failure, tuning.failure);
  insert->bind(1 + Checksum, getChecksum(key, tuning));
  return insert->step().getStatus();
}

static TuningRow decodeRow(const SqliteStatement &query) {
  TuningRow row;
  row.id = query.getInt(Id);
  row.key = {std::string(query.getText(Problem)),
             std::string(query.getText(Target)),
             static_cast<uint32_t>(query.getInt(ComputeUnits))};
  Tuning &tuning = row.tuning;
  tuning.tile = query.getText(Tile);
  tuning.device = query.getText(Device);
  tuning.revision = query.getText(Revision);
  tuning.value = query.getDouble(Value);
  tuning.spread = query.getDouble(Spread);
  tuning.modelCost = query.getDouble(ModelCost);
  tuning.measuredAt = query.getInt(MeasuredAt);
  tuning.failure = query.getText(Failure);
  std::optional<Objective> objective =
      parseObjective(query.getText(ObjectiveName));
  if (objective)
    tuning.objective = *objective;
  row.isSound =
      objective && query.getInt(Checksum) == getChecksum(row.key, tuning);
  return row;
}

static Status visitAll(SqliteStatement &query,
                       const std::function<void(const TuningRow &)> &visit) {
  return query.forEachRow([&] { visit(decodeRow(query)); });
}

Status
tessera::visitTuningRows(SqliteDatabase &database, const TuningKey &key,
                         Objective objective,
                         const std::function<void(const TuningRow &)> &visit) {
  ErrorOr<SqliteStatement> query = database.prepare(
      "SELECT " TUNING_COLUMNS ", id FROM tunings WHERE problem = ?1 AND "
      "target = ?2 AND compute_units = ?3 AND objective = ?4 "
      "ORDER BY failure <> '', value, id");
  if (!query)
    return query.getStatus();
  query->bind(1, key.networkConfig);
  query->bind(2, key.target);
  query->bind(3, int64_t(key.computeUnits));
  query->bind(4, getName(objective));
  return visitAll(*query, visit);
}

Status
tessera::visitTuningRows(SqliteDatabase &database,
                         const std::function<void(const TuningRow &)> &visit) {
  ErrorOr<SqliteStatement> query = database.prepare(
      "SELECT " TUNING_COLUMNS ", id FROM tunings ORDER BY problem, target, "
      "compute_units, objective, failure <> '', value, id");
  if (!query)
    return query.getStatus();
  return visitAll(*query, visit);
}

Status
tessera::visitTuningKeys(SqliteDatabase &database, const std::string &targets,
                         const std::string &problems,
                         const std::function<void(const TuningKey &)> &visit) {
  ErrorOr<SqliteStatement> query = database.prepare(
      "SELECT DISTINCT problem, target, compute_units FROM tunings "
      "WHERE problem GLOB ?2 AND target GLOB ?1 "
      "ORDER BY problem, target, compute_units");
  if (!query)
    return query.getStatus();
  query->bind(1, targets);
  query->bind(2, problems);
  return query->forEachRow([&] {
    visit({std::string(query->getText(0)), std::string(query->getText(1)),
           static_cast<uint32_t>(query->getInt(2))});
  });
}

ErrorOr<std::optional<Tuning>> tessera::readTuningRow(SqliteDatabase &database,
                                                      const TuningKey &key,
                                                      const Tuning &tuning) {
  std::optional<Tuning> found;
  Status status = visitTuningRows(
      database, key, tuning.objective, [&](const TuningRow &row) {
        if (row.isSound && row.tuning.tile == tuning.tile &&
            row.tuning.device == tuning.device)
          found = row.tuning;
      });
  if (!status.isOk())
    return status;
  return found;
}

Status tessera::deleteTuningRow(SqliteDatabase &database, int64_t id) {
  ErrorOr<SqliteStatement> statement =
      database.prepare("DELETE FROM tunings WHERE id = ?1");
  if (!statement)
    return statement.getStatus();
  statement->bind(1, id);
  return statement->step().getStatus();
}
