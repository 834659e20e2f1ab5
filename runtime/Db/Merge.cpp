//===- Merge.cpp - Rows from one file into another ------------------------===//

#include "runtime/Db/Merge.h"

#include "runtime/Db/KernelRow.h"
#include "runtime/Db/PackageWriter.h"
#include "runtime/Db/TuningRow.h"
#include "runtime/Db/Upkeep.h"

using namespace tessera;

/// Adds one row to a counter of `kind`, by whether it was known before.
static void count(MergeResult &result, int64_t MergeCount::*kind, bool isKnown,
                  bool isBetter) {
  ++((!isKnown   ? result.added
      : isBetter ? result.replaced
                 : result.kept).*
     kind);
}

static Status mergeKernel(SqliteDatabase &into, const KernelRow &row,
                          MergeResult &result) {
  ErrorOr<std::optional<int64_t>> known = readStoredAt(into, row);
  if (!known)
    return known.getStatus();
  const bool isBetter = !*known || row.storedAt > **known;
  count(result, &MergeCount::kernels, known->has_value(), isBetter);
  return isBetter ? writeKernelRow(into, row) : Status::ok();
}

static Status mergeTuning(SqliteDatabase &into, const TuningRow &row,
                          MergeResult &result) {
  ErrorOr<std::optional<Tuning>> known =
      readTuningRow(into, row.key, row.tuning);
  if (!known)
    return known.getStatus();
  auto getRank = [](const Tuning &tuning) {
    return std::pair(tuning.measuredAt, tuning.failure.empty());
  };
  const bool isBetter = !*known || getRank(row.tuning) > getRank(**known);
  count(result, &MergeCount::tunings, known->has_value(), isBetter);
  return isBetter ? writeTuningRow(into, row.key, row.tuning) : Status::ok();
}

/// Merges the rows of `from`, which must be sound. Must be called in a
/// transaction of `into`.
static Status mergeRows(SqliteDatabase &into, SqliteDatabase &from,
                        const RowFilter &filter, MergeResult &result) {
  Status failure;
  Status status;
  if (filter.hasKernels)
    status = visitKernelRows(from, [&](KernelRow &row) {
      if (filter.matches(row.key.networkConfig, row.key.target))
        failure = mergeKernel(into, row, result);
      return failure.isOk() ? Visit::Continue : Visit::Stop;
    });
  if (filter.hasTunings && status.isOk() && failure.isOk())
    status = visitTuningRows(from, [&](const TuningRow &row) {
      if (failure.isOk() &&
          filter.matches(row.key.networkConfig, row.key.target))
        failure = mergeTuning(into, row, result);
    });
  return status.isOk() ? failure : status;
}

/// Calls `merge` with the connection to a file that is sound.
static Status
readSoundFile(DatabaseFile &from,
              const std::function<Status(SqliteDatabase &)> &merge) {
  ErrorOr<VerifyResult> verified = verifyFile(from);
  if (!verified)
    return verified.getStatus();
  if (!verified->faults.empty())
    return invalidArgument(
        from.getPath() + " is damaged: " + verified->faults.front() +
        (verified->faults.size() == 1
             ? ""
             : ", and " + std::to_string(verified->faults.size() - 1) +
                   " faults more"));
  return from.run("read rows", merge);
}

ErrorOr<MergeResult> tessera::mergeFile(DatabaseFile &into, DatabaseFile &from,
                                        const RowFilter &filter) {
  MergeResult result;
  Status status = readSoundFile(from, [&](SqliteDatabase &source) {
    return into.run("merge rows", [&](SqliteDatabase &target) {
      result = {};
      return target.transact(
          [&] { return mergeRows(target, source, filter, result); });
    });
  });
  if (!status.isOk())
    return status;
  return result;
}

ErrorOr<MergeResult>
tessera::mergeIntoPackage(const std::vector<std::string> &inputs,
                          const std::string &output, const RowFilter &filter) {
  ErrorOr<std::unique_ptr<PackageWriter>> writer =
      PackageWriter::create(output);
  if (!writer)
    return writer.getStatus();
  MergeResult result;
  for (const std::string &input : inputs) {
    DatabaseFile from(input, DatabaseFile::Use::Named);
    Status status = readSoundFile(from, [&](SqliteDatabase &source) {
      return mergeRows((*writer)->getDatabase(), source, filter, result);
    });
    if (!status.isOk())
      return status;
  }
  if (Status status = (*writer)->finish(); !status.isOk())
    return status;
  return result;
}
