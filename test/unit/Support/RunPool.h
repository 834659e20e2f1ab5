//===- RunPool.h - Compiles, runs and judges a pooling ---------*- C++ -*--===//
//
// Does for poolings what RunConv.h does for convolutions.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_UNIT_SUPPORT_RUNPOOL_H
#define TESSERA_TEST_UNIT_SUPPORT_RUNPOOL_H

#include "runtime/Engine/Engine.h"
#include "runtime/Reference/PoolCase.h"
#include "test/unit/Support/DeviceTensors.h"

#include <string>

namespace tessera::test {

/// The result of a run.
struct PoolOutcome {
  Status status = Status::ok(); ///< Error of compiling, loading or launching.
  std::string tile;             ///< Empty if there is no kernel.
  std::string fault;            ///< See PoolCase::check(); empty if right.

  bool passed() const { return status.isOk() && fault.empty(); }
  std::string toText() const {
    return status.isOk() ? fault : status.getMessage();
  }
};

/// Compiles and runs `problem` on the engine's device with data from `seed`,
/// and compares the results with the reference: every element or, if `sample`
/// is not 0, that many.
PoolOutcome runPool(Engine &engine, const PoolProblem &problem, PoolData data,
                    uint64_t seed, int64_t sample = 0,
                    Placement placement = Placement::Aligned);

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_SUPPORT_RUNPOOL_H
