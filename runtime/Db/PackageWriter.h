//===- PackageWriter.h - Kernels to ship -----------------------*- C++ -*-===//
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

/// Writes a package under another name, which finish() changes; whoever is
/// destroyed before leaves nothing. Belongs to one thread.
class PackageWriter {
public:
  /// Takes the place of a file at `path`, if there is one, in finish().
  static ErrorOr<std::unique_ptr<PackageWriter>>
  create(const std::string &path);
  ~PackageWriter();

  /// Of several tiles of one key, the one added last is used.
  Status add(const KernelKey &key, const Kernel &kernel);
  Status add(const TuningKey &key, const Tuning &tuning);
  /// A row of another file, with its time and its format.
  Status add(const KernelRow &row);

  /// For those who look at what they have added.
  SqliteDatabase &getDatabase() { return *database; }

  /// Completes the file at its path. Nothing may be added afterwards.
  Status finish();

private:
  PackageWriter(std::string path, std::string unfinished,
                SqliteDatabase database);
  Status complete();

  const std::string path;
  const std::string unfinished; ///< Where it is until finish().
  std::optional<SqliteDatabase> database;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_DB_PACKAGEWRITER_H
