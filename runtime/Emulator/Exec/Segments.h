//===- Segments.h - LDS and private memory ---------------------*- C++ -*--===//
//
// The upper half of a flat address says whether it is in global memory, LDS or
// private memory. This finds the bytes of the latter two and checks them.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_EXEC_SEGMENTS_H
#define TESSERA_RUNTIME_EMULATOR_EXEC_SEGMENTS_H

#include "runtime/Emulator/Wave.h"

namespace tessera::emulator {

/// Returns bytes [offset, offset + bytes) of the group's LDS, or null after a
/// fault.
inline uint8_t *accessLds(Wave &wave, const Instruction &in, unsigned lane,
                          uint64_t offset, uint32_t bytes, AccessKind kind,
                          bool isDma = false) {
  GroupContext &group = *wave.group;
  if (offset + bytes > group.ldsBytes) [[unlikely]] {
    wave.fail(FaultKind::IllegalAddress, in, static_cast<int>(lane), offset,
              "LDS access of " + std::to_string(bytes) +
                  " bytes, but the "
                  "workgroup has " +
                  std::to_string(group.ldsBytes));
    return nullptr;
  }
  if (group.observers) [[unlikely]]
    group.accesses.push_back({MemorySpace::Lds, kind,
                              static_cast<uint8_t>(lane), isDma, bytes,
                              offset});
  return group.lds + offset;
}

/// Returns the address of byte `offset` of a lane's private memory. The dwords
/// of the lanes are interleaved, as buffer accesses through the scratch
/// descriptor see them.
inline uint64_t getPrivateAddress(const Wave &wave, unsigned lane,
                                  uint64_t offset) {
  return wave.scratchBase + offset / 4 * 4 * wave.lanes + 4 * lane + offset % 4;
}

/// Copies between private memory and `data`. Returns false after a fault.
bool copyPrivate(Wave &wave, const Instruction &in, unsigned lane,
                 uint64_t offset, uint8_t *data, uint32_t bytes,
                 AccessKind kind);

/// The same for any flat address.
bool copyFlat(Wave &wave, const Instruction &in, unsigned lane,
              uint64_t address, uint8_t *data, uint32_t bytes, AccessKind kind);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_EXEC_SEGMENTS_H
