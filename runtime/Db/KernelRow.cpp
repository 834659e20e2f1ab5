//===- KernelRow.cpp - A kernel as a row of a table -----------------------===//

#include "runtime/Db/KernelRow.h"

#include "runtime/Base/Hash.h"
#include "runtime/Db/CodeObjects.h"
#include "runtime/Db/KernelText.h"

#include <algorithm>
#include <ctime>
#include <sstream>

using namespace tessera;

//===----------------------------------------------------------------------===//
// Checksum
//===----------------------------------------------------------------------===//

/// The checksum covers the key too: a row under another key is as wrong as a
/// flipped bit. The code object is covered by its hash.
static int64_t getChecksum(const KernelRow &row) {
  Fnv1a hash;
  hash.addField(row.key.networkConfig);
  hash.addField(row.key.target);
  hash.addField(row.key.revision);
  hash.addField(row.kernel.tile);
  hash.addField(static_cast<uint64_t>(row.format));
  hash.addField(row.launches);
  visitColumns(row.kernel, [&](uint64_t number) { hash.addField(number); });
  hash.addField(static_cast<uint64_t>(row.codeObject));
  hash.addField(static_cast<uint64_t>(row.storedAt));
  return static_cast<int64_t>(hash.get());
}

// Columns of a query count from 0 in this order, parameters from 1.
#define KERNEL_COLUMNS                                                         \
  "problem, target, revision, tile, format, launches, code_object, "           \
  "stored_at, "                                                                \
  "checksum, workspace_bytes, vgprs, agprs, sgprs, vgpr_spills, sgpr_spills, " \
  "lds_bytes, scratch_bytes"
namespace {
enum Column {
  Problem,
  Target,
  Revision,
  Tile,
  Format,
  Launches,
  CodeObject,
  StoredAt,
  Checksum,
  FirstNumber,
};
} // namespace
static constexpr int kId = FirstNumber + 8;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The current row of `query` without its code object.
static KernelRow decodeColumns(const SqliteStatement &query) {
  KernelRow row;
  row.id = query.getInt(kId);
  row.key = {std::string(query.getText(Problem)),
             std::string(query.getText(Target)),
             std::string(query.getText(Revision))};
  row.format = query.getInt(Format);
  row.launches = query.getText(Launches);
  row.codeObject = query.getInt(CodeObject);
  row.storedAt = query.getInt(StoredAt);
  row.kernel.tile = query.getText(Tile);
  int column = FirstNumber;
  visitColumns(row.kernel, [&](auto &number) {
    number = static_cast<std::remove_reference_t<decltype(number)>>(
        query.getInt(column++));
  });
  if (query.getInt(Checksum) != getChecksum(row))
    row.fault = "its checksum is wrong";
  return row;
}

/// Adds the launches and the code object, which the columns only refer to.
static Status completeRow(SqliteDatabase &database, KernelRow &row) {
  if (!row.fault.empty())
    return Status::ok();
  if (row.format == kKernelFormat) {
    std::optional<std::vector<LaunchRecipe>> launches =
        parseLaunches(row.launches);
    if (launches)
      row.kernel.launches = std::move(*launches);
    else
      row.fault = "its launches cannot be read";
  }
  ErrorOr<std::vector<char>> bytes = readCodeObject(database, row.codeObject);
  if (bytes)
    row.kernel.codeObject = std::move(*bytes);
  else if (bytes.getStatus().getCode() == StatusCode::NotFound)
    row.fault = bytes.getStatus().getMessage();
  else
    return bytes.getStatus();
  return Status::ok();
}

static Status visitAll(SqliteDatabase &database, SqliteStatement &query,
                       const KernelVisitor &visit) {
  while (true) {
    ErrorOr<bool> hasRow = query.step();
    if (!hasRow || !*hasRow)
      return hasRow.getStatus();
    KernelRow row = decodeColumns(query);
    if (Status status = completeRow(database, row); !status.isOk())
      return status;
    if (visit(row) == Visit::Stop)
      return Status::ok();
  }
}

Status tessera::visitKernelRows(SqliteDatabase &database,
                                const KernelVisitor &visit) {
  ErrorOr<SqliteStatement> query = database.prepare(
      "SELECT " KERNEL_COLUMNS ", id FROM kernels ORDER BY stored_at, id");
  if (!query)
    return query.getStatus();
  return visitAll(database, *query, visit);
}

Status tessera::visitKernelRows(SqliteDatabase &database,
                                const std::string &networkConfig,
                                const KernelVisitor &visit) {
  ErrorOr<SqliteStatement> query = database.prepare(
      "SELECT " KERNEL_COLUMNS ", id FROM kernels WHERE problem = ?1 "
      "ORDER BY stored_at DESC, id DESC");
  if (!query)
    return query.getStatus();
  query->bind(1, networkConfig);
  return visitAll(database, *query, visit);
}

bool tessera::isAnswer(const KernelRow &row, const KernelKey &key) {
  return row.format == kKernelFormat &&
         row.key.networkConfig == key.networkConfig &&
         row.key.target == key.target &&
         (key.revision.empty() || row.key.revision == key.revision);
}

ErrorOr<Kernel> tessera::readKernelRow(SqliteDatabase &database,
                                       const KernelKey &key,
                                       std::vector<int64_t> &wrongRows) {
  ErrorOr<SqliteStatement> query = database.prepare(
      "SELECT " KERNEL_COLUMNS ", id FROM kernels WHERE problem = ?1 "
      "AND target = ?2 AND (revision = ?3 OR ?3 = '') AND format = ?4 "
      "ORDER BY stored_at DESC, id DESC");
  if (!query)
    return query.getStatus();
  query->bind(1, key.networkConfig);
  query->bind(2, key.target);
  query->bind(3, key.revision);
  query->bind(4, kKernelFormat);
  std::optional<Kernel> found;
  Status status = visitAll(database, *query, [&](KernelRow &row) {
    // A damaged index may lead to a row of another key.
    if (!row.fault.empty() || !isAnswer(row, key)) {
      wrongRows.push_back(row.id);
      return Visit::Continue;
    }
    found = std::move(row.kernel);
    return Visit::Stop;
  });
  if (!status.isOk())
    return status;
  if (!found)
    return notFound("no kernel is stored for " + key.networkConfig);
  return std::move(*found);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// The largest stored_at of the kernels that `key` selects, or 0.
static ErrorOr<int64_t> getLastTime(SqliteDatabase &database,
                                    const KernelKey &key) {
  ErrorOr<SqliteStatement> query = database.prepare(
      "SELECT max(stored_at) FROM kernels WHERE problem = ?1 AND target = ?2");
  if (!query)
    return query.getStatus();
  query->bind(1, key.networkConfig);
  query->bind(2, key.target);
  ErrorOr<bool> hasRow = query->step();
  if (!hasRow)
    return hasRow.getStatus();
  return *hasRow ? query->getInt(0) : 0;
}

/// REPLACE would not run the trigger that drops code objects, so the old row is
/// deleted first.
static Status deleteOldRow(SqliteDatabase &database, const KernelRow &row) {
  ErrorOr<SqliteStatement> statement = database.prepare(
      "DELETE FROM kernels WHERE problem = ?1 AND target = ?2 AND "
      "revision = ?3 AND tile = ?4");
  if (!statement)
    return statement.getStatus();
  statement->bind(1, row.key.networkConfig);
  statement->bind(2, row.key.target);
  statement->bind(3, row.key.revision);
  statement->bind(4, row.kernel.tile);
  return statement->step().getStatus();
}

static Status insertRow(SqliteDatabase &database, const KernelRow &row) {
  ErrorOr<SqliteStatement> insert = database.prepare(
      "INSERT INTO kernels (" KERNEL_COLUMNS ") VALUES (?1, ?2, ?3, ?4, ?5, "
      "?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)");
  if (!insert)
    return insert.getStatus();
  insert->bind(1 + Problem, row.key.networkConfig);
  insert->bind(1 + Target, row.key.target);
  insert->bind(1 + Revision, row.key.revision);
  insert->bind(1 + Tile, row.kernel.tile);
  insert->bind(1 + Format, row.format);
  insert->bind(1 + Launches, row.launches);
  insert->bind(1 + CodeObject, row.codeObject);
  insert->bind(1 + StoredAt, row.storedAt);
  insert->bind(1 + Checksum, getChecksum(row));
  int parameter = 1 + FirstNumber;
  visitColumns(row.kernel, [&](uint64_t number) {
    insert->bind(parameter++, static_cast<int64_t>(number));
  });
  return insert->step().getStatus();
}

Status tessera::writeKernelRow(SqliteDatabase &database, KernelRow row) {
  if (Status status = deleteOldRow(database, row); !status.isOk())
    return status;
  ErrorOr<int64_t> hash = writeCodeObject(database, row.kernel.codeObject);
  if (!hash)
    return hash.getStatus();
  row.codeObject = *hash;
  return insertRow(database, row);
}

Status tessera::writeKernelRow(SqliteDatabase &database, const KernelKey &key,
                               const Kernel &kernel) {
  ErrorOr<int64_t> last = getLastTime(database, key);
  if (!last)
    return last.getStatus();
  KernelRow row;
  row.key = key;
  row.kernel = kernel;
  row.launches = toText(kernel.launches);
  // Clocks may go back; the row stored last must have the largest time
  // nevertheless.
  row.storedAt = std::max<int64_t>(time(nullptr), *last);
  return writeKernelRow(database, std::move(row));
}

ErrorOr<std::optional<int64_t>> tessera::readStoredAt(SqliteDatabase &database,
                                                      const KernelRow &row) {
  ErrorOr<SqliteStatement> query =
      database.prepare("SELECT stored_at FROM kernels WHERE problem = ?1 AND "
                       "target = ?2 AND revision = ?3 AND tile = ?4");
  if (!query)
    return query.getStatus();
  query->bind(1, row.key.networkConfig);
  query->bind(2, row.key.target);
  query->bind(3, row.key.revision);
  query->bind(4, row.kernel.tile);
  ErrorOr<bool> hasRow = query->step();
  if (!hasRow)
    return hasRow.getStatus();
  return *hasRow ? std::optional(query->getInt(0)) : std::nullopt;
}

Status tessera::deleteKernelRow(SqliteDatabase &database, int64_t id) {
  ErrorOr<SqliteStatement> statement =
      database.prepare("DELETE FROM kernels WHERE id = ?1");
  if (!statement)
    return statement.getStatus();
  statement->bind(1, id);
  return statement->step().getStatus();
}
