//===- RegisterIndex.h - Register numbers relative to M0 -------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_EMULATOR_EXEC_REGISTERINDEX_H
#define TESSERA_RUNTIME_EMULATOR_EXEC_REGISTERINDEX_H

#include "runtime/Emulator/Instruction.h"

namespace tessera::emulator {

/// The instructions between these two are executed by executeIndexed().
inline constexpr const char *kBeginIndexing = "s_set_gpr_idx_on";
inline constexpr const char *kEndIndexing = "s_set_gpr_idx_off";

/// Executes Instruction::unindexed with the register numbers that M0 asks for.
void executeIndexed(Wave &wave, const Instruction &instruction);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_EXEC_REGISTERINDEX_H
