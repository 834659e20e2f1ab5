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

/// What an access beyond the end of LDS is given: null after a fault, or bytes
/// of no meaning where the launch lets it pass, zeros to load.
uint8_t *accessBeyondLds(Wave &wave, const Instruction &in, unsigned lane,
                         uint64_t offset, uint32_t bytes, AccessKind kind);

/// Returns bytes [offset, offset + bytes) of the group's LDS, or what
/// accessBeyondLds() gives.
inline uint8_t *accessLds(Wave &wave, const Instruction &in, unsigned lane,
                          uint64_t offset, uint32_t bytes, AccessKind kind,
                          bool isDma = false) {
  GroupContext &group = *wave.group;
  if (offset + bytes > group.ldsBytes) [[unlikely]]
    return accessBeyondLds(wave, in, lane, offset, bytes, kind);
  if (group.observers) [[unlikely]]
    group.accesses.add({MemorySpace::Lds, kind, static_cast<uint8_t>(lane),
                        isDma, bytes, offset});
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
