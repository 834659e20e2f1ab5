//===- IssueCount.h - Issue cycles of one thread's launches ----*- C++ -*--===//
//
// A tuner on the emulated device cannot compare times, so it compares estimates
// of issue cycles, which it obtains through an exported function. Launches of
// other threads are not counted and stay fast.
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

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_HIP_ISSUECOUNT_H
