//===- KernelTable.h - Kernels that are loaded -----------------*- C++ -*--===//
//
// Every launch goes through this table, so a hit costs one hash of plain
// numbers and one lookup: no text is built, nothing allocated.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_ENGINE_KERNELTABLE_H
#define TESSERA_RUNTIME_ENGINE_KERNELTABLE_H

#include "runtime/Engine/Engine.h"
#include "runtime/Gpu/Module.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace tessera {

/// A kernel with its module. Immutable, but for a count.
struct LoadedKernelImpl final : LoadedKernel {
  /// `problem` is what the kernel computes, if the engine knows it.
  LoadedKernelImpl(Kernel kernel, std::shared_ptr<const Module> module,
                   std::vector<hipFunction_t> functions, Origin origin,
                   const Problem *problem);

  const Kernel &getKernel() const override { return kernel; }
  Origin getOrigin() const override { return origin; }
  const std::vector<char> &getCodeObject() const override {
    return family ? family->kernel.codeObject : kernel.codeObject;
  }

  Kernel kernel;
  /// Shared by the problems of a family.
  std::shared_ptr<const Module> module;
  std::vector<hipFunction_t> functions; ///< One for each launch.
  /// Each tensor that needs more than byte alignment, with the largest
  /// alignment that a launch needs.
  std::vector<LaunchArg> alignedTensors;
  Origin origin;
  std::optional<Problem> problem;
  /// How often a problem was prepared that has this kernel for unknown sizes;
  /// it is counted in `isGeneric` kernels only.
  mutable std::atomic<uint32_t> uses = 0;
  bool isGeneric = false;
  /// If it is, the kernel that serves, which the table keeps.
  const LoadedKernelImpl *family = nullptr;
};

/// Owns the kernels of a process, by problem and device. Every method may be
/// called from several threads at once.
class KernelTable {
public:
  KernelTable();

  using Maker = std::function<ErrorOr<std::unique_ptr<LoadedKernelImpl>>()>;

  /// The kernel if it exists, else nullptr. Takes no lock.
  const LoadedKernelImpl *find(int device, const Problem &problem) const;

  /// The kernel, made by `make` if it does not exist. One thread makes it;
  /// others that ask for it meanwhile wait and share the outcome, also a
  /// failure. Later calls try again after a failure, except after one that
  /// would be the same again (NotSupported, InvalidArgument).
  ErrorOr<const LoadedKernelImpl *>
  findOrMake(int device, const Problem &problem, const Maker &make);

  /// Makes `kernel` the one that later calls find. The previous one stays
  /// loaded for threads that have found it already.
  void replace(int device, const Problem &problem,
               std::unique_ptr<LoadedKernelImpl> kernel);

private:
  /// A problem on a device. Created once, never moved or erased.
  struct Entry {
    Entry(int device, const Problem &problem, uint64_t hash)
        : device(device), problem(problem), hash(hash) {}
    const int device;
    const Problem problem;
    const uint64_t hash;
    /// Null until there is a kernel; read without a mutex.
    std::atomic<const LoadedKernelImpl *> kernel = nullptr;
    std::atomic<uint64_t> attempts = 0;
    std::mutex making; ///< Held while a kernel is made; guards what follows.
    /// The last element is the current kernel.
    std::vector<std::unique_ptr<LoadedKernelImpl>> owners;
    Status failure; ///< That of the last attempt.
  };
  /// An open hash table. Readers take no lock: a slot is written once, and a
  /// table that has become too small stays alive for threads that still read
  /// it.
  struct Slots {
    explicit Slots(size_t count) : entries(count) {}
    /// Their number is a power of two.
    std::vector<std::atomic<Entry *>> entries;
    /// The entry, or null and the empty slot where it belongs.
    std::pair<Entry *, size_t> find(int device, const Problem &problem,
                                    uint64_t hash) const;
  };

  Entry &getEntry(int device, const Problem &problem);
  void grow();

  std::atomic<Slots *> current;
  std::mutex mutex; ///< Locked by writers; guards what follows.
  std::vector<std::unique_ptr<Slots>> slots; ///< The last one is current.
  std::vector<std::unique_ptr<Entry>> entries;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_ENGINE_KERNELTABLE_H
