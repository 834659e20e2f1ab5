//===- Engine.h - From a problem to a launch -------------------*- C++ -*-===//
//
// One sentence is the whole engine: look the problem up in memory, then in the
// user's file and in packages, else compile it; load it once; launch it.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_ENGINE_ENGINE_H
#define TESSERA_RUNTIME_ENGINE_ENGINE_H

#include "runtime/Engine/KernelCompiler.h"
#include "runtime/Engine/LaunchArgs.h"
#include "runtime/Gpu/GpuApi.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace tessera {

class PerfDatabase;

/// A kernel that is loaded on the device and can be launched at once. Shared
/// by every thread; lives as long as the engine.
class LoadedKernel {
public:
  virtual ~LoadedKernel() = default;
  virtual const Kernel &getKernel() const = 0;

  /// Where the kernel came from when this process first needed it.
  enum class Origin { Compiled, Database };
  virtual Origin getOrigin() const = 0;
};

/// What the engine has done so far in this process.
struct EngineCounters {
  std::atomic<uint64_t> compiled{0};
  std::atomic<uint64_t> fromDatabase{0}; ///< The user's file, and packages.
  std::atomic<uint64_t> fromPackage{0};  ///< Of these, from packages.
  /// Of these, made by another process or thread while this one waited.
  std::atomic<uint64_t> waited{0};
  std::atomic<uint64_t> fromMemory{0};
  std::atomic<uint64_t> launched{0}; ///< Kernels, each of one launch or more.
};

struct EngineOptions {
  /// Makes what is in no cache. May be null: then a miss is NotSupported.
  std::shared_ptr<KernelCompiler> compiler;
  /// Directory of the kernel database; empty: no database.
  std::string cacheDirectory;
  /// Files that are searched after it, and never written.
  std::vector<std::string> packages = {};
  /// How long to wait for another process that makes the same kernel.
  std::chrono::milliseconds claimLimit = std::chrono::seconds(60);
  /// When the compiler crashes or contradicts itself over a tile, run with
  /// another one: for clients that want results, not for tests.
  bool takesOtherTiles = false;
};

/// Owns the caches, the database and the loaded modules of one process.
/// Every method may be called from several threads at once; one compile runs
/// for each key, and other threads that want the same key wait for it. So do
/// other processes with the same database.
class Engine {
public:
  static ErrorOr<std::unique_ptr<Engine>> create(const GpuApi &gpu,
                                                 EngineOptions options);
  virtual ~Engine() = default;

  /// Where the process keeps its kernel database, from the environment:
  /// MIOPEN_CUSTOM_CACHE_DIR, else XDG_CACHE_HOME or HOME, under tessera/;
  /// MIOPEN_DISABLE_CACHE empties it.
  static std::string getDefaultCacheDirectory();

  /// The user's file in this directory; empty if the directory is.
  static std::string getUserFile(const std::string &cacheDirectory);

  /// The kernel for `problem` on the current device: from memory, from a
  /// file, or compiled. A hit in memory takes one hash and one lookup.
  virtual ErrorOr<const LoadedKernel *> prepare(const Problem &problem) = 0;

  /// A kernel with `tile`, compiled and loaded on the current device for the
  /// caller alone: no cache knows of it.
  virtual ErrorOr<std::unique_ptr<LoadedKernel>>
  prepareTile(const Problem &problem, const TileConfig &tile) = 0;

  /// A kernel that the caller has kept, loaded on the current device for the
  /// caller alone. `problem`, if it is known, is what it is for.
  virtual ErrorOr<std::unique_ptr<LoadedKernel>>
  loadKernel(const Kernel &kernel, const Problem *problem) = 0;

  /// From now on `kernel`, of prepareTile() on the current device, is the one
  /// for `problem`, here and in the database. The one before stays loaded,
  /// because somebody may be about to launch it.
  virtual Status adopt(const Problem &problem,
                       std::unique_ptr<LoadedKernel> kernel) = 0;

  /// Deletes what tuning has found for `problem` on the current device, and the
  /// kernels that this compiler made of it, from the user's file. What is
  /// loaded stays.
  virtual Status forget(const Problem &problem) = 0;

  /// `kernel`, or, where a tensor does not begin at a multiple of the bytes
  /// that it accesses at once, the kernel for such tensors, prepared if it has
  /// to be. NotSupported if nobody knows what the kernel is for, or if that
  /// other one needs a larger workspace; InvalidArgument for the address of no
  /// element.
  virtual ErrorOr<const LoadedKernel *> getFitting(const LoadedKernel &kernel,
                                                   const LaunchArgs &) {
    return &kernel;
  }

  /// Puts the launches of getFitting() on `stream`; does not wait.
  virtual Status launch(const LoadedKernel &kernel, hipStream_t stream,
                        const LaunchArgs &args) = 0;

  /// What makes kernels, or null.
  virtual KernelCompiler *getCompiler() const = 0;
  /// What tuning has found and will find, in the user's file, or null.
  virtual PerfDatabase *getTunings() = 0;
  virtual const EngineCounters &getCounters() const = 0;
  virtual const GpuApi &getGpu() const = 0;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_ENGINE_ENGINE_H
