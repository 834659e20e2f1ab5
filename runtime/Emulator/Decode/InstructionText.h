//===- InstructionText.h - The parts of a printed instruction --*- C++ -*--===//
//
// Splits "v_add_f32_e64 v0, |v1|, -s2 clamp" into a mnemonic, operands and
// modifiers without knowing what any of them means.
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
  std::string_view name; ///< without abs, neg and sext
  bool abs = false;
  bool neg = false;
  bool sext = false;
};

/// The fields are views into the text that was parsed.
struct InstructionText {
  std::string_view mnemonic; ///< as printed
  std::vector<OperandText> operands;
  /// Names and values: "offset" and "16", "op_sel" and "[0,1]", "clamp" and "".
  std::vector<std::pair<std::string_view, std::string_view>> modifiers;

  std::optional<std::string_view> find(std::string_view modifier) const;
};

InstructionText splitInstruction(std::string_view text);

/// Parses "0x10", "-5" or "16". Returns nothing when `text` as a whole is not a
/// number.
std::optional<int64_t> parseInteger(std::string_view text);
/// Parses "[0,1,1]" as 0, 1, 1.
std::vector<int64_t> parseIntegerList(std::string_view text);

/// A register or a range of them.
struct RegisterName {
  enum class File { Vector, Accumulation, Scalar, Ttmp };
  File file;
  unsigned first;
  unsigned count;
  /// "v3.h". A 16-bit operand reads "v3.l" by default.
  bool isHighHalf = false;
};
/// Parses "v3", "v3.h", "a[0:15]", "s[4:5]" or "ttmp9". Returns nothing for any
/// other word.
std::optional<RegisterName> parseRegister(std::string_view name);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_DECODE_INSTRUCTIONTEXT_H
