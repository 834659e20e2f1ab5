//===- UnitReplay.cpp - The clocks of one compute unit --------------------===//

#include "runtime/Emulator/Time/UnitReplay.h"

#include <cmath>
#include <limits>

using namespace tessera::emulator;

static constexpr double kNever = std::numeric_limits<double>::infinity();
static constexpr unsigned kVectorRegisters = 512; ///< AGPRs from 256 on

namespace {
/// When the operations of one wait queue end. A counter counts to 63 at most.
struct CompletionQueue {
  static constexpr unsigned kSlots = 64;
  std::array<double, kSlots> at{};
  uint64_t issued = 0;
  double last = 0;

  /// Operations of most queues end in order.
  void add(double time, bool isInOrder) {
    last = isInOrder || time > last ? std::max(last, time) : last;
    at[issued++ % kSlots] = isInOrder ? last : time;
  }
  /// Returns when at most `limit` operations are pending.
  double getTime(unsigned limit, bool isInOrder) const {
    if (issued <= limit)
      return 0;
    if (!isInOrder)
      return last;
    return limit >= kSlots ? 0 : at[(issued - limit - 1) % kSlots];
  }
};
} // namespace

struct UnitReplay::ReplayWave {
  const WaveTrace *trace;
  size_t slot;
  unsigned copy; ///< See MemoryModel::load.
  size_t limit;  ///< Where the replay ends.
  size_t next = 0;
  size_t nextMemory = 0;
  double readyAt = 0;
  bool isAtBarrier = false;
  uint32_t number = 0;   ///< in the replay
  double lastIssue = -1; ///< of the instruction before `next`
  std::array<CompletionQueue, kWaitQueues> queues{};
  /// When matrix results can be read, by register; only while one is pending.
  std::vector<float> matrixReady;
  double lastMatrixReady = 0;
  double matrixBase = 0;
};

/// Where a group runs.
struct UnitReplay::Slot {
  unsigned waves = 0; ///< that have not ended
  unsigned atBarrier = 0;
};

struct UnitReplay::Simd {
  std::vector<std::unique_ptr<ReplayWave>> waves; ///< the oldest first
  double valuFree = 0, matrixFree = 0;
};

UnitReplay::UnitReplay(const ChipCosts &costs, const ChipTimes &times,
                       const MemorySystem &system, const SharingTable &sharing,
                       StepTable &steps)
    : costs(costs), times(times), steps(steps), memory(system, sharing),
      simds(costs.simds) {}
UnitReplay::~UnitReplay() = default;

/// Whether each wave of the group finds a SIMD with less than all its waves.
bool UnitReplay::hasSpace(const GroupTrace &group) const {
  size_t space = 0;
  for (const Simd &simd : simds)
    space +=
        work->maxWaves - std::min<size_t>(work->maxWaves, simd.waves.size());
  return space >=
         std::min<size_t>(group.waves.size(), simds.size() * work->maxWaves);
}

/// Instructions by which the group that starts next is ahead of the last one
/// of those that begin together. All keep what they are to replay.
size_t UnitReplay::getLead(const GroupTrace &group) const {
  if (work->lead <= 0 || groupsStarted + 1 >= slots.size())
    return 0;
  const auto last = double(slots.size() - 1);
  double lead = work->lead;
  for (const WaveTrace &wave : group.waves)
    if (!wave.steps.empty())
      lead =
          std::min(lead, double(wave.steps.size()) * (1 - work->share) / last);
  return static_cast<size_t>(lead * (last - double(groupsStarted)));
}

size_t UnitReplay::countBarriers(const WaveTrace &trace, size_t count) const {
  count = std::min(count, trace.steps.size());
  return static_cast<size_t>(
      std::count_if(trace.steps.begin(), trace.steps.begin() + long(count),
                    [&](uint32_t i) { return steps.get(i).isBarrier; }));
}

/// Starts the wave behind `barriers` barriers, or where there is none behind
/// `count` instructions. What is to be replayed is as much as otherwise.
void UnitReplay::skip(ReplayWave &wave, size_t count, size_t barriers) const {
  const std::vector<uint32_t> &all = wave.trace->steps;
  const size_t most = all.size() - wave.limit;
  for (size_t passed = 0; wave.next < most; ++wave.next) {
    if (barriers ? passed == barriers : wave.next == count)
      break;
    const StepInfo &step = steps.get(all[wave.next]);
    passed += step.isBarrier;
    wave.nextMemory += step.hasMemoryStep;
  }
  wave.limit += wave.next;
}

void UnitReplay::startGroup(size_t slot, double now) {
  const size_t traces = work->traces.size();
  const GroupTrace &group = *work->traces[groupsStarted % traces];
  const size_t lead = getLead(group);
  const uint64_t number = groupsStarted++;
  // Copy 2 n + i is the n-th repetition of trace i.
  const auto copy =
      static_cast<unsigned>(number / traces * 2 + number % traces);
  slots[slot].waves = 0;
  slots[slot].atBarrier = 0;
  const size_t barriers =
      group.waves.empty() ? 0 : countBarriers(group.waves[0], lead);
  for (size_t i = 0; i < group.waves.size(); ++i) {
    const WaveTrace &trace = group.waves[i];
    const auto limit =
        static_cast<size_t>(double(trace.steps.size()) * work->share);
    if (!limit)
      continue;
    auto wave = std::make_unique<ReplayWave>();
    wave->trace = &trace;
    wave->slot = slot;
    wave->copy = copy;
    wave->limit = limit;
    skip(*wave, lead, barriers);
    wave->number = wavesStarted++;
    wave->readyAt = now + times.groupStartClocks;
    // The SIMD with the fewest waves gets the next one.
    Simd &simd = *std::ranges::min_element(
        simds, {}, [](const Simd &s) { return s.waves.size(); });
    simd.waves.push_back(std::move(wave));
    ++slots[slot].waves;
  }
  if (!slots[slot].waves)
    ++groupsEnded;
}

void UnitReplay::releaseBarrier(Slot &slot, double now) {
  const auto index = static_cast<size_t>(&slot - slots.data());
  slot.atBarrier = 0;
  for (Simd &simd : simds)
    for (std::unique_ptr<ReplayWave> &wave : simd.waves)
      if (wave->slot == index && wave->isAtBarrier) {
        wave->isAtBarrier = false;
        wave->readyAt = now + costs.issueClocks;
      }
  nextEvent = std::min(nextEvent, now + costs.issueClocks);
}

/// The wave object stays until the SIMD's list is swept.
void UnitReplay::endWave(ReplayWave &wave, double now) {
  Slot &slot = slots[wave.slot];
  wave.readyAt = kNever;
  nextEvent = std::min(nextEvent, now + costs.issueClocks);
  if (--slot.waves) {
    if (slot.atBarrier == slot.waves)
      releaseBarrier(slot, now);
    return;
  }
  ++groupsEnded;
}

double UnitReplay::getRegistersReady(const ReplayWave &wave,
                                     const StepInfo &step) const {
  double ready = 0;
  for (const Effects *uses : {&step.reads, &step.writes})
    for (const RegisterUse &use : *uses)
      for (unsigned i = 0; i < use.dwords && use.first + i < kVectorRegisters;
           ++i)
        ready =
            std::max(ready, wave.matrixBase + wave.matrixReady[use.first + i]);
  // A matrix instruction may add to its own destination without the extra wait.
  return ready;
}

/// Notes when the results can be read. An instruction that adds to the same
/// accumulators need not wait longer than the unit is busy, and accumulators
/// are left out of its reads.
void UnitReplay::noteMatrix(ReplayWave &wave, const StepInfo &step,
                            double now) {
  if (wave.matrixReady.empty())
    wave.matrixReady.resize(kVectorRegisters);
  if (now - wave.matrixBase > 1e6) { // floats hold differences exactly
    wave.matrixBase = now;
    std::ranges::fill(wave.matrixReady, 0);
  }
  const double ready = now + step.matrixClocks + times.matrixExtraClocks;
  wave.lastMatrixReady = std::max(wave.lastMatrixReady, ready);
  for (const RegisterUse &use : step.writes)
    for (unsigned i = 0; i < use.dwords && use.first + i < kVectorRegisters;
         ++i)
      wave.matrixReady[use.first + i] =
          static_cast<float>(ready - wave.matrixBase);
}

void UnitReplay::issueMemory(ReplayWave &wave, const StepInfo &step,
                             double now) {
  const MemoryStep &access = wave.trace->memory[wave.nextMemory++];
  const std::span<const uint32_t> lines(
      wave.trace->lines.data() + access.firstLine, access.lines);
  double done = now + costs.issueClocks;
  if (step.port == IssuePort::Vmem) {
    const double clocks =
        std::max({double(access.addressClocks) / costs.getComputeUnits(),
                  double(access.dataClocks), times.lineClocks * access.lines,
                  double(costs.issueClocks)});
    const double start = std::max(addressFree, now);
    addressFree = start + clocks;
    result.address += clocks;
    const bool isLoad = step.kind == CostClass::VmemLoad;
    done = isLoad ? std::max(memory.load(start, lines, wave.copy),
                             addressFree + times.l1Latency - clocks)
                  : memory.store(addressFree, lines, wave.copy,
                                 step.kind == CostClass::VmemAtomic);
  } else if (step.port == IssuePort::Scalar && step.hasMemoryStep) {
    done = memory.loadScalar(now, lines, wave.copy);
  }
  if (access.ldsClocks) {
    const double start = std::max(ldsFree, now);
    ldsFree = start + access.ldsClocks;
    result.lds += access.ldsClocks;
    done = std::max(done, ldsFree + times.ldsLatency - 1);
  }
  for (unsigned q = 0; q < kWaitQueues; ++q)
    if (step.wait.enters(static_cast<WaitQueue>(q)))
      wave.queues[q].add(done, static_cast<WaitQueue>(q) != WaitQueue::Scalar);
}

double UnitReplay::waitFor(const ReplayWave &wave,
                           const WaitTraits &wait) const {
  double time = 0;
  for (unsigned q = 0; q < kWaitQueues; ++q)
    if (wait.limit[q] != WaitTraits::kNoLimit)
      time = std::max(time, wave.queues[q].getTime(wait.limit[q],
                                                   static_cast<WaitQueue>(q) !=
                                                       WaitQueue::Scalar));
  return time;
}

/// Returns false, with the wave's next time set, if something is busy.
bool UnitReplay::tryIssue(Simd &simd, ReplayWave &wave, const StepInfo &step,
                          double now) {
  double blocked =
      now < wave.lastMatrixReady ? getRegistersReady(wave, step) : 0;
  if (step.port == IssuePort::Valu)
    blocked = std::max(blocked, step.kind == CostClass::Matrix
                                    ? std::max(simd.valuFree, simd.matrixFree)
                                    : simd.valuFree);
  else if (step.port == IssuePort::Vmem)
    blocked = std::max(blocked, addressFree - times.addressQueueClocks);
  else if (step.port == IssuePort::Lds)
    blocked = std::max(blocked, ldsFree - times.addressQueueClocks);
  if (blocked > now) {
    wave.readyAt = blocked;
    return false;
  }
  if (step.port == IssuePort::Valu) {
    simd.valuFree = now + step.valuClocks;
    result.valu += step.valuClocks;
  }
  if (step.kind == CostClass::Matrix) {
    simd.matrixFree = now + step.matrixClocks;
    result.matrix += step.matrixClocks;
    noteMatrix(wave, step, now);
  }
  if (step.port == IssuePort::Scalar || step.port == IssuePort::Branch)
    result.scalar += costs.issueClocks;
  wave.readyAt = now + step.issueClocks + step.sleepClocks;
  if (step.hasMemoryStep)
    issueMemory(wave, step, now);
  if (step.isWait)
    wave.readyAt = std::max(wave.readyAt, waitFor(wave, step.wait));
  return true;
}

/// The wave issues its next instruction, so the one before ends.
void UnitReplay::noteIssue(const Simd &simd, ReplayWave &wave,
                           double now) const {
  if (wave.next)
    work->timeline->add({wave.lastIssue, now, wave.trace->steps[wave.next - 1],
                         static_cast<uint32_t>(&simd - simds.data()),
                         wave.number});
  wave.lastIssue = now;
}

double UnitReplay::issue(Simd &simd, double now) {
  double next = kNever;
  unsigned taken = 0; // ports, one bit each
  bool hasEnded = false;
  for (size_t i = 0; i < simd.waves.size(); ++i) {
    ReplayWave &wave = *simd.waves[i];
    if (wave.readyAt > now) {
      next = std::min(next, wave.readyAt);
      continue;
    }
    const uint32_t index = wave.trace->steps[wave.next];
    const StepInfo &step = steps.get(index);
    const unsigned port = 1u << static_cast<unsigned>(step.port);
    const bool isFree = step.port == IssuePort::Internal || !(taken & port);
    if (!isFree || !tryIssue(simd, wave, step, now)) {
      next = std::min(next, std::max(wave.readyAt, now + costs.issueClocks));
      continue;
    }
    taken |= port;
    if (work->timeline)
      noteIssue(simd, wave, now);
    ++result.steps;
    ++wave.next;
    if (step.port == IssuePort::Branch && wave.next < wave.limit &&
        wave.trace->steps[wave.next] != index + 1)
      wave.readyAt = now + times.branchClocks;
    if (wave.next == wave.limit) {
      endWave(wave, now);
      hasEnded = true;
    } else if (step.isBarrier) {
      Slot &slot = slots[wave.slot];
      wave.isAtBarrier = true;
      wave.readyAt = kNever;
      if (++slot.atBarrier == slot.waves)
        releaseBarrier(slot, now);
    }
    next = std::min(next, wave.readyAt);
  }
  if (hasEnded)
    std::erase_if(simd.waves, [](const std::unique_ptr<ReplayWave> &wave) {
      return wave->next == wave->limit;
    });
  return next;
}

ReplayResult UnitReplay::run(const ReplayWork &newWork) {
  work = &newWork;
  uint64_t total = 0;
  for (uint64_t g = 0; g < work->groups; ++g)
    for (const WaveTrace &wave : work->traces[g % work->traces.size()]->waves)
      total += static_cast<uint64_t>(double(wave.steps.size()) * work->share);
  slots.assign(std::min<uint64_t>(work->maxGroups, work->groups), {});
  double now = 0;
  while (groupsEnded < work->groups) {
    nextEvent = kNever;
    for (size_t s = 0; s < slots.size() && groupsStarted < work->groups; ++s)
      if (!slots[s].waves &&
          hasSpace(*work->traces[groupsStarted % work->traces.size()]))
        startGroup(s, now);
    for (Simd &simd : simds) {
      const double next = issue(simd, now);
      nextEvent = std::min(nextEvent, next);
    }
    if (!result.halfClocks && result.steps * 2 >= total)
      result.halfClocks = now;
    if (groupsEnded == work->groups)
      break;
    const double step = costs.issueClocks;
    now = std::isinf(nextEvent)
              ? now + step
              : std::max(now + step, std::ceil(nextEvent / step) * step);
  }
  // Stores and loads that nobody waited for have to end, too.
  result.clocks = now;
  for (const double busy : {addressFree, ldsFree, memory.getEnd()})
    result.clocks = std::max(result.clocks, busy);
  result.l2 = memory.getL2Clocks();
  result.memory = memory.getMemoryClocks();
  result.traffic = memory.getTraffic();
  return result;
}
