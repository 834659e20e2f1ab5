//===- Upkeep.cpp - Is a file sound, and not too large? -------------------===//

#include "runtime/Db/Upkeep.h"

#include "runtime/Db/CodeObjects.h"
#include "runtime/Db/KernelRow.h"
#include "runtime/Db/TuningRow.h"

#include <algorithm>

using namespace tessera;

//===----------------------------------------------------------------------===//
// Verifying
//===----------------------------------------------------------------------===//

/// The faults that SQLite itself finds: "ok", or a line for each.
static Status checkIntegrity(SqliteDatabase &database, VerifyResult &result) {
  ErrorOr<SqliteStatement> query =
      database.prepare("PRAGMA integrity_check(20)");
  if (!query)
    return query.getStatus();
  return query->forEachRow([&] {
    if (query->getText(0) != "ok")
      result.faults.push_back("SQLite: " + std::string(query->getText(0)));
  });
}

/// Checks all code objects, also those that no kernel names.
static Status checkCodeObjects(SqliteDatabase &database, VerifyResult &result) {
  ErrorOr<SqliteStatement> query =
      database.prepare("SELECT hash FROM code_objects ORDER BY hash");
  if (!query)
    return query.getStatus();
  return query->forEachRow([&] {
    const int64_t hash = query->getInt(0);
    ++result.codeObjects;
    if (ErrorOr<std::vector<char>> bytes = readCodeObject(database, hash);
        !bytes)
      result.faults.push_back("code object " + std::to_string(hash) +
                              " is damaged");
  });
}

static Status checkRows(SqliteDatabase &database, VerifyResult &result) {
  Status status = visitKernelRows(database, [&](KernelRow &row) {
    ++result.kernels;
    if (!row.fault.empty())
      result.faults.push_back("kernel " + std::to_string(row.id) + " of " +
                              row.key.networkConfig + " for " + row.key.target +
                              ": " + row.fault);
    return Visit::Continue;
  });
  if (!status.isOk())
    return status;
  return visitTuningRows(database, [&](const TuningRow &row) {
    ++result.tunings;
    if (!row.isSound)
      result.faults.push_back("tuning " + std::to_string(row.id) + " of " +
                              row.key.networkConfig + " for " + row.key.target +
                              ": its checksum is wrong");
  });
}

ErrorOr<VerifyResult> tessera::verifyFile(DatabaseFile &file) {
  VerifyResult result;
  Status status = file.run("verify", [&](SqliteDatabase &database) {
    result = {};
    for (auto *check : {checkIntegrity, checkCodeObjects, checkRows})
      if (Status status = check(database, result); !status.isOk()) {
        result.faults.push_back(status.getMessage());
        break;
      }
    return Status::ok();
  });
  if (!status.isOk())
    return status;
  return result;
}

//===----------------------------------------------------------------------===//
// Pruning
//===----------------------------------------------------------------------===//

static ErrorOr<int64_t> getBytes(SqliteDatabase &database) {
  ErrorOr<int64_t> pages = database.queryInt("PRAGMA page_count");
  if (!pages)
    return pages;
  ErrorOr<int64_t> size = database.queryInt("PRAGMA page_size");
  return size ? ErrorOr<int64_t>(*pages * *size) : size;
}

/// The revision of the kernel that was stored last; empty if there is none.
static ErrorOr<std::string> getNewestRevision(SqliteDatabase &database) {
  ErrorOr<SqliteStatement> query = database.prepare(
      "SELECT revision FROM kernels ORDER BY stored_at DESC, id DESC LIMIT 1");
  if (!query)
    return query.getStatus();
  ErrorOr<bool> hasRow = query->step();
  if (!hasRow)
    return hasRow.getStatus();
  return *hasRow ? std::string(query->getText(0)) : "";
}

/// Deletes the kernels of all other revisions, and code objects that no kernel
/// names.
static Status keepRevisions(SqliteDatabase &database,
                            std::vector<std::string> revisions) {
  if (revisions.empty()) {
    ErrorOr<std::string> newest = getNewestRevision(database);
    if (!newest)
      return newest.getStatus();
    revisions.push_back(*newest);
  }
  std::vector<int64_t> others;
  Status status = visitKernelRows(database, [&](KernelRow &row) {
    if (std::find(revisions.begin(), revisions.end(), row.key.revision) ==
        revisions.end())
      others.push_back(row.id);
    return Visit::Continue;
  });
  for (int64_t id : others)
    if (status.isOk())
      status = deleteKernelRow(database, id);
  if (!status.isOk())
    return status;
  return database.execute("DELETE FROM code_objects WHERE hash NOT IN "
                          "(SELECT code_object FROM kernels)");
}

/// Deletes an eighth of the kernels, those stored first.
static Status deleteOldest(SqliteDatabase &database) {
  return database.execute(
      "DELETE FROM kernels WHERE id IN (SELECT id FROM kernels "
      "ORDER BY stored_at, id LIMIT 1 + (SELECT count(*) FROM kernels) / 8)");
}

static Status shrink(SqliteDatabase &database, int64_t maxBytes) {
  while (true) {
    if (Status status = database.execute("VACUUM"); !status.isOk())
      return status;
    ErrorOr<int64_t> bytes = getBytes(database);
    if (!bytes || *bytes <= maxBytes)
      return bytes.getStatus();
    ErrorOr<int64_t> kernels =
        database.queryInt("SELECT count(*) FROM kernels");
    if (!kernels || *kernels == 0)
      return kernels.getStatus();
    if (Status status = deleteOldest(database); !status.isOk())
      return status;
  }
}

ErrorOr<PruneResult> tessera::pruneFile(DatabaseFile &file,
                                        const PruneOptions &options) {
  PruneResult result;
  auto count = [](SqliteDatabase &database, int64_t &kernels, int64_t &bytes) {
    ErrorOr<int64_t> rows = database.queryInt("SELECT count(*) FROM kernels");
    ErrorOr<int64_t> size = getBytes(database);
    if (!rows || !size)
      return rows ? size.getStatus() : rows.getStatus();
    kernels = *rows;
    bytes = *size;
    return Status::ok();
  };
  Status status = file.run("prune", [&](SqliteDatabase &database) {
    int64_t before = 0, after = 0;
    Status status = count(database, before, result.bytesBefore);
    if (status.isOk())
      status = database.transact(
          [&] { return keepRevisions(database, options.revisions); });
    if (status.isOk())
      status = shrink(database, options.maxBytes);
    if (status.isOk())
      status = count(database, after, result.bytesAfter);
    result.kernels = before - after;
    return status;
  });
  if (!status.isOk())
    return status;
  return result;
}
