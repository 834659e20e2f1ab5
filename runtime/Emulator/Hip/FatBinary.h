//===- FatBinary.h - Code that came inside the program ---------*- C++ -*-===//

#ifndef TESSERA_RUNTIME_EMULATOR_HIP_FATBINARY_H
#define TESSERA_RUNTIME_EMULATOR_HIP_FATBINARY_H

#include "runtime/Emulator/Hip/Device.h"

namespace tessera::emulator {

/// The device memory behind a __device__ or __constant__ variable that the
/// host knows by `shadow`. Loads the code that it was registered with.
hipError_t findRegisteredVariable(const void *shadow, uint64_t *address,
                                  size_t *bytes);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_HIP_FATBINARY_H
