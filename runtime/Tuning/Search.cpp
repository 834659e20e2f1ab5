//===- Search.cpp - Which tile is the best --------------------------------===//

#include "runtime/Tuning/Search.h"

#include "runtime/Engine/RobustCompile.h"

#include "runtime/Tuning/CompileAhead.h"
#include "runtime/Tuning/Statistics.h"
#include "runtime/Tuning/StopRule.h"

#include <algorithm>
#include <chrono>

using namespace tessera;

/// The number of best tiles that are measured again alternately at the end, if
/// they are within this factor of the best, and how often.
static constexpr size_t kFinalists = 3;
static constexpr double kFinalFactor = 1.05;
static constexpr int kFinalRounds = 3;

const char *tessera::describe(StopReason reason) {
  switch (reason) {
  case StopReason::AllTried:
    return "all were tried";
  case StopReason::NothingBetter:
    return "the model expects nothing better";
  case StopReason::Candidates:
    return "the number of candidates";
  case StopReason::Time:
    return "the time";
  case StopReason::DeviceLost:
    return "the device was lost";
  }
  __builtin_unreachable();
}

const TriedTile *SearchResult::getBest() const {
  const TriedTile *best = nullptr;
  for (const TriedTile &tile : tried)
    if (tile.isVerified() && (!best || tile.value < best->value))
      best = &tile;
  return best;
}

TriedTile *SearchResult::getBest() {
  return const_cast<TriedTile *>(std::as_const(*this).getBest());
}

namespace {
/// The state of one search, which its steps share.
class Search {
public:
  Search(const std::vector<RankedTile> &ranking, Bench &bench,
         const TuningBudget &budget, uint64_t seed, const SearchHooks &hooks);

  SearchResult run(unsigned jobs);

private:
  bool isOver(const RankedTile &next);
  bool isLate();
  bool prepareBench();
  void takeKnown(size_t rank, const Tuning &known);
  void tryTile(size_t rank, MadeKernel made);
  std::string getFailure(TriedTile &tile, MadeKernel made);
  void keepOnlyBest();
  void measureFinalists();
  double getSeconds() const;

  const std::vector<RankedTile> &ranking;
  Bench &bench;
  const TuningBudget &budget;
  const SearchHooks &hooks;
  const std::chrono::steady_clock::time_point begin =
      std::chrono::steady_clock::now();
  std::vector<size_t> order;                     ///< Ranks.
  std::map<size_t, std::vector<double>> samples; ///< Values by rank.
  StopRule rule;
  bool isPrepared = false;
  SearchResult result;
};
} // namespace

Search::Search(const std::vector<RankedTile> &ranking, Bench &bench,
               const TuningBudget &budget, uint64_t seed,
               const SearchHooks &hooks)
    : ranking(ranking), bench(bench), budget(budget), hooks(hooks) {
  const size_t count = std::min(ranking.size(), budget.candidates);
  if (budget.isExhaustive) {
    order = shuffleBehindFirst(count, seed);
    return;
  }
  for (size_t rank = 0; rank < count; ++rank)
    order.push_back(rank);
}

double Search::getSeconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// Whether no candidate from `next` on needs to be looked at.
bool Search::isOver(const RankedTile &next) {
  if (result.stop == StopReason::DeviceLost)
    return true;
  if (result.tried.empty() || budget.isExhaustive || rule.canWin(next.cost))
    return false;
  result.stop = StopReason::NothingBetter;
  return true;
}

/// Whether there is no time left to try another tile. The first is always
/// tried.
bool Search::isLate() {
  if (result.tried.empty())
    return false;
  if (getSeconds() >= budget.seconds ||
      (hooks.isCancelled && hooks.isCancelled()))
    result.stop = StopReason::Time;
  return result.stop == StopReason::Time;
}

/// False if nothing can be tried.
bool Search::prepareBench() {
  if (isPrepared)
    return true;
  isPrepared = true;
  result.deviceStatus = bench.prepare();
  if (!result.deviceStatus.isOk())
    result.stop = StopReason::DeviceLost;
  return result.deviceStatus.isOk();
}

void Search::takeKnown(size_t rank, const Tuning &known) {
  TriedTile tile(ranking[rank], rank);
  tile.value = known.value;
  tile.spread = known.spread;
  tile.failure = known.failure;
  tile.isKnown = true;
  if (tile.isVerified())
    rule.add(tile.ranked.cost, tile.value);
  result.tried.push_back(std::move(tile));
}

/// Compiles, verifies and measures. Returns what is wrong with the tile, or an
/// empty text.
std::string Search::getFailure(TriedTile &tile, MadeKernel made) {
  if (!made)
    return "compile: " + made.getStatus().getMessage();
  tile.kernel = std::move(*made);
  if (hooks.onBegin)
    hooks.onBegin(tile);
  if (Status status = bench.verify(*tile.kernel); !status.isOk())
    return status.getMessage();
  const ErrorOr<std::vector<double>> values = bench.measure(*tile.kernel);
  if (!values)
    return "measuring: " + values.getStatus().getMessage();
  samples[tile.rank] = *values;
  tile.value = getMedian(*values);
  tile.spread = getSpread(*values);
  return "";
}

void Search::tryTile(size_t rank, MadeKernel made) {
  // The tile is not at fault, and it is not known whether it is any good.
  if (made ? hooks.maxWorkspaceBytes &&
                 (*made)->getKernel().workspaceBytes > *hooks.maxWorkspaceBytes
           : wasKilled(made.getStatus()))
    return;
  TriedTile tile(ranking[rank], rank);
  tile.failure = getFailure(tile, std::move(made));
  if (!tile.isVerified()) {
    tile.kernel.reset();
    if (Status status = bench.checkDevice(); !status.isOk()) {
      result.stop = StopReason::DeviceLost;
      result.deviceStatus = status;
    }
  } else {
    rule.add(tile.ranked.cost, tile.value);
  }
  if (hooks.onEnd)
    hooks.onEnd(tile);
  result.tried.push_back(std::move(tile));
  keepOnlyBest();
}

/// Unloads the kernels that cannot be finalists.
void Search::keepOnlyBest() {
  std::vector<TriedTile *> loaded;
  for (TriedTile &tile : result.tried)
    if (tile.kernel)
      loaded.push_back(&tile);
  std::ranges::sort(loaded, {}, &TriedTile::value);
  for (size_t index = kFinalists; index < loaded.size(); ++index)
    loaded[index]->kernel.reset();
}

/// Measures the finalists again. Only times need that: an estimate would be the
/// same again.
void Search::measureFinalists() {
  const TriedTile *best = result.getBest();
  if (!best || bench.getObjective() != Objective::MeasuredTime)
    return;
  std::vector<TriedTile *> finalists;
  for (TriedTile &tile : result.tried)
    if (tile.kernel && tile.value <= kFinalFactor * best->value)
      finalists.push_back(&tile);
  if (finalists.size() < 2)
    return;
  for (int round = 0; round < kFinalRounds; ++round)
    for (TriedTile *tile : finalists)
      if (ErrorOr<std::vector<double>> more = bench.measure(*tile->kernel))
        samples[tile->rank].insert(samples[tile->rank].end(), more->begin(),
                                   more->end());
  for (TriedTile *tile : finalists) {
    tile->value = getMedian(samples[tile->rank]);
    tile->spread = getSpread(samples[tile->rank]);
    if (hooks.onEnd)
      hooks.onEnd(*tile);
  }
}

SearchResult Search::run(unsigned jobs) {
  std::vector<size_t> unknown;
  for (size_t rank : order)
    if (!hooks.known.contains(ranking[rank].tile.toText()))
      unknown.push_back(rank);
  // Threads start only once it is known that something has to be tried.
  std::optional<CompileAhead> kernels;
  size_t taken = 0;
  for (size_t rank : order) {
    if (isOver(ranking[rank]))
      break;
    auto known = hooks.known.find(ranking[rank].tile.toText());
    // Known results cost no time, so they are taken even when the budget is
    // spent.
    if (known != hooks.known.end()) {
      takeKnown(rank, known->second);
    } else if (!isLate() && prepareBench()) {
      if (!kernels)
        kernels.emplace(unknown.size(), jobs, [&](size_t index) {
          return bench.make(ranking[unknown[index]].tile);
        });
      tryTile(rank, kernels->take(taken++));
    }
  }
  if (result.stop == StopReason::AllTried && order.size() < ranking.size())
    result.stop = StopReason::Candidates;
  if (result.stop != StopReason::DeviceLost)
    measureFinalists();
  std::ranges::sort(result.tried, {}, &TriedTile::rank);
  return std::move(result);
}

SearchResult tessera::search(const std::vector<RankedTile> &ranking,
                             Bench &bench, const TuningBudget &budget,
                             uint64_t seed, unsigned jobs,
                             const SearchHooks &hooks) {
  return Search(ranking, bench, budget, seed, hooks).run(jobs);
}
