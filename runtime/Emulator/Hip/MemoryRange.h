//===- MemoryRange.h - What copies and fills may touch ---------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_EMULATOR_HIP_MEMORYRANGE_H
#define TESSERA_RUNTIME_EMULATOR_HIP_MEMORYRANGE_H

#include "runtime/Emulator/Hip/Device.h"

namespace tessera::emulator {

/// True if [pointer, pointer + bytes) is inside one allocation, or is ordinary
/// host memory and that is allowed.
inline bool isLegalRange(const void *pointer, size_t bytes, bool mustBeDevice) {
  Device *device = Device::get();
  auto address = reinterpret_cast<uint64_t>(pointer);
  if (!device || !pointer)
    return false;
  auto found = device->memory.find(address);
  return found ? found->contains(address, bytes) : !mustBeDevice;
}

/// Rows of bytes in memory with gaps between them, and slices of such rows.
struct PitchedRange {
  char *begin;
  size_t pitch;      ///< Distance of two rows.
  size_t slicePitch; ///< Distance of two slices.
};

/// Bytes from the first byte of the first row to the last byte of the last row.
inline size_t getSpan(const PitchedRange &range, const hipExtent &extent) {
  return (extent.depth - 1) * range.slicePitch +
         (extent.height - 1) * range.pitch + extent.width;
}

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_HIP_MEMORYRANGE_H
