//===- Modifiers.h - What stands behind the operands -----------*- C++ -*-===//

#ifndef TESSERA_RUNTIME_EMULATOR_DECODE_MODIFIERS_H
#define TESSERA_RUNTIME_EMULATOR_DECODE_MODIFIERS_H

#include "runtime/Emulator/Decode/InstructionText.h"
#include "runtime/Emulator/Decode/Program.h"
#include "runtime/Emulator/Exec/OpcodeTable.h"

namespace tessera::emulator {

/// Puts the modifiers of one instruction into it, once its operands are bound.
/// Permutations are kept in the program.
class ModifierBinder {
public:
  ModifierBinder(Program &program, const Chip &chip, const Opcode &opcode,
                 Instruction &instruction)
      : program(program), chip(chip), opcode(opcode), instruction(instruction) {
  }

  /// False if there is one that is not understood, or that `opcode` does not
  /// obey.
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
