//===- KernelRow.h - A kernel as a row of a table --------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_DB_KERNELROW_H
#define TESSERA_RUNTIME_DB_KERNELROW_H

#include "runtime/Base/Kernel.h"
#include "runtime/Db/KernelKey.h"
#include "runtime/Db/Sqlite.h"

#include <functional>
#include <optional>
#include <vector>

namespace tessera {

/// A row of the table kernels with its code object. If its format is not ours,
/// `kernel` has no launches, and only their text is known.
struct KernelRow {
  int64_t id = 0;
  KernelKey key;
  Kernel kernel;
  int64_t format = kKernelFormat;
  std::string launches;
  int64_t codeObject = 0; ///< Its hash.
  int64_t storedAt = 0;   ///< Seconds since 1970.
  /// Why the row cannot be trusted; empty if it is sound.
  std::string fault;
};

/// Whether a lookup of `key` may return the row.
bool isAnswer(const KernelRow &row, const KernelKey &key);

enum class Visit { Continue, Stop };
using KernelVisitor = std::function<Visit(KernelRow &)>;

/// Visits all rows, the one stored last at the end.
Status visitKernelRows(SqliteDatabase &database, const KernelVisitor &visit);

/// Visits the rows of one problem, the one stored last first.
Status visitKernelRows(SqliteDatabase &database,
                       const std::string &networkConfig,
                       const KernelVisitor &visit);

/// The sound row of `key` that was stored last; NotFound if there is none. Adds
/// the ids of rows that should have been an answer but are damaged.
ErrorOr<Kernel> readKernelRow(SqliteDatabase &database, const KernelKey &key,
                              std::vector<int64_t> &wrongRows);

/// Writes the row with a new id, hash and checksum; it replaces one with the
/// same key and tile. Must be called in a transaction.
Status writeKernelRow(SqliteDatabase &database, KernelRow row);

/// Writes a row for a kernel that is stored at this moment.
Status writeKernelRow(SqliteDatabase &database, const KernelKey &key,
                      const Kernel &kernel);

/// When the row with the same key and tile was stored; nothing if there is
/// none.
ErrorOr<std::optional<int64_t>> readStoredAt(SqliteDatabase &database,
                                             const KernelRow &row);

Status deleteKernelRow(SqliteDatabase &database, int64_t id);

} // namespace tessera

#endif // TESSERA_RUNTIME_DB_KERNELROW_H
