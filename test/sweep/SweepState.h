//===- SweepState.h - The progress of a sweep ------------------*- C++ -*--===//

#ifndef TESSERA_TEST_SWEEP_SWEEPSTATE_H
#define TESSERA_TEST_SWEEP_SWEEPSTATE_H

#include "test/sweep/SweepOptions.h"

namespace tessera::sweep {

/// The progress of a sweep: problems from options.from up to `next`, exclusive,
/// are done.
struct SweepState {
  int64_t next = 0;
  int64_t passed = 0;
  int64_t compiled = 0; ///< Compiled and not run.
  int64_t failed = 0;
  int64_t refused = 0;
  int64_t tooLarge = 0; ///< Too large for the memory of host or device.
};

/// Loads the state file; without one the sweep begins at its first problem.
/// Returns InvalidArgument if the file belongs to another sweep or is none.
ErrorOr<SweepState> loadState(const SweepOptions &options);

/// Replaces the state file atomically, so that a sweep that is stopped leaves a
/// complete one.
Status saveState(const SweepOptions &options, const SweepState &state);

} // namespace tessera::sweep

#endif // TESSERA_TEST_SWEEP_SWEEPSTATE_H
