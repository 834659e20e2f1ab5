//===- RunRows.h - Compiles, runs and judges operations on rows *- C++ -*-===//
//
// As RunConv.h for convolutions.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_UNIT_SUPPORT_RUNROWS_H
#define TESSERA_TEST_UNIT_SUPPORT_RUNROWS_H

#include "runtime/Engine/Engine.h"
#include "runtime/Reference/RowCase.h"
#include "test/unit/Support/DeviceTensors.h"

#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

/// What came of a run.
struct RowOutcome {
  Status status = Status::ok(); ///< Of compiling, loading and launching.
  std::string tile;             ///< Empty if there is no kernel.
  std::string fault;            ///< See RowCase::check(); empty if right.

  bool passed() const { return status.isOk() && fault.empty(); }
  std::string toText() const {
    return status.isOk() ? fault : status.getMessage();
  }
};

/// An input and the output that is written to its memory.
using SharedMemory = std::vector<std::pair<int, int>>;

/// Compiles and runs `problem` on the engine's device with data from `seed`,
/// and compares about `sample` elements of the results with the reference, or
/// all. No other input may have changed.
RowOutcome runRows(Engine &engine, const RowProblem &problem, uint64_t seed,
                   int64_t sample = 0, const SharedMemory &shared = {},
                   Placement placement = Placement::Aligned);

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_SUPPORT_RUNROWS_H
