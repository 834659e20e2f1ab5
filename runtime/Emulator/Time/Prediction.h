//===- Prediction.h - How long a launch would take -------------*- C++ -*--===//
//
// Executes a few workgroups of a launch, replays them on one compute unit in
// the company that they would have, and extrapolates to the whole launch. This
// is a model, checked against times that AMD published; it is no measurement.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_TIME_PREDICTION_H
#define TESSERA_RUNTIME_EMULATOR_TIME_PREDICTION_H

#include "runtime/Base/ErrorOr.h"
#include "runtime/Emulator/Launch.h"
#include "runtime/Emulator/Time/ChipTimes.h"
#include "runtime/Emulator/Time/UnitReplay.h"

namespace tessera::emulator {

struct TimeOptions {
  ChipTimes times; ///< findChipTimes(), or with other numbers for a study.
  /// Bytes of all buffers, see MemorySystem.
  double footprintBytes = 0;
  /// Recorded of a wave at most, and replayed in all: what bounds the host's
  /// time.
  uint64_t recordLimit = uint64_t(1) << 18;
  uint64_t replayLimit = 1'000'000;
  /// If not null, gets the first instructions of the replay.
  Timeline *timeline = nullptr;
};

/// What keeps a launch from being faster.
enum class TimeBound : uint8_t {
  Issue,     ///< vector, matrix or scalar instructions
  Lds,       ///< the LDS unit
  L1,        ///< addresses and lines of L1
  L2,        ///< the rate of L2
  Memory,    ///< the rate of memory behind it
  Latency,   ///< waves that wait, though all are resident
  Occupancy, ///< waves that wait, while others have no registers or LDS
  Launch,    ///< the launch itself
};
std::string_view getName(TimeBound bound);

struct TimePrediction {
  double milliseconds = 0;
  /// Eight of ten of AMD's published times lie between these shares of it.
  double lowMilliseconds = 0, highMilliseconds = 0;
  double launchMilliseconds = 0; ///< a part of it
  double clocks = 0;             ///< the rest
  TimeBound bound = TimeBound::Launch;
  /// Shares of the clocks for which each unit of the replayed compute unit was
  /// busy.
  double valu = 0, matrix = 0, scalar = 0, lds = 0, l1 = 0, l2 = 0, memory = 0;
  Traffic traffic; ///< of the whole launch, bytes
  uint64_t groups = 0, groupsOfUnit = 0, residentGroups = 0;
  uint64_t groupsExecuted = 0, groupsReplayed = 0;
  /// The share of the executed groups' instructions that was replayed.
  double replayedShare = 1;
  /// The largest number of instructions of an executed group over the smallest.
  double groupSpread = 1;
  LdsOverruns ldsOverruns; ///< of the executed groups
};

/// Executes the sampled groups, which changes memory as the launch would. Fails
/// with NotSupported for a chip without a row in ChipTimes.def, and with the
/// kernel's fault.
ErrorOr<TimePrediction> predictTime(const Launch &launch, MemoryMap &memory,
                                    const Settings &settings,
                                    const TimeOptions &options);

/// One line of JSON without a line end.
std::string formatPrediction(const Launch &launch,
                             const TimePrediction &prediction);
/// Two lines for people.
std::string describePrediction(const Launch &launch,
                               const TimePrediction &prediction);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_TIME_PREDICTION_H
