//===- Fit.cpp - How well rates predict measured times --------------------===//

#include "tools/dnn-fit/Fit.h"

#include "compiler/Algorithms/TmaTiles.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <random>

using namespace tessera;
using namespace tessera::fit;

/// All of them, to be changed one by one.
static constexpr double TmaRates::*kAllRates[] = {
#define TMA_RATE(NAME, VALUE, MEANING) &TmaRates::NAME,
#include "compiler/Algorithms/TmaRates.def"
};

std::vector<Sample> fit::makeSamples(const std::vector<Run> &runs,
                                     const GpuTarget &target) {
  std::vector<Sample> samples;
  for (const Run &run : runs) {
    if (run.problem.direction == Direction::BackwardWeights)
      continue;
    std::map<std::string, size_t> places;
    for (const Candidate &candidate : getTmaCandidates(run.problem, target))
      places.emplace(candidate.tile.toText(), places.size());
    Sample sample{run.problem, {}};
    for (const TileTime &time : run.times)
      if (auto found = places.find(time.tile); found != places.end()) {
        sample.times.emplace_back(found->second, time.timeUs);
        sample.bestUs = sample.times.size() == 1
                            ? time.timeUs
                            : std::min(sample.bestUs, time.timeUs);
      }
    if (sample.times.size() > 1)
      samples.push_back(std::move(sample));
  }
  return samples;
}

/// Of the tiles that were timed, in their order.
static std::vector<double>
getCosts(const Sample &sample, const GpuTarget &target, const TmaRates &rates) {
  const std::vector<Candidate> candidates =
      getTmaCandidates(sample.problem, target, rates);
  std::vector<double> costs;
  for (const auto &[place, timeUs] : sample.times)
    costs.push_back(candidates[place].cost);
  return costs;
}

Share fit::getShare(const std::vector<Sample> &samples, const GpuTarget &target,
                    const TmaRates &rates) {
  double logs = 0, least = 1;
  for (const Sample &sample : samples) {
    const std::vector<double> costs = getCosts(sample, target, rates);
    const auto first = std::ranges::min_element(costs) - costs.begin();
    const double share =
        sample.bestUs / sample.times[static_cast<size_t>(first)].second;
    logs += std::log(share);
    least = std::min(least, share);
  }
  return {std::exp(logs / static_cast<double>(samples.size())), least};
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

/// What the first choice loses, as a logarithm. Costs within a percent or so of
/// each other share the choice, or else no step of a rate would change it.
static double getLoss(const Sample &sample, const std::vector<double> &costs) {
  constexpr double kSharing = 0.012;
  const double least = *std::ranges::min_element(costs);
  double weights = 0, loss = 0;
  for (size_t i = 0; i != costs.size(); ++i) {
    const double weight = std::pow(costs[i] / least, -1 / kSharing);
    weights += weight;
    loss += weight * std::log(sample.times[i].second / sample.bestUs);
  }
  return loss / weights;
}

/// How far the tiles within some ten percent of the best are from times in
/// proportion to their costs: the mean square of the logarithm.
static double getScatter(const Sample &sample,
                         const std::vector<double> &costs) {
  constexpr double kNear = 0.1;
  double weights = 0, sum = 0, squares = 0;
  for (size_t i = 0; i != costs.size(); ++i) {
    const double timeUs = sample.times[i].second;
    const double weight = std::exp((1 - timeUs / sample.bestUs) / kNear);
    const double ratio = std::log(costs[i] / timeUs);
    weights += weight;
    sum += weight * ratio;
    squares += weight * ratio * ratio;
  }
  const double mean = sum / weights;
  return std::max(0.0, squares / weights - mean * mean);
}

/// What the search makes small. Runs that lose the most count once more, since
/// users remember those; rates that no time depends on stay where they are, by
/// a little that every step away costs.
static double judge(const std::vector<Sample> &samples, const GpuTarget &target,
                    const TmaRates &rates, const TmaRates &origin) {
  constexpr double kTail = 0.3, kOrder = 0.1, kStay = 1e-4;
  double scatter = 0, moved = 0;
  std::vector<double> losses;
  for (const Sample &sample : samples) {
    const std::vector<double> costs = getCosts(sample, target, rates);
    losses.push_back(getLoss(sample, costs));
    scatter += getScatter(sample, costs);
  }
  std::ranges::sort(losses, std::greater<>());
  const double loss = std::accumulate(losses.begin(), losses.end(), 0.0);
  const size_t worst = (losses.size() + 9) / 10;
  const double tail = std::accumulate(
      losses.begin(), losses.begin() + static_cast<ptrdiff_t>(worst), 0.0);
  for (auto rate : kAllRates) {
    const double step = std::log(rates.*rate / origin.*rate);
    moved += step * step;
  }
  const auto count = static_cast<double>(samples.size());
  return loss / count + kTail * tail / static_cast<double>(worst) +
         kOrder * std::sqrt(scatter / count) + kStay * moved;
}

TmaRates fit::fitRates(const std::vector<Sample> &samples,
                       const GpuTarget &target, const TmaRates &rates,
                       int steps, uint64_t seed) {
  constexpr double kStep = 0.15, kHot = 1e-3;
  /// What the tensor cores of sm_90 multiply and add in a clock.
  constexpr double kMostProducts = 2048;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> change(0, kStep);
  std::uniform_real_distribution<double> chance(0, 1);
  TmaRates current = rates, best = rates;
  double currentLoss = judge(samples, target, rates, rates);
  double bestLoss = currentLoss;
  for (int step = 0; step != steps; ++step) {
    TmaRates next = current;
    for (uint64_t changes = 1 + random() % 3; changes != 0; --changes)
      next.*kAllRates[random() % std::size(kAllRates)] *=
          std::exp(change(random));
    next.products = std::min(next.products, kMostProducts);
    const double loss = judge(samples, target, next, rates);
    const double heat = kHot * (1 - static_cast<double>(step) / steps);
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
