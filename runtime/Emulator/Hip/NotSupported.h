//===- NotSupported.h - The answer of what does not exist ------*- C++ -*-===//

#ifndef TESSERA_RUNTIME_EMULATOR_HIP_NOTSUPPORTED_H
#define TESSERA_RUNTIME_EMULATOR_HIP_NOTSUPPORTED_H

namespace tessera::emulator {

/// hipErrorNotSupported, with a line that names the function.
int refuseCall(const char *function);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_HIP_NOTSUPPORTED_H
