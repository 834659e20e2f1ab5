//===- Outcome.cpp - What came of one problem -----------------------------===//

#include "tools/dnn-tune/Outcome.h"

#include "runtime/Tuning/Statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace tessera;
using namespace tessera::tune_tool;

Ranking tessera::tune_tool::rate(const TuningResult &result) {
  Ranking ranking;
  std::vector<std::pair<double, double>> pairs;
  double first = 0, topFour = 0;
  for (const TriedTile &tile : result.search.tried) {
    if (!tile.isVerified()) {
      ++ranking.quarantined;
      continue;
    }
    ++ranking.verified;
    pairs.emplace_back(tile.ranked.cost, tile.value);
    if (first == 0)
      first = tile.value;
    if (ranking.verified <= 4)
      topFour = topFour == 0 ? tile.value : std::min(topFour, tile.value);
    if (ranking.best == 0 || tile.value < ranking.best)
      ranking.best = tile.value;
  }
  ranking.isKnown = ranking.best > 0;
  if (!ranking.isKnown)
    return ranking;
  ranking.firstOverBest = ranking.best / first;
  ranking.topFourOverBest = ranking.best / topFour;
  ranking.tau = getKendallTau(pairs);
  return ranking;
}

Rating tessera::tune_tool::rate(const std::vector<Outcome> &outcomes) {
  Rating rating;
  for (const Outcome &outcome : outcomes) {
    const Ranking ranking = rate(outcome.result);
    if (!outcome.status.isOk() || !ranking.isKnown)
      continue;
    ++rating.problems;
    rating.firstOverBest += std::log(ranking.firstOverBest);
    rating.topFourOverBest += std::log(ranking.topFourOverBest);
    rating.tau += ranking.tau;
  }
  const auto count = static_cast<double>(std::max<size_t>(rating.problems, 1));
  rating.firstOverBest = std::exp(rating.firstOverBest / count);
  rating.topFourOverBest = std::exp(rating.topFourOverBest / count);
  rating.tau /= count;
  return rating;
}

/// Quotes a field that may contain commas.
static std::string quote(const std::string &text) {
  std::string quoted = "\"";
  for (char c : text)
    quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

static std::string formatNumber(double value, int digits = 6) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

std::string
tessera::tune_tool::formatTable(const std::vector<Outcome> &outcomes) {
  std::string table =
      "problem,device,rank,tile,model_cost,value,spread,unit,failure\n";
  for (const Outcome &outcome : outcomes)
    for (const TriedTile &tile : outcome.result.search.tried)
      table += quote(outcome.problem.toNetworkConfig()) + "," +
               quote(outcome.result.device) + "," + std::to_string(tile.rank) +
               "," + tile.ranked.tile.toText() + "," +
               formatNumber(tile.ranked.cost) + "," + formatNumber(tile.value) +
               "," + formatNumber(tile.spread) + "," +
               std::string(getName(outcome.result.objective)) + "," +
               quote(tile.failure) + "\n";
  return table;
}

std::string tessera::tune_tool::formatLine(const Outcome &outcome) {
  const std::string name = outcome.problem.toNetworkConfig();
  if (!outcome.status.isOk())
    return name + "\n  " + outcome.status.getMessage() + "\n";
  const TuningResult &result = outcome.result;
  const Ranking ranking = rate(result);
  const auto known = static_cast<size_t>(std::ranges::count_if(
      result.search.tried, [](const TriedTile &t) { return t.isKnown; }));
  char text[512];
  std::snprintf(
      text, sizeof text,
      "  %s, %.6g %s; first choice %.3f of its speed, tau %.2f\n"
      "  %zu of %zu tiles tried%s, %zu in quarantine; stopped: %s; judge: %s; "
      "%.1f s\n",
      result.search.getBest()->ranked.tile.toText().c_str(), ranking.best,
      std::string(getName(result.objective)).c_str(), ranking.firstOverBest,
      ranking.tau, result.search.tried.size(), result.candidates,
      known ? (" (" + std::to_string(known) + " earlier)").c_str() : "",
      ranking.quarantined, describe(result.search.stop),
      result.judge.empty() ? "none was needed" : result.judge.c_str(),
      result.seconds);
  std::string lines = name + "\n" + text;
  for (const TriedTile &tile : result.search.tried)
    if (!tile.isVerified())
      lines += "  quarantine: " + tile.ranked.tile.toText() + ": " +
               tile.failure + "\n";
  return lines;
}

std::string
tessera::tune_tool::formatSummary(const std::vector<Outcome> &outcomes) {
  const Rating rating = rate(outcomes);
  if (rating.problems == 0)
    return "0 of " + std::to_string(outcomes.size()) + " problems tuned\n";
  size_t quarantined = 0;
  for (const Outcome &outcome : outcomes)
    quarantined += rate(outcome.result).quarantined;
  char text[512];
  std::snprintf(text, sizeof text,
                "%zu of %zu problems tuned, %zu tiles in quarantine\n"
                "the model's first choice: %.3f of the best tile's speed "
                "(geometric mean); the best of its first four: %.3f\n"
                "Kendall's tau of costs and values: %.2f (mean)\n",
                rating.problems, outcomes.size(), quarantined,
                rating.firstOverBest, rating.topFourOverBest, rating.tau);
  return text;
}
