//===- UnitReplay.h - The clocks of one compute unit -----------*- C++ -*--===//
//
// Replays recorded groups on the SIMDs of one compute unit. Every four clocks a
// SIMD issues at most one instruction to each of its ports, from different
// waves, the oldest wave first: GCN's and CDNA's rule.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_TIME_UNITREPLAY_H
#define TESSERA_RUNTIME_EMULATOR_TIME_UNITREPLAY_H

#include "runtime/Emulator/Time/MemoryModel.h"
#include "runtime/Emulator/Time/StepTable.h"
#include "runtime/Emulator/Time/Timeline.h"

#include <memory>

namespace tessera::emulator {

/// What the unit is to do.
struct ReplayWork {
  /// The recorded groups, one or two, which the unit's groups repeat.
  std::span<const GroupTrace *const> traces;
  uint64_t groups = 1; ///< of this unit, one after the other
  /// At the same time: by LDS and barriers, and waves of a SIMD by registers. A
  /// wave that ends early leaves its slot to one of the next group.
  uint32_t maxGroups = 1, maxWaves = 8;
  /// Of each wave's instructions, as a share of those recorded.
  double share = 1;
  /// By how many instructions of its waves each of the groups that begin
  /// together is ahead of the next one; less where less is recorded.
  double lead = 0;
  /// If not null, gets what the waves issue.
  Timeline *timeline = nullptr;
};

struct ReplayResult {
  double clocks = 0;
  /// When half of the instructions had been issued.
  double halfClocks = 0;
  uint64_t steps = 0;
  /// Clocks for which each unit was busy; the first two, of all SIMDs together.
  double valu = 0, matrix = 0, scalar = 0, lds = 0, address = 0, l2 = 0,
         memory = 0;
  Traffic traffic;
};

class UnitReplay {
public:
  UnitReplay(const ChipCosts &costs, const ChipTimes &times,
             const MemorySystem &system, const SharingTable &sharing,
             StepTable &steps);
  ~UnitReplay();
  ReplayResult run(const ReplayWork &work);

private:
  struct ReplayWave;
  struct Slot;
  struct Simd;

  void startGroup(size_t slot, double now);
  size_t getLead(const GroupTrace &group) const;
  size_t countBarriers(const WaveTrace &trace, size_t count) const;
  void skip(ReplayWave &wave, size_t count, size_t barriers) const;
  bool hasSpace(const GroupTrace &group) const;
  void endWave(ReplayWave &wave, double now);
  void noteIssue(const Simd &simd, ReplayWave &wave, double now) const;
  void releaseBarrier(Slot &slot, double now);
  /// Issues what the SIMD can at `now`; returns when a wave may issue next.
  double issue(Simd &simd, double now);
  bool tryIssue(Simd &simd, ReplayWave &wave, const StepInfo &step, double now);
  double getRegistersReady(const ReplayWave &wave, const StepInfo &step) const;
  void noteMatrix(ReplayWave &wave, const StepInfo &step, double now);
  void issueMemory(ReplayWave &wave, const StepInfo &step, double now);
  double waitFor(const ReplayWave &wave, const WaitTraits &wait) const;

  const ChipCosts &costs;
  const ChipTimes &times;
  StepTable &steps;
  MemoryModel memory;
  const ReplayWork *work = nullptr;
  std::vector<Slot> slots;
  std::vector<Simd> simds;
  double addressFree = 0, ldsFree = 0;
  double nextEvent = 0; ///< When something may happen after this clock.
  uint64_t groupsStarted = 0, groupsEnded = 0;
  uint32_t wavesStarted = 0;
  ReplayResult result;
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_TIME_UNITREPLAY_H
