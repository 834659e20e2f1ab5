//===- FindSearch.cpp - Tuning by a Find ----------------------------------===//

#include "capi/lib/Find/FindSearch.h"

#include "runtime/Base/Log.h"
#include "runtime/Tuning/BackgroundTuner.h"
#include "runtime/Tuning/TrialWatch.h"

#include <mutex>
#include <unordered_set>

using namespace tessera;
using namespace tessera::capi;

/// Whether this is the first call of the process for the problem.
static bool isFirst(const Problem &problem) {
  static std::mutex mutex;
  static std::unordered_set<std::string> seen;
  const std::lock_guard lock(mutex);
  return seen.insert(problem.toNetworkConfig()).second;
}

void capi::cleanForFind(Engine &engine, const Problem &problem,
                        const FindSettings &settings) {
  if (settings.enforce != FindEnforce::DbClean)
    return;
  if (Status status = engine.forget(problem); !status.isOk())
    logMessage(LogLevel::Warning,
               "MIOPEN_FIND_ENFORCE is DB_CLEAN, but " + status.getMessage());
}

ErrorOr<const LoadedKernel *>
capi::searchForFind(Engine &engine, const Problem &problem,
                    const LoadedKernel &current, bool isAsked,
                    const FindSettings &settings) {
  TuningOptions options;
  options.budget.seconds = settings.searchSeconds;
  options.budget.candidates = settings.searchCandidates;
  options.maxWorkspaceBytes = current.getKernel().workspaceBytes;
  options.database = engine.getTunings();
  // The emulated device stops endless loops itself, so that it needs no time
  // limit.
  if (engine.getGpu().getKind() != DeviceKind::Emulated)
    options.patience = kTrialLimit;
  if (!isAsked && !settings.mustSearch()) {
    if (settings.tunesInBackground && isFirst(problem))
      BackgroundTuner::get().add(engine, problem, options);
    return &current;
  }
  if (!isFirst(problem))
    return &current;
  options.jobs = getDefaultJobs(engine.getGpu().getKind());
  options.again = settings.enforce == FindEnforce::SearchDbUpdate;
  const ErrorOr<TuningResult> result = tune(engine, problem, options);
  if (!result) {
    logMessage(LogLevel::Warning,
               "tuning by Find failed: " + result.getStatus().getMessage());
    return &current;
  }
  return engine.prepare(problem);
}
