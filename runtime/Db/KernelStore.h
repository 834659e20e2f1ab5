//===- KernelStore.h - All files that kernels may come from ----*- C++ -*--===//
//
// A kernel that is not in memory is looked up in the user's file and then in
// packages. Only if it is in neither is it compiled, by one process for all.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_DB_KERNELSTORE_H
#define TESSERA_RUNTIME_DB_KERNELSTORE_H

#include "runtime/Base/TileConfig.h"
#include "runtime/Db/ByteLock.h"
#include "runtime/Db/KernelDatabase.h"
#include "runtime/Db/PerfDatabase.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// A kernel that was found, and where.
struct FoundKernel {
  Kernel kernel;
  bool isFromPackage = false;
};

/// A tile that tuning found.
struct TunedTile {
  TileConfig tile;
  TuningKey key; ///< The key that it was measured for.
};

/// The user's file, if there is one, and the packages. Every method may be
/// called from several threads at once.
class KernelStore {
public:
  /// There is no user's file if its path is empty.
  KernelStore(const std::string &userFile,
              const std::vector<std::string> &packages);

  /// The kernel of the user's file that matches the whole key. Else that of a
  /// package: one with the key's revision if it exists, else one with any.
  std::optional<FoundKernel> find(const KernelKey &key);

  /// Keeps the kernel in the user's file.
  void store(const KernelKey &key, const Kernel &kernel);

  /// The tile that was the best for `key`: on `device` if it was measured
  /// there, else on another device like it. If nothing is known of `key`, the
  /// tile of its nearest neighbour, which has at most half or double the batch
  /// or the compute units.
  std::optional<TunedTile> findTile(const TuningKey &key, Objective objective,
                                    const std::string &device);

  /// Deletes the kernels and the tunings of these keys from the user's file.
  void forget(const KernelKey &kernels, const TuningKey &tunings);

  /// The tunings of the user's file; null if there is none.
  PerfDatabase *getTunings() { return user ? &user->tunings : nullptr; }

  /// One line for each file: what find(key) finds there, and why it goes on.
  std::vector<std::string> explain(const KernelKey &key);

  /// The file that the process that compiles a kernel locks; empty if none is.
  std::string getClaimFile();

private:
  struct Tables {
    explicit Tables(const std::shared_ptr<DatabaseFile> &file)
        : kernels(file), tunings(file) {}
    KernelDatabase kernels;
    PerfDatabase tunings;
  };

  std::vector<Tuning> getTunings(const TuningKey &key, Objective objective);
  std::vector<TuningKey> getNeighbours(const TuningKey &key);

  std::unique_ptr<Tables> user; ///< Null if there is none.
  std::vector<std::unique_ptr<Tables>> packages;
  std::string claimFile;
};

/// The holder compiles the kernel of `key`; others wait until it is done or its
/// process is dead. Released by the destructor.
class CompileClaim {
public:
  /// Waits for at most `limit`; after that, and where nothing can be locked,
  /// each process compiles the kernel itself.
  CompileClaim(KernelStore &store, const KernelKey &key,
               std::chrono::milliseconds limit);

  /// Whether another process was compiling the kernel.
  bool hasWaited() const { return lock && lock->hasWaited(); }

private:
  std::optional<ByteLock> lock;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_DB_KERNELSTORE_H
