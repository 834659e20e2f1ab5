//===- Workgroup.cpp - The waves of a group, run in time slices -----------===//

#include "runtime/Emulator/Workgroup.h"

#include <algorithm>

using namespace tessera::emulator;

/// Instructions until another wave of the group is run: a wave that spins on
/// what another one writes must not spin for ever.
static constexpr uint64_t kSlice = 1 << 18;
/// The same while observers watch, which say between slices that they have seen
/// enough.
static constexpr uint64_t kObservedSlice = 1 << 14;

unsigned tessera::emulator::getWavesPerGroup(const Launch &launch) {
  uint64_t items =
      uint64_t(launch.groupSize[0]) * launch.groupSize[1] * launch.groupSize[2];
  unsigned lanes = launch.getLanes();
  return static_cast<unsigned>((items + lanes - 1) / lanes);
}

WorkgroupRunner::WorkgroupRunner(const Launch &launch,
                                 const LaunchMemory &memory,
                                 const MemoryMap &map, const Settings &settings,
                                 Fault &fault, LaunchStats *stats,
                                 const Observers &observers, unsigned worker)
    : launch(launch), memory(memory), settings(settings), observers(observers),
      fault(fault), worker(worker), maxWaves(getWavesPerGroup(launch)),
      lds(launch.getLdsBytes()) {
  context.chip = &launch.chip;
  context.program = &launch.program;
  context.memory = &map;
  context.kernelName = launch.kernel.name.c_str();
  context.lds = lds.data();
  context.ldsBytes = static_cast<uint32_t>(lds.size());
  if (settings.ignoresLdsOverruns)
    context.ldsOverruns = &ldsOverruns;
  context.stats = stats;
  context.fault = &fault;
  context.observers =
      observers.everything.empty() ? nullptr : &observers.everything;
  for (unsigned i = 0; i < maxWaves; ++i)
    waves.push_back(std::unique_ptr<Wave>(new Wave));
  for (std::unique_ptr<Wave> &wave : waves)
    running.push_back(wave.get());
}

/// Calls `function` for all observers, including those that only observe
/// barriers.
template <typename Function>
void WorkgroupRunner::tellAll(Function function) const {
  for (const ObserverList *list : {&observers.everything, &observers.barriers})
    for (const std::unique_ptr<Observer> &observer : *list)
      function(*observer);
}

void WorkgroupRunner::start(const std::array<uint32_t, 3> &group) {
  context.groupId = group;
  context.barrierSignals = 0;
  context.barriersDone = 0;
  std::fill(lds.begin(), lds.end(), MemoryMap::kPoison);
  WavePosition position;
  position.group = group;
  uint32_t items = 1;
  for (unsigned d = 0; d < 3; ++d) {
    position.groupSize[d] = std::min(
        launch.groupSize[d], launch.items[d] - group[d] * launch.groupSize[d]);
    items *= position.groupSize[d];
  }
  unsigned lanes = launch.getLanes();
  waveCount = (items + lanes - 1) / lanes;
  context.waveCount = context.liveWaves = waveCount;
  for (unsigned i = 0; i < waveCount; ++i) {
    position.wave = i;
    position.scratchSlot = uint64_t(worker) * maxWaves + i;
    waves[i]->group = &context;
    initializeWave(*waves[i], launch, memory, position);
  }
  tellAll([&](Observer &observer) {
    observer.onGroupStart(context, getRunning());
  });
}

void WorkgroupRunner::checkWatchdog(Wave &wave) {
  if (wave.instructionCount >= settings.maxInstructions &&
      wave.stop != StopReason::Fault)
    wave.fail(FaultKind::Watchdog, *wave.pc, -1, 0,
              "the wave has run " + std::to_string(wave.instructionCount) +
                  " instructions (TESSERA_EMULATOR_MAX_INSTRUCTIONS)");
}

static void finishObserved(Wave &wave, const Instruction &instruction) {
  GroupContext &group = *wave.group;
  if (std::span accesses = group.accesses.get(); !accesses.empty()) {
    for (const std::unique_ptr<Observer> &observer : *group.observers)
      observer->onAccesses(wave, instruction, accesses);
    group.accesses.clear();
  }
  for (const std::unique_ptr<Observer> &observer : *group.observers)
    observer->afterInstruction(wave, instruction);
}

/// Executes instructions with or without observers and counting. The version
/// with neither is the usual and fastest one.
template <bool Counting, bool Observed>
static uint64_t execute(Wave &wave, uint64_t limit) {
  uint64_t done = 0;
  while (wave.stop == StopReason::None && done < limit) {
    const Instruction &instruction = *wave.pc++;
    ++done;
    if constexpr (Counting) {
      ExecutionCount &count = wave.group->stats->executed[instruction.index];
      ++count.times;
      count.lanes += static_cast<unsigned>(std::popcount(wave.exec));
    }
    if constexpr (Observed)
      for (const std::unique_ptr<Observer> &observer : *wave.group->observers)
        observer->beforeInstruction(wave, instruction);
    instruction.execute(wave, instruction);
    if constexpr (Observed)
      finishObserved(wave, instruction);
  }
  return done;
}

/// Whether no observer wants to see more instructions of the wave.
static bool isSeenEnough(const ObserverList &observers, const Wave &wave) {
  return std::ranges::none_of(observers, [&](const auto &observer) {
    return observer->wantsMore(wave);
  });
}

void WorkgroupRunner::runSlice(Wave &wave) {
  const ObserverList *const watching = context.observers;
  if (watching && isSeenEnough(*watching, wave))
    context.observers = nullptr;
  const uint64_t limit =
      std::min(context.observers ? kObservedSlice : kSlice,
               settings.maxInstructions - wave.instructionCount);
  auto run =
      context.observers
          ? (context.stats ? execute<true, true> : execute<false, true>)
          : (context.stats ? execute<true, false> : execute<false, false>);
  uint64_t done = run(wave, limit);
  context.observers = watching;
  wave.instructionCount += done;
  instructionCount += done;
  if (wave.stop == StopReason::Yield)
    wave.stop = StopReason::None;
  if (wave.stop == StopReason::None)
    checkWatchdog(wave);
}

/// Whether no observer wants to see the rest of the group.
bool WorkgroupRunner::isGroupSeenEnough() const {
  return !observers.everything.empty() &&
         std::ranges::none_of(observers.everything, [&](const auto &observer) {
           return observer->wantsGroup(getRunning());
         });
}

/// Called when every live wave has signalled: releases those that wait.
void WorkgroupRunner::completeBarrier() {
  tellAll(
      [&](Observer &observer) { observer.onBarrier(context, getRunning()); });
  context.barrierSignals -= context.liveWaves;
  ++context.barriersDone;
  for (Wave *wave : getRunning())
    if (wave->stop == StopReason::Barrier) {
      wave->stop = StopReason::None;
      wave->barriersSeen = context.barriersDone;
    }
}

/// Called when all live waves wait for a barrier that too few have signalled.
void WorkgroupRunner::failWaiting() {
  for (Wave *wave : getRunning())
    if (wave->stop == StopReason::Barrier) {
      wave->fail(FaultKind::IllegalState, wave->getPrevious(), -1, 0,
                 "every wave of the group waits, but only " +
                     std::to_string(context.barrierSignals) + " of " +
                     std::to_string(context.liveWaves) +
                     " have signalled the barrier");
      return;
    }
}

void WorkgroupRunner::run(const std::array<uint32_t, 3> &group) {
  start(group);
  for (;;) {
    unsigned ended = 0, waiting = 0;
    for (unsigned i = 0; i < waveCount; ++i) {
      Wave &wave = *waves[i];
      if (wave.stop == StopReason::None)
        runSlice(wave);
      if (fault.isSet())
        return;
      ended += wave.stop == StopReason::End;
      waiting += wave.stop == StopReason::Barrier;
    }
    if (ended == waveCount || isGroupSeenEnough())
      break;
    // Waves that have ended do not count at a barrier.
    context.liveWaves = waveCount - ended;
    if (context.barrierSignals >= context.liveWaves)
      completeBarrier();
    else if (waiting == context.liveWaves)
      failWaiting();
  }
  tellAll(
      [&](Observer &observer) { observer.onGroupEnd(context, getRunning()); });
}
