//===- TileChoice.cpp - Which tile a kernel is made with ------------------===//

#include "runtime/Engine/TileChoice.h"

#include <chrono>
#include <limits>
#include <set>

using namespace tessera;

/// A device that does not say what it is has no tunings; its problems get the
/// compiler's tile.
TileChoice::TileChoice(const GpuApi &gpu, KernelStore &store,
                       const KernelCompiler &compiler, const Problem &problem,
                       const GpuTarget &target)
    : store(store), compiler(compiler), problem(problem), target(target),
      objective(gpu.takeIssueCycles ? Objective::IssueCycles
                                    : Objective::MeasuredTime),
      key{problem.toNetworkConfig(), std::string(target.name), 0} {
  if (const ErrorOr<uint32_t> units = gpu.getComputeUnits())
    key.computeUnits = *units;
  if (ErrorOr<std::string> name = gpu.getDeviceName())
    device = std::move(*name);
}

std::optional<TileConfig> TileChoice::findTuned() {
  std::optional<TunedTile> found = store.findTile(key, objective, device);
  return found ? std::optional(std::move(found->tile)) : std::nullopt;
}

ErrorOr<TileConfig> TileChoice::choose() {
  ErrorOr<TileConfig> first = compiler.chooseTile(problem, target);
  PerfDatabase *tunings = store.getTunings();
  if (!first || !tunings)
    return first;
  std::set<std::string> refused;
  for (const Tuning &tuning : tunings->find(key, objective))
    if (!tuning.failure.empty() && tuning.failure != kUnfinishedTrial &&
        tuning.revision == compiler.getRevision())
      refused.insert(tuning.tile);
  if (!refused.contains(first->toText()))
    return first;
  ErrorOr<std::vector<RankedTile>> ranked =
      compiler.rankTiles(problem, target, std::numeric_limits<uint32_t>::max());
  if (ranked)
    for (RankedTile &candidate : *ranked)
      if (!refused.contains(candidate.tile.toText()))
        return std::move(candidate.tile);
  return first;
}

void TileChoice::quarantine(const TileConfig &tile, const Status &failure) {
  PerfDatabase *tunings = store.getTunings();
  if (!tunings)
    return;
  Tuning tuning;
  tuning.tile = tile.toText();
  tuning.revision = compiler.getRevision();
  tuning.device = device;
  tuning.objective = objective;
  tuning.measuredAt = std::chrono::duration_cast<std::chrono::seconds>(
                          std::chrono::system_clock::now().time_since_epoch())
                          .count();
  tuning.failure = failure.getMessage();
  tunings->store(key, tuning);
}
