//===- SweepState.h - How far a sweep is -----------------------*- C++ -*-===//

#ifndef TESSERA_TEST_SWEEP_SWEEPSTATE_H
#define TESSERA_TEST_SWEEP_SWEEPSTATE_H

#include "test/sweep/SweepOptions.h"

namespace tessera::sweep {

/// Problems from options.from to before `next` are done.
struct SweepState {
  int64_t next = 0;
  int64_t passed = 0;
  int64_t compiled = 0; ///< And not run.
  int64_t failed = 0;
  int64_t refused = 0;
  int64_t tooLarge = 0; ///< For the memory of the host or of the device.
};

/// What the state file says, or the beginning if there is none.
/// InvalidArgument if it belongs to another sweep or is no state at all.
ErrorOr<SweepState> loadState(const SweepOptions &options);

/// Replaces the state file at once, so that a stopped sweep leaves a whole one.
Status saveState(const SweepOptions &options, const SweepState &state);

} // namespace tessera::sweep

#endif // TESSERA_TEST_SWEEP_SWEEPSTATE_H
