//===- LlvmTextTest.cpp - Reads the text of stage llvm --------------------===//

#include "compiler/Target/AMDGPU/AmdgpuTarget.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <gtest/gtest.h>

using namespace tessera;

static Status parse(std::string_view text) {
  llvm::LLVMContext context;
  return parseLlvm(text, context, *findTarget("gfx942")).getStatus();
}

static std::string makeText(std::string_view triple, std::string_view chip,
                            std::string_view body) {
  return "target triple = \"" + std::string(triple) +
         "\"\n"
         "define amdgpu_kernel void @f() #0 {\n" +
         std::string(body) +
         "\n}\n"
         "attributes #0 = { \"target-cpu\"=\"" +
         std::string(chip) + "\" }\n";
}

// A module for the chip is accepted.
TEST(LlvmText, TakesItsOwnTarget) {
  Status status = parse(makeText("amdgcn-amd-amdhsa", "gfx942", "ret void"));
  EXPECT_TRUE(status.isOk()) << status.getMessage();
}

// A module for another triple or chip is refused: otherwise it would be
// compiled for the wrong chip without a warning.
TEST(LlvmText, RefusesAnotherTarget) {
  EXPECT_FALSE(parse(makeText("x86_64-linux", "gfx942", "ret void")).isOk());
  Status status = parse(makeText("amdgcn-amd-amdhsa", "gfx90a", "ret void"));
  EXPECT_EQ(status.getMessage(), "the LLVM IR is for gfx90a, not for gfx942");
}

// Text that is no IR is refused, and the message has its line. IR that breaks
// LLVM's rules is refused before a pass sees it.
TEST(LlvmText, RefusesInvalidIr) {
  Status syntax = parse("define void @f() {\n  nonsense\n}\n");
  EXPECT_EQ(syntax.getCode(), StatusCode::InvalidArgument);
  EXPECT_EQ(syntax.getMessage().find("line 2: "), 0u) << syntax.getMessage();
  std::string_view notDominated = "  br i1 true, label %a, label %b\n"
                                  "a:\n  %x = add i32 0, 0\n  br label %b\n"
                                  "b:\n  %y = add i32 %x, 0\n  ret void";
  Status rule = parse(makeText("amdgcn-amd-amdhsa", "gfx942", notDominated));
  EXPECT_EQ(rule.getMessage().find("invalid LLVM IR: "), 0u)
      << rule.getMessage();
}
