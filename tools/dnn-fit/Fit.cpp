//===- Fit.cpp - How well rates predict measured times --------------------===//

#include "tools/dnn-fit/Fit.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <random>

using namespace tessera;
using namespace tessera::fit;

std::vector<Sample> fit::makeSamples(const std::vector<Run> &runs,
                                     const Model &model) {
  std::vector<Sample> samples;
  for (const Run &run : runs) {
    const std::vector<Candidate> candidates =
        model.getCandidates(run.problem, model.getRates());
    std::map<std::string, size_t> indices;
    for (size_t index = 0; index != candidates.size(); ++index)
      indices.emplace(candidates[index].tile.toText(), index);
    Sample sample{run.problem, {}, {}, {}};
    for (const TileValue &tile : run.values)
      if (auto found = indices.find(tile.tile); found != indices.end()) {
        sample.best = sample.values.empty() ? tile.value
                                            : std::min(sample.best, tile.value);
        sample.values.emplace_back(found->second, tile.value);
        sample.tiles.push_back(tile.tile);
      }
    if (sample.values.size() < (run.isKept ? 1 : 2))
      continue;
    if (run.isKept)
      for (size_t index = 0; index != candidates.size(); ++index)
        if (std::ranges::find(sample.values, index,
                              &std::pair<size_t, double>::first) ==
            sample.values.end())
          sample.others.push_back(index);
    samples.push_back(std::move(sample));
  }
  return samples;
}

/// The costs of the tiles that have values, in their order, and of the others
/// behind them.
static std::vector<double> getCosts(const Sample &sample, const Model &model,
                                    const Rates &rates) {
  const std::vector<Candidate> candidates =
      model.getCandidates(sample.problem, rates);
  std::vector<double> costs;
  for (const auto &[index, value] : sample.values)
    costs.push_back(candidates[index].cost);
  for (size_t index : sample.others)
    costs.push_back(candidates[index].cost);
  return costs;
}

Choice fit::choose(const Sample &sample, const Model &model,
                   const Rates &rates) {
  const std::vector<Candidate> candidates =
      model.getCandidates(sample.problem, rates);
  // Of equal costs the candidate that comes first is chosen.
  auto getRank = [&](const auto &value) {
    return std::pair(candidates[value.first].cost, value.first);
  };
  const auto first = std::ranges::min_element(sample.values, {}, getRank);
  const auto best = std::ranges::min_element(
      sample.values, {}, [](const auto &value) { return value.second; });
  const auto least = std::ranges::min_element(candidates, {}, &Candidate::cost);
  return {static_cast<size_t>(first - sample.values.begin()),
          static_cast<size_t>(best - sample.values.begin()),
          best->second / first->second,
          static_cast<size_t>(least - candidates.begin()) == first->first
              ? ""
              : least->tile.toText()};
}

Share fit::getShare(const std::vector<Sample> &samples, const Model &model,
                    const Rates &rates) {
  double logs = 0, least = 1;
  for (const Sample &sample : samples) {
    const double share = choose(sample, model, rates).share;
    logs += std::log(share);
    least = std::min(least, share);
  }
  return {std::exp(logs / static_cast<double>(samples.size())), least};
}

Kept fit::countKept(const std::vector<Sample> &samples, const Model &model,
                    const Rates &rates) {
  Kept kept;
  for (const Sample &sample : samples) {
    if (sample.others.empty())
      continue;
    ++kept.all;
    kept.stay += choose(sample, model, rates).before.empty() ? 1 : 0;
  }
  return kept;
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

/// The loss of the first choice against the best tile, as a logarithm. Tiles
/// whose costs differ by about a percent share the choice, because otherwise no
/// small step of a rate would change the loss. A tile without a value loses as
/// much as a choice should gain before a known one is left for it.
static double getLoss(const Sample &sample, const std::vector<double> &costs) {
  constexpr double kSharing = 0.012, kUnknown = 0.05;
  const double least = *std::ranges::min_element(costs);
  double weights = 0, loss = 0;
  for (size_t i = 0; i != costs.size(); ++i) {
    const double weight = std::pow(costs[i] / least, -1 / kSharing);
    weights += weight;
    loss += weight * (i < sample.values.size()
                          ? std::log(sample.values[i].second / sample.best)
                          : kUnknown);
  }
  return loss / weights;
}

namespace {
/// The logarithms of the ratio of cost to value, of tiles within some ten
/// percent of the best.
struct Ratio {
  double mean = 0, variance = 0;
};
} // namespace

static Ratio getRatio(const Sample &sample, const std::vector<double> &costs) {
  constexpr double kNear = 0.1;
  double weights = 0, sum = 0, squares = 0;
  for (size_t i = 0; i != sample.values.size(); ++i) {
    const double value = sample.values[i].second;
    const double weight = std::exp((1 - value / sample.best) / kNear);
    const double ratio = std::log(costs[i] / value);
    weights += weight;
    sum += weight * ratio;
    squares += weight * ratio * ratio;
  }
  const double mean = sum / weights;
  return {mean, std::max(0.0, squares / weights - mean * mean)};
}

Scale fit::getScale(const std::vector<Sample> &samples, const Model &model,
                    const Rates &rates, double clocks) {
  double sum = 0, squares = 0;
  for (const Sample &sample : samples) {
    const double ratio = getRatio(sample, getCosts(sample, model, rates)).mean -
                         std::log(clocks);
    sum += ratio;
    squares += ratio * ratio;
  }
  const auto count = static_cast<double>(samples.size());
  const double mean = sum / count;
  return {std::exp(mean),
          std::exp(std::sqrt(std::max(0.0, squares / count - mean * mean)))};
}

static double getSquare(double value) { return value * value; }

/// The objective that the search minimises. The runs with the largest losses
/// are weighted more, since users remember those. A penalty on every change
/// keeps rates on which no value depends at their origin.
static double judge(const std::vector<Sample> &samples, const Model &model,
                    const Rates &rates, const Rates &origin,
                    const SearchOptions &options) {
  constexpr double kTail = 0.3, kOrder = 0.1, kScale = 0.05;
  double scatter = 0, scale = 0, moved = 0;
  std::vector<double> losses;
  for (const Sample &sample : samples) {
    const std::vector<double> costs = getCosts(sample, model, rates);
    losses.push_back(getLoss(sample, costs));
    const Ratio ratio = getRatio(sample, costs);
    scatter += ratio.variance;
    if (options.clocks)
      scale += getSquare(ratio.mean - std::log(*options.clocks));
  }
  std::ranges::sort(losses, std::greater<>());
  const double loss = std::accumulate(losses.begin(), losses.end(), 0.0);
  const size_t worst = (losses.size() + 9) / 10;
  const double tail = std::accumulate(
      losses.begin(), losses.begin() + static_cast<ptrdiff_t>(worst), 0.0);
  for (size_t i = 0; i != rates.size(); ++i)
    moved += getSquare(std::log(rates[i] / origin[i]));
  const auto count = static_cast<double>(samples.size());
  return loss / count + kTail * tail / static_cast<double>(worst) +
         kOrder * std::sqrt(scatter / count) +
         kScale * std::sqrt(scale / count) + options.stay * moved;
}

Rates fit::fitRates(const std::vector<Sample> &samples, const Model &model,
                    const Rates &rates, const SearchOptions &options) {
  constexpr double kStep = 0.15, kHot = 1e-3;
  std::mt19937_64 random(options.seed);
  std::normal_distribution<double> change(0, kStep);
  std::uniform_real_distribution<double> chance(0, 1);
  Rates current = rates, best = rates;
  double currentLoss = judge(samples, model, rates, rates, options);
  double bestLoss = currentLoss;
  for (int step = 0; step != options.steps; ++step) {
    Rates next = current;
    for (uint64_t changes = 1 + random() % 3; changes != 0; --changes) {
      const size_t index = options.only.empty()
                               ? random() % next.size()
                               : options.only[random() % options.only.size()];
      next[index] = std::min(next[index] * std::exp(change(random)),
                             model.constants[index].most);
    }
    const double loss = judge(samples, model, next, rates, options);
    const double heat = kHot * (1 - static_cast<double>(step) / options.steps);
    if (loss > currentLoss &&
        chance(random) >= std::exp((currentLoss - loss) / heat))
      continue;
    current = next;
    currentLoss = loss;
    if (loss < bestLoss) {
      best = next;
      bestLoss = loss;
    }
  }
  return best;
}
