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
// RDNA: "RDNA3" ISA guide, chapter on LDS: 64 banks of a workgroup processor,
// 32 of them for each pair of SIMDs; a wave meets the 32 of its side, and its
// 32 lanes are judged by the same phases.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Measure/Stats.h"

#include <algorithm>
#include <array>

using namespace tessera::emulator;

static constexpr unsigned kMaxBanks = 64;
static constexpr unsigned kMaxAccesses = 64;

namespace {
/// Gives the phase of each lane.
using PhaseMap = std::array<uint8_t, kMaxAccesses>;

/// The dwords that one phase wants. Dwords are counted in units (pairs, quads)
/// that no access splits, because all banks of a unit are loaded alike.
class PhaseBanks {
public:
  explicit PhaseBanks(uint32_t unitBanks) : unitBanks(unitBanks) {
    load.fill(0);
  }
  void add(uint32_t unit) {
    uint32_t bank = unit % unitBanks;
    uint32_t *units = wanted[bank];
    for (unsigned i = 0; i < load[bank]; ++i)
      if (units[i] == unit)
        return;
    units[load[bank]++] = unit;
    fullest = std::max<uint32_t>(fullest, load[bank]);
    ++distinct;
  }
  uint32_t getExtra() const {
    return fullest - (distinct + unitBanks - 1) / unitBanks;
  }

private:
  uint32_t unitBanks;
  uint32_t fullest = 0, distinct = 0;
  std::array<uint16_t, kMaxBanks> load;
  uint32_t wanted[kMaxBanks][4 * kMaxAccesses];
};
} // namespace

static constexpr PhaseMap makeConsecutive(unsigned lanesPerPhase) {
  PhaseMap map{};
  for (unsigned lane = 0; lane < kMaxAccesses; ++lane)
    map[lane] = static_cast<uint8_t>(lane / lanesPerPhase);
  return map;
}

/// {0-3, 20-23}, {4-7, 16-19}, {8-11, 28-31}, {12-15, 24-27}, and the same 32
/// lanes further on; wider banks join two such phases.
static constexpr PhaseMap makeMixed(unsigned lanesPerPhase) {
  constexpr uint8_t kQuadToPhase[8] = {0, 1, 2, 3, 1, 0, 3, 2};
  PhaseMap map{};
  for (unsigned lane = 0; lane < kMaxAccesses; ++lane) {
    unsigned phase = kQuadToPhase[lane % 32 / 4] + lane / 32 * 4;
    map[lane] = static_cast<uint8_t>(lanesPerPhase == 16 ? phase / 2 : phase);
  }
  return map;
}

static constexpr PhaseMap kAllAtOnce = makeConsecutive(64);
static constexpr PhaseMap kHalves = makeConsecutive(32);
static constexpr PhaseMap kSixteens = makeConsecutive(16);
static constexpr PhaseMap kEights = makeConsecutive(8);
static constexpr PhaseMap kMixedSixteens = makeMixed(16);
static constexpr PhaseMap kMixedEights = makeMixed(8);

/// Extra cycles of all phases: each takes as many cycles as its fullest bank
/// has different dwords, against as many as an even spread would take.
static uint32_t countExtra(std::span<const LdsLaneAccess> accesses,
                           uint32_t dwords, uint32_t unitDwords, uint32_t banks,
                           const PhaseMap &map, unsigned lanesPerPhase) {
  uint32_t extra = 0;
  for (unsigned phase = 0; phase < kMaxAccesses / lanesPerPhase; ++phase) {
    PhaseBanks wanted(banks / unitDwords);
    bool isEmpty = true;
    for (const LdsLaneAccess &access : accesses)
      if (map[access.lane] == phase) {
        isEmpty = false;
        for (uint32_t d = 0; d < dwords; d += unitDwords)
          wanted.add((access.address / 4 + d) / unitDwords);
      }
    if (!isEmpty)
      extra += wanted.getExtra();
  }
  return extra;
}

uint32_t
tessera::emulator::countLdsConflicts(std::span<const LdsLaneAccess> accesses,
                                     uint32_t bytes, uint32_t banks,
                                     bool isWrite) {
  uint32_t dwords = std::max(1u, bytes / 4);
  uint32_t unit = 1;
  if (dwords == 2 || dwords == 4) {
    uint32_t low = 0;
    for (const LdsLaneAccess &access : accesses)
      low |= access.address;
    if (low % bytes == 0)
      unit = dwords;
  }
  // b96 is served like b128.
  unsigned lanes = dwords == 1 ? 64 : dwords == 2 ? 32 : banks / 4;
  const PhaseMap &map = dwords == 1   ? kAllAtOnce
                        : dwords == 2 ? kHalves
                        : lanes == 16 ? kSixteens
                                      : kEights;
  uint32_t extra = countExtra(accesses, dwords, unit, banks, map, lanes);
  if (dwords < 3 || isWrite)
    return extra;
  const PhaseMap &mixed = lanes == 16 ? kMixedSixteens : kMixedEights;
  return std::max(extra,
                  countExtra(accesses, dwords, unit, banks, mixed, lanes));
}
