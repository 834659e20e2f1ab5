//===- Segments.cpp - LDS and private memory ------------------------------===//

#include "runtime/Emulator/Exec/Segments.h"

using namespace tessera::emulator;

uint8_t *tessera::emulator::accessBeyondLds(Wave &wave, const Instruction &in,
                                            unsigned lane, uint64_t offset,
                                            uint32_t bytes, AccessKind kind) {
  if (LdsOverruns *overruns = wave.group->ldsOverruns) {
    ++(kind == AccessKind::Store ? overruns->stores : overruns->loads);
    thread_local std::array<uint8_t, 16> nowhere;
    nowhere.fill(0);
    return nowhere.data();
  }
  wave.fail(FaultKind::IllegalAddress, in, static_cast<int>(lane), offset,
            "LDS access of " + std::to_string(bytes) +
                " bytes, but the workgroup has " +
                std::to_string(wave.group->ldsBytes));
  return nullptr;
}

static void copy(uint8_t *memory, uint8_t *data, uint32_t bytes,
                 AccessKind kind) {
  if (kind == AccessKind::Store)
    std::memcpy(memory, data, bytes);
  else
    std::memcpy(data, memory, bytes);
}

bool tessera::emulator::copyPrivate(Wave &wave, const Instruction &in,
                                    unsigned lane, uint64_t offset,
                                    uint8_t *data, uint32_t bytes,
                                    AccessKind kind) {
  if (offset + bytes > wave.scratchBytesPerLane) {
    wave.fail(FaultKind::IllegalAddress, in, static_cast<int>(lane), offset,
              "private access of " + std::to_string(bytes) +
                  " bytes, but a lane has " +
                  std::to_string(wave.scratchBytesPerLane));
    return false;
  }
  for (uint32_t done = 0; done < bytes;) {
    uint32_t inDword = (offset + done) % 4;
    uint32_t part = std::min(4 - inDword, bytes - done);
    uint8_t *memory = wave.access(
        in, lane, getPrivateAddress(wave, lane, offset + done), part, kind);
    if (!memory)
      return false;
    copy(memory, data + done, part, kind);
    done += part;
  }
  return true;
}

bool tessera::emulator::copyFlat(Wave &wave, const Instruction &in,
                                 unsigned lane, uint64_t address, uint8_t *data,
                                 uint32_t bytes, AccessKind kind) {
  auto high = static_cast<uint32_t>(address >> 32);
  auto low = static_cast<uint32_t>(address);
  if (high == kPrivateAperture)
    return copyPrivate(wave, in, lane, low, data, bytes, kind);
  uint8_t *memory = high == kSharedAperture
                        ? accessLds(wave, in, lane, low, bytes, kind)
                        : wave.access(in, lane, address, bytes, kind);
  if (!memory)
    return false;
  copy(memory, data, bytes, kind);
  return true;
}
