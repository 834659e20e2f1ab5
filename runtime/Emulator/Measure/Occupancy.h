//===- Occupancy.h - How many waves of a kernel a SIMD holds ---*- C++ -*--===//

#ifndef TESSERA_RUNTIME_EMULATOR_MEASURE_OCCUPANCY_H
#define TESSERA_RUNTIME_EMULATOR_MEASURE_OCCUPANCY_H

#include "runtime/Emulator/Measure/InstructionCosts.h"

namespace tessera::emulator {

/// The resources that a kernel needs, from its metadata.
struct KernelResources {
  uint32_t vgprs = 0; ///< AGPRs included
  uint32_t agprs = 0;
  uint32_t sgprs = 0;
  uint32_t ldsBytes = 0;     ///< dynamic LDS included
  uint32_t scratchBytes = 0; ///< per lane
  uint32_t lanes = 64;
  uint32_t wavesPerGroup = 1;
};

struct Occupancy {
  uint32_t groupsPerUnit = 0;
  double wavesPerSimd = 0;
  const char *limit = ""; ///< "vgprs", "sgprs", "lds" or "waves"
};

Occupancy getOccupancy(const ChipCosts &chip, const KernelResources &kernel);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_MEASURE_OCCUPANCY_H
