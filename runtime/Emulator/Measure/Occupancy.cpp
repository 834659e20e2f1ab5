//===- Occupancy.cpp - How many waves of a kernel a SIMD holds ------------===//

#include "runtime/Emulator/Measure/Occupancy.h"

#include <algorithm>

using namespace tessera::emulator;

/// On gfx9 the waves of a SIMD share 800 SGPRs; the steps are those of LLVM's
/// GCNSubtarget. On RDNA every wave has 128.
static uint32_t getWavesBySgprs(const ChipCosts &chip, uint32_t sgprs) {
  if (chip.waveSize != 64)
    return chip.maxWaves;
  uint32_t waves = sgprs <= 80 ? 10 : sgprs <= 88 ? 9 : sgprs <= 100 ? 8 : 7;
  return std::min(chip.maxWaves, waves);
}

static uint32_t getWavesByVgprs(const ChipCosts &chip, uint32_t vgprs,
                                uint32_t lanes) {
  // A register of a wave of 64 lanes takes two of RDNA's registers, so the file
  // holds half as many, in granules half as large.
  uint32_t halves = lanes / chip.waveSize ? lanes / chip.waveSize : 1;
  uint32_t granule = chip.vgprGranule / halves;
  uint32_t used = (std::max(vgprs, 1u) + granule - 1) / granule * granule;
  return std::min(chip.maxWaves, chip.vgprs / halves / used);
}

Occupancy tessera::emulator::getOccupancy(const ChipCosts &chip,
                                          const KernelResources &kernel) {
  uint32_t bySgprs = getWavesBySgprs(chip, kernel.sgprs);
  uint32_t byVgprs = getWavesByVgprs(chip, kernel.vgprs, kernel.lanes);
  uint32_t waves = std::min(bySgprs, byVgprs);
  Occupancy result;
  result.limit = byVgprs < chip.maxWaves && byVgprs <= bySgprs ? "vgprs"
                 : bySgprs < chip.maxWaves                     ? "sgprs"
                                                               : "waves";
  result.groupsPerUnit = waves * chip.simds / kernel.wavesPerGroup;
  if (kernel.ldsBytes &&
      chip.ldsBytes / kernel.ldsBytes < result.groupsPerUnit) {
    result.groupsPerUnit = chip.ldsBytes / kernel.ldsBytes;
    result.limit = "lds";
  }
  // A kernel that has been launched does fit, whatever its metadata say.
  result.groupsPerUnit = std::max(result.groupsPerUnit, 1u);
  result.wavesPerSimd =
      double(result.groupsPerUnit) * kernel.wavesPerGroup / chip.simds;
  return result;
}
