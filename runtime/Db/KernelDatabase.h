//===- KernelDatabase.h - Kernels that outlive the process -----*- C++ -*-===//
//
// An optimisation and never a reason to fail: whatever happens to the file, the
// answer is at worst "not found", and a damaged file is put aside and begun
// anew. The user hears of it once, as a warning.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_DB_KERNELDATABASE_H
#define TESSERA_RUNTIME_DB_KERNELDATABASE_H

#include "runtime/Base/Kernel.h"
#include "runtime/Db/Sqlite.h"

#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace tessera {

/// What a stored kernel was made for, and by which compiler.
struct KernelKey {
  std::string networkConfig;
  std::string target; ///< GpuTarget::name.
  /// Empty, when finding: of any compiler.
  std::string revision;
};

/// The file kernels.db of one cache directory. Owns the connection; every
/// method may be called from several threads, and other processes may use the
/// same file.
class KernelDatabase {
public:
  /// Creates directory and file as needed.
  explicit KernelDatabase(std::string directory);
  ~KernelDatabase();

  /// The kernel stored last for `key`, whatever its tile. A row whose checksum
  /// is wrong is deleted, and the search goes on.
  std::optional<Kernel> find(const KernelKey &key);

  /// Adds the kernel, or replaces the one with the same key and tile.
  void store(const KernelKey &key, const Kernel &kernel);

  /// False if the file cannot be used; then nothing is found or stored.
  bool isOpen();

private:
  Status tryOpen();
  Status replaceDamagedFile();
  void close(const std::string &why);
  void run(const char *what,
           const std::function<Status(SqliteDatabase &)> &work);

  const std::string directory;
  const std::string path;
  std::mutex mutex; ///< Guards what follows.
  std::optional<SqliteDatabase> database;
  /// Tells whether the file at `path` is still the one that we opened.
  uint64_t inode = 0;
  bool hasWarned = false;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_DB_KERNELDATABASE_H
