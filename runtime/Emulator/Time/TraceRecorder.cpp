//===- TraceRecorder.cpp - Records workgroups for the timing model --------===//

#include "runtime/Emulator/Time/TraceRecorder.h"

#include "runtime/Emulator/Chip.h"
#include "runtime/Emulator/Measure/InstructionCosts.h"
#include "runtime/Emulator/Wave.h"

#include <algorithm>
#include <bit>

using namespace tessera::emulator;

static constexpr unsigned kRegionBits = 20; ///< lines of a region
static constexpr uint32_t kRegions = 1u << (32 - kRegionBits);
/// Lines that are recorded of one wave: 8 MiB of names.
static constexpr size_t kMaxLines = size_t(1) << 21;

uint32_t TraceStore::nameRegion(uint64_t region) {
  std::lock_guard lock(mutex);
  return regions.try_emplace(region, regions.size() % kRegions).first->second;
}

void TraceStore::add(GroupTrace trace) {
  std::lock_guard lock(mutex);
  traces.push_back(std::move(trace));
}

std::vector<GroupTrace> TraceStore::takeTraces() {
  std::ranges::sort(traces, {}, &GroupTrace::group);
  return std::move(traces);
}

TraceRecorder::TraceRecorder(const Chip &chip,
                             const std::array<uint32_t, 3> &groups,
                             uint64_t stepLimit, uint64_t wholeGroup,
                             TraceStore &store)
    : groups(groups), stepLimit(stepLimit), wholeGroup(wholeGroup),
      lineShift(static_cast<uint32_t>(std::countr_zero(store.getLineBytes()))),
      memoryClockBytes(getChipCosts(chip.name).memoryClockBytes),
      ldsClockBytes(getChipCosts(chip.name).ldsClockBytes),
      banks(chip.getTarget().ldsBanks), store(store),
      addresses(getChipCosts(chip.name)) {}

void TraceRecorder::onGroupStart(GroupContext &group,
                                 std::span<Wave *const> waves) {
  const std::array<uint32_t, 3> &id = group.groupId;
  current.group =
      id[0] + uint64_t(groups[0]) * (id[1] + uint64_t(groups[1]) * id[2]);
  current.waves.assign(waves.size(), {});
}

/// Lines of one instruction are few, and lanes that are neighbours touch the
/// same: looking backwards finds most of them at once.
static void addLine(WaveTrace &trace, MemoryStep &step, uint32_t line) {
  for (size_t i = trace.lines.size(); i > step.firstLine; --i)
    if (trace.lines[i - 1] == line)
      return;
  trace.lines.push_back(line);
  ++step.lines;
}

void TraceRecorder::addGlobal(WaveTrace &trace, const MemoryAccess &access) {
  const uint64_t last = (access.address + access.bytes - 1) >> lineShift;
  for (uint64_t line = access.address >> lineShift; line <= last; ++line) {
    const uint64_t region = line >> kRegionBits;
    if (region != lastRegion) {
      lastRegion = region;
      lastName = store.nameRegion(region) << kRegionBits;
    }
    addLine(trace, step,
            lastName | static_cast<uint32_t>(line & ((1u << kRegionBits) - 1)));
  }
  dataBytes += access.bytes;
  addresses.addAccess(access.lane, access.address, access.bytes);
}

void TraceRecorder::finishLds() {
  ldsClocks += (ldsBytes * ldsCount + ldsClockBytes - 1) / ldsClockBytes +
               countLdsConflicts({ldsLanes.data(), ldsCount}, ldsBytes, banks,
                                 ldsIsWrite);
  ldsCount = 0;
}

/// An instruction with two addresses accesses LDS twice in each lane. The
/// second access begins where the lane number does not increase.
void TraceRecorder::addLds(const MemoryAccess &access) {
  if (ldsCount &&
      (access.lane <= ldsLanes[ldsCount - 1].lane || access.bytes != ldsBytes))
    finishLds();
  ldsLanes[ldsCount++] = {access.lane, static_cast<uint32_t>(access.address)};
  ldsBytes = access.bytes;
  ldsIsWrite = access.kind != AccessKind::Load;
}

void TraceRecorder::onAccesses(Wave &wave, const Instruction &,
                               std::span<const MemoryAccess> accesses) {
  WaveTrace &trace = current.waves[wave.indexInGroup];
  if (isFull(trace))
    return;
  step.firstLine = static_cast<uint32_t>(trace.lines.size());
  for (const MemoryAccess &access : accesses)
    if (access.space == MemorySpace::Lds)
      addLds(access);
    else
      addGlobal(trace, access);
  if (ldsCount)
    finishLds();
  step.addressClocks = static_cast<uint16_t>(addresses.finish(wave.exec));
  step.dataClocks = static_cast<uint16_t>((dataBytes + memoryClockBytes - 1) /
                                          memoryClockBytes);
  step.ldsClocks = static_cast<uint16_t>(std::min(ldsClocks, 0xffffu));
}

static bool isMemory(InstructionClass kind) {
  return kind >= InstructionClass::Smem && kind <= InstructionClass::LdsWrite;
}

void TraceRecorder::afterInstruction(Wave &wave,
                                     const Instruction &instruction) {
  WaveTrace &trace = current.waves[wave.indexInGroup];
  if (!isFull(trace)) {
    trace.steps.push_back(instruction.index);
    if (isMemory(instruction.kind))
      trace.memory.push_back(step);
  }
  step = {};
  dataBytes = 0;
  ldsClocks = 0;
}

bool TraceRecorder::isFull(const WaveTrace &trace) const {
  return trace.steps.size() >= stepLimit || trace.lines.size() >= kMaxLines;
}

bool TraceRecorder::wantsMore(const Wave &wave) const {
  return !isFull(current.waves[wave.indexInGroup]);
}

bool TraceRecorder::wantsGroup(std::span<Wave *const> waves) const {
  return current.group == wholeGroup ||
         std::ranges::any_of(waves, [&](const Wave *wave) {
           return wave->stop != StopReason::End && wantsMore(*wave);
         });
}

void TraceRecorder::onGroupEnd(GroupContext &, std::span<Wave *const> waves) {
  for (const Wave *wave : waves) {
    current.waves[wave->indexInGroup].executed = wave->instructionCount;
    current.isCut |= wave->stop != StopReason::End;
  }
  store.add(std::move(current));
  current = {};
}
