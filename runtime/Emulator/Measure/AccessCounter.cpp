//===- AccessCounter.cpp - Which bytes a launch touches -------------------===//

#include "runtime/Emulator/Measure/AccessCounter.h"

#include "runtime/Emulator/Chip.h"
#include "runtime/Emulator/Instruction.h"
#include "runtime/Emulator/Measure/InstructionCosts.h"

using namespace tessera::emulator;

AccessCounter::AccessCounter(const Chip &chip, LaunchStats &stats)
    : stats(stats), segmentBytes(getChipCosts(chip.name).segmentBytes),
      banks(chip.getTarget().ldsBanks) {}

bool AccessCounter::SegmentSet::insert(uint64_t segment) {
  for (uint64_t slot = segment * 0x9e3779b97f4a7c15 >> 53;;
       slot = (slot + 1) % kSlots) {
    if (slots[slot].stamp != stamp) {
      slots[slot] = {segment, stamp};
      return true;
    }
    if (slots[slot].segment == segment)
      return false;
  }
}

/// Handlers may announce a wide access in one piece or dword by dword.
void AccessCounter::add(std::vector<LaneAccess> &list,
                        const MemoryAccess &access) {
  if (!list.empty()) {
    LaneAccess &last = list.back();
    if (last.lane == access.lane && last.kind == access.kind &&
        last.address + last.bytes == access.address && last.bytes < 16) {
      last.bytes += access.bytes;
      return;
    }
  }
  list.push_back({access.kind, access.lane, access.bytes, access.address});
}

void AccessCounter::onAccess(Wave &, const Instruction &,
                             const MemoryAccess &access) {
  isEmpty = false;
  switch (access.space) {
  case MemorySpace::Global:
    add(global, access);
    break;
  case MemorySpace::Lds:
    add(lds, access);
    break;
  case MemorySpace::Scratch:
    (access.kind == AccessKind::Load ? scratch.scratchBytesLoaded
                                     : scratch.scratchBytesStored) +=
        access.bytes;
    break;
  }
}

void AccessCounter::countGlobal(MemoryCount &count) {
  segments.clear();
  for (const LaneAccess &access : global) {
    bool isLoad = access.kind == AccessKind::Load;
    (isLoad ? count.bytesLoaded : count.bytesStored) += access.bytes;
    uint64_t last = (access.address + access.bytes - 1) / segmentBytes;
    for (uint64_t s = access.address / segmentBytes; s <= last; ++s)
      (isLoad ? count.segmentsLoaded : count.segmentsStored) +=
          segments.insert(s);
  }
}

/// ds_read2 and ds_write2 are two accesses of each lane, one after the other:
/// a lane number that does not go up begins the second.
void AccessCounter::countLds(MemoryCount &count) {
  std::array<LdsLaneAccess, 64> part;
  for (size_t begin = 0; begin < lds.size();) {
    size_t end = begin;
    do {
      part[end - begin] = {lds[end].lane,
                           static_cast<uint32_t>(lds[end].address)};
      ++end;
    } while (end < lds.size() && lds[end].lane > lds[end - 1].lane);
    uint32_t bytes = lds[begin].bytes;
    bool isWrite = lds[begin].kind != AccessKind::Load;
    (isWrite ? count.ldsBytesWritten : count.ldsBytesRead) +=
        uint64_t(bytes) * (end - begin);
    (isWrite ? count.ldsWriteConflictCycles : count.ldsReadConflictCycles) +=
        countLdsConflicts({part.data(), end - begin}, bytes, banks, isWrite);
    begin = end;
  }
}

void AccessCounter::afterInstruction(Wave &, const Instruction &instruction) {
  if (isEmpty)
    return;
  MemoryCount &count = stats.memory[instruction.index];
  count += scratch;
  countGlobal(count);
  countLds(count);
  scratch = {};
  global.clear();
  lds.clear();
  isEmpty = true;
}
