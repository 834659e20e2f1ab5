//===- Engine.h - From a problem to a launch -------------------*- C++ -*--===//
//
// The engine looks a problem up in memory, then in the user's file and in
// packages, else compiles it; it loads the kernel once and launches it.
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

/// A kernel that is loaded on the device and can be launched at once. All
/// threads share it; it lives as long as the engine.
class LoadedKernel {
public:
  virtual ~LoadedKernel() = default;
  virtual const Kernel &getKernel() const = 0;
  /// Its machine code. The problems of a family share it, so that getKernel()
  /// has none where a kernel for unknown sizes serves.
  virtual const std::vector<char> &getCodeObject() const {
    return getKernel().codeObject;
  }

  /// Where the kernel came from when this process first needed it.
  enum class Origin { Compiled, Database };
  virtual Origin getOrigin() const = 0;
};

/// What the engine has done so far in this process.
struct EngineCounters {
  std::atomic<uint64_t> compiled{0};
  /// From the user's file or from packages.
  std::atomic<uint64_t> fromDatabase{0};
  std::atomic<uint64_t> fromPackage{0}; ///< Of these, those from packages.
  /// Of these, compiled by another process or thread while this one waited.
  std::atomic<uint64_t> waited{0};
  std::atomic<uint64_t> fromMemory{0};
  std::atomic<uint64_t> launched{0}; ///< Kernels, each with one launch or more.
  /// Problems that got the kernel for unknown sizes of their family.
  std::atomic<uint64_t> generic{0};
  /// Of these, those whose own kernel has replaced it.
  std::atomic<uint64_t> promoted{0};
};

/// What a problem gets whose own kernel is in no cache, if a kernel for unknown
/// sizes can serve it (docs/design/0038-sizes-as-arguments.md).
enum class GenericUse : uint8_t {
  Never,  ///< Its own kernel, for which the call waits.
  Keep,   ///< The kernel for unknown sizes, as long as the process lives.
  Switch, ///< The same, until its own kernel is made in the background.
};

struct GenericOptions {
  GenericUse use = GenericUse::Never;
  /// So many problems of a family have kernels of their own before one for
  /// unknown sizes is compiled. One that is stored is used from the first on.
  uint32_t shapesBefore = 4;
  /// With Switch: the own kernel of a problem is made when it has been asked
  /// for so often.
  uint32_t usesBefore = 16;
  /// Whether convolutions get them, whose own kernels add in another order.
  bool convolutions = true;
};

struct EngineOptions {
  /// Compiles what no cache has. May be null: a miss is then NotSupported.
  std::shared_ptr<KernelCompiler> compiler;
  /// Directory of the kernel database; empty: no database.
  std::string cacheDirectory;
  /// Database files that are searched after the user's, and never written.
  std::vector<std::string> packages = {};
  /// How long to wait for another process that compiles the same kernel.
  std::chrono::milliseconds claimLimit = std::chrono::seconds(60);
  /// Use another tile if the compiler crashes or contradicts itself over one:
  /// for clients that want results, not for tests.
  bool takesOtherTiles = false;
  GenericOptions generic = {};
};

/// Owns the caches, the database and the loaded modules of one process. Every
/// method may be called from several threads at once. Each key is compiled
/// once: other threads and other processes with the same database wait for it.
class Engine {
public:
  static ErrorOr<std::unique_ptr<Engine>> create(const GpuApi &gpu,
                                                 EngineOptions options);
  virtual ~Engine() = default;

  /// The directory of the kernel database, from the environment:
  /// MIOPEN_CUSTOM_CACHE_DIR, else XDG_CACHE_HOME or HOME, under tessera/;
  /// MIOPEN_DISABLE_CACHE empties it.
  static std::string getDefaultCacheDirectory();

  /// The user's file in this directory; empty if `cacheDirectory` is.
  static std::string getUserFile(const std::string &cacheDirectory);

  /// The kernel for `problem` on the current device: from memory, from a
  /// file, or compiled. A hit in memory takes one hash and one lookup.
  virtual ErrorOr<const LoadedKernel *> prepare(const Problem &problem) = 0;

  /// A kernel with `tile`, compiled and loaded on the current device for the
  /// caller alone: it enters no cache.
  virtual ErrorOr<std::unique_ptr<LoadedKernel>>
  prepareTile(const Problem &problem, const TileConfig &tile) = 0;

  /// Loads a kernel that the caller has kept on the current device, for the
  /// caller alone. `problem` is what the kernel computes, if that is known.
  virtual ErrorOr<std::unique_ptr<LoadedKernel>>
  loadKernel(const Kernel &kernel, const Problem *problem) = 0;

  /// Makes `kernel`, from prepareTile() on the current device, the kernel for
  /// `problem`, here and in the database. The previous one stays loaded,
  /// because another thread may be about to launch it.
  virtual Status adopt(const Problem &problem,
                       std::unique_ptr<LoadedKernel> kernel) = 0;

  /// Makes `kernel`, which the caller has kept, the kernel for `problem` on the
  /// current device, unless there is one already. It enters no file.
  virtual Status provide(const Problem &problem, const Kernel &kernel) = 0;

  /// Deletes from the user's file what tuning has found for `problem` on the
  /// current device, and the kernels of this compiler that use it. Loaded
  /// kernels stay.
  virtual Status forget(const Problem &problem) = 0;

  /// Returns `kernel` if all tensors are aligned as it needs; else the kernel
  /// for misaligned tensors, prepared if necessary. NotSupported if the
  /// kernel's problem is unknown, or if the other kernel needs a larger
  /// workspace; InvalidArgument if an address is not even that of an element.
  virtual ErrorOr<const LoadedKernel *> getFitting(const LoadedKernel &kernel,
                                                   const LaunchArgs &) {
    return &kernel;
  }

  /// Enqueues the launches of getFitting() on `stream`; does not wait.
  virtual Status launch(const LoadedKernel &kernel, hipStream_t stream,
                        const LaunchArgs &args) = 0;

  /// The compiler, or null.
  virtual KernelCompiler *getCompiler() const = 0;
  /// The table of tunings in the user's file, or null.
  virtual PerfDatabase *getTunings() = 0;
  virtual const EngineCounters &getCounters() const = 0;
  /// Waits until no kernel is to be made in the background.
  virtual void drain() {}
  /// Waits for the kernel that is being made in the background, and makes no
  /// more: for the end of a process, which an engine may outlive.
  virtual void endBackground() {}
  virtual const GpuApi &getGpu() const = 0;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_ENGINE_ENGINE_H
