//===- Search.h - Which tile is the best -----------------------*- C++ -*-===//
//
// Takes the model's ranking and tries candidates until the rest cannot be
// expected to win (StopRule.h), or the budget is spent. What earlier searches
// have found out is not tried again, so a search that was killed goes on where
// it was. Times of the few best are taken again in turns, because a clock that
// drifts must not decide between them.
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
  /// Candidates at most, those of earlier searches counted.
  size_t candidates = 8;
  /// No candidate but the first is tried later than this. What earlier searches
  /// have found is taken still.
  double seconds = std::numeric_limits<double>::infinity();
  /// Try all, in an order that the seed decides, whatever the model expects.
  bool isExhaustive = false;
};

/// A candidate and what came of it.
struct TriedTile {
  TriedTile(RankedTile ranked, size_t rank)
      : ranked(std::move(ranked)), rank(rank) {}

  RankedTile ranked;
  size_t rank; ///< The model's, from 0.
  double value = 0;
  double spread = 0;
  std::string failure;  ///< Why it is in quarantine; empty: verified.
  bool isKnown = false; ///< From an earlier search.
  /// Kept for the best ones; the others are unloaded at once.
  std::unique_ptr<LoadedKernel> kernel;

  bool isVerified() const { return failure.empty(); }
};

enum class StopReason { AllTried, NothingBetter, Candidates, Time, DeviceLost };

/// "all were tried", ...
const char *describe(StopReason reason);

struct SearchResult {
  std::vector<TriedTile> tried; ///< In the order of the model's ranks.
  StopReason stop = StopReason::AllTried;
  Status deviceStatus; ///< Why nothing could be tried any more.

  /// The verified one with the least value, or null.
  TriedTile *getBest();
  const TriedTile *getBest() const;
};

/// What a search is to do besides.
struct SearchHooks {
  /// What is known of a tile, by its text.
  std::map<std::string, Tuning> known;
  /// Called before a kernel runs for the first time, and with what came of it:
  /// a process that a kernel takes down leaves the former behind.
  std::function<void(const TriedTile &)> onBegin;
  std::function<void(const TriedTile &)> onEnd;
  /// A kernel that needs more workspace is put aside without being tried.
  std::optional<uint64_t> maxWorkspaceBytes;
  /// True: stop as soon as possible.
  std::function<bool()> isCancelled;
};

SearchResult search(const std::vector<RankedTile> &ranking, Bench &bench,
                    const TuningBudget &budget, uint64_t seed, unsigned jobs,
                    const SearchHooks &hooks);

} // namespace tessera

#endif // TESSERA_RUNTIME_TUNING_SEARCH_H
