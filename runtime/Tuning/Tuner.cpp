//===- Tuner.cpp - Finds the best kernel of a problem ---------------------===//

#include "runtime/Tuning/Tuner.h"

#include "runtime/Base/Log.h"
#include "runtime/Reference/CaseMemory.h"
#include "runtime/Tuning/DeviceBench.h"
#include "runtime/Tuning/TrialWatch.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

using namespace tessera;

/// The stored failure of a tile whose trial took the process down a second
/// time: it is in quarantine.
static constexpr const char *kUnfinishedTwice =
    "the process ended while it was being tried, twice";

unsigned tessera::getDefaultJobs(DeviceKind kind) {
  const unsigned kMost = kind == DeviceKind::Nvidia ? 3 : 16;
  const unsigned processors = std::thread::hardware_concurrency();
  return std::clamp(processors - std::min(processors, 1u), 1u, kMost);
}

ErrorOr<TuningKey> tessera::makeTuningKey(const GpuApi &gpu,
                                          const Problem &problem) {
  ErrorOr<const GpuTarget *> target = gpu.getTarget();
  if (!target)
    return target.getStatus();
  ErrorOr<uint32_t> units = gpu.getComputeUnits();
  if (!units)
    return units.getStatus();
  return TuningKey{problem.toNetworkConfig(), std::string((*target)->name),
                   *units};
}

static int64_t getNow() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

namespace {
/// The state of one tuning, which its steps share.
class Tuner {
public:
  Tuner(Engine &engine, const Problem &problem, const TuningOptions &options)
      : engine(engine), problem(problem), options(options) {}

  ErrorOr<TuningResult> run();

private:
  Status describe();
  Status runSearch();
  void addKnown(const SearchHooks &hooks);
  size_t searchNeighbours(size_t most, SearchHooks &hooks);
  void merge(SearchResult more, size_t firstRank);
  void readKnown(SearchHooks &hooks);
  void condemn(const std::vector<RankedTile> &tiles, SearchHooks &hooks);
  void store(const TriedTile &tile, const std::string &failure);
  void sayLate(const RankedTile &ranked);
  void begin(const TriedTile &tile);
  void end(const TriedTile &tile);
  Status adopt();
  double getSeconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         beginTime)
        .count();
  }

  Engine &engine;
  const Problem &problem;
  const TuningOptions &options;
  const std::chrono::steady_clock::time_point beginTime =
      std::chrono::steady_clock::now();
  std::string revision;
  std::vector<RankedTile> ranking;
  std::set<std::string> unfinished; ///< Tiles in trial when a process ended.
  std::unique_ptr<Bench> bench;
  TuningResult result;
  std::optional<TrialWatch> watch;
};
} // namespace

/// Fills in the key, the device's name and the ranking.
Status Tuner::describe() {
  KernelCompiler *compiler = engine.getCompiler();
  if (!compiler)
    return notSupported("there is no compiler, so there is nothing to tune");
  revision = compiler->getRevision();
  const GpuApi &gpu = engine.getGpu();
  ErrorOr<TuningKey> key = makeTuningKey(gpu, problem);
  if (!key)
    return key.getStatus();
  result.key = std::move(*key);
  ErrorOr<std::string> name = gpu.getDeviceName();
  if (!name)
    return name.getStatus();
  result.device = std::move(*name);
  ErrorOr<const GpuTarget *> target = gpu.getTarget();
  if (!target)
    return target.getStatus();
  ErrorOr<std::vector<RankedTile>> ranked =
      compiler->rankTiles(problem, **target, SIZE_MAX);
  if (!ranked)
    return ranked.getStatus();
  ranking = std::move(*ranked);
  result.candidates = ranking.size();
  return Status::ok();
}

void Tuner::readKnown(SearchHooks &hooks) {
  if (!options.database)
    return;
  for (Tuning &tuning : options.database->find(result.key, result.objective)) {
    if (tuning.revision != revision || tuning.device != result.device ||
        (options.again && tuning.measuredAt < options.againBefore))
      continue;
    if (tuning.failure == kUnfinishedTrial)
      unfinished.insert(tuning.tile);
    else
      hooks.known.emplace(tuning.tile, std::move(tuning));
  }
}

/// Stores why condemned tiles are not tried, and tells the search.
void Tuner::condemn(const std::vector<RankedTile> &tiles, SearchHooks &hooks) {
  for (const RankedTile &ranked : tiles) {
    const auto found = options.condemned.find(ranked.tile.toText());
    if (found == options.condemned.end())
      continue;
    store(TriedTile(ranked, 0), found->second);
    Tuning &known = hooks.known[found->first];
    known = Tuning();
    known.failure = found->second;
  }
}

void Tuner::store(const TriedTile &tile, const std::string &failure) {
  if (!options.database)
    return;
  Tuning tuning;
  tuning.tile = tile.ranked.tile.toText();
  tuning.revision = revision;
  tuning.device = result.device;
  tuning.objective = result.objective;
  tuning.value = tile.value;
  tuning.spread = tile.spread;
  tuning.modelCost = tile.ranked.cost;
  tuning.measuredAt = getNow();
  tuning.failure = failure;
  options.database->store(result.key, tuning);
}

/// Puts the tile of a trial that is still running into quarantine and logs it.
void Tuner::sayLate(const RankedTile &ranked) {
  const std::string reason = describeLate(*options.patience);
  store(TriedTile(ranked, 0), reason);
  logMessage(LogLevel::Warning,
             "tuning " + result.key.networkConfig + ": tile " +
                 ranked.tile.toText() + " runs, but " + reason +
                 ". It is not tried again. A kernel that never ends cannot be "
                 "ended but with its process.");
}

void Tuner::begin(const TriedTile &tile) {
  const std::string text = tile.ranked.tile.toText();
  store(tile, unfinished.contains(text) ? kUnfinishedTwice : kUnfinishedTrial);
  if (watch)
    watch->begin([this, ranked = tile.ranked] { sayLate(ranked); });
  if (options.onTrial)
    options.onTrial(&text);
}

void Tuner::end(const TriedTile &tile) {
  if (watch)
    watch->end();
  store(tile, tile.failure);
  if (options.database && result.stored.isOk())
    result.stored = options.database->checkKept();
  if (options.onTrial)
    options.onTrial(nullptr);
}

/// Adds what earlier tunings found right beside the ranking: tiles that
/// change knobs of a plan.
void Tuner::addKnown(const SearchHooks &hooks) {
  std::set<std::string> ranked;
  for (const RankedTile &tile : ranking)
    ranked.insert(tile.tile.toText());
  for (const auto &[text, known] : hooks.known) {
    const ErrorOr<TileConfig> tile = parseTileConfig(text);
    if (ranked.contains(text) || !known.failure.empty() || !tile)
      continue;
    TriedTile tried({*tile, known.modelCost}, ranking.size());
    tried.value = known.value;
    tried.spread = known.spread;
    tried.isKnown = true;
    ranking.push_back(tried.ranked);
    result.search.tried.push_back(std::move(tried));
  }
}

/// Adds the results of a search over tiles that rank from `firstRank` on. A
/// tile that was tried before has the later of its values.
void Tuner::merge(SearchResult more, size_t firstRank) {
  std::vector<TriedTile> &tried = result.search.tried;
  for (TriedTile &tile : more.tried) {
    const auto same = std::ranges::find_if(tried, [&](const TriedTile &before) {
      return before.ranked.tile == tile.ranked.tile;
    });
    if (same == tried.end()) {
      tile.rank += firstRank;
      tried.push_back(std::move(tile));
      continue;
    }
    tile.rank = same->rank;
    *same = std::move(tile);
  }
  result.search.deviceStatus = more.deviceStatus;
  if (more.stop == StopReason::DeviceLost || more.stop == StopReason::Time)
    result.search.stop = more.stop;
}

/// Tries at most `most` tiles that change one knob of the best one's plan, and
/// that one again, because times of different minutes do not compare. Returns
/// how many there were; 0 if nothing is left to change.
size_t Tuner::searchNeighbours(size_t most, SearchHooks &hooks) {
  const TriedTile *best = result.search.getBest();
  const StopReason stop = result.search.stop;
  if (!best || stop == StopReason::DeviceLost || stop == StopReason::Time)
    return 0;
  const RankedTile chosen = best->ranked;
  const ErrorOr<const GpuTarget *> target = engine.getGpu().getTarget();
  if (!target)
    return 0;
  const ErrorOr<std::vector<TileConfig>> neighbours =
      engine.getCompiler()->findNeighbours(problem, chosen.tile, **target);
  if (!neighbours)
    return 0;
  std::vector<RankedTile> round = {chosen};
  for (const TileConfig &tile : *neighbours)
    if (round.size() <= most &&
        std::ranges::none_of(ranking, [&](const RankedTile &ranked) {
          return ranked.tile == tile;
        }))
      round.push_back({tile, chosen.cost});
  if (round.size() == 1)
    return 0;
  if (result.objective == Objective::MeasuredTime && options.budget.seconds > 0)
    hooks.known.erase(chosen.tile.toText());
  condemn(round, hooks);
  TuningBudget budget = options.budget;
  budget.seconds = std::max(0.0, budget.seconds - getSeconds());
  budget.candidates = round.size();
  budget.isExhaustive = true;
  const size_t firstRank = ranking.size();
  ranking.insert(ranking.end(), round.begin() + 1, round.end());
  merge(search(round, *bench, budget, options.seed, std::max(options.jobs, 1u),
               hooks),
        firstRank - 1);
  return round.size() - 1;
}

Status Tuner::runSearch() {
  ErrorOr<std::unique_ptr<DeviceBench>> made =
      DeviceBench::create(engine, problem, options.seed, options.judge);
  if (!made)
    return made.getStatus();
  bench = std::move(*made);
  result.objective = bench->getObjective();
  SearchHooks hooks;
  readKnown(hooks);
  condemn(ranking, hooks);
  if (options.patience)
    watch.emplace(*options.patience);
  hooks.onBegin = [this](const TriedTile &tile) { begin(tile); };
  hooks.onEnd = [this](const TriedTile &tile) { end(tile); };
  hooks.maxWorkspaceBytes = options.maxWorkspaceBytes;
  hooks.isCancelled = options.isCancelled;
  result.search = search(ranking, *bench, options.budget, options.seed,
                         std::max(options.jobs, 1u), hooks);
  addKnown(hooks);
  for (size_t most = options.budget.neighbours; most > 0;) {
    const size_t tried = searchNeighbours(most, hooks);
    if (tried == 0)
      break;
    most -= std::min(most, tried);
  }
  result.candidates = ranking.size();
  std::ranges::sort(result.search.tried, {}, &TriedTile::rank);
  result.judge = bench->getJudge();
  return result.search.deviceStatus;
}

/// Makes the winner the kernel in the engine's table.
Status Tuner::adopt() {
  TriedTile *best = result.search.getBest();
  if (!best)
    return notSupported(
        "no candidate of " + result.key.networkConfig + " is right: " +
        (result.search.tried.empty() ? std::string("none fits the workspace")
                                     : result.search.tried.front().failure));
  if (!best->kernel) {
    // An earlier search has found the winner; the engine knows whether it was
    // adopted.
    ErrorOr<const LoadedKernel *> used = engine.prepare(problem);
    if (used && (*used)->getKernel().tile == best->ranked.tile.toText())
      return Status::ok();
    MadeKernel kernel = bench->make(best->ranked.tile);
    if (!kernel)
      return kernel.getStatus();
    best->kernel = std::move(*kernel);
  }
  if (options.maxWorkspaceBytes &&
      best->kernel->getKernel().workspaceBytes > *options.maxWorkspaceBytes)
    return Status::ok();
  return engine.adopt(problem, std::move(best->kernel));
}

ErrorOr<TuningResult> Tuner::run() {
  Status status = describe();
  if (status.isOk())
    status = runSearch();
  if (status.isOk())
    status = adopt();
  if (!status.isOk())
    return status;
  // No module outlives its tuning, except the adopted one.
  for (TriedTile &tile : result.search.tried)
    tile.kernel.reset();
  result.seconds = getSeconds();
  return std::move(result);
}

ErrorOr<TuningResult> tessera::tune(Engine &engine, const Problem &problem,
                                    const TuningOptions &options) {
  if (Status status = problem.verify(); !status.isOk())
    return status;
  const CaseUse use = {CaseUse::Purpose::Tune,
                       engine.getGpu().getKind() == DeviceKind::Emulated};
  // The bench checks the memory before the data are made: results from the
  // database need none.
  return guardMemory(getCaseBytes(problem, use),
                     [&] { return Tuner(engine, problem, options).run(); });
}
