//===- Launch.h - One kernel launch ----------------------------*- C++ -*-===//
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
  std::array<uint32_t, 3> items;     ///< Work-items of the whole grid.
  std::array<uint32_t, 3> groupSize; ///< Work-items of a full group.
  uint32_t dynamicLdsBytes = 0;
  std::vector<uint8_t> arguments; ///< Explicit ones, laid out as the kernel's.

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
  uint64_t queue = 0; ///< Zeros: nothing asks the emulated queue anything.
  uint64_t scratch = 0;
  uint64_t scratchBytesPerWave = 0;
  uint64_t scratchBytesPerLane = 0;
};

struct LaunchOutcome {
  FaultKind fault = FaultKind::None;
  std::string message; ///< Of the fault and all findings, one a line.
  std::vector<Fault::Finding> findings; ///< The fault, if any, is the first.
  double timeMs = 0;
  uint64_t waveInstructions = 0; ///< Executed, whatever EXEC was.
};

/// What a caller wants to see besides what the settings ask for.
struct LaunchWatch {
  MeasureLevel level = MeasureLevel::None;
  LaunchStats *stats = nullptr; ///< Filled if `level` asks for anything.
  /// Called once for each host thread, from it. May be empty.
  std::function<std::unique_ptr<Observer>()> makeObserver;
  /// Counts the workgroups that have ended, for who looks on. May be null.
  std::atomic<uint64_t> *finishedGroups = nullptr;
};

/// Whether a workgroup of the chip has the LDS that the kernel asks for.
Status checkLds(const Launch &launch);

/// InvalidArgument if the kernel was made for groups of another size. A last
/// group that the grid cuts short is not looked at.
Status checkGroupSize(const Launch &launch);

/// Runs to the end, or to the first fault. The device stays usable after one.
LaunchOutcome run(const Launch &launch, MemoryMap &memory,
                  const Settings &settings, const LaunchWatch &watch = {});

/// What the statistics say of a launch besides its counts.
LaunchSummary makeSummary(const Launch &launch, double timeMs);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_LAUNCH_H
