//===- AssembleTextTest.cpp - Assembles text to an object file ------------===//

#include "TestKernel.h"
#include "compiler/Target/AMDGPU/AmdgpuTarget.h"

#include <gtest/gtest.h>

using namespace tessera;

static ErrorOr<ObjectBytes> assemble(std::string_view text,
                                     std::string_view chip) {
  return assembleText(text, *findTarget(chip));
}

// The result is an ELF file.
TEST(AssembleText, MakesAnObjectFile) {
  ErrorOr<ObjectBytes> object = assemble(test::kTestKernel, "gfx942");
  ASSERT_TRUE(object) << object.getStatus().getMessage();
  EXPECT_EQ(std::string_view(object->data(), 4), "\177ELF");
}

// A word that is no instruction is refused, and the message has its line.
TEST(AssembleText, NamesTheLineOfAnError) {
  ErrorOr<ObjectBytes> object = assemble("s_endpgm\ns_nonsense\n", "gfx942");
  ASSERT_FALSE(object);
  EXPECT_EQ(object.getStatus().getCode(), StatusCode::InvalidArgument);
  EXPECT_NE(object.getStatus().getMessage().find("line 2"), std::string::npos)
      << object.getStatus().getMessage();
}

// An instruction of another chip is refused.
TEST(AssembleText, RefusesInstructionsOfAnotherChip) {
  std::string_view mfma = "v_mfma_f32_32x32x8_f16 v[0:15], v[16:17], "
                          "v[18:19], v[0:15]\n";
  EXPECT_TRUE(assemble(mfma, "gfx942"));
  EXPECT_FALSE(assemble(mfma, "gfx1030"));
}

// Text that names another chip as its target is refused.
TEST(AssembleText, RefusesTextForAnotherChip) {
  EXPECT_FALSE(assemble(test::kTestKernel, "gfx90a"));
}
