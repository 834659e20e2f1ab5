//===- RunConv.h - Compiles, runs and judges a convolution -----*- C++ -*--===//
//
// Tests and the sweep run problems on a device only by this function. It
// returns its findings instead of asserting, so that a sweep can go on after a
// failure.
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

/// The result of a run.
struct ConvOutcome {
  Status status = Status::ok(); ///< Error of compiling, loading or launching.
  std::string tile;             ///< Empty if there is no kernel.
  reference::Report report{};   ///< Valid if `status` is ok.
  std::string gaps;             ///< See ConvCase::checkGaps().
  std::string statistics;       ///< See ConvCase::checkChannelResults().
  /// Those of ConvCase::getChannelResults(), as the kernel wrote them.
  std::vector<std::vector<char>> channelResults{};
  std::vector<char> result{}; ///< As the kernel wrote it.

  bool passed() const {
    return status.isOk() && report.passed() && gaps.empty() &&
           statistics.empty();
  }
  /// Returns what is wrong, or the report of a success.
  std::string toText() const;
};

/// Compiles and runs `problem` on the engine's device with data from `seed`,
/// and compares the result with the reference: every element or, if `sample` is
/// not 0, that many, for large problems. Each tensor has memory of exactly its
/// own size, so that an access beyond it is a fault.
ConvOutcome runConv(Engine &engine, const ConvProblem &problem,
                    reference::DataKind kind, uint64_t seed, int64_t sample = 0,
                    Placement placement = Placement::Aligned);

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_SUPPORT_RUNCONV_H
