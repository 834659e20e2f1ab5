//===- Launch.h - One kernel launch ----------------------------*- C++ -*--===//
//
// Spreads the workgroups of a launch over host threads and waits for them.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_LAUNCH_H
#define TESSERA_RUNTIME_EMULATOR_LAUNCH_H

#include "runtime/Base/Status.h"
#include "runtime/Emulator/Check/Observer.h"
#include "runtime/Emulator/Decode/CodeObject.h"
#include "runtime/Emulator/Decode/Program.h"
#include "runtime/Emulator/Fault.h"
#include "runtime/Emulator/Measure/Summary.h"
#include "runtime/Emulator/MemoryMap.h"
#include "runtime/Emulator/Settings.h"

#include <array>
#include <atomic>
#include <functional>
#include <span>
#include <vector>

namespace tessera::emulator {

struct Launch {
  const KernelImage &kernel;
  const Program &program;
  const Chip &chip;
  std::array<uint32_t, 3> items;     ///< work-items of the whole grid
  std::array<uint32_t, 3> groupSize; ///< work-items of a full group
  uint32_t dynamicLdsBytes = 0;
  /// The explicit ones, laid out as the kernel expects them.
  std::vector<uint8_t> arguments;

  std::array<uint32_t, 3> getGroups() const {
    std::array<uint32_t, 3> groups;
    for (unsigned d = 0; d < 3; ++d)
      groups[d] = items[d] / groupSize[d] + (items[d] % groupSize[d] != 0);
    return groups;
  }
  unsigned getLanes() const {
    return !chip.isGfx9() && kernel.descriptor.isWave32() ? 32 : 64;
  }
  uint32_t getLdsBytes() const {
    return kernel.descriptor.ldsBytes + dynamicLdsBytes;
  }
};

/// Device memory that a launch needs besides the caller's.
struct LaunchMemory {
  uint64_t kernarg = 0;
  uint64_t dispatchPacket = 0;
  uint64_t queue = 0; ///< All zeros: kernels do not use the emulated queue.
  uint64_t scratch = 0;
  uint64_t scratchBytesPerWave = 0;
  uint64_t scratchBytesPerLane = 0;
};

struct LaunchOutcome {
  FaultKind fault = FaultKind::None;
  std::string message; ///< The fault and all findings, one a line.
  std::vector<Fault::Finding> findings; ///< The fault, if any, is the first.
  double timeMs = 0;
  uint64_t waveInstructions = 0; ///< Executed by waves, whatever EXEC was.
  LdsOverruns ldsOverruns; ///< Of Settings::ignoresLdsOverruns.
};

/// What a caller wants to observe besides what the settings ask for.
struct LaunchWatch {
  MeasureLevel level = MeasureLevel::None;
  LaunchStats *stats = nullptr; ///< Filled if `level` is not None.
  /// Called once by each worker thread. May be empty.
  std::function<std::unique_ptr<Observer>()> makeObserver;
  /// Counts the workgroups that have ended, for progress displays. May be null.
  std::atomic<uint64_t> *finishedGroups = nullptr;
  /// The groups to execute, numbered x first, in ascending order; all, or what
  /// the settings say, if empty.
  std::span<const uint64_t> groups = {};
};

/// Checks that a workgroup of the chip can have the LDS that the kernel asks
/// for.
Status checkLds(const Launch &launch);

/// Fails with InvalidArgument if the kernel was compiled for groups of another
/// size. A last group that the grid cuts short is not checked.
Status checkGroupSize(const Launch &launch);

/// Runs to the end, or to the first fault. The device stays usable after a
/// fault.
LaunchOutcome run(const Launch &launch, MemoryMap &memory,
                  const Settings &settings, const LaunchWatch &watch = {});

/// What the statistics report about a launch besides its counts.
LaunchSummary makeSummary(const Launch &launch, double timeMs);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_LAUNCH_H
