//===- CacheLine.h - Lines of L1 ------------------------------*- C++ -*--===//

#ifndef TESSERA_COMPILER_TARGET_CACHELINE_H
#define TESSERA_COMPILER_TARGET_CACHELINE_H

#include "runtime/Base/GpuTarget.h"

namespace tessera {

/// Bytes of a line of L1 on the chips of which workgroups leave so little of it
/// to each other that half a line is gone before the other half is asked for:
/// CDNA's, by the AMD clock (docs/guides/amd-clock.md). 0 for the others.
constexpr int64_t getL1LineBytes(const GpuTarget &target) {
  switch (target.matrixUnit) {
  case MatrixUnit::MfmaCdna1:
  case MatrixUnit::MfmaCdna2:
    return 64;
  case MatrixUnit::MfmaCdna3:
  case MatrixUnit::MfmaCdna4:
    return 128;
  default:
    return 0;
  }
}

} // namespace tessera

#endif // TESSERA_COMPILER_TARGET_CACHELINE_H
