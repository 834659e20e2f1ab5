//===- StageTest.cpp - The names of the stages ----------------------------===//

#include "compiler/Pipeline/Stage.h"

#include <gtest/gtest.h>

using namespace tessera;

// Each stage is found by its name, and no stage by another name.
TEST(Stage, NamesRoundTrip) {
  for (Stage stage : {Stage::Problem, Stage::Dnn, Stage::Tiled, Stage::Gpu,
                      Stage::Llvm, Stage::Isa, Stage::Object})
    EXPECT_EQ(parseStage(getName(stage)), stage);
  EXPECT_EQ(parseStage("asm"), std::nullopt);
  EXPECT_EQ(parseStage(""), std::nullopt);
}
