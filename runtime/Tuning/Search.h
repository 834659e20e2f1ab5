//===- Search.h - Which tile is the best -----------------------*- C++ -*--===//
//
// A search tries candidates in the order of the model's ranking until the rest
// cannot be expected to win (StopRule.h), or the budget is spent. Results of
// earlier searches are not measured again, so a search that was killed
// continues where it was. The few best are measured again alternately, because
// a clock that drifts must not decide between them.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_TUNING_SEARCH_H
#define TESSERA_RUNTIME_TUNING_SEARCH_H

#include "runtime/Tuning/Bench.h"

#include <functional>
#include <limits>
#include <map>
#include <optional>

namespace tessera {

struct TuningBudget {
  /// The most candidates, including those of earlier searches.
  size_t candidates = 8;
  /// No candidate but the first is tried after this time. Results of earlier
  /// searches are still taken.
  double seconds = std::numeric_limits<double>::infinity();
  /// Try all candidates, in an order that the seed decides, whatever the model
  /// expects.
  bool isExhaustive = false;
  /// Behind these, the most tiles that change a knob of the best one's plan.
  size_t neighbours = 0;
};

/// A candidate and the outcome of its trial.
struct TriedTile {
  TriedTile(RankedTile ranked, size_t rank)
      : ranked(std::move(ranked)), rank(rank) {}

  RankedTile ranked;
  size_t rank; ///< In the model's ranking, from 0.
  double value = 0;
  double spread = 0;
  std::string failure;  ///< Why it is in quarantine; empty: verified.
  bool isKnown = false; ///< From an earlier search.
  /// Kept for the best tiles; the others are unloaded at once.
  std::unique_ptr<LoadedKernel> kernel;

  bool isVerified() const { return failure.empty(); }
};

enum class StopReason { AllTried, NothingBetter, Candidates, Time, DeviceLost };

/// Text of the reason: "all were tried", ...
const char *describe(StopReason reason);

struct SearchResult {
  std::vector<TriedTile> tried; ///< In the order of the model's ranks.
  StopReason stop = StopReason::AllTried;
  Status deviceStatus; ///< Why the search could not continue.

  /// The verified tile with the least value, or null.
  TriedTile *getBest();
  const TriedTile *getBest() const;
};

/// Earlier results for a search, and callbacks of its caller.
struct SearchHooks {
  /// Results of earlier searches, by the tile's text.
  std::map<std::string, Tuning> known;
  /// Called before a kernel runs for the first time, and with its outcome: if
  /// the kernel takes the process down, the first call is the record of it.
  std::function<void(const TriedTile &)> onBegin;
  std::function<void(const TriedTile &)> onEnd;
  /// A kernel that needs more workspace is skipped without being tried.
  std::optional<uint64_t> maxWorkspaceBytes;
  /// Returns true to stop the search as soon as possible.
  std::function<bool()> isCancelled;
};

SearchResult search(const std::vector<RankedTile> &ranking, Bench &bench,
                    const TuningBudget &budget, uint64_t seed, unsigned jobs,
                    const SearchHooks &hooks);

} // namespace tessera

#endif // TESSERA_RUNTIME_TUNING_SEARCH_H
