//===- Library.cpp - The one engine of the process ------------------------===//

#include "capi/lib/Library.h"

#include "runtime/Base/Env.h"
#include "runtime/Db/Packages.h"

#include <mutex>

using namespace tessera;

static std::mutex engineMutex;
static std::atomic<Engine *> processEngine{nullptr};

static ErrorOr<std::unique_ptr<Engine>> makeEngine() {
  const ErrorOr<const GpuApi *> gpu = GpuApi::get();
  if (!gpu)
    return gpu.getStatus();
  EngineOptions options;
  options.compiler = capi::makeCompiler();
  if (const int64_t seconds = getEnvInt("TESSERA_CLAIM_TIMEOUT").value_or(0);
      seconds > 0)
    options.claimLimit = std::chrono::seconds(seconds);
  // What is made with a tile that somebody names is not for other processes,
  // and made with that tile or not at all.
  if (!getEnvText("TESSERA_TILE")) {
    options.cacheDirectory = Engine::getDefaultCacheDirectory();
    options.packages = findPackages();
    options.takesOtherTiles = true;
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
  processEngine.store(engine->release(), std::memory_order_release);
  return getEngineIfCreated();
}

Engine *capi::getEngineIfCreated() {
  return processEngine.load(std::memory_order_acquire);
}

void capi::replaceEngineForTesting(std::unique_ptr<Engine> engine) {
  const std::lock_guard lock(engineMutex);
  delete processEngine.exchange(engine.release());
}
