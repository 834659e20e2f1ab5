//===- Modifiers.h - What stands behind the operands -----------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_EMULATOR_DECODE_MODIFIERS_H
#define TESSERA_RUNTIME_EMULATOR_DECODE_MODIFIERS_H

#include "runtime/Emulator/Decode/InstructionText.h"
#include "runtime/Emulator/Decode/Program.h"
#include "runtime/Emulator/Exec/OpcodeTable.h"

namespace tessera::emulator {

/// Applies the modifiers of one instruction to it, once its operands are bound.
/// The program keeps the permutations.
class ModifierBinder {
public:
  ModifierBinder(Program &program, const Chip &chip, const Opcode &opcode,
                 Instruction &instruction)
      : program(program), chip(chip), opcode(opcode), instruction(instruction) {
  }

  /// Returns false if a modifier is not understood or has no effect on
  /// `opcode`.
  bool bind(const InstructionText &text);

private:
  bool bindOne(std::string_view name, std::string_view value);
  bool bindOther(std::string_view name, std::string_view value);
  bool bindOpSel(std::string_view value);
  bool bindSdwa(std::string_view name, std::string_view value);
  bool bindDpp(const InstructionText &text);
  void moveSigns();
  unsigned getFirstSource() const;

  Program &program;
  const Chip &chip;
  const Opcode &opcode;
  Instruction &instruction;
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_DECODE_MODIFIERS_H
