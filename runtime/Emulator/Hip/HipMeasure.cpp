//===- HipMeasure.cpp - Issue cycles for who tunes ------------------------===//

#include "runtime/Emulator/Hip/IssueCount.h"
#include "runtime/Hip/Export.h"

#include <utility>

using namespace tessera::emulator;

namespace {
/// Whether one thread's launches are counted, and the cycles of its launches
/// since its last call.
struct ThreadIssue {
  bool isCounted = false;
  uint64_t cycles = 0;
};
} // namespace

static thread_local ThreadIssue threadIssue;

LaunchWatch IssueCount::getWatch() {
  if (!threadIssue.isCounted)
    return {};
  return {MeasureLevel::Addresses, &stats, {}};
}

void IssueCount::add(const Launch &launch) const {
  if (!threadIssue.isCounted || stats.executed.empty())
    return;
  const LaunchSummary summary = makeSummary(launch, 0);
  threadIssue.cycles +=
      estimateIssue(summary, sumUp(summary, launch.program, stats)).clocks;
}

/// Returns the estimated issue cycles of the calling thread's launches since
/// its last call, and sets whether further launches are counted.
TESSERA_HIP hipError_t tesseraTakeIssueCycles(int countFurther,
                                              uint64_t *cycles) {
  *cycles = std::exchange(threadIssue.cycles, 0);
  threadIssue.isCounted = countFurther != 0;
  return hipSuccess;
}
