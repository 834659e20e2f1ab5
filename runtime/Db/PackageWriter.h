//===- PackageWriter.h - Kernels to ship -----------------------*- C++ -*--===//
//
// A package is a database file that is complete when it appears: one file with
// no journal beside it, which any number of processes read without a lock.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_DB_PACKAGEWRITER_H
#define TESSERA_RUNTIME_DB_PACKAGEWRITER_H

#include "runtime/Base/Kernel.h"
#include "runtime/Db/KernelKey.h"
#include "runtime/Db/PerfDatabase.h"
#include "runtime/Db/Sqlite.h"

#include <memory>
#include <optional>
#include <string>

namespace tessera {

struct KernelRow;

/// Writes a package under a temporary name, which finish() changes; an object
/// that is destroyed before leaves nothing behind. Belongs to one thread.
class PackageWriter {
public:
  /// A file that exists at `path` is replaced in finish().
  static ErrorOr<std::unique_ptr<PackageWriter>>
  create(const std::string &path);
  ~PackageWriter();

  /// If several tiles of one key are added, the last one is used.
  Status add(const KernelKey &key, const Kernel &kernel);
  Status add(const TuningKey &key, const Tuning &tuning);
  /// Adds a row of another file, with its time and its format.
  Status add(const KernelRow &row);

  /// For callers that look at what they have added.
  SqliteDatabase &getDatabase() { return *database; }

  /// Completes the file at its path. Nothing may be added afterwards.
  Status finish();

private:
  PackageWriter(std::string path, std::string unfinished,
                SqliteDatabase database);
  Status complete();

  const std::string path;
  const std::string unfinished; ///< Path of the file until finish().
  std::optional<SqliteDatabase> database;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_DB_PACKAGEWRITER_H
