//===- Binder.h - From printed text to a predecoded instruction -*- C++ -*-===//

#ifndef TESSERA_RUNTIME_EMULATOR_DECODE_BINDER_H
#define TESSERA_RUNTIME_EMULATOR_DECODE_BINDER_H

#include "runtime/Emulator/Decode/InstructionText.h"
#include "runtime/Emulator/Decode/Program.h"
#include "runtime/Emulator/Exec/OpcodeTable.h"

namespace tessera::emulator {

/// Gives an instruction its handler and operands. If any mnemonic, operand or
/// modifier is not fully understood, the instruction stops the kernel: a guess
/// could produce a silent wrong answer.
class InstructionBinder {
public:
  InstructionBinder(Program &program, const Chip &chip)
      : program(program), chip(chip) {}

  /// The raw bytes, size and index of `instruction` must be set already.
  void bind(std::string_view text, Instruction &instruction);
  /// Whether `instruction` stops the kernel because it has no handler.
  static bool isUnknown(const Instruction &instruction);
  /// Binds bytes that do not encode an instruction.
  static void bindUndecodable(Instruction &instruction);

private:
  bool bindOperand(const OperandText &text, ValueType type, Operand &operand);
  bool bindNamedScalar(std::string_view name, Operand &operand);
  bool bindConstant(std::string_view name, ValueType type, Operand &operand);
  bool bindOperands(const InstructionText &text, const Opcode &opcode,
                    Instruction &instruction);
  void bindDual(std::string_view first, std::string_view second,
                Instruction &instruction);
  void setConstant(Operand &operand, uint64_t bits);

  Program &program;
  const Chip &chip;
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_DECODE_BINDER_H
