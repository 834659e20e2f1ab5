//===- KernelTable.h - Kernels that are loaded -----------------*- C++ -*-===//
//
// The part of the engine that every launch goes through, so a hit costs one
// hash of plain numbers and one lookup: no text is built, nothing allocated.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_ENGINE_KERNELTABLE_H
#define TESSERA_RUNTIME_ENGINE_KERNELTABLE_H

#include "runtime/Engine/Engine.h"
#include "runtime/Gpu/Module.h"

#include <functional>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace tessera {

/// A kernel with its module. Immutable.
struct LoadedKernelImpl final : LoadedKernel {
  LoadedKernelImpl(Kernel kernel, Module module,
                   std::vector<hipFunction_t> functions, Origin origin)
      : kernel(std::move(kernel)), module(std::move(module)),
        functions(std::move(functions)), origin(origin) {}

  const Kernel &getKernel() const override { return kernel; }
  Origin getOrigin() const override { return origin; }

  Kernel kernel;
  Module module;
  std::vector<hipFunction_t> functions; ///< One for each launch.
  Origin origin;
};

/// Owns the kernels of a process, by problem and device. Every method may be
/// called from several threads at once.
class KernelTable {
public:
  using Maker = std::function<ErrorOr<std::unique_ptr<LoadedKernelImpl>>()>;

  /// The kernel if it is there, else nullptr.
  const LoadedKernelImpl *find(int device, const Problem &problem) const;

  /// The kernel, made by `make` if it is not there. One thread makes it;
  /// others that ask for it meanwhile wait and share the outcome, also a
  /// failure. Later calls try again after a failure, unless the caller cannot
  /// hope for another answer (NotSupported, InvalidArgument).
  ErrorOr<const LoadedKernelImpl *>
  findOrMake(int device, const Problem &problem, const Maker &make);

private:
  struct Key {
    int device;
    Problem problem;
    friend bool operator==(const Key &, const Key &) = default;
  };
  struct Hash {
    size_t operator()(const Key &key) const;
  };
  struct Entry {
    /// Set once; read without the mutex.
    std::atomic<const LoadedKernelImpl *> kernel = nullptr;
    std::atomic<uint64_t> attempts = 0;
    std::mutex making; ///< Held while a kernel is made; guards what follows.
    std::unique_ptr<LoadedKernelImpl> owner;
    Status failure; ///< Of the last attempt.
  };

  Entry &getEntry(const Key &key);

  mutable std::shared_mutex mutex; ///< Guards the map, not its entries.
  std::unordered_map<Key, std::unique_ptr<Entry>, Hash> entries;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_ENGINE_KERNELTABLE_H
