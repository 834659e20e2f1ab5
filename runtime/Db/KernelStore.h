//===- KernelStore.h - All files that kernels may come from ----*- C++ -*-===//
//
// A kernel that is not in memory is looked for in the user's file and then in
// packages; only then it is made, by one process for all.
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
  TuningKey key; ///< Of what it was measured.
};

/// The user's file, if there is one, and the packages. Every method may be
/// called from several threads at once.
class KernelStore {
public:
  /// No user's file if its path is empty.
  KernelStore(const std::string &userFile,
              const std::vector<std::string> &packages);

  /// The kernel of the user's file for the whole key; else that of a package,
  /// of the key's revision if there is one, else of any.
  std::optional<FoundKernel> find(const KernelKey &key);

  /// Keeps the kernel in the user's file.
  void store(const KernelKey &key, const Kernel &kernel);

  /// The tile that was the best for `key`: on `device` if it was measured
  /// there, else on another one like it. If nothing is known of `key`, that of
  /// its nearest neighbour: half or double the batch or the compute units at
  /// most.
  std::optional<TunedTile> findTile(const TuningKey &key, Objective objective,
                                    const std::string &device);

  /// Deletes from the user's file the kernels and the tunings of these keys.
  void forget(const KernelKey &kernels, const TuningKey &tunings);

  /// The tunings of the user's file; null if there is none.
  PerfDatabase *getTunings() { return user ? &user->tunings : nullptr; }

  /// One line for each file: what find(key) meets there, and why it goes on.
  std::vector<std::string> explain(const KernelKey &key);

  /// The file that is locked by who makes a kernel; empty if none is.
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

/// Who holds it makes the kernel of `key`, and others wait until it is made or
/// its maker is dead. Released by the destructor.
class CompileClaim {
public:
  /// Waits for at most `limit`; then, and where nothing can be locked,
  /// everybody makes the kernel for himself.
  CompileClaim(KernelStore &store, const KernelKey &key,
               std::chrono::milliseconds limit);

  /// Whether somebody else was making the kernel.
  bool hasWaited() const { return lock && lock->hasWaited(); }

private:
  std::optional<ByteLock> lock;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_DB_KERNELSTORE_H
