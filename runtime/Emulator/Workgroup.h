//===- Workgroup.h - The waves of a group, run in time slices --*- C++ -*--===//

#ifndef TESSERA_RUNTIME_EMULATOR_WORKGROUP_H
#define TESSERA_RUNTIME_EMULATOR_WORKGROUP_H

#include "runtime/Emulator/LaunchState.h"
#include "runtime/Emulator/Measure/Stats.h"

#include <memory>

namespace tessera::emulator {

/// Runs one group after another on one thread and reuses their storage. A wave
/// runs until it waits at a barrier, ends, sleeps or has used its slice.
class WorkgroupRunner {
public:
  /// `worker` numbers the runners of a launch. Each has its own scratch memory.
  WorkgroupRunner(const Launch &launch, const LaunchMemory &memory,
                  const MemoryMap &map, const Settings &settings, Fault &fault,
                  LaunchStats *stats, const Observers &observers,
                  unsigned worker);

  /// Returns early when this or another group has recorded a fault.
  void run(const std::array<uint32_t, 3> &group);
  /// The instructions of all groups so far.
  uint64_t getInstructionCount() const { return instructionCount; }
  const LdsOverruns &getLdsOverruns() const { return ldsOverruns; }

private:
  void runSlice(Wave &wave);
  void start(const std::array<uint32_t, 3> &group);
  void completeBarrier();
  void failWaiting();
  bool isGroupSeenEnough() const;
  template <typename Function>
  void tellAll(Function function) const;
  void checkWatchdog(Wave &wave);
  std::span<Wave *const> getRunning() const {
    return {running.data(), waveCount};
  }

  const Launch &launch;
  const LaunchMemory &memory;
  const Settings &settings;
  const Observers &observers;
  Fault &fault;
  unsigned worker;
  unsigned maxWaves;
  unsigned waveCount = 0;
  uint64_t instructionCount = 0;
  LdsOverruns ldsOverruns; ///< of all groups so far
  GroupContext context;
  std::vector<uint8_t> lds;
  std::vector<std::unique_ptr<Wave>> waves;
  /// The same waves; the first waveCount are in use.
  std::vector<Wave *> running;
};

/// The number of waves of a full group.
unsigned getWavesPerGroup(const Launch &launch);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_WORKGROUP_H
