//===- RunRowWise.h - Runs and judges row-wise operations -------*- C++ -*-===//
//
// Does for row-wise operations what RunConv.h does for convolutions.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_UNIT_SUPPORT_RUNROWWISE_H
#define TESSERA_TEST_UNIT_SUPPORT_RUNROWWISE_H

#include "runtime/Engine/Engine.h"
#include "runtime/Reference/RowWiseCase.h"
#include "test/unit/Support/DeviceTensors.h"

#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

/// The result of a run.
struct RowOutcome {
  Status status = Status::ok(); ///< Error of compiling, loading or launching.
  std::string tile;             ///< Empty if there is no kernel.
  std::string fault;            ///< See RowWiseCase::check(); empty if right.

  bool passed() const { return status.isOk() && fault.empty(); }
  std::string toText() const {
    return status.isOk() ? fault : status.getMessage();
  }
};

/// Pairs of an input and the output that overwrites it.
using SharedMemory = std::vector<std::pair<int, int>>;

/// Compiles and runs `problem` on the engine's device with data from `seed`,
/// and compares the results with the reference: every element or, if `sample`
/// is not 0, about that many. Inputs that are not in `shared` may not have
/// changed.
RowOutcome runRowWise(Engine &engine, const RowWiseProblem &problem,
                      uint64_t seed, int64_t sample = 0,
                      const SharedMemory &shared = {},
                      Placement placement = Placement::Aligned);

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_SUPPORT_RUNROWWISE_H
