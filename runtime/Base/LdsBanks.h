//===- LdsBanks.h - Bank conflicts of LDS accesses --------------*- C++ -*-===//

#ifndef TESSERA_RUNTIME_BASE_LDSBANKS_H
#define TESSERA_RUNTIME_BASE_LDSBANKS_H

#include <cstdint>
#include <span>

namespace tessera {

struct LdsLaneAccess {
  uint32_t lane;
  uint32_t address;
};

/// Returns the cycles that an LDS access of `bytes` a lane takes because of
/// bank conflicts, beyond the fewest possible. LdsBanks.cpp has the rules.
/// There may be at most 64 accesses, in ascending order of lanes.
uint32_t countLdsConflicts(std::span<const LdsLaneAccess> accesses,
                           uint32_t bytes, uint32_t banks, bool isWrite);

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_LDSBANKS_H
