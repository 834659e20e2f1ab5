//===- IssueCount.h - Clocks of one thread's launches ----------*- C++ -*--===//
//
// A tuner on the emulated device cannot compare times, so it compares clocks of
// a model, which it obtains through an exported function: estimates of issue
// cycles, or of the whole launch. Launches of other threads are not counted and
// stay fast.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_HIP_ISSUECOUNT_H
#define TESSERA_RUNTIME_EMULATOR_HIP_ISSUECOUNT_H

#include "runtime/Emulator/Launch.h"

namespace tessera::emulator {

/// Counts one launch if its thread has asked for it.
class IssueCount {
public:
  /// How the launch must be measured.
  LaunchWatch getWatch();
  /// Adds the estimate for the measured launch to the thread's sum.
  void add(const Launch &launch) const;

private:
  LaunchStats stats;
};

/// Whether the thread has asked for predictions instead of launches.
bool isPredicting();
/// Executes a few groups of the launch and adds the clocks that the whole one
/// would take to the thread's sum.
Status predictLaunch(const Launch &launch, MemoryMap &memory,
                     const Settings &settings);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_HIP_ISSUECOUNT_H
