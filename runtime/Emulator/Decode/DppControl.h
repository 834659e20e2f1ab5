//===- DppControl.h - Lane permutations of DPP -----------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_EMULATOR_DECODE_DPPCONTROL_H
#define TESSERA_RUNTIME_EMULATOR_DECODE_DPPCONTROL_H

#include "runtime/Emulator/Chip.h"
#include "runtime/Emulator/Decode/InstructionText.h"
#include "runtime/Emulator/Instruction.h"

namespace tessera::emulator {

/// Whether `name` is "quad_perm", "row_shr", "bound_ctrl" or another modifier
/// of DPP.
bool isDppModifier(std::string_view name);

/// Converts the DPP modifiers of `text` to a table of source lanes. Returns
/// false when the permutation is not known.
bool parseDpp(const InstructionText &text, const Chip &chip,
              DppControl &control);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_DECODE_DPPCONTROL_H
