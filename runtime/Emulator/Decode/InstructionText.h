//===- InstructionText.h - The parts of a printed instruction --*- C++ -*-===//
//
// Splits "v_add_f32_e64 v0, |v1|, -s2 clamp" into a mnemonic, operands and
// modifiers, without knowing what any of them means.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_DECODE_INSTRUCTIONTEXT_H
#define TESSERA_RUNTIME_EMULATOR_DECODE_INSTRUCTIONTEXT_H

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::emulator {

struct OperandText {
  std::string_view name; ///< Without abs, neg, sext.
  bool abs = false;
  bool neg = false;
  bool sext = false;
};

/// Views into the text that was parsed.
struct InstructionText {
  std::string_view mnemonic; ///< As printed.
  std::vector<OperandText> operands;
  /// "offset" -> "16", "op_sel" -> "[0,1]", "clamp" -> "".
  std::vector<std::pair<std::string_view, std::string_view>> modifiers;

  std::optional<std::string_view> find(std::string_view modifier) const;
};

InstructionText splitInstruction(std::string_view text);

/// "0x10", "-5", "16": nothing when `text` is not wholly a number.
std::optional<int64_t> parseInteger(std::string_view text);
/// "[0,1,1]" -> 0, 1, 1.
std::vector<int64_t> parseIntegerList(std::string_view text);

/// A register or a range of them.
struct RegisterName {
  enum class File { Vector, Accumulation, Scalar, Ttmp };
  File file;
  unsigned first;
  unsigned count;
  bool isHighHalf = false; ///< "v3.h"; "v3.l" is what a 16-bit operand reads.
};
/// "v3", "v3.h", "a[0:15]", "s[4:5]", "ttmp9"; nothing for any other word.
std::optional<RegisterName> parseRegister(std::string_view name);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_DECODE_INSTRUCTIONTEXT_H
