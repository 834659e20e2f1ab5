//===- BackgroundTuner.cpp - Tuning beside the client's work --------------===//

#include "runtime/Tuning/BackgroundTuner.h"

#include "runtime/Base/Log.h"

using namespace tessera;

BackgroundTuner &BackgroundTuner::get() {
  static BackgroundTuner tuner;
  return tuner;
}

static void tuneAndTell(Engine &engine, const Problem &problem,
                        const TuningOptions &options) {
  const ErrorOr<TuningResult> result = tune(engine, problem, options);
  logMessage(LogLevel::Info,
             result ? "tuned in the background: " + problem.toNetworkConfig() +
                          ": " + result->search.getBest()->ranked.tile.toText()
                    : "tuning in the background: " +
                          result.getStatus().getMessage());
}

void BackgroundTuner::add(Engine &engine, const Problem &problem,
                          TuningOptions options) {
  int device = 0;
  if (engine.getGpu().hipGetDevice(&device) != hipSuccess)
    return;
  options.jobs = 1;
  options.isCancelled = [this] { return queue.isEnding(); };
  queue.add([&engine, problem, options = std::move(options), device] {
    if (engine.getGpu().hipSetDevice(device) == hipSuccess)
      tuneAndTell(engine, problem, options);
  });
}
