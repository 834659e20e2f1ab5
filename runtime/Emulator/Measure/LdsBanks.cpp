//===- LdsBanks.cpp - Bank conflicts of LDS accesses ----------------------===//
//
// LDS has 32 banks of one dword (64 on gfx950). An access is served in phases:
// all lanes at once for 32 bits, 32 lanes for 64 bits, and for 128 bits as many
// as one row of the banks can hold. Lanes of one phase that want different
// dwords of one bank wait for each other; lanes that want the same dword share
// it. What a phase costs beyond its distinct dwords spread evenly over the
// banks is a conflict. Which lanes make up a phase of a 128-bit read is not
// published: two maps are known (consecutive lanes, and the mixed one that
// composable_kernel's swizzles are built for), and the worse one counts.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Measure/Stats.h"

#include <algorithm>
#include <array>

using namespace tessera::emulator;

namespace {
/// Gives the phase of each lane.
using PhaseMap = std::array<uint8_t, 64>;
} // namespace

static PhaseMap makeConsecutive(unsigned lanesPerPhase) {
  PhaseMap map{};
  for (unsigned lane = 0; lane < 64; ++lane)
    map[lane] = static_cast<uint8_t>(lane / lanesPerPhase);
  return map;
}

/// {0-3, 20-23}, {4-7, 16-19}, {8-11, 28-31}, {12-15, 24-27}, and the same 32
/// lanes further on; wider banks join two such phases.
static PhaseMap makeMixed(unsigned lanesPerPhase) {
  static constexpr uint8_t kQuadToPhase[8] = {0, 1, 2, 3, 1, 0, 3, 2};
  PhaseMap map{};
  for (unsigned lane = 0; lane < 64; ++lane) {
    unsigned phase = kQuadToPhase[lane % 32 / 4] + lane / 32 * 4;
    map[lane] = static_cast<uint8_t>(lanesPerPhase == 16 ? phase / 2 : phase);
  }
  return map;
}

/// Extra cycles of all phases: each takes as many cycles as its fullest bank
/// has different dwords, against as many as an even spread would take.
static uint32_t countExtra(std::span<const LdsLaneAccess> accesses,
                           uint32_t dwords, uint32_t banks,
                           const PhaseMap &map) {
  uint32_t extra = 0;
  unsigned phases = 1u + *std::max_element(map.begin(), map.end());
  for (unsigned phase = 0; phase < phases; ++phase) {
    std::array<uint32_t, 64 * 4> wanted;
    unsigned count = 0;
    for (const LdsLaneAccess &access : accesses)
      if (map[access.lane] == phase)
        for (uint32_t d = 0; d < dwords; ++d)
          wanted[count++] = access.address / 4 + d;
    if (!count)
      continue;
    std::sort(wanted.begin(), wanted.begin() + count);
    auto end = std::unique(wanted.begin(), wanted.begin() + count);
    std::array<uint8_t, 64> load{};
    uint32_t fullest = 0;
    for (auto it = wanted.begin(); it != end; ++it)
      fullest = std::max<uint32_t>(fullest, ++load[*it % banks]);
    auto distinct = static_cast<uint32_t>(end - wanted.begin());
    extra += fullest - (distinct + banks - 1) / banks;
  }
  return extra;
}

uint32_t
tessera::emulator::countLdsConflicts(std::span<const LdsLaneAccess> accesses,
                                     uint32_t bytes, uint32_t banks,
                                     bool isWrite) {
  uint32_t dwords = std::max(1u, bytes / 4);
  // b96 is served like b128.
  unsigned lanesPerPhase = dwords == 1 ? 64 : dwords == 2 ? 32 : banks / 4;
  uint32_t extra =
      countExtra(accesses, dwords, banks, makeConsecutive(lanesPerPhase));
  if (dwords < 3 || isWrite)
    return extra;
  return std::max(
      extra, countExtra(accesses, dwords, banks, makeMixed(lanesPerPhase)));
}
