//===- Library.cpp - The one engine of the process ------------------------===//

#include "capi/lib/Common/GenericUse.h"
#include "capi/lib/Common/Library.h"

#include "capi/lib/Convolution/MeasuredTimes.h"
#include "capi/lib/Handle/CompileOnlyEngine.h"
#include "runtime/Base/TileSetting.h"
#include "runtime/Db/Packages.h"

#include <mutex>
#include <unordered_map>

using namespace tessera;

static std::mutex engineMutex;
static std::atomic<Engine *> processEngine{nullptr};

static std::mutex timesMutex;
/// Times by kernel. The kernels belong to the process's engine and live as long
/// as it does.
static std::unordered_map<const LoadedKernel *, float> measuredTimes;

/// Whether problems may get kernels for unknown sizes, and when.
static GenericOptions getGenericOptions() {
  static constexpr EnvWord kWords[] = {
      {"NEVER", static_cast<int>(GenericUse::Never)},
      {"KEEP", static_cast<int>(GenericUse::Keep)},
      {"SWITCH", static_cast<int>(GenericUse::Switch)}};
  GenericOptions options;
  const auto use = getEnvWord("TESSERA_GENERIC_KERNELS", kWords);
  options.use = static_cast<GenericUse>(
      use.value_or(static_cast<int>(GenericUse::Switch)));
  // Bits change when a convolution's own kernel comes, and a graph that is
  // captured before keeps the slower one for ever.
  options.convolutions = use.has_value();
  constexpr int64_t kMost = 1'000'000;
  if (const auto shapes = getEnvInt("TESSERA_GENERIC_AFTER", 0, kMost))
    options.shapesBefore = static_cast<uint32_t>(*shapes);
  if (const auto uses = getEnvInt("TESSERA_GENERIC_USES", 1, kMost))
    options.usesBefore = static_cast<uint32_t>(*uses);
  return options;
}

bool capi::areGenericKernelsForbidden() {
  return getGenericOptions().use == GenericUse::Never;
}

namespace {
/// The engine is never destroyed, since other threads may use it to the end.
struct EndBackground {
  ~EndBackground() {
    if (Engine *engine = capi::getEngineIfCreated())
      engine->endBackground();
  }
};
} // namespace

static bool isCompileOnly() {
  return getEnvBool("MIOPEN_DEBUG_COMPILE_ONLY").value_or(false);
}

static ErrorOr<std::unique_ptr<Engine>> makeEngine() {
  const ErrorOr<const GpuApi *> gpu = GpuApi::get();
  if (!gpu)
    return gpu.getStatus();
  EngineOptions options;
  options.compiler = capi::makeCompiler();
  if (const auto seconds =
          getEnvInt("TESSERA_CLAIM_TIMEOUT", 1, kMostEnvSeconds))
    options.claimLimit = std::chrono::seconds(*seconds);
  // A kernel with a tile that TESSERA_TILE names must not reach other processes
  // through the database, and no other tile may take its place.
  if (!getEnvTile(reportEnvInLog)) {
    options.cacheDirectory = Engine::getDefaultCacheDirectory();
    options.packages = findPackages();
    options.takesOtherTiles = true;
    if (!isCompileOnly()) // That is asked for to fill the database.
      options.generic = getGenericOptions();
  }
  return Engine::create(**gpu, std::move(options));
}

ErrorOr<Engine *> capi::getEngine() {
  if (Engine *engine = getEngineIfCreated())
    return engine;
  const std::lock_guard lock(engineMutex);
  if (Engine *engine = getEngineIfCreated())
    return engine;
  ErrorOr<std::unique_ptr<Engine>> engine = makeEngine();
  if (!engine)
    return engine.getStatus();
  if (isCompileOnly())
    engine = makeCompileOnly(std::move(*engine));
  processEngine.store(engine->release(), std::memory_order_release);
  // Made last, so that what background work uses is destroyed after it.
  static const EndBackground endBackground;
  return getEngineIfCreated();
}

Engine *capi::getEngineIfCreated() {
  return processEngine.load(std::memory_order_acquire);
}

std::optional<float> capi::getMeasuredTime(const LoadedKernel &kernel) {
  const std::lock_guard lock(timesMutex);
  const auto found = measuredTimes.find(&kernel);
  return found == measuredTimes.end() ? std::nullopt
                                      : std::optional(found->second);
}

void capi::keepMeasuredTime(const LoadedKernel &kernel, float timeMs) {
  const std::lock_guard lock(timesMutex);
  measuredTimes[&kernel] = timeMs;
}

void capi::replaceEngineForTesting(std::unique_ptr<Engine> engine) {
  const std::lock_guard lock(engineMutex);
  const std::lock_guard timesLock(timesMutex);
  measuredTimes.clear();
  delete processEngine.exchange(engine.release());
}
