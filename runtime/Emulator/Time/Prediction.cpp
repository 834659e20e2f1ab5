//===- Prediction.cpp - How long a launch would take ----------------------===//

#include "runtime/Emulator/Time/Prediction.h"

#include "runtime/Emulator/Measure/JsonObject.h"
#include "runtime/Emulator/Measure/Occupancy.h"
#include "runtime/Emulator/Time/GroupSample.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace tessera;
using namespace tessera::emulator;

static constexpr std::string_view kBoundNames[] = {
    "issue", "lds", "l1", "l2", "memory", "latency", "occupancy", "launch"};
/// A unit that is busy for so much of the time is what bounds the launch.
static constexpr double kBusy = 0.6;
/// With more rounds of resident groups than these, a last round that is not
/// full is no different from the others.
static constexpr uint64_t kManyRounds = 8;
/// Recorded of a wave at least.
static constexpr uint64_t kLeastRecorded = 1 << 14;

std::string_view tessera::emulator::getName(TimeBound bound) {
  return kBoundNames[static_cast<unsigned>(bound)];
}

/// Units of the chip that share LDS.
static uint64_t getUnits(const Launch &launch, const ChipTimes &times) {
  const auto computeUnits = times.computeUnits > 0
                                ? static_cast<uint64_t>(times.computeUnits)
                                : launch.chip.computeUnits;
  return std::max<uint64_t>(
      1, computeUnits / getChipCosts(launch.chip.name).getComputeUnits());
}

/// Waves that a SIMD has registers for.
static uint32_t getWavesOfSimd(const Launch &launch) {
  const ChipCosts &costs = getChipCosts(launch.chip.name);
  KernelResources ofWave = makeSummary(launch, 0).resources;
  ofWave.ldsBytes = 0;
  ofWave.wavesPerGroup = 1;
  return getOccupancy(costs, ofWave).groupsPerUnit / costs.simds;
}

/// How many instructions of each wave are worth recording: twice what the
/// replay gets to, since waves of a group can differ in length.
static uint64_t getRecordLimit(const Launch &launch, const TimeOptions &options,
                               const Spread &spread) {
  const uint64_t slots =
      uint64_t(getWavesOfSimd(launch)) * getChipCosts(launch.chip.name).simds;
  const uint64_t waves = std::clamp<uint64_t>(
      spread.getGroupsOfUnit() * makeSummary(launch, 0).resources.wavesPerGroup,
      1, std::max<uint64_t>(slots, 1));
  return std::clamp<uint64_t>(options.replayLimit * 2 / waves, kLeastRecorded,
                              options.recordLimit);
}

static MemorySystem makeSystem(const Launch &launch, const TimeOptions &options,
                               const Spread &spread) {
  const double busy = spread.getBusyUnits();
  return {options.times,
          getChipCosts(launch.chip.name).segmentBytes,
          launch.chip.clockMhz / 1000.0,
          std::max(1.0, busy / double(spread.dies)),
          busy,
          options.footprintBytes};
}

namespace {
/// Replays parts of the launch and extrapolates.
class Extrapolation {
public:
  Extrapolation(const Launch &launch, const TimeOptions &options,
                const Spread &spread, const SamplePlan &plan,
                const GroupSample &sample);
  TimePrediction run();

private:
  uint32_t getMaxWaves() const { return getWavesOfSimd(launch); }
  uint32_t getMaxGroups() const;
  uint64_t findResident() const;
  double getLead() const;
  ReplayResult replay(uint64_t groups, double share);
  /// The clocks of `groups` groups that were replayed for `share`.
  double getClocks(const ReplayResult &result, double share) const;
  void addBusy(const ReplayResult &result, uint64_t groups, double share);
  TimeBound findBound() const;

  const Launch &launch;
  const TimeOptions &options;
  const ChipCosts &costs;
  StepTable steps;
  const SharingTable sharing;
  const MemorySystem system;
  std::vector<const GroupTrace *> traces; ///< of the unit
  double recorded = 0, executed = 0;      ///< instructions of a group
  TimePrediction prediction;
};
} // namespace

/// What the launch executes of a group; of one that was cut, as much as the
/// whole one has beyond what was recorded.
static double getExecuted(const GroupTrace &group, const GroupTrace &whole) {
  return group.isCut ? double(group.getSteps()) * double(whole.getExecuted()) /
                           double(std::max<uint64_t>(1, whole.getSteps()))
                     : double(group.getExecuted());
}

Extrapolation::Extrapolation(const Launch &launch, const TimeOptions &options,
                             const Spread &spread, const SamplePlan &plan,
                             const GroupSample &sample)
    : launch(launch), options(options), costs(getChipCosts(launch.chip.name)),
      steps(launch.chip, options.times, launch.program, launch.getLanes()),
      sharing(findSharing(sample, plan, steps)),
      system(makeSystem(launch, options, spread)) {
  uint64_t least = ~uint64_t(0), most = 1;
  traces.push_back(sample.find(plan.first));
  if (plan.second)
    traces.push_back(sample.find(*plan.second));
  for (const GroupTrace *trace : traces) {
    recorded += double(trace->getSteps()) / double(traces.size());
    executed += getExecuted(*trace, *traces[0]) / double(traces.size());
  }
  for (const GroupTrace &trace : sample.traces) {
    if (trace.isCut)
      continue;
    least = std::min(least, std::max<uint64_t>(1, trace.getExecuted()));
    most = std::max(most, trace.getExecuted());
  }
  prediction.groupSpread = double(most) / double(least);
  prediction.groups = spread.groups;
  prediction.groupsOfUnit = spread.getGroupsOfUnit();
  prediction.residentGroups = findResident();
  prediction.groupsExecuted = sample.traces.size();
  prediction.ldsOverruns = sample.ldsOverruns;
}

/// Groups of a compute unit, by LDS and barriers.
uint32_t Extrapolation::getMaxGroups() const {
  const uint32_t lds = launch.getLdsBytes();
  const auto most = static_cast<uint32_t>(options.times.maxGroups);
  return lds ? std::clamp(costs.ldsBytes / lds, 1u, most) : most;
}

/// Groups that are resident together. Waves that end long before the others of
/// their group leave their slots to the next one.
uint64_t Extrapolation::findResident() const {
  double waves = 0;
  for (const GroupTrace *trace : traces) {
    size_t longest = 1;
    for (const WaveTrace &wave : trace->waves)
      longest = std::max(longest, wave.steps.size());
    waves +=
        double(trace->getSteps()) / double(longest) / double(traces.size());
  }
  const double slots = double(getMaxWaves()) * costs.simds;
  const auto byWaves =
      static_cast<uint64_t>(slots / std::max(waves, 1.0) + 0.1);
  return std::clamp<uint64_t>(std::min<uint64_t>(byWaves, getMaxGroups()), 1,
                              prediction.groupsOfUnit);
}

/// Instructions of a wave by which a group of the unit is ahead of the next one
/// in the middle of the launch.
double Extrapolation::getLead() const {
  const size_t waves = std::max<size_t>(1, traces[0]->waves.size());
  return options.times.groupDrift * std::sqrt(executed / double(waves));
}

ReplayResult Extrapolation::replay(uint64_t groups, double share) {
  UnitReplay unit(costs, options.times, system, sharing, steps);
  // The replay of a last round is no other picture.
  Timeline *timeline = prediction.groupsReplayed ? nullptr : options.timeline;
  prediction.groupsReplayed = groups;
  return unit.run({traces, groups, getMaxGroups(), getMaxWaves(), share,
                   getLead(), timeline});
}

double Extrapolation::getClocks(const ReplayResult &result,
                                double share) const {
  // What is beyond the replayed part goes on as its second half did.
  const double whole = executed / (recorded * share);
  return result.halfClocks +
         (result.clocks - result.halfClocks) * (whole - 0.5) / 0.5;
}

void Extrapolation::addBusy(const ReplayResult &result, uint64_t groups,
                            double share) {
  const double simds = result.clocks * costs.simds;
  prediction.valu = result.valu / simds;
  prediction.matrix = result.matrix / simds;
  prediction.scalar = result.scalar / simds;
  prediction.lds = result.lds / result.clocks;
  prediction.l1 = result.address / result.clocks;
  prediction.l2 = result.l2 / result.clocks;
  prediction.memory = result.memory / result.clocks;
  prediction.replayedShare = share * recorded / executed;
  prediction.groupsReplayed = groups;
  // Traffic was counted for all units that do as this one.
  const double scale = double(prediction.groupsOfUnit) / double(groups) /
                       prediction.replayedShare;
  prediction.traffic = {result.traffic.l1 * scale, result.traffic.l2 * scale,
                        result.traffic.far * scale,
                        result.traffic.memory * scale};
}

TimeBound Extrapolation::findBound() const {
  const TimePrediction &p = prediction;
  if (p.launchMilliseconds * 2 > p.milliseconds)
    return TimeBound::Launch;
  const std::pair<double, TimeBound> busy[] = {
      {std::max({p.valu, p.matrix, p.scalar}), TimeBound::Issue},
      {p.lds, TimeBound::Lds},
      {p.l1, TimeBound::L1},
      {p.l2, TimeBound::L2},
      {p.memory, TimeBound::Memory}};
  const auto most = *std::ranges::max_element(
      busy, {}, [](const auto &unit) { return unit.first; });
  if (most.first >= kBusy)
    return most.second;
  const bool isCrowded = p.groupsOfUnit > p.residentGroups &&
                         (getMaxWaves() < costs.maxWaves ||
                          getMaxGroups() < options.times.maxGroups);
  return isCrowded ? TimeBound::Occupancy : TimeBound::Latency;
}

TimePrediction Extrapolation::run() {
  const uint64_t resident = prediction.residentGroups;
  const uint64_t all = prediction.groupsOfUnit;
  const double limit = double(options.replayLimit);
  const double share = std::min(1.0, limit / (double(resident) * recorded));
  uint64_t groups = resident;
  if (share == 1) {
    const auto fitting = static_cast<uint64_t>(limit / recorded);
    groups =
        std::min(all, std::max<uint64_t>(fitting / resident, 1) * resident);
  }
  const ReplayResult result = replay(groups, share);
  double clocks = getClocks(result, share);
  const uint64_t rest = all % groups;
  if (rest && all / groups < kManyRounds) {
    clocks *= double(all / groups);
    clocks += getClocks(replay(rest, share), share);
  } else {
    clocks *= double(all) / double(groups);
  }
  addBusy(result, groups, share);
  clocks *= 1 + options.times.matrixSlowdown * prediction.matrix;
  prediction.clocks = clocks;
  prediction.launchMilliseconds = options.times.launchMicroseconds / 1000;
  prediction.milliseconds = prediction.launchMilliseconds +
                            clocks / (double(launch.chip.clockMhz) * 1000);
  prediction.lowMilliseconds = prediction.milliseconds * options.times.bandLow;
  prediction.highMilliseconds =
      prediction.milliseconds * options.times.bandHigh;
  prediction.bound = findBound();
  return prediction;
}

ErrorOr<TimePrediction>
tessera::emulator::predictTime(const Launch &launch, MemoryMap &memory,
                               const Settings &settings,
                               const TimeOptions &options) {
  if (!findChipTimes(launch.chip.name))
    return notSupported("the times of " + std::string(launch.chip.name) +
                        " cannot be predicted; there are numbers for " +
                        getTimedChips());
  const std::array<uint32_t, 3> grid = launch.getGroups();
  const Spread spread{uint64_t(grid[0]) * grid[1] * grid[2],
                      getUnits(launch, options.times),
                      static_cast<uint64_t>(options.times.dies)};
  const SamplePlan plan(spread);
  ErrorOr<GroupSample> sample = recordSample(
      launch, memory, settings, getRecordLimit(launch, options, spread), plan);
  if (!sample)
    return sample.getStatus();
  return Extrapolation(launch, options, spread, plan, *sample).run();
}

static std::string formatBusy(const TimePrediction &p) {
  JsonObject busy;
  for (const auto &[name, share] :
       {std::pair("valu", p.valu), std::pair("matrix", p.matrix),
        std::pair("scalar", p.scalar), std::pair("lds", p.lds),
        std::pair("l1", p.l1), std::pair("l2", p.l2),
        std::pair("memory", p.memory)})
    busy.addNumber(name, share);
  return busy.finish();
}

std::string tessera::emulator::formatPrediction(const Launch &launch,
                                                const TimePrediction &p) {
  JsonObject line;
  line.addText("kernel", launch.kernel.name);
  line.addText("chip", launch.chip.name);
  line.addTriple("grid", launch.getGroups());
  line.addTriple("block", launch.groupSize);
  line.addNumber("predicted_us", p.milliseconds * 1000);
  line.addNumber("predicted_low_us", p.lowMilliseconds * 1000);
  line.addNumber("predicted_high_us", p.highMilliseconds * 1000);
  line.addNumber("launch_us", p.launchMilliseconds * 1000);
  line.addInteger("clocks", static_cast<uint64_t>(p.clocks));
  line.addText("bound", getName(p.bound));
  line.addRaw("busy", formatBusy(p));
  line.addInteger("l1_bytes", static_cast<uint64_t>(p.traffic.l1));
  line.addInteger("l2_bytes", static_cast<uint64_t>(p.traffic.l2));
  line.addInteger("far_bytes", static_cast<uint64_t>(p.traffic.far));
  line.addInteger("memory_bytes", static_cast<uint64_t>(p.traffic.memory));
  line.addInteger("groups_of_unit", p.groupsOfUnit);
  line.addInteger("resident_groups", p.residentGroups);
  line.addInteger("groups_executed", p.groupsExecuted);
  line.addInteger("groups_replayed", p.groupsReplayed);
  line.addNumber("replayed_share", p.replayedShare);
  line.addNumber("group_spread", p.groupSpread);
  if (p.ldsOverruns.loads || p.ldsOverruns.stores) {
    line.addInteger("lds_overrun_loads", p.ldsOverruns.loads);
    line.addInteger("lds_overrun_stores", p.ldsOverruns.stores);
  }
  return line.finish();
}

std::string tessera::emulator::describePrediction(const Launch &launch,
                                                  const TimePrediction &p) {
  char text[512];
  std::snprintf(
      text, sizeof text,
      "predicted, not measured: %.1f us on %.*s (%.1f to %.1f), bound by %.*s\n"
      "busy: valu %.0f %%, matrix %.0f %%, scalar %.0f %%, lds %.0f %%, l1 "
      "%.0f "
      "%%, l2 %.0f %%, memory %.0f %%; %.0f us of launch\n",
      p.milliseconds * 1000, int(launch.chip.name.size()),
      launch.chip.name.data(), p.lowMilliseconds * 1000,
      p.highMilliseconds * 1000, int(getName(p.bound).size()),
      getName(p.bound).data(), p.valu * 100, p.matrix * 100, p.scalar * 100,
      p.lds * 100, p.l1 * 100, p.l2 * 100, p.memory * 100,
      p.launchMilliseconds * 1000);
  std::string lines = text;
  if (p.ldsOverruns.loads || p.ldsOverruns.stores)
    lines += "beyond the end of LDS the executed groups dropped " +
             std::to_string(p.ldsOverruns.stores) + " stores of lanes, and " +
             std::to_string(p.ldsOverruns.loads) + " loads gave 0\n";
  return lines;
}
