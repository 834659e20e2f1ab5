//===- Initialized.h - Values that nobody has written ----------*- C++ -*-===//
//
// Speaks where a value that nobody has written does something: names an
// address, decides a branch, or leaves the kernel through a store.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_CHECK_INITIALIZED_H
#define TESSERA_RUNTIME_EMULATOR_CHECK_INITIALIZED_H

#include "runtime/Emulator/Check/Definedness.h"

namespace tessera::emulator {

/// Follows registers and private memory; LDS has its own check.
std::unique_ptr<Observer> makeInitializedCheck(const Program &program,
                                               const PresetRegisters &preset);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_CHECK_INITIALIZED_H
