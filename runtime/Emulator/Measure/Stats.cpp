//===- Stats.cpp - What a launch did, in numbers --------------------------===//

#include "runtime/Emulator/Measure/Stats.h"

using namespace tessera::emulator;

MemoryCount &MemoryCount::operator+=(const MemoryCount &other) {
  bytesLoaded += other.bytesLoaded;
  bytesStored += other.bytesStored;
  segmentsLoaded += other.segmentsLoaded;
  segmentsStored += other.segmentsStored;
  addressClocks += other.addressClocks;
  scratchBytesLoaded += other.scratchBytesLoaded;
  scratchBytesStored += other.scratchBytesStored;
  ldsBytesRead += other.ldsBytesRead;
  ldsBytesWritten += other.ldsBytesWritten;
  ldsReadConflictCycles += other.ldsReadConflictCycles;
  ldsWriteConflictCycles += other.ldsWriteConflictCycles;
  return *this;
}

void LaunchStats::prepare(size_t instructions, MeasureLevel level) {
  if (level != MeasureLevel::None)
    executed.assign(instructions, {});
  if (level == MeasureLevel::Addresses)
    memory.assign(instructions, {});
}

void LaunchStats::merge(const LaunchStats &other) {
  executed.resize(other.executed.size());
  memory.resize(other.memory.size());
  for (size_t i = 0; i < executed.size(); ++i) {
    executed[i].times += other.executed[i].times;
    executed[i].lanes += other.executed[i].lanes;
  }
  for (size_t i = 0; i < memory.size(); ++i)
    memory[i] += other.memory[i];
}
