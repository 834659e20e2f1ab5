//===- IssueCount.h - Issue cycles of one thread's launches ----*- C++ -*-===//
//
// A tuner on the emulated device has no time to compare, but the estimate of
// issue cycles. It asks for it through an exported function; launches of other
// threads, which nobody is tuning, stay as fast as they are.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_HIP_ISSUECOUNT_H
#define TESSERA_RUNTIME_EMULATOR_HIP_ISSUECOUNT_H

#include "runtime/Emulator/Launch.h"

namespace tessera::emulator {

/// Counts one launch if its thread has asked for it.
class IssueCount {
public:
  /// What the launch must be watched with.
  LaunchWatch getWatch();
  /// Adds the estimate of the launch that was watched to the thread's sum.
  void add(const Launch &launch) const;

private:
  LaunchStats stats;
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_HIP_ISSUECOUNT_H
