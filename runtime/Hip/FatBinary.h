//===- FatBinary.h - Code that came inside the program ---------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_HIP_FATBINARY_H
#define TESSERA_RUNTIME_HIP_FATBINARY_H

#include "runtime/Hip/Export.h"

namespace tessera::hip {

/// The function that the host knows as `stub`: the host address of a __global__
/// function. Loads the code that the stub was registered with.
hipError_t findRegistered(const void *stub, hipFunction_t *function);

/// The device memory behind a __device__ or __constant__ variable that the
/// host knows by `shadow`. Loads the code that it was registered with.
hipError_t findRegisteredVariable(const void *shadow, void **address,
                                  size_t *bytes);

} // namespace tessera::hip

#endif // TESSERA_RUNTIME_HIP_FATBINARY_H
