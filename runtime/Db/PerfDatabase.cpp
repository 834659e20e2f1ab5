//===- PerfDatabase.cpp - What tuning has found ---------------------------===//

#include "runtime/Db/PerfDatabase.h"

#include "runtime/Base/Log.h"
#include "runtime/Base/Problem.h"
#include "runtime/Db/DatabaseFile.h"
#include "runtime/Db/TuningRow.h"

using namespace tessera;

std::string_view tessera::getName(Objective objective) {
  switch (objective) {
  case Objective::MeasuredTime:
    return "us";
  case Objective::IssueCycles:
    return "cycles";
  }
  __builtin_unreachable();
}

std::optional<Objective> tessera::parseObjective(std::string_view name) {
  for (Objective objective : {Objective::MeasuredTime, Objective::IssueCycles})
    if (name == getName(objective))
      return objective;
  return std::nullopt;
}

PerfDatabase::PerfDatabase(std::shared_ptr<DatabaseFile> file)
    : file(std::move(file)) {}

void PerfDatabase::store(const TuningKey &key, const Tuning &tuning) {
  if (!file->isWritable())
    return;
  Status status = file->write(
      "store a tuning", [key, tuning](SqliteDatabase &database) {
        return writeTuningRow(database, key, tuning);
      });
  const std::lock_guard lock(mutex);
  lastStore = std::move(status);
}

Status PerfDatabase::checkKept() {
  if (Status failure = file->getFailure(); !failure.isOk())
    return failure;
  if (!file->isWritable())
    return unavailable(file->getPath() + " can be read, but not written");
  const std::lock_guard lock(mutex);
  return lastStore.withContext(file->getPath());
}

std::vector<Tuning> PerfDatabase::find(const TuningKey &key,
                                       Objective objective) {
  std::vector<Tuning> found;
  std::vector<int64_t> wrong;
  (void)file->run("find a tuning", [&](SqliteDatabase &database) {
    found.clear();
    wrong.clear();
    return visitTuningRows(database, key, objective, [&](const TuningRow &row) {
      if (row.isSound)
        found.push_back(row.tuning);
      else
        wrong.push_back(row.id);
    });
  });
  if (wrong.empty() || !file->isWritable())
    return found;
  logMessage(LogLevel::Warning,
             "tunings with a wrong checksum are deleted: " + key.networkConfig);
  (void)file->run("delete a tuning", [&](SqliteDatabase &database) {
    for (int64_t id : wrong)
      if (Status status = deleteTuningRow(database, id); !status.isOk())
        return status;
    return Status::ok();
  });
  return found;
}

void PerfDatabase::remove(const TuningKey &key) {
  if (!file->isWritable())
    return;
  (void)file->write("delete tunings", [key](SqliteDatabase &database) {
    std::vector<int64_t> ids;
    Status status = visitTuningRows(database, [&](const TuningRow &row) {
      if (row.key == key)
        ids.push_back(row.id);
    });
    for (int64_t id : ids)
      if (status.isOk())
        status = deleteTuningRow(database, id);
    return status;
  });
}

std::vector<TuningKey> PerfDatabase::getKeys() {
  std::vector<TuningKey> keys;
  (void)file->run("list tunings", [&](SqliteDatabase &database) {
    keys.clear();
    return visitTuningKeys(database, "*", "*",
                           [&](const TuningKey &key) { keys.push_back(key); });
  });
  return keys;
}

/// A GLOB pattern that matches the problem with any batch; empty if the text is
/// no problem.
static std::string getPatternOfAnyBatch(const std::string &networkConfig) {
  ErrorOr<Problem> problem = parseNetworkConfig(networkConfig);
  if (!problem)
    return "";
  constexpr int64_t mark = 987654321; // A number that no problem has.
  if (const ConvProblem *conv = problem->getConv()) {
    ConvProblem marked = *conv;
    marked.batch = mark;
    *problem = marked;
  } else if (const PoolProblem *pool = problem->getPool()) {
    PoolProblem marked = *pool;
    marked.batch = mark;
    *problem = marked;
  } else { // No dimension of a row problem is the batch.
    return "";
  }
  std::string pattern = problem->toNetworkConfig();
  const std::string digits = std::to_string(mark);
  if (size_t at = pattern.find(digits); at != pattern.npos)
    pattern.replace(at, digits.size(), "*");
  return pattern;
}

std::vector<TuningKey> PerfDatabase::getNeighbours(const TuningKey &key) {
  std::vector<TuningKey> keys;
  const std::string pattern = getPatternOfAnyBatch(key.networkConfig);
  if (pattern.empty())
    return keys;
  (void)file->run("list tunings", [&](SqliteDatabase &database) {
    keys.clear();
    return visitTuningKeys(database, key.target, pattern,
                           [&](const TuningKey &other) {
                             if (!(other == key))
                               keys.push_back(other);
                           });
  });
  return keys;
}
