//===- LdsBanks.cpp - Bank conflicts of LDS accesses ----------------------===//
//
// LDS has 32 banks of one dword (64 on gfx950). An access is served in phases:
// all lanes at once for 32 bits, 32 lanes for 64 bits, and for 128 bits as many
// as one row of the banks can hold. Lanes of one phase that access different
// dwords of the same bank are served one after another; lanes that access the
// same dword share it. The cycles of a phase beyond those that its distinct
// dwords would take if they were spread evenly over the banks are conflicts.
// Which lanes make up a phase of a 128-bit read is not published: two maps are
// known (consecutive lanes, and the mixed one for which composable_kernel's
// swizzles are built), and the worse one counts.
//
// RDNA: "RDNA3" ISA guide, chapter on LDS: 64 banks of a workgroup processor,
// 32 of them for each pair of SIMDs; a wave uses the 32 banks of its side, and
// its 32 lanes have the same phases.
//
//===----------------------------------------------------------------------===//

#include "runtime/Base/LdsBanks.h"

#include <algorithm>
#include <array>
#include <bit>

using namespace tessera;

static constexpr unsigned kMaxBanks = 64;
static constexpr unsigned kMaxAccesses = 64;

namespace {
/// All lanes in the order of their phases, which have equal lengths.
using LaneOrder = std::array<uint8_t, kMaxAccesses>;

/// One access, by lane.
struct WaveAccess {
  uint64_t lanes = 0; ///< The lanes that take part.
  std::array<uint32_t, kMaxAccesses> address;
};

/// The dwords that one phase accesses. Dwords are counted in units (pairs,
/// quads) that no access splits, because all banks of a unit have the same
/// load.
class PhaseBanks {
public:
  /// A power of two of banks, as all are.
  explicit PhaseBanks(uint32_t unitBanks) : unitBanks(unitBanks) {
    load.fill(0);
  }
  void add(uint32_t unit) {
    uint32_t bank = unit & (unitBanks - 1);
    for (unsigned i = 0; i < load[bank]; ++i)
      if (wanted[i][bank] == unit)
        return;
    wanted[load[bank]++][bank] = unit;
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
  /// The n-th of all banks lie side by side, since most have few.
  uint32_t wanted[4 * kMaxAccesses][kMaxBanks];
};
} // namespace

static constexpr LaneOrder makeConsecutive() {
  LaneOrder order{};
  for (unsigned i = 0; i < kMaxAccesses; ++i)
    order[i] = static_cast<uint8_t>(i);
  return order;
}

/// Phases of eight lanes: {0-3, 20-23}, {4-7, 16-19}, {8-11, 28-31}, {12-15,
/// 24-27}, and the same lanes plus 32. With 64 banks, two phases are joined.
static constexpr LaneOrder makeMixed() {
  constexpr uint8_t kQuads[8] = {0, 5, 1, 4, 2, 7, 3, 6};
  LaneOrder order{};
  for (unsigned i = 0; i < kMaxAccesses; ++i)
    order[i] =
        static_cast<uint8_t>(i / 32 * 32 + kQuads[i % 32 / 4] * 4 + i % 4);
  return order;
}

static constexpr LaneOrder kConsecutive = makeConsecutive();
static constexpr LaneOrder kMixed = makeMixed();

/// Returns the extra cycles of all phases: each takes as many cycles as its
/// fullest bank has different dwords, compared with as many as an even spread
/// would take.
static uint32_t countExtra(const WaveAccess &access, uint32_t dwords,
                           uint32_t unitDwords, uint32_t banks,
                           const LaneOrder &order, unsigned lanesPerPhase) {
  uint32_t extra = 0;
  const int unitShift = std::countr_zero(4 * unitDwords);
  for (unsigned first = 0; first < kMaxAccesses; first += lanesPerPhase) {
    PhaseBanks wanted(banks / unitDwords);
    bool isEmpty = true;
    for (unsigned i = first; i < first + lanesPerPhase; ++i) {
      unsigned lane = order[i];
      if (!(access.lanes >> lane & 1))
        continue;
      isEmpty = false;
      for (uint32_t d = 0; d < dwords; d += unitDwords)
        wanted.add((access.address[lane] + 4 * d) >> unitShift);
    }
    if (!isEmpty)
      extra += wanted.getExtra();
  }
  return extra;
}

uint32_t tessera::countLdsConflicts(std::span<const LdsLaneAccess> accesses,
                                    uint32_t bytes, uint32_t banks,
                                    bool isWrite) {
  WaveAccess wave;
  uint32_t low = 0;
  for (const LdsLaneAccess &access : accesses) {
    wave.lanes |= uint64_t(1) << access.lane;
    wave.address[access.lane] = access.address;
    low |= access.address;
  }
  uint32_t dwords = std::max(1u, bytes / 4);
  bool isAligned = (dwords == 2 || dwords == 4) && low % bytes == 0;
  uint32_t unit = isAligned ? dwords : 1;
  // b96 is served like b128.
  unsigned lanes = dwords == 1 ? 64 : dwords == 2 ? 32 : banks / 4;
  uint32_t extra = countExtra(wave, dwords, unit, banks, kConsecutive, lanes);
  if (dwords < 3 || isWrite)
    return extra;
  return std::max(extra, countExtra(wave, dwords, unit, banks, kMixed, lanes));
}
