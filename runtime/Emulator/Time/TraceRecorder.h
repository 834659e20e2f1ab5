//===- TraceRecorder.h - Records workgroups for the timing model -*- C++ -*-==//

#ifndef TESSERA_RUNTIME_EMULATOR_TIME_TRACERECORDER_H
#define TESSERA_RUNTIME_EMULATOR_TIME_TRACERECORDER_H

#include "runtime/Base/LdsBanks.h"
#include "runtime/Emulator/Check/Observer.h"
#include "runtime/Emulator/Measure/AddressUnit.h"
#include "runtime/Emulator/Measure/Stats.h"
#include "runtime/Emulator/Time/GroupTrace.h"

#include <array>
#include <mutex>
#include <unordered_map>

namespace tessera::emulator {

struct Chip;

/// Where the worker threads of a launch put what they recorded.
class TraceStore {
public:
  explicit TraceStore(uint32_t lineBytes) : lineBytes(lineBytes) {}

  uint32_t getLineBytes() const { return lineBytes; }
  /// A line's name: 12 bits for the part of memory, 20 for the line in it, so
  /// that traces need half the space of addresses. Names repeat when a launch
  /// touches more than 4096 such parts, of 64 or 128 MiB.
  uint32_t nameRegion(uint64_t region);
  void add(GroupTrace trace);
  /// Sorted by group. Called when the launch has ended.
  std::vector<GroupTrace> takeTraces();

private:
  const uint32_t lineBytes;
  std::mutex mutex;
  std::unordered_map<uint64_t, uint32_t> regions;
  std::vector<GroupTrace> traces;
};

/// Records the groups of one worker thread.
class TraceRecorder : public Observer {
public:
  /// At most `stepLimit` instructions of each wave are recorded; those after
  /// them run unobserved, and in groups other than `wholeGroup` not at all.
  TraceRecorder(const Chip &chip, const std::array<uint32_t, 3> &groups,
                uint64_t stepLimit, uint64_t wholeGroup, TraceStore &store);
  void onGroupStart(GroupContext &group, std::span<Wave *const> waves) override;
  void onAccesses(Wave &wave, const Instruction &instruction,
                  std::span<const MemoryAccess> accesses) override;
  void afterInstruction(Wave &wave, const Instruction &instruction) override;
  void onGroupEnd(GroupContext &group, std::span<Wave *const> waves) override;
  bool wantsMore(const Wave &wave) const override;
  bool wantsGroup(std::span<Wave *const> waves) const override;

private:
  bool isFull(const WaveTrace &trace) const;
  void addGlobal(WaveTrace &trace, const MemoryAccess &access);
  void addLds(const MemoryAccess &access);
  void finishLds();

  const std::array<uint32_t, 3> groups;
  const uint64_t stepLimit, wholeGroup;
  const uint32_t lineShift, memoryClockBytes, ldsClockBytes, banks;
  TraceStore &store;
  GroupTrace current;
  // Of the instruction that is being executed:
  AddressUnit addresses;
  MemoryStep step;
  uint64_t dataBytes = 0;
  uint32_t ldsClocks = 0;
  uint64_t lastRegion = ~uint64_t(0); ///< and its name: most lines are near
  uint32_t lastName = 0;
  std::array<LdsLaneAccess, 64> ldsLanes;
  unsigned ldsCount = 0;
  uint32_t ldsBytes = 0; ///< per lane
  bool ldsIsWrite = false;
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_TIME_TRACERECORDER_H
