//===- GemmUnit.cpp - What a compute unit takes for its tiles -------------===//

#include "compiler/Algorithms/ImplicitGemm/GemmUnit.h"

#include <algorithm>
#include <cmath>

using namespace tessera;

/// Bytes a clock of the link between a unit and L2.
static constexpr double kLinkBytes = 64;

/// The sum of limits of which the largest decides, and those that are about as
/// long add up.
static double blend(std::initializer_list<double> limits, double exponent) {
  const double most = std::max(limits);
  if (most <= 0)
    return 0;
  double sum = 0;
  for (double limit : limits)
    sum += std::pow(limit / most, exponent);
  return most * std::pow(sum, 1 / exponent);
}

/// A step of `groups` workgroups that are resident together.
static double estimateStep(const StepClocks &step, const UnitWork &work,
                           const GemmRates &rates, double groups) {
  // A SIMD has whole waves.
  const double waves = std::ceil(groups * work.waves) / work.waves;
  const double l2 = std::min(kLinkBytes, rates.cache * work.share);
  const double far = std::min(kLinkBytes, rates.far * work.share);
  return blend({step.issue * waves, step.lds * groups, step.address * groups,
                step.bytes / l2 * groups, step.farBytes / far * groups,
                step.issue * std::ceil(work.waves) / work.waves +
                    rates.wait / work.iteration},
               rates.blend) +
         rates.slow * step.products * groups;
}

double tessera::estimateUnit(const StepClocks &step, const UnitWork &work,
                             const GemmRates &rates) {
  const double store = std::min(kLinkBytes, rates.store * work.share);
  const double rounds = std::floor(work.groups / work.resident);
  const double rest = work.groups - rounds * work.resident;
  double clocks =
      work.groups * work.stored / store +
      rounds * work.steps * estimateStep(step, work, rates, work.resident);
  if (rest > 0)
    clocks += work.steps * estimateStep(step, work, rates, rest);
  return clocks;
}
