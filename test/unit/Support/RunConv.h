//===- RunConv.h - Compiles, runs and judges a convolution -----*- C++ -*-===//
//
// The one way in which tests and the sweep run a problem on a device. It
// reports instead of asserting, so that a sweep can go on after a failure.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_UNIT_SUPPORT_RUNCONV_H
#define TESSERA_TEST_UNIT_SUPPORT_RUNCONV_H

#include "dialect/Reference/TestData.h"
#include "runtime/Engine/Engine.h"
#include "runtime/Reference/ConvCase.h"
#include "test/unit/Support/DeviceTensors.h"

#include <string>

namespace tessera::test {

/// What came of a run.
struct ConvOutcome {
  Status status = Status::ok(); ///< Of compiling, loading and launching.
  std::string tile;             ///< Empty if there is no kernel.
  reference::Report report{};   ///< Counts if `status` is ok.
  std::string gaps;             ///< See ConvCase::checkGaps().

  bool passed() const {
    return status.isOk() && report.passed() && gaps.empty();
  }
  /// What is wrong, or the report of a success.
  std::string toText() const;
};

/// Compiles and runs `problem` on the engine's device with data from `seed`,
/// and compares every element of the result with the reference; or, for large
/// problems, `sample` elements. Each tensor has exactly its own memory, so that
/// an access beside it is a fault.
ConvOutcome runConv(Engine &engine, const ConvProblem &problem,
                    reference::DataKind kind, uint64_t seed, int64_t sample = 0,
                    Placement placement = Placement::Aligned);

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_SUPPORT_RUNCONV_H
