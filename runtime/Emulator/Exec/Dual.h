//===- Dual.h - Two operations in one instruction (VOPD) -------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_EMULATOR_EXEC_DUAL_H
#define TESSERA_RUNTIME_EMULATOR_EXEC_DUAL_H

#include "runtime/Emulator/Instruction.h"

namespace tessera::emulator {

/// Executes both instructions of Instruction::halves.
void executeDual(Wave &wave, const Instruction &instruction);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_EXEC_DUAL_H
