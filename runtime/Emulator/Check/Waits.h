//===- Waits.h - Uses of registers that a load still owes ------*- C++ -*--===//
//
// The hardware fills the destination of a load when the memory answers. Code
// that reads it earlier sometimes gets the old value. This check finds the
// missing wait in every run, because it looks at the waits and not at the
// values.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_CHECK_WAITS_H
#define TESSERA_RUNTIME_EMULATOR_CHECK_WAITS_H

#include "runtime/Emulator/Check/Observer.h"

namespace tessera::emulator {

struct Chip;
class Program;

/// Reports MissingWait at an instruction that reads or writes a register which
/// is the destination of a load that has not certainly completed.
std::unique_ptr<Observer> makeWaitsCheck(const Chip &chip,
                                         const Program &program);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_CHECK_WAITS_H
