//===- NeighboursTest.cpp - Tiles that change one knob of a plan ----------===//

#include "compiler/Pipeline/Neighbours.h"
#include "compiler/Algorithms/ChooseTile.h"
#include "compiler/Pipeline/Pipeline.h"
#include "dialect/IR/PlanKnobs.h"

#include "mlir/IR/Diagnostics.h"

#include <gtest/gtest.h>

#include <set>

using namespace tessera;

namespace {
struct NeighboursTest : testing::Test {
  CompileContext context;

  llvm::FailureOr<dnn::PlanKnobs> parse(llvm::StringRef text) {
    mlir::ScopedDiagnosticHandler quiet(
        &context.getMlir(), [](mlir::Diagnostic &) { return mlir::success(); });
    return dnn::parsePlanKnobs(text, [&] {
      return mlir::emitError(mlir::UnknownLoc::get(&context.getMlir()));
    });
  }
};
} // namespace

// Each value of each knob has a text of its own, which reads back; behind a
// tile it is cut off again.
TEST_F(NeighboursTest, KnobsReadBack) {
  std::set<std::string> texts;
  for (unsigned index = 0; index < dnn::kKnobs; ++index) {
    const auto knob = static_cast<dnn::Knob>(index);
    const dnn::KnobRow &row = dnn::getKnobRow(knob);
    EXPECT_EQ(dnn::findKnob(row.text), knob);
    for (int64_t value = row.least; value <= row.most; value += row.unit) {
      dnn::PlanKnobs knobs;
      knobs.set(knob, value);
      const std::string text = knobs.toText();
      EXPECT_TRUE(texts.insert(text).second) << text;
      const auto read = parse(text);
      ASSERT_TRUE(mlir::succeeded(read)) << text;
      EXPECT_EQ(*read, knobs) << text;
      const std::string tile = "igemm-m64n64k64-w1x1-t4-wgmma" + text;
      EXPECT_EQ(dnn::splitKnobs(tile).second, text);
    }
  }
  for (const char *wrong : {"staging1", "+staging", "+staging01", "+staging0",
                            "+staging1+staging1", "+orderm+staging1", "+"})
    EXPECT_TRUE(mlir::failed(parse(wrong))) << wrong;
}

// Every neighbour of the tile that the model chooses, and every neighbour of
// one of these, is lowered and checked like a tile of the model's.
TEST_F(NeighboursTest, NeighboursAreLowered) {
  size_t count = 0;
  for (const char *chip : {"sm_90", "sm_80", "gfx942", "gfx1100"})
    for (int index = 0; index < 6; ++index) {
      ConvProblem conv;
      conv.direction = static_cast<Direction>(index % 3);
      conv.dataType = DataType::F16;
      conv.xLayout = conv.wLayout = conv.yLayout = Layout::NHWC;
      conv.batch = 8;
      conv.inChannels = 64 + 32 * index;
      conv.outChannels = 192;
      conv.in = {14, 20};
      conv.filter = {index < 3 ? 3 : 1, index < 3 ? 3 : 1};
      const GpuTarget &target = *findTarget(chip);
      const Problem problem(conv);
      TileConfig tile = *chooseTile(problem, target);
      for (int round = 0; round < 2; ++round) {
        const auto neighbours = findNeighbours(context, problem, tile, target);
        ASSERT_TRUE(neighbours) << neighbours.getStatus().getMessage();
        for (const TileConfig &neighbour : *neighbours) {
          PipelineOptions options;
          options.target = &target;
          options.tile = neighbour.toText();
          options.stopAfter = Stage::Gpu;
          const auto made = compileProblem(context, problem, options);
          EXPECT_TRUE(made)
              << neighbour.toText() << ": " << made.getStatus().getMessage();
          ++count;
        }
        if (neighbours->empty())
          break;
        tile = neighbours->back();
      }
    }
  EXPECT_GT(count, 50u);
}

// A kernel of points has no plan to change.
TEST_F(NeighboursTest, PointsHaveNone) {
  ConvProblem conv;
  conv.inChannels = conv.outChannels = 64;
  const auto neighbours = findNeighbours(
      context, Problem(conv), {"general", "b8r1t256s1"}, *findTarget("gfx942"));
  ASSERT_TRUE(neighbours) << neighbours.getStatus().getMessage();
  EXPECT_TRUE(neighbours->empty());
}
