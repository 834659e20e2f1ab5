//===- HipMeasure.cpp - Clocks for who tunes ------------------------------===//

#include "runtime/Emulator/Hip/Device.h"
#include "runtime/Emulator/Hip/IssueCount.h"
#include "runtime/Emulator/Time/Prediction.h"
#include "runtime/Hip/Export.h"

#include <limits>
#include <utility>

using namespace tessera;
using namespace tessera::emulator;

namespace {
/// What is done with one thread's launches, as callers of
/// tesseraTakeIssueCycles() say it.
enum class Count : int { Nothing = 0, IssueCycles = 1, Predictions = 2 };

/// The clocks of a thread's launches since its last call.
struct ThreadIssue {
  Count count = Count::Nothing;
  uint64_t cycles = 0;
};
} // namespace

static thread_local ThreadIssue threadIssue;

LaunchWatch IssueCount::getWatch() {
  if (threadIssue.count != Count::IssueCycles)
    return {};
  return {MeasureLevel::Addresses, &stats, {}};
}

void IssueCount::add(const Launch &launch) const {
  if (threadIssue.count != Count::IssueCycles || stats.executed.empty())
    return;
  const LaunchSummary summary = makeSummary(launch, 0);
  threadIssue.cycles +=
      estimateIssue(summary, sumUp(summary, launch.program, stats)).clocks;
}

bool tessera::emulator::isPredicting() {
  return threadIssue.count == Count::Predictions;
}

/// As if no cache had anything of the launch before: a tuner flushes them.
Status tessera::emulator::predictLaunch(const Launch &launch, MemoryMap &memory,
                                        const Settings &settings) {
  TimeOptions options;
  if (const ChipTimes *times = findChipTimes(launch.chip.name))
    options.times = *times;
  options.footprintBytes = std::numeric_limits<double>::max();
  ErrorOr<TimePrediction> prediction =
      predictTime(launch, memory, settings, options);
  if (!prediction)
    return prediction.getStatus();
  threadIssue.cycles += static_cast<uint64_t>(prediction->milliseconds * 1000 *
                                              double(launch.chip.clockMhz));
  return Status::ok();
}

/// Returns the clocks of the calling thread's launches since its last call, and
/// sets what is done with further ones: nothing (0), issue cycles are estimated
/// (1), or they are predicted (2). Of launches that are predicted only a few
/// workgroups are executed. Chips whose times cannot be predicted answer
/// hipErrorNotSupported to 2, which changes nothing.
TESSERA_HIP hipError_t tesseraTakeIssueCycles(int countFurther,
                                              uint64_t *cycles) {
  const auto count = static_cast<Count>(countFurther);
  const Device *device = Device::get();
  if (count == Count::Predictions &&
      (!device || !findChipTimes(device->chip.name)))
    return hipErrorNotSupported;
  *cycles = std::exchange(threadIssue.cycles, 0);
  threadIssue.count = count;
  return hipSuccess;
}
