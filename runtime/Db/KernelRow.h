//===- KernelRow.h - A kernel as a row of a table --------------*- C++ -*-===//

#ifndef TESSERA_RUNTIME_DB_KERNELROW_H
#define TESSERA_RUNTIME_DB_KERNELROW_H

#include "runtime/Db/KernelDatabase.h"

namespace tessera {

/// Inserts or replaces the row of (key, kernel.tile).
Status writeKernelRow(SqliteDatabase &database, const KernelKey &key,
                      const Kernel &kernel);

/// The row of `key` with the largest rowid; NotFound if there is none. A row
/// whose checksum is wrong is deleted, and the next one tried.
ErrorOr<Kernel> readKernelRow(SqliteDatabase &database, const KernelKey &key);

} // namespace tessera

#endif // TESSERA_RUNTIME_DB_KERNELROW_H
