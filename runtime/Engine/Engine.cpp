//===- Engine.cpp - From a problem to a launch ----------------------------===//

#include "runtime/Engine/Engine.h"

#include "runtime/Base/Env.h"
#include "runtime/Base/Log.h"
#include "runtime/Db/KernelDatabase.h"
#include "runtime/Engine/KernelTable.h"

#include <array>
#include <chrono>
#include <optional>

using namespace tessera;

/// More than any recipe has; a launch keeps its arguments on the stack.
static constexpr size_t kMaxArgs = 8;

namespace {
/// Immutable but for the table, the database and the counters, which guard
/// themselves.
class EngineImpl final : public Engine {
public:
  EngineImpl(const GpuApi &gpu, EngineOptions options);

  ErrorOr<const LoadedKernel *> prepare(const Problem &problem) override;
  Status launch(const LoadedKernel &kernel, hipStream_t stream,
                const LaunchArgs &args) override;
  const EngineCounters &getCounters() const override { return counters; }
  const GpuApi &getGpu() const override { return gpu; }

private:
  ErrorOr<std::unique_ptr<LoadedKernelImpl>> make(const Problem &problem);
  std::unique_ptr<LoadedKernelImpl> takeFromDatabase(const KernelKey &key);
  ErrorOr<Kernel> compile(const Problem &problem, const GpuTarget &target);
  ErrorOr<std::unique_ptr<LoadedKernelImpl>> load(Kernel kernel,
                                                  LoadedKernel::Origin origin);

  const GpuApi &gpu;
  const std::shared_ptr<KernelCompiler> compiler;
  std::optional<KernelDatabase> database;
  EngineCounters counters;
  KernelTable kernels;
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

EngineImpl::EngineImpl(const GpuApi &gpu, EngineOptions options)
    : gpu(gpu), compiler(std::move(options.compiler)) {
  if (!options.cacheDirectory.empty())
    database.emplace(options.cacheDirectory);
}

//===----------------------------------------------------------------------===//
// From a problem to a loaded kernel
//===----------------------------------------------------------------------===//

ErrorOr<const LoadedKernel *> EngineImpl::prepare(const Problem &problem) {
  int device = 0;
  if (Status status = gpu.check(gpu.hipGetDevice(&device), "hipGetDevice");
      !status.isOk())
    return status;
  const LoadedKernelImpl *kernel = kernels.find(device, problem);
  if (!kernel) {
    bool isMade = false;
    ErrorOr<const LoadedKernelImpl *> outcome =
        kernels.findOrMake(device, problem, [&] {
          isMade = true;
          return make(problem);
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

/// A miss in memory: the database, else the compiler.
ErrorOr<std::unique_ptr<LoadedKernelImpl>>
EngineImpl::make(const Problem &problem) {
  if (Status status = problem.verify(); !status.isOk())
    return status;
  ErrorOr<const GpuTarget *> target = gpu.getTarget();
  if (!target)
    return target.getStatus();
  KernelKey key = {problem.toNetworkConfig(), std::string((*target)->name),
                   compiler ? compiler->getRevision() : ""};
  if (std::unique_ptr<LoadedKernelImpl> found = takeFromDatabase(key)) {
    counters.fromDatabase.fetch_add(1, std::memory_order_relaxed);
    return found;
  }
  ErrorOr<Kernel> kernel = compile(problem, **target);
  if (!kernel)
    return kernel.getStatus().withContext(key.networkConfig);
  counters.compiled.fetch_add(1, std::memory_order_relaxed);
  // Loaded first: what the device refuses is not worth keeping.
  ErrorOr<std::unique_ptr<LoadedKernelImpl>> loaded =
      load(std::move(*kernel), LoadedKernel::Origin::Compiled);
  if (!loaded)
    return loaded.getStatus().withContext(key.networkConfig);
  if (database)
    database->store(key, (*loaded)->getKernel());
  return loaded;
}

/// Null if there is none, or if the device refuses it: then a new one, which
/// replaces it, may do better.
std::unique_ptr<LoadedKernelImpl>
EngineImpl::takeFromDatabase(const KernelKey &key) {
  std::optional<Kernel> stored;
  if (database)
    stored = database->find(key);
  if (!stored)
    return nullptr;
  ErrorOr<std::unique_ptr<LoadedKernelImpl>> loaded =
      load(std::move(*stored), LoadedKernel::Origin::Database);
  if (loaded)
    return std::move(*loaded);
  logMessage(LogLevel::Warning,
             "a stored kernel cannot be loaded: " + key.networkConfig + ": " +
                 loaded.getStatus().getMessage());
  return nullptr;
}

ErrorOr<Kernel> EngineImpl::compile(const Problem &problem,
                                    const GpuTarget &target) {
  if (!compiler)
    return notSupported("no kernel is stored, and there is no compiler");
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  ErrorOr<TileConfig> tile = compiler->chooseTile(problem, target);
  if (!tile)
    return tile.getStatus();
  ErrorOr<Kernel> kernel = compiler->compile(problem, *tile, target);
  if (kernel && isLogged(LogLevel::Info)) {
    std::chrono::duration<double, std::milli> timeMs = Clock::now() - start;
    logMessage(LogLevel::Info, "compiled " + problem.toNetworkConfig() +
                                   " with " + tile->toText() + " for " +
                                   std::string(target.name) + " in " +
                                   std::to_string(timeMs.count()) + " ms");
  }
  return kernel;
}

ErrorOr<std::unique_ptr<LoadedKernelImpl>>
EngineImpl::load(Kernel kernel, LoadedKernel::Origin origin) {
  if (kernel.launch.args.size() > kMaxArgs)
    return internalError(
        "the kernel has " + std::to_string(kernel.launch.args.size()) +
        " arguments, but a launch takes at most " + std::to_string(kMaxArgs));
  ErrorOr<Module> module = Module::load(gpu, kernel.codeObject);
  if (!module)
    return module.getStatus();
  ErrorOr<hipFunction_t> function = module->getFunction(kernel.launch.symbol);
  if (!function)
    return function.getStatus();
  return std::make_unique<LoadedKernelImpl>(
      std::move(kernel), std::move(*module), *function, origin);
}

//===----------------------------------------------------------------------===//
// From a loaded kernel to a launch
//===----------------------------------------------------------------------===//

static const void *getPointer(const LaunchArgs &args, KernelArg arg) {
  switch (arg) {
  case KernelArg::X:
    return args.x;
  case KernelArg::W:
    return args.w;
  case KernelArg::Y:
    return args.y;
  case KernelArg::Workspace:
    return args.workspace;
  }
  __builtin_unreachable();
}

Status EngineImpl::launch(const LoadedKernel &kernel, hipStream_t stream,
                          const LaunchArgs &args) {
  const auto &loaded = static_cast<const LoadedKernelImpl &>(kernel);
  const LaunchRecipe &recipe = loaded.kernel.launch;
  std::array<const void *, kMaxArgs> kernarg;
  size_t count = 0;
  for (KernelArg arg : recipe.args) {
    const void *pointer = getPointer(args, arg);
    // A null pointer would be a fault on the device, far from its cause.
    if (!pointer)
      return invalidArgument(arg == KernelArg::Workspace
                                 ? "the kernel needs a workspace of " +
                                       std::to_string(recipe.workspaceBytes) +
                                       " bytes, but got none"
                                 : "a tensor of the launch has no address");
    kernarg[count++] = pointer;
  }
  size_t kernargBytes = count * sizeof(kernarg[0]);
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, kernarg.data(),
                   HIP_LAUNCH_PARAM_BUFFER_SIZE, &kernargBytes,
                   HIP_LAUNCH_PARAM_END};
  Status status = gpu.check(
      gpu.hipModuleLaunchKernel(loaded.function, recipe.grid[0], recipe.grid[1],
                                recipe.grid[2], recipe.block[0],
                                recipe.block[1], recipe.block[2],
                                recipe.dynamicLdsBytes, stream, nullptr, extra),
      "hipModuleLaunchKernel");
  if (status.isOk())
    counters.launched.fetch_add(1, std::memory_order_relaxed);
  return status;
}
