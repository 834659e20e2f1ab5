//===- Dual.cpp - Two operations in one instruction (VOPD) ----------------===//
//
// Both halves read their sources before either writes (RDNA4 ISA guide, "Dual
// issue VALU"). One destination is even and the other odd, so executing the
// halves one after the other is wrong only if the second reads what the first
// has written.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Exec/Dual.h"

#include "runtime/Emulator/Wave.h"

using namespace tessera::emulator;

void tessera::emulator::executeDual(Wave &wave, const Instruction &in) {
  const Instruction &first = in.halves[0], &second = in.halves[1];
  if (!in.has(kHalvesOverlap)) [[likely]] {
    first.execute(wave, first);
    second.execute(wave, second);
    return;
  }
  LaneRow &row = wave.vector[first.op[0].reg];
  LaneRow before, after;
  std::memcpy(before, row, sizeof row);
  first.execute(wave, first);
  std::memcpy(after, row, sizeof row);
  std::memcpy(row, before, sizeof row);
  second.execute(wave, second);
  std::memcpy(row, after, sizeof row);
}
