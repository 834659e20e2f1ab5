//===- AddressUnit.cpp - Clocks of the texture addresser ------------------===//
//
// ChipCosts.def has the sources of the rule.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Measure/AddressUnit.h"

#include <algorithm>

using namespace tessera::emulator;

static constexpr uint32_t kDwordBytes = 4;

void AddressUnit::addAccess(unsigned lane, uint64_t address, uint32_t bytes) {
  const unsigned lanesOfRun = blockBytes / kDwordBytes;
  Run &run = runs[lane / lanesOfRun];
  const uint64_t origin = address - uint64_t(lane % lanesOfRun) * bytes;
  const uint64_t last = address + bytes - 1;
  if (!run.hasAccess) {
    run = {address, last, origin, /*hasAccess=*/true, bytes <= kDwordBytes};
    return;
  }
  run.first = std::min(run.first, address);
  run.last = std::max(run.last, last);
  run.isConsecutive &= origin == run.origin;
}

/// `exec` are the lanes of this run. Lanes that are out of a descriptor's range
/// have no address here: they are taken to continue the others'.
uint64_t AddressUnit::countClocks(const Run &run, uint64_t exec) const {
  if (run.isConsecutive)
    return run.last / blockBytes - run.first / blockBytes + 1;
  uint64_t clocks = 0;
  for (; exec; exec >>= kAddressLanes)
    clocks += (exec & ((1u << kAddressLanes) - 1)) != 0;
  return clocks;
}

uint64_t AddressUnit::finish(uint64_t exec) {
  if (std::ranges::none_of(runs, &Run::hasAccess))
    return 0;
  const unsigned lanesOfRun = blockBytes / kDwordBytes;
  uint64_t clocks = 0;
  for (unsigned i = 0; i * lanesOfRun < 64; ++i) {
    const uint64_t lanes =
        exec >> (i * lanesOfRun) & ((uint64_t(1) << lanesOfRun) - 1);
    if (lanes)
      clocks += countClocks(runs[i], lanes);
    runs[i] = {};
  }
  return clocks;
}
