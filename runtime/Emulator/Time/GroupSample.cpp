//===- GroupSample.cpp - The groups that stand for a launch ---------------===//

#include "runtime/Emulator/Time/GroupSample.h"

#include "runtime/Emulator/Time/TraceRecorder.h"

#include <algorithm>
#include <unordered_map>

using namespace tessera;
using namespace tessera::emulator;

/// Distances to the companions: those of the same die, in groups of the die,
/// each of which stands for those up to the next; and to those of other dies,
/// with the dies that they stand for.
static constexpr uint64_t kDieDistances[] = {1, 3, 9, 27};
static constexpr std::pair<int64_t, float> kFarDistances[] = {
    {1, 1}, {-1, 1}, {4, 5}};

uint64_t Spread::getGroupsOfUnit() const {
  const uint64_t ofDie = (groups + dies - 1) / dies;
  const uint64_t unitsOfDie = std::max<uint64_t>(1, units / dies);
  return (ofDie + unitsOfDie - 1) / unitsOfDie;
}

double Spread::getBusyUnits() const {
  return std::max(1.0, double(groups) / double(getGroupsOfUnit()));
}

SamplePlan::SamplePlan(const Spread &spread) {
  // In the middle, with space for the second one and its neighbours.
  const uint64_t groups = spread.groups, dies = spread.dies;
  const uint64_t far = groups > spread.units ? spread.units
                       : groups > dies       ? dies
                                             : 1;
  first = std::min(groups / 2, groups > far ? groups - 1 - far : 0);
  if (first + spread.units < groups)
    second = first + spread.units;
  auto add = [&](int64_t distance, bool isSameDie, float weight) {
    for (int64_t way : {distance, -distance}) {
      const int64_t group = static_cast<int64_t>(first) + way;
      if (group >= 0 && group < static_cast<int64_t>(groups)) {
        companions.push_back({static_cast<uint64_t>(group), isSameDie, weight});
        return true;
      }
    }
    return false;
  };
  const auto unitsOfDie =
      static_cast<float>(std::max(1.0, spread.getBusyUnits() / double(dies)));
  for (uint64_t distance : kDieDistances) {
    const auto begin = static_cast<float>(distance);
    if (begin >= unitsOfDie)
      break;
    const float rest = unitsOfDie - begin;
    if (!add(static_cast<int64_t>(distance * dies), true, rest))
      break;
    if (companions.size() > 1)
      (&companions.back() - 1)->weight -= rest;
  }
  if (dies > 1)
    for (auto [distance, weight] : kFarDistances)
      add(distance, false, weight);
}

std::vector<uint64_t> SamplePlan::getGroups() const {
  std::vector<uint64_t> all{first};
  if (second)
    all.push_back(*second);
  for (const Companion &companion : companions)
    all.push_back(companion.group);
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  return all;
}

const GroupTrace *GroupSample::find(uint64_t group) const {
  for (const GroupTrace &trace : traces)
    if (trace.group == group)
      return &trace;
  return nullptr;
}

ErrorOr<GroupSample> tessera::emulator::recordSample(const Launch &launch,
                                                     MemoryMap &memory,
                                                     const Settings &settings,
                                                     uint64_t limit,
                                                     const SamplePlan &plan) {
  TraceStore store(getChipCosts(launch.chip.name).segmentBytes);
  const std::vector<uint64_t> groups = plan.getGroups();
  LaunchWatch watch;
  watch.groups = groups;
  watch.makeObserver = [&] {
    return std::make_unique<TraceRecorder>(launch.chip, launch.getGroups(),
                                           limit, plan.first, store);
  };
  const LaunchOutcome outcome = run(launch, memory, settings, watch);
  if (outcome.fault != FaultKind::None)
    return invalidArgument("the kernel failed: " + outcome.message);
  return GroupSample{store.takeTraces(), outcome.ldsOverruns};
}

/// Calls `visit` with each memory instruction of a group and its lines.
template <typename Visit>
static void visitMemory(const GroupTrace &group, StepTable &steps,
                        Visit visit) {
  for (const WaveTrace &wave : group.waves) {
    size_t next = 0;
    for (uint32_t index : wave.steps) {
      if (!steps.get(index).hasMemoryStep)
        continue;
      const MemoryStep &step = wave.memory[next++];
      visit(index, std::span(wave.lines).subspan(step.firstLine, step.lines));
    }
  }
}

namespace {
/// Who touches a line: bits 0 and 1 are the unit's groups, the others
/// companions.
using TouchTable = LineTable<uint16_t>;
static constexpr uint16_t kFirst = 1, kSecond = 2;
static constexpr unsigned kCompanionBit = 2;

/// The average over lines that come from beyond a unit once for several.
struct SharesOfStep {
  double ofDie = 0, ofChip = 0, lines = 0;
};
} // namespace

static TouchTable findTouches(const GroupSample &sample,
                              const SamplePlan &plan) {
  TouchTable table;
  for (const WaveTrace &wave : sample.find(plan.first)->waves)
    for (uint32_t line : wave.lines)
      table.get(line) |= kFirst;
  if (plan.second)
    for (const WaveTrace &wave : sample.find(*plan.second)->waves)
      for (uint32_t line : wave.lines)
        table.get(line) |= kSecond;
  for (size_t i = 0; i < plan.companions.size(); ++i)
    for (const WaveTrace &wave : sample.find(plan.companions[i].group)->waves)
      for (uint32_t line : wave.lines)
        if (table.find(line))
          table.get(line) |= static_cast<uint16_t>(1u << (kCompanionBit + i));
  return table;
}

static LineSharing getSharing(uint16_t touches, const SamplePlan &plan) {
  LineSharing sharing{(touches & kFirst) != 0, (touches & kSecond) != 0};
  for (size_t i = 0; i < plan.companions.size(); ++i)
    if (touches & 1u << (kCompanionBit + i)) {
      const Companion &companion = plan.companions[i];
      (companion.isSameDie ? sharing.unitsOfDie : sharing.dies) +=
          companion.weight;
    }
  return sharing;
}

SharingTable tessera::emulator::findSharing(const GroupSample &sample,
                                            const SamplePlan &plan,
                                            StepTable &steps) {
  const TouchTable touches = findTouches(sample, plan);
  SharingTable table;
  std::unordered_map<uint32_t, SharesOfStep> shares;
  visitMemory(*sample.find(plan.first), steps,
              [&](uint32_t step, std::span<const uint32_t> lines) {
                for (uint32_t line : lines) {
                  const LineSharing sharing =
                      getSharing(*touches.find(line), plan);
                  table.get(line) = sharing;
                  if (sharing.isSeconds)
                    continue;
                  SharesOfStep &share = shares[step];
                  share.ofDie += 1 / sharing.unitsOfDie;
                  share.ofChip += 1 / sharing.dies;
                  ++share.lines;
                }
              });
  if (plan.second)
    visitMemory(
        *sample.find(*plan.second), steps,
        [&](uint32_t step, std::span<const uint32_t> lines) {
          const auto found = shares.find(step);
          if (found == shares.end())
            return;
          const SharesOfStep &share = found->second;
          for (uint32_t line : lines)
            if (LineSharing &sharing = table.get(line); !sharing.isFirsts)
              sharing = {false, true,
                         static_cast<float>(share.lines / share.ofDie),
                         static_cast<float>(share.lines / share.ofChip)};
        });
  return table;
}
