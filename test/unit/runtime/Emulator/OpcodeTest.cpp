//===- OpcodeTest.cpp - Which instructions are known ----------------------===//

#include "runtime/Emulator/Decode/Decoder.h"
#include "runtime/Emulator/Decode/InstructionText.h"
#include "runtime/Emulator/Exec/OpcodeTable.h"
#include "test/unit/runtime/Emulator/WaveTester.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace tessera::emulator;

// Every instruction that compilers were seen to emit for the three chips is
// known.
TEST(Opcodes, CoverWhatCompilersEmit) {
  std::string missing;
#define MNEMONIC(name)                                                         \
  if (!OpcodeTable::get().find(#name))                                         \
    missing += #name " ";
#include "test/unit/runtime/Emulator/Mnemonics.def"
  EXPECT_EQ(missing, "");
}

// LLVM 22's disassembler reads past the end of a table for a VOP3 of gfx9 with
// the source field "literal": such words must not be passed to it.
TEST(Decoder, RefusesLiteralInVop3OfGfx9) {
  const Chip &chip = *findChip("gfx942");
  Decoder decoder(chip, 64);
  std::string text;
  // v_add3_u32 v0, v1, v2, v3, and the same with each source made a literal.
  const uint64_t good = 0x040e0501d1ff0000;
  auto decode = [&](uint64_t code) {
    uint8_t bytes[8];
    std::memcpy(bytes, &code, sizeof bytes);
    return decoder.decode(bytes, 0, text);
  };
  EXPECT_EQ(decode(good), 8u);
  EXPECT_EQ(text, "v_add3_u32 v0, v1, v2, v3");
  for (unsigned shift : {32, 41, 50})
    EXPECT_EQ(
        decode((good & ~(uint64_t(0x1ff) << shift)) | uint64_t(255) << shift),
        0u);
}

// The printed form is split into operands and modifiers.
TEST(InstructionText, SplitsOperandsAndModifiers) {
  InstructionText text = splitInstruction(
      "v_add_f32_dpp v0, |v1|, -v[2:3] quad_perm:[1,0,3,2] row_mask:0xf");
  EXPECT_EQ(text.mnemonic, "v_add_f32_dpp");
  ASSERT_EQ(text.operands.size(), 3u);
  EXPECT_EQ(text.operands[0].name, "v0");
  EXPECT_TRUE(text.operands[1].abs);
  EXPECT_EQ(text.operands[1].name, "v1");
  EXPECT_TRUE(text.operands[2].neg);
  EXPECT_EQ(text.operands[2].name, "v[2:3]");
  EXPECT_EQ(parseIntegerList(*text.find("quad_perm"))[2], 3);
  EXPECT_EQ(text.find("row_mask"), "0xf");
  EXPECT_FALSE(text.find("bank_mask"));
  EXPECT_EQ(splitInstruction("v_mov_b32 v0, -5").operands[1].name, "-5");
}

// An instruction without a handler stops the wave, and the message names it.
TEST(Opcodes, UnknownInstructionIsNamed) {
  WaveTester tester("gfx942");
  tester.run("s_setvskip s0, s1");
  EXPECT_EQ(tester.getFault(), FaultKind::UnknownInstruction);
  EXPECT_NE(tester.getMessage().find("s_setvskip s0"), std::string::npos)
      << tester.getMessage();
}

// A modifier without a meaning for the instruction is not ignored.
TEST(Opcodes, UnknownModifierIsNotIgnored) {
  WaveTester tester("gfx942");
  tester.run("v_cvt_i32_f32_e64 v0, v1 clamp");
  EXPECT_EQ(tester.getFault(), FaultKind::UnknownInstruction);
}
