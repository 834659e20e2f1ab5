//===- KernelDatabase.h - Kernels that outlive the process -----*- C++ -*--===//

#ifndef TESSERA_RUNTIME_DB_KERNELDATABASE_H
#define TESSERA_RUNTIME_DB_KERNELDATABASE_H

#include "runtime/Base/Kernel.h"
#include "runtime/Db/DatabaseFile.h"
#include "runtime/Db/KernelKey.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// The kernels of one file. An optimisation: in a file that cannot be used
/// nothing is found. Several threads may use it.
class KernelDatabase {
public:
  explicit KernelDatabase(std::shared_ptr<DatabaseFile> file);

  /// The kernel stored last for `key`, whatever its tile. A row with a wrong
  /// checksum is never the answer; it is deleted, if the file may be written.
  std::optional<Kernel> find(const KernelKey &key);

  /// Adds the kernel, or replaces the one with the same key and tile.
  void store(const KernelKey &key, const Kernel &kernel);

  /// Deletes the kernels that find(key) may return.
  void remove(const KernelKey &key);

  /// Says in one sentence why find(key) finds nothing, or that it finds a
  /// kernel.
  std::string explain(const KernelKey &key);

  /// False if the file cannot be used; then nothing is found or stored.
  bool isOpen() { return file->isOpen(); }
  /// Whether other processes can see what is stored here.
  bool isShared() { return file->isOpen() && !file->isLocked(); }
  const std::string &getPath() const { return file->getPath(); }

private:
  void deleteRows(const KernelKey &key, const std::vector<int64_t> &ids);

  const std::shared_ptr<DatabaseFile> file;
  std::atomic<bool> hasWarned = false; ///< About wrong rows in a package.
};

} // namespace tessera

#endif // TESSERA_RUNTIME_DB_KERNELDATABASE_H
