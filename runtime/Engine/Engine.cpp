//===- Engine.cpp - From a problem to a launch ----------------------------===//

#include "runtime/Engine/Engine.h"

#include "runtime/Base/Env.h"
#include "runtime/Base/Log.h"
#include "runtime/Db/KernelStore.h"
#include "runtime/Engine/BackgroundQueue.h"
#include "runtime/Engine/GenericKernel.h"
#include "runtime/Engine/KernelTable.h"
#include "runtime/Engine/RobustCompile.h"
#include "runtime/Engine/TileChoice.h"
#include "runtime/Gpu/DeviceTargets.h"

#include <array>
#include <bit>
#include <chrono>
#include <optional>

using namespace tessera;

/// More arguments than any recipe has; a launch keeps them on the stack.
static constexpr size_t kMaxSizes = 64;
static constexpr size_t kMaxArgs = kMaxTensors + kMaxScalars + kMaxSizes + 1;
/// The descriptors of tensors, which come before the arguments.
static constexpr size_t kMaxMaps = 3, kMapBytes = 128;
/// The words of descriptors and arguments together.
static constexpr size_t kMaxWords =
    kMaxArgs + kMaxMaps * kMapBytes / sizeof(uint64_t);

namespace {
/// Immutable except for the table, the store and the counters, which have their
/// own locks.
class EngineImpl final : public Engine {
public:
  EngineImpl(const GpuApi &gpu, EngineOptions options);

  ErrorOr<const LoadedKernel *> prepare(const Problem &problem) override;
  ErrorOr<std::unique_ptr<LoadedKernel>>
  prepareTile(const Problem &problem, const TileConfig &tile) override;
  ErrorOr<std::unique_ptr<LoadedKernel>>
  loadKernel(const Kernel &kernel, const Problem *problem) override;
  Status adopt(const Problem &problem,
               std::unique_ptr<LoadedKernel> kernel) override;
  Status provide(const Problem &problem, const Kernel &kernel) override;
  Status forget(const Problem &problem) override;
  ErrorOr<const LoadedKernel *> getFitting(const LoadedKernel &kernel,
                                           const LaunchArgs &args) override;
  Status launch(const LoadedKernel &kernel, hipStream_t stream,
                const LaunchArgs &args) override;
  KernelCompiler *getCompiler() const override { return compiler.get(); }
  PerfDatabase *getTunings() override { return store.getTunings(); }
  const EngineCounters &getCounters() const override { return counters; }
  const GpuApi &getGpu() const override { return gpu; }
  void drain() override { background.drain(); }
  void endBackground() override { background.end(); }

private:
  ErrorOr<const LoadedKernel *> getUnaligned(const LoadedKernelImpl &loaded,
                                             const LaunchArgs &args,
                                             const LaunchArg &misaligned);
  Status launchOne(const LoadedKernelImpl &loaded, size_t index,
                   hipStream_t stream, const LaunchArgs &args);
  ErrorOr<std::unique_ptr<LoadedKernelImpl>>
  make(int device, const Problem &problem, bool mayBeGeneric);
  std::unique_ptr<LoadedKernelImpl> makeGeneric(int device,
                                                const Problem &problem);
  const LoadedKernelImpl *findGeneric(int device, const Problem &family);
  void countUse(int device, const LoadedKernelImpl &kernel);
  std::unique_ptr<LoadedKernelImpl> makeOwn(int device,
                                            const LoadedKernelImpl &kernel);
  void promote(int device, const LoadedKernelImpl &kernel);
  std::unique_ptr<LoadedKernelImpl>
  takeFromStore(const Problem &problem, const KernelKey &key, bool &isRefused);
  ErrorOr<std::unique_ptr<LoadedKernelImpl>>
  compileAndStore(const Problem &problem, const GpuTarget &target,
                  const KernelKey &key);
  ErrorOr<CompiledKernel> compileChosen(const Problem &problem,
                                        const GpuTarget &target);
  ErrorOr<CompiledKernel> compile(const Problem &problem,
                                  const GpuTarget &target);
  ErrorOr<std::unique_ptr<LoadedKernelImpl>>
  load(Kernel kernel, LoadedKernel::Origin origin, const Problem *problem);

  const GpuApi &gpu;
  DeviceTargets targets{gpu};
  const std::shared_ptr<KernelCompiler> compiler;
  const std::chrono::milliseconds claimLimit;
  const bool takesOtherTiles;
  const GenericOptions generic;
  KernelStore store;
  EngineCounters counters;
  KernelTable kernels;
  FamilyCounts families;
  BackgroundQueue background{
      /*mostJobs=*/64}; ///< Its jobs use everything above.
};
} // namespace

ErrorOr<std::unique_ptr<Engine>> Engine::create(const GpuApi &gpu,
                                                EngineOptions options) {
  return std::unique_ptr<Engine>(
      std::make_unique<EngineImpl>(gpu, std::move(options)));
}

std::string Engine::getDefaultCacheDirectory() {
  if (getEnvBool("MIOPEN_DISABLE_CACHE").value_or(false))
    return "";
  auto getFolder = [](const char *variable) {
    return getEnvText(variable).value_or("");
  };
  if (std::string custom = getFolder("MIOPEN_CUSTOM_CACHE_DIR");
      !custom.empty())
    return custom;
  if (std::string cache = getFolder("XDG_CACHE_HOME"); !cache.empty())
    return cache + "/tessera";
  if (std::string home = getFolder("HOME"); !home.empty())
    return home + "/.cache/tessera";
  return "";
}

std::string Engine::getUserFile(const std::string &cacheDirectory) {
  return cacheDirectory.empty() ? "" : cacheDirectory + "/kernels.db";
}

EngineImpl::EngineImpl(const GpuApi &gpu, EngineOptions options)
    : gpu(gpu), compiler(std::move(options.compiler)),
      claimLimit(options.claimLimit), takesOtherTiles(options.takesOtherTiles),
      generic(options.generic),
      store(getUserFile(options.cacheDirectory), options.packages) {}

//===----------------------------------------------------------------------===//
// From a problem to a loaded kernel
//===----------------------------------------------------------------------===//

ErrorOr<const LoadedKernel *> EngineImpl::prepare(const Problem &problem) {
  int device = 0;
  if (Status status = gpu.checkOwn(gpu.hipGetDevice(&device), "hipGetDevice");
      !status.isOk())
    return status;
  const LoadedKernelImpl *kernel = kernels.find(device, problem);
  if (kernel && kernel->isGeneric)
    countUse(device, *kernel);
  if (!kernel) {
    bool isMade = false;
    ErrorOr<const LoadedKernelImpl *> outcome =
        kernels.findOrMake(device, problem, [&] {
          isMade = true;
          return make(device, problem, /*mayBeGeneric=*/true);
        });
    if (!outcome)
      return outcome.getStatus();
    kernel = *outcome;
    if (isMade)
      return kernel;
  }
  counters.fromMemory.fetch_add(1, std::memory_order_relaxed);
  return kernel;
}

/// After a miss in memory: looks into the files, else compiles, once for all
/// processes.
ErrorOr<std::unique_ptr<LoadedKernelImpl>>
EngineImpl::make(int device, const Problem &problem, bool mayBeGeneric) {
  if (Status status = problem.verify(); !status.isOk())
    return status;
  ErrorOr<const GpuTarget *> target = targets.get(device);
  if (!target)
    return target.getStatus();
  KernelKey key = {problem.toNetworkConfig(), std::string((*target)->name),
                   compiler ? compiler->getRevision() : ""};
  bool isRefused = false;
  if (std::unique_ptr<LoadedKernelImpl> found =
          takeFromStore(problem, key, isRefused))
    return found;
  if (mayBeGeneric)
    if (std::unique_ptr<LoadedKernelImpl> bound = makeGeneric(device, problem))
      return bound;
  if (!compiler)
    return compileAndStore(problem, **target, key);
  CompileClaim claim(store, key, claimLimit);
  // Another process may have stored the kernel since the lookup above.
  if (!isRefused || claim.hasWaited())
    if (std::unique_ptr<LoadedKernelImpl> found =
            takeFromStore(problem, key, isRefused)) {
      if (claim.hasWaited())
        counters.waited.fetch_add(1, std::memory_order_relaxed);
      return found;
    }
  return compileAndStore(problem, **target, key);
}

//===----------------------------------------------------------------------===//
// Kernels for unknown sizes
//===----------------------------------------------------------------------===//

/// The kernel of a family: from memory or a file; or compiled, once enough
/// problems of the family have been seen. Null if there is none (yet).
const LoadedKernelImpl *EngineImpl::findGeneric(int device,
                                                const Problem &family) {
  if (const LoadedKernelImpl *known = kernels.find(device, family))
    return known;
  // Problems that are compiled anyway look into the files first, each of them:
  // threads may bring the first ones of a family at once.
  const uint32_t seen = families.add(family);
  const ErrorOr<const LoadedKernelImpl *> made = kernels.findOrMake(
      device, family, [&]() -> ErrorOr<std::unique_ptr<LoadedKernelImpl>> {
        if (seen > generic.shapesBefore || areNewSizesExpected())
          return make(device, family, /*mayBeGeneric=*/false);
        const ErrorOr<const GpuTarget *> target = targets.get(device);
        if (!target)
          return target.getStatus();
        bool isRefused = false;
        std::unique_ptr<LoadedKernelImpl> found = takeFromStore(
            family,
            {family.toNetworkConfig(), std::string((*target)->name),
             compiler ? compiler->getRevision() : ""},
            isRefused);
        if (!found)
          return notFound("no kernel for unknown sizes is stored");
        return found;
      });
  return made ? *made : nullptr;
}

/// The kernel of the problem's family, with the problem's sizes; null if there
/// is none or if it cannot serve the problem.
std::unique_ptr<LoadedKernelImpl>
EngineImpl::makeGeneric(int device, const Problem &problem) {
  if (generic.use == GenericUse::Never ||
      (problem.getConv() && !generic.convolutions && !areNewSizesExpected()))
    return nullptr;
  const std::optional<Family> family = problem.findFamily();
  const LoadedKernelImpl *shared =
      family ? findGeneric(device, family->problem) : nullptr;
  if (!shared || !isServedGenerically(problem, shared->kernel.tile))
    return nullptr;
  ErrorOr<Kernel> bound = bindSizes(shared->kernel, family->member);
  if (!bound) {
    logMessage(LogLevel::Info, problem.toNetworkConfig() + ": " +
                                   bound.getStatus().getMessage());
    return nullptr;
  }
  counters.generic.fetch_add(1, std::memory_order_relaxed);
  if (isLogged(LogLevel::Info2))
    logMessage(LogLevel::Info2, problem.toNetworkConfig() +
                                    " gets the kernel of " +
                                    family->problem.toNetworkConfig());
  auto kernel = std::make_unique<LoadedKernelImpl>(
      std::move(*bound), shared->module, shared->functions, shared->origin,
      &problem);
  kernel->isGeneric = true;
  kernel->family = shared;
  return kernel;
}

/// The problem's own kernel is made when the problem has come back often.
void EngineImpl::countUse(int device, const LoadedKernelImpl &kernel) {
  if (generic.use != GenericUse::Switch || !compiler ||
      kernel.uses.fetch_add(1, std::memory_order_relaxed) + 1 !=
          generic.usesBefore)
    return;
  background.add([this, device, &kernel] { promote(device, kernel); });
}

/// The problem's own kernel, which needs no more workspace than clients have
/// been told of: a convolution that was told of none gets one without. Null if
/// there is none.
std::unique_ptr<LoadedKernelImpl>
EngineImpl::makeOwn(int device, const LoadedKernelImpl &kernel) {
  const Problem &problem = *kernel.problem;
  const std::string name = problem.toNetworkConfig();
  const uint64_t told = kernel.kernel.workspaceBytes;
  ErrorOr<std::unique_ptr<LoadedKernelImpl>> made =
      make(device, problem, /*mayBeGeneric=*/false);
  if (made && (*made)->kernel.workspaceBytes > told && told == 0 &&
      problem.getConv() && !problem.isWithoutWorkspace())
    made = make(device, problem.asWithoutWorkspace(), /*mayBeGeneric=*/false);
  if (!made) {
    logMessage(LogLevel::Info, name + " keeps its kernel for unknown sizes: " +
                                   made.getStatus().getMessage());
    return nullptr;
  }
  if ((*made)->kernel.workspaceBytes > told) {
    logMessage(LogLevel::Info,
               name + " keeps its kernel for unknown sizes in this process: "
                      "its own needs a larger workspace");
    return nullptr;
  }
  return std::move(*made);
}

void EngineImpl::promote(int device, const LoadedKernelImpl &kernel) {
  if (gpu.hipSetDevice(device) != hipSuccess)
    return;
  const Problem &problem = *kernel.problem;
  std::unique_ptr<LoadedKernelImpl> made = makeOwn(device, kernel);
  if (!made)
    return;
  kernels.replace(device, problem, std::move(made));
  counters.promoted.fetch_add(1, std::memory_order_relaxed);
  logMessage(LogLevel::Info,
             problem.toNetworkConfig() + " has its own kernel from now on");
}

//===----------------------------------------------------------------------===//
// From a file or from the compiler
//===----------------------------------------------------------------------===//

/// Returns null if no kernel is stored, or if the device refuses it. In the
/// latter case sets `isRefused`: a new kernel, which replaces the stored one,
/// may do better.
std::unique_ptr<LoadedKernelImpl>
EngineImpl::takeFromStore(const Problem &problem, const KernelKey &key,
                          bool &isRefused) {
  std::optional<FoundKernel> found = store.find(key);
  if (!found)
    return nullptr;
  ErrorOr<std::unique_ptr<LoadedKernelImpl>> loaded =
      load(std::move(found->kernel), LoadedKernel::Origin::Database, &problem);
  if (!loaded) {
    isRefused = true;
    logMessage(LogLevel::Warning,
               "a stored kernel cannot be loaded: " + key.networkConfig + ": " +
                   loaded.getStatus().getMessage());
    return nullptr;
  }
  counters.fromDatabase.fetch_add(1, std::memory_order_relaxed);
  if (found->isFromPackage)
    counters.fromPackage.fetch_add(1, std::memory_order_relaxed);
  return std::move(*loaded);
}

ErrorOr<std::unique_ptr<LoadedKernelImpl>>
EngineImpl::compileAndStore(const Problem &problem, const GpuTarget &target,
                            const KernelKey &key) {
  ErrorOr<CompiledKernel> made = compile(problem, target);
  if (!made)
    return made.getStatus().withContext(key.networkConfig);
  counters.compiled.fetch_add(1, std::memory_order_relaxed);
  // The kernel is loaded before it is stored: one that the device refuses is
  // not worth keeping.
  ErrorOr<std::unique_ptr<LoadedKernelImpl>> loaded =
      load(std::move(made->kernel), LoadedKernel::Origin::Compiled, &problem);
  if (!loaded)
    return loaded.getStatus().withContext(key.networkConfig);
  // A kernel that has another tile because the compiler failed is not stored
  // either: the next process may get the right one.
  if (made->detour.isOk())
    store.store(key, (*loaded)->getKernel());
  return loaded;
}

/// Compiles with the tuned tile if there is one, else with the compiler's
/// choice.
ErrorOr<CompiledKernel> EngineImpl::compileChosen(const Problem &problem,
                                                  const GpuTarget &target) {
  TileChoice choice(gpu, store, *compiler, problem, target);
  Status tunedFailure;
  if (const std::optional<TileConfig> tuned = choice.findTuned()) {
    ErrorOr<Kernel> kernel = compiler->compile(problem, *tuned, target);
    if (kernel)
      return CompiledKernel{std::move(*kernel), {}};
    tunedFailure = kernel.getStatus();
    // A tuning outlives the compiler revision that it was made with, so its
    // tile may be refused.
    logMessage(LogLevel::Info,
               "the tuned tile of " + problem.toNetworkConfig() +
                   " is not used: " + tunedFailure.getMessage());
  }
  const ErrorOr<TileConfig> tile = choice.choose();
  if (!tile)
    return tile.getStatus();
  ErrorOr<CompiledKernel> made =
      compileRobustly(*compiler, problem, *tile, target, takesOtherTiles);
  if (made && isOwnFault(made->detour))
    choice.quarantine(*tile, made->detour);
  // The kernel is not stored, so that the next process can have the tuned tile.
  if (made && made->detour.isOk() && wasKilled(tunedFailure))
    made->detour = tunedFailure;
  return made;
}

ErrorOr<CompiledKernel> EngineImpl::compile(const Problem &problem,
                                            const GpuTarget &target) {
  if (!compiler)
    return notSupported("no kernel is stored, and there is no compiler");
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  ErrorOr<CompiledKernel> made = compileChosen(problem, target);
  if (made && isLogged(LogLevel::Info)) {
    std::chrono::duration<double, std::milli> timeMs = Clock::now() - start;
    logMessage(LogLevel::Info, "compiled " + problem.toNetworkConfig() +
                                   " with " + made->kernel.tile + " for " +
                                   std::string(target.name) + " in " +
                                   std::to_string(timeMs.count()) + " ms");
  }
  return made;
}

ErrorOr<std::unique_ptr<LoadedKernelImpl>>
EngineImpl::load(Kernel kernel, LoadedKernel::Origin origin,
                 const Problem *problem) {
  ErrorOr<Module> module = Module::load(gpu, kernel.codeObject);
  if (!module)
    return module.getStatus();
  std::vector<hipFunction_t> functions;
  for (const LaunchRecipe &recipe : kernel.launches) {
    if (recipe.args.size() > kMaxArgs || recipe.maps.size() > kMaxMaps)
      return internalError(
          "the kernel has " + std::to_string(recipe.maps.size()) +
          " tensor maps and " + std::to_string(recipe.args.size()) +
          " arguments, but a launch takes at most " + std::to_string(kMaxMaps) +
          " and " + std::to_string(kMaxArgs));
    if (recipe.hasUnknownSizes() && !(problem && problem->hasUnknownSizes()))
      return internalError("the kernel is for unknown sizes, but the problem's "
                           "are known");
    if (!recipe.maps.empty() && !gpu.encodeTensorMap)
      return internalError("the kernel takes tensor maps, which this device "
                           "does not have");
    ErrorOr<hipFunction_t> function = module->getFunction(recipe.symbol);
    if (!function)
      return function.getStatus();
    functions.push_back(*function);
  }
  return std::make_unique<LoadedKernelImpl>(
      std::move(kernel), std::make_shared<const Module>(std::move(*module)),
      std::move(functions), origin, problem);
}

//===----------------------------------------------------------------------===//
// Kernels that the caller chooses
//===----------------------------------------------------------------------===//

ErrorOr<std::unique_ptr<LoadedKernel>>
EngineImpl::prepareTile(const Problem &problem, const TileConfig &tile) {
  if (Status status = problem.verify(); !status.isOk())
    return status;
  ErrorOr<const GpuTarget *> target = gpu.getTarget();
  if (!target)
    return target.getStatus();
  if (!compiler)
    return notSupported("there is no compiler");
  ErrorOr<Kernel> kernel = compiler->compile(problem, tile, **target);
  if (!kernel)
    return kernel.getStatus();
  counters.compiled.fetch_add(1, std::memory_order_relaxed);
  ErrorOr<std::unique_ptr<LoadedKernelImpl>> loaded =
      load(std::move(*kernel), LoadedKernel::Origin::Compiled, &problem);
  if (!loaded)
    return loaded.getStatus();
  return std::unique_ptr<LoadedKernel>(std::move(*loaded));
}

ErrorOr<std::unique_ptr<LoadedKernel>>
EngineImpl::loadKernel(const Kernel &kernel, const Problem *problem) {
  ErrorOr<std::unique_ptr<LoadedKernelImpl>> loaded =
      load(kernel, LoadedKernel::Origin::Database, problem);
  if (!loaded)
    return loaded.getStatus();
  return std::unique_ptr<LoadedKernel>(std::move(*loaded));
}

Status EngineImpl::adopt(const Problem &problem,
                         std::unique_ptr<LoadedKernel> kernel) {
  int device = 0;
  Status status = gpu.check(gpu.hipGetDevice(&device), "hipGetDevice");
  ErrorOr<const GpuTarget *> target = gpu.getTarget();
  if (!status.isOk() || !target)
    return status.isOk() ? target.getStatus() : status;
  store.store({problem.toNetworkConfig(), std::string((*target)->name),
               compiler ? compiler->getRevision() : ""},
              kernel->getKernel());
  auto *loaded = static_cast<LoadedKernelImpl *>(kernel.release());
  kernels.replace(device, problem, std::unique_ptr<LoadedKernelImpl>(loaded));
  return Status::ok();
}

Status EngineImpl::provide(const Problem &problem, const Kernel &kernel) {
  if (Status status = problem.verify(); !status.isOk())
    return status;
  int device = 0;
  if (Status status = gpu.checkOwn(gpu.hipGetDevice(&device), "hipGetDevice");
      !status.isOk())
    return status;
  return kernels
      .findOrMake(device, problem,
                  [&]() -> ErrorOr<std::unique_ptr<LoadedKernelImpl>> {
                    auto loaded =
                        load(kernel, LoadedKernel::Origin::Database, &problem);
                    if (loaded)
                      counters.fromDatabase.fetch_add(
                          1, std::memory_order_relaxed);
                    return loaded;
                  })
      .getStatus();
}

Status EngineImpl::forget(const Problem &problem) {
  ErrorOr<const GpuTarget *> target = gpu.getTarget();
  if (!target)
    return target.getStatus();
  ErrorOr<uint32_t> units = gpu.getComputeUnits();
  if (!units)
    return units.getStatus();
  const std::string config = problem.toNetworkConfig();
  const std::string name((*target)->name);
  store.forget({config, name, compiler ? compiler->getRevision() : ""},
               {config, name, *units});
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// From a loaded kernel to a launch
//===----------------------------------------------------------------------===//

/// The eight bytes of an argument; see KernelArg.
static uint64_t getValue(const LaunchArgs &args, KernelArg arg) {
  return isScalar(arg) ? std::bit_cast<uint64_t>(args.getScalar(arg))
                       : reinterpret_cast<uint64_t>(args.getPointer(arg));
}

/// Null for a tensor without an address.
static uint64_t getValue(const LaunchArgs &args, const LaunchArg &arg) {
  const auto size = static_cast<uint64_t>(arg.size.getNumber().value_or(0));
  if (isOfSizes(arg.kind))
    return size;
  const uint64_t value = getValue(args, arg.kind);
  return value == 0 ? 0 : value + size;
}

/// A null pointer would cause a fault on the device, far from its cause.
static Status refuseNull(KernelArg arg, const Kernel &kernel) {
  if (arg == KernelArg::Workspace)
    return invalidArgument("the kernel needs a workspace of " +
                           std::to_string(kernel.workspaceBytes) +
                           " bytes, but got none");
  return invalidArgument("a tensor of the launch (" +
                         std::string(getName(arg)) + ") has no address");
}

Status EngineImpl::launchOne(const LoadedKernelImpl &loaded, size_t index,
                             hipStream_t stream, const LaunchArgs &args) {
  const LaunchRecipe &recipe = loaded.kernel.launches[index];
  alignas(kMapBytes) std::array<uint64_t, kMaxWords> kernarg;
  std::array<void *, kMaxMaps + kMaxArgs + 1> params;
  size_t count = 0, param = 0;
  for (const TensorMap &map : recipe.maps) {
    const uint64_t tensor = getValue(args, map.tensor);
    if (tensor == 0)
      return refuseNull(map.tensor, loaded.kernel);
    const uint64_t address = tensor + map.offset;
    Status status =
        gpu.check(gpu.encodeTensorMap(&kernarg[count], &map,
                                      reinterpret_cast<const void *>(address)),
                  "tesseraEncodeTensorMap");
    if (!status.isOk())
      return status;
    params[param++] = &kernarg[count];
    count += kMapBytes / sizeof(uint64_t);
  }
  for (const LaunchArg &arg : recipe.args) {
    uint64_t value = getValue(args, arg);
    if (value == 0 && !isScalar(arg.kind))
      return refuseNull(arg.kind, loaded.kernel);
    params[param++] = &kernarg[count];
    kernarg[count++] = value;
  }
  params[param] = nullptr;
  size_t kernargBytes = count * sizeof(kernarg[0]);
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, kernarg.data(),
                   HIP_LAUNCH_PARAM_BUFFER_SIZE, &kernargBytes,
                   HIP_LAUNCH_PARAM_END};
  // One buffer with all arguments works in every HIP runtime without knowing
  // the kernel's parameters. CUDA's driver does not lay tensor maps out as such
  // a buffer does: a kernel that gets them this way hangs at its first copy
  // (driver 580, H100).
  const bool hasMaps = !recipe.maps.empty();
  const auto launch = recipe.isDependent && gpu.launchDependent
                          ? gpu.launchDependent
                          : gpu.hipModuleLaunchKernel;
  return gpu.check(
      launch(loaded.functions[index], recipe.grid[0], recipe.grid[1],
             recipe.grid[2], recipe.block[0], recipe.block[1], recipe.block[2],
             recipe.dynamicLdsBytes, stream, hasMaps ? params.data() : nullptr,
             hasMaps ? nullptr : extra),
      "hipModuleLaunchKernel");
}

/// A tensor whose address is not aligned as the kernel needs, or null.
static const LaunchArg *findMisaligned(const LoadedKernelImpl &loaded,
                                       const LaunchArgs &args) {
  for (const LaunchArg &tensor : loaded.alignedTensors)
    if (getValue(args, tensor.kind) & (tensor.alignment - 1)) [[unlikely]]
      return &tensor;
  return nullptr;
}

/// The kernel for tensors that begin at any element. It is compiled when such a
/// tensor is first seen.
ErrorOr<const LoadedKernel *>
EngineImpl::getUnaligned(const LoadedKernelImpl &loaded, const LaunchArgs &args,
                         const LaunchArg &misaligned) {
  const std::string sentence = std::string(getName(misaligned.kind)) +
                               " begins at no multiple of " +
                               std::to_string(misaligned.alignment) + " bytes";
  if (!loaded.problem)
    return notSupported(sentence + ", which the kept kernel needs");
  if (loaded.problem->isUnaligned())
    return invalidArgument(sentence);
  const ErrorOr<const LoadedKernel *> other =
      prepare(loaded.problem->asUnaligned());
  if (!other)
    return other.getStatus().withContext(sentence);
  if ((*other)->getKernel().workspaceBytes > loaded.kernel.workspaceBytes)
    return notSupported(sentence + ", and the kernel for such tensors needs a "
                                   "larger workspace");
  return getFitting(**other, args);
}

ErrorOr<const LoadedKernel *> EngineImpl::getFitting(const LoadedKernel &kernel,
                                                     const LaunchArgs &args) {
  const auto &loaded = static_cast<const LoadedKernelImpl &>(kernel);
  if (const LaunchArg *misaligned = findMisaligned(loaded, args)) [[unlikely]]
    return getUnaligned(loaded, args, *misaligned);
  return &kernel;
}

Status EngineImpl::launch(const LoadedKernel &kernel, hipStream_t stream,
                          const LaunchArgs &args) {
  const auto &loaded = static_cast<const LoadedKernelImpl &>(kernel);
  if (findMisaligned(loaded, args)) [[unlikely]] {
    const ErrorOr<const LoadedKernel *> fitting = getFitting(kernel, args);
    return fitting ? launch(**fitting, stream, args) : fitting.getStatus();
  }
  for (size_t index = 0; index != loaded.functions.size(); ++index)
    if (Status status = launchOne(loaded, index, stream, args); !status.isOk())
      return status;
  counters.launched.fetch_add(1, std::memory_order_relaxed);
  return Status::ok();
}
