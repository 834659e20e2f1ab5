//===- PipelineTest.cpp - From a problem to a code object -----------------===//

#include "compiler/Pipeline/Pipeline.h"
#include "compiler/Target/AMDGPU/AmdgpuTarget.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ELF.h"
#include "runtime/DriverCommand/DriverCommand.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

using namespace tessera;

static ConvProblem getTestProblem() {
  ErrorOr<Problem> problem = parseDriverCommand(
      "convfp16 -n 2 -c 64 -H 14 -W 14 -k 64 -y 3 -x 3 -p 1 -q 1 "
      "--in_layout NHWC --fil_layout NHWC --out_layout NHWC");
  EXPECT_TRUE(problem) << problem.getStatus().getMessage();
  return *problem->getConv();
}

static PipelineOptions getOptions(Stage stopAfter = Stage::Object) {
  PipelineOptions options;
  options.target = findTarget("gfx942");
  options.stopAfter = stopAfter;
  return options;
}

/// Returns the instructions of an ELF file, or an empty text without any.
static std::string getInstructions(const std::string &bytes) {
  auto file = llvm::object::ELF64LEFile::create(bytes);
  if (!file)
    return llvm::toString(file.takeError());
  for (const auto &section : llvm::cantFail(file->sections()))
    if (llvm::cantFail(file->getSectionName(section)) == ".text")
      return llvm::toStringRef(
                 llvm::cantFail(file->getSectionContents(section)))
          .str();
  return {};
}

/// The parameter is a stage at which compilation can stop and start again.
class PipelineStage : public testing::TestWithParam<Stage> {};

INSTANTIATE_TEST_SUITE_P(EveryStage, PipelineStage,
                         testing::Values(Stage::Dnn, Stage::Tiled, Stage::Gpu,
                                         Stage::Llvm, Stage::Isa),
                         [](const auto &info) {
                           return std::string(getName(info.param));
                         });

// Stopping at a stage and starting again from its text gives the same
// instructions as compiling without a stop.
TEST_P(PipelineStage, TextLosesNothing) {
  CompileContext context;
  ErrorOr<PipelineResult> straight =
      compileProblem(context, getTestProblem(), getOptions());
  ASSERT_TRUE(straight) << straight.getStatus().getMessage();
  ErrorOr<PipelineResult> text =
      compileProblem(context, getTestProblem(), getOptions(GetParam()));
  ASSERT_TRUE(text) << text.getStatus().getMessage();
  ErrorOr<PipelineResult> resumed =
      compileText(context, GetParam(), text->output, getOptions());
  ASSERT_TRUE(resumed) << resumed.getStatus().getMessage();
  EXPECT_FALSE(getInstructions(straight->output).empty());
  EXPECT_EQ(getInstructions(resumed->output),
            getInstructions(straight->output));
}

// Malformed text is refused at every stage. The message names the stage,
// nothing is printed, and the context can be used again.
TEST_P(PipelineStage, RefusesNonsense) {
  CompileContext context;
  testing::internal::CaptureStderr();
  ErrorOr<PipelineResult> result =
      compileText(context, GetParam(), "nonsense )", getOptions());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.getStatus().getCode(), StatusCode::InvalidArgument);
  EXPECT_NE(result.getStatus().getMessage().find("stage "), std::string::npos)
      << result.getStatus().getMessage();
  EXPECT_TRUE(compileProblem(context, getTestProblem(), getOptions()));
}

// Each stage that ran has a time, and the times are in the order of the stages.
TEST(Pipeline, TimesEveryStage) {
  CompileContext context;
  ErrorOr<PipelineResult> result =
      compileProblem(context, getTestProblem(), getOptions());
  ASSERT_TRUE(result) << result.getStatus().getMessage();
  std::vector<std::string> stages;
  for (const StageTime &time : result->stageTimes) {
    stages.push_back(time.stage);
    EXPECT_GT(time.timeMs, 0) << time.stage;
  }
  EXPECT_EQ(stages, (std::vector<std::string>{"dnn", "tiled", "workgroup", "gpu", "llvm",
                                              "isa", "object"}));
}

// The launch is read from the kernel: whole waves, at least one workgroup, and
// the symbol that the code object has.
TEST(Pipeline, ReadsTheLaunch) {
  CompileContext context;
  ErrorOr<PipelineResult> result =
      compileProblem(context, getTestProblem(), getOptions());
  ASSERT_TRUE(result) << result.getStatus().getMessage();
  EXPECT_EQ(result->launches.at(0).symbol, getKernelSymbol(getTestProblem()));
  EXPECT_EQ(result->launches.at(0).block[0] % 64, 0u);
  EXPECT_GE(result->launches.at(0).grid[0], 1u);
  ErrorOr<std::vector<KernelMetadata>> kernels = readMetadata(result->output);
  ASSERT_TRUE(kernels) << kernels.getStatus().getMessage();
  EXPECT_EQ(kernels->at(0).name, result->launches.at(0).symbol);
  EXPECT_EQ(kernels->at(0).maxBlockSize, result->launches.at(0).block[0]);
}

// A context that has compiled other kernels, even for another chip, gives the
// same bytes as a new one.
TEST(Pipeline, ContextHasNoMemory) {
  CompileContext fresh;
  ErrorOr<PipelineResult> expected =
      compileProblem(fresh, getTestProblem(), getOptions());
  ASSERT_TRUE(expected) << expected.getStatus().getMessage();
  CompileContext used;
  ConvProblem other = getTestProblem();
  other.inChannels = 7;
  PipelineOptions otherOptions = getOptions();
  otherOptions.target = findTarget("gfx1030");
  ErrorOr<PipelineResult> first = compileProblem(used, other, otherOptions);
  ASSERT_TRUE(first) << first.getStatus().getMessage();
  ErrorOr<PipelineResult> second =
      compileProblem(used, getTestProblem(), getOptions());
  ASSERT_TRUE(second) << second.getStatus().getMessage();
  EXPECT_EQ(second->output, expected->output);
}

// Concurrent compilations on borrowed contexts give the same bytes as one
// alone.
TEST(Pipeline, CompilesFromManyThreads) {
  CompileContextPool pool;
  auto compile = [&] {
    CompileContextPool::Loan context = pool.borrow();
    ErrorOr<PipelineResult> result =
        compileProblem(*context, getTestProblem(), getOptions());
    return result ? result->output : result.getStatus().getMessage();
  };
  std::string expected = compile();
  std::atomic<int> same = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread != 4; ++thread)
    threads.emplace_back([&] {
      for (int i = 0; i != 4; ++i)
        same += compile() == expected;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(same, 16);
}

// Compilation cannot stop at a stage before the one where it starts.
TEST(Pipeline, RefusesToGoBackwards) {
  CompileContext context;
  ErrorOr<PipelineResult> result =
      compileText(context, Stage::Gpu, "module {}", getOptions(Stage::Tiled));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.getStatus().getMessage(),
            "cannot stop after stage tiled when starting from stage gpu");
}

// Text for one chip is not compiled for another.
TEST(Pipeline, RefusesTextForAnotherChip) {
  CompileContext context;
  ErrorOr<PipelineResult> text =
      compileProblem(context, getTestProblem(), getOptions(Stage::Gpu));
  ASSERT_TRUE(text) << text.getStatus().getMessage();
  PipelineOptions options = getOptions();
  options.target = findTarget("gfx90a");
  ErrorOr<PipelineResult> result =
      compileText(context, Stage::Gpu, text->output, options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.getStatus().getMessage(),
            "the text of stage gpu: the text is for gfx942, not for gfx90a");
}

// A problem that breaks a rule is refused before anything is built.
TEST(Pipeline, RefusesABrokenProblem) {
  CompileContext context;
  ConvProblem problem = getTestProblem();
  problem.groups = 3;
  ErrorOr<PipelineResult> result =
      compileProblem(context, problem, getOptions());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.getStatus().getCode(), StatusCode::InvalidArgument);
}

// A symbol has letters, digits and underscores only.
TEST(Pipeline, NamesKernelsAfterTheProblem) {
  std::string symbol = getKernelSymbol(getTestProblem());
  EXPECT_EQ(symbol.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"),
            std::string::npos)
      << symbol;
}
