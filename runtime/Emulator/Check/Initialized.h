//===- Initialized.h - Values that nobody has written ----------*- C++ -*--===//
//
// Reports the use of a value that nobody has written where it has an effect: as
// an address, as the condition of a branch, or in a store that makes it visible
// outside of the kernel.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_CHECK_INITIALIZED_H
#define TESSERA_RUNTIME_EMULATOR_CHECK_INITIALIZED_H

#include "runtime/Emulator/Check/Definedness.h"

namespace tessera::emulator {

/// Follows registers and private memory. LDS is checked by LdsChecker.
std::unique_ptr<Observer> makeInitializedCheck(const Program &program,
                                               const PresetRegisters &preset);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_CHECK_INITIALIZED_H
