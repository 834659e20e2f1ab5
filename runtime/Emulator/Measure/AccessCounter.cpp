//===- AccessCounter.cpp - Which bytes a launch touches -------------------===//

#include "runtime/Emulator/Measure/AccessCounter.h"

#include "runtime/Emulator/Chip.h"
#include "runtime/Emulator/Instruction.h"
#include "runtime/Emulator/Measure/InstructionCosts.h"
#include "runtime/Emulator/Wave.h"

using namespace tessera::emulator;

AccessCounter::AccessCounter(const Chip &chip, LaunchStats &stats)
    : stats(stats), segmentBytes(getChipCosts(chip.name).segmentBytes),
      banks(chip.getTarget().ldsBanks), addresses(getChipCosts(chip.name)) {}

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

void AccessCounter::countGlobal(const MemoryAccess &access,
                                MemoryCount &count) {
  bool isLoad = access.kind == AccessKind::Load;
  (isLoad ? count.bytesLoaded : count.bytesStored) += access.bytes;
  uint64_t last = (access.address + access.bytes - 1) / segmentBytes;
  for (uint64_t s = access.address / segmentBytes; s <= last; ++s)
    (isLoad ? count.segmentsLoaded : count.segmentsStored) +=
        segments.insert(s);
  addresses.addAccess(access.lane, access.address, access.bytes);
}

void AccessCounter::finishLds(MemoryCount &count) {
  uint64_t bytes = uint64_t(ldsBytes) * ldsCount;
  (ldsIsWrite ? count.ldsBytesWritten : count.ldsBytesRead) += bytes;
  (ldsIsWrite ? count.ldsWriteConflictCycles : count.ldsReadConflictCycles) +=
      countLdsConflicts({ldsLanes.data(), ldsCount}, ldsBytes, banks,
                        ldsIsWrite);
  ldsCount = 0;
}

/// ds_read2 and ds_write2 access LDS twice in each lane. The second access
/// begins where the lane number does not increase.
void AccessCounter::addLds(const MemoryAccess &access, MemoryCount &count) {
  if (ldsCount &&
      (access.lane <= ldsLanes[ldsCount - 1].lane || access.bytes != ldsBytes))
    finishLds(count);
  ldsLanes[ldsCount++] = {access.lane, static_cast<uint32_t>(access.address)};
  ldsBytes = access.bytes;
  ldsIsWrite = access.kind != AccessKind::Load;
}

void AccessCounter::onAccesses(Wave &wave, const Instruction &instruction,
                               std::span<const MemoryAccess> accesses) {
  MemoryCount &count = stats.memory[instruction.index];
  segments.clear();
  for (const MemoryAccess &access : accesses)
    switch (access.space) {
    case MemorySpace::Global:
      countGlobal(access, count);
      break;
    case MemorySpace::Lds:
      addLds(access, count);
      break;
    case MemorySpace::Scratch:
      (access.kind == AccessKind::Load ? count.scratchBytesLoaded
                                       : count.scratchBytesStored) +=
          access.bytes;
      break;
    }
  if (ldsCount)
    finishLds(count);
  const uint64_t clocks = addresses.finish(wave.exec);
  if (instruction.kind != InstructionClass::Smem)
    count.addressClocks += clocks;
}
