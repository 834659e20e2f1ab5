//===- GroupSample.h - The groups that stand for a launch ------*- C++ -*--===//
//
// Two groups of one compute unit are replayed. Who else uses their lines is
// asked of a few groups that run at the same time: of the same die, and of
// others.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_TIME_GROUPSAMPLE_H
#define TESSERA_RUNTIME_EMULATOR_TIME_GROUPSAMPLE_H

#include "runtime/Base/ErrorOr.h"
#include "runtime/Emulator/Launch.h"
#include "runtime/Emulator/Time/MemoryModel.h"
#include "runtime/Emulator/Time/StepTable.h"

namespace tessera::emulator {

/// How a launch spreads over the chip. Groups go round the dies, and on
/// each die to its compute units.
struct Spread {
  uint64_t groups, units, dies;

  uint64_t getGroupsOfUnit() const;
  /// Compute units that have work, of the chip. Where the last round of groups
  /// is not full, the units that have none leave their share to the others.
  double getBusyUnits() const;
};

/// A group that runs at the same time as the first one, and for how many of the
/// units of the die, or of the dies of the chip, it stands.
struct Companion {
  uint64_t group;
  bool isSameDie;
  float weight;
};

/// The groups to execute.
struct SamplePlan {
  uint64_t first;
  std::optional<uint64_t> second; ///< the next one of the first one's unit
  std::vector<Companion> companions;

  explicit SamplePlan(const Spread &spread);
  std::vector<uint64_t> getGroups() const; ///< ascending, each once
};

/// What was recorded of them.
struct GroupSample {
  std::vector<GroupTrace> traces; ///< by group
  LdsOverruns ldsOverruns;

  const GroupTrace *find(uint64_t group) const;
};

/// Executes the groups of the plan, which changes memory as the launch would.
/// At most `limit` instructions of each wave are recorded.
ErrorOr<GroupSample> recordSample(const Launch &launch, MemoryMap &memory,
                                  const Settings &settings, uint64_t limit,
                                  const SamplePlan &plan);

/// Which units use the lines of the first and second group. For a line of the
/// second one alone, nobody was asked: it is used by as many as those are on
/// average that the same instruction of the first group touches.
SharingTable findSharing(const GroupSample &sample, const SamplePlan &plan,
                         StepTable &steps);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_TIME_GROUPSAMPLE_H
