//===- JitCompilerTest.cpp - Tests the compiler in this process -----------===//

#include "compiler/Driver/JitCompiler.h"
#include "runtime/DriverCommand/DriverCommand.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace tessera;

/// Its kernel is one launch without a workspace.
static ConvProblem getTestProblem() {
  ErrorOr<Problem> problem = parseDriverCommand(
      "convfp16 -n 2 -c 64 -H 14 -W 14 -k 64 -y 3 -x 3 -p 1 -q 1 "
      "--in_layout NHWC --fil_layout NHWC --out_layout NHWC");
  EXPECT_TRUE(problem) << problem.getStatus().getMessage();
  ConvProblem conv = *problem->getConv();
  conv.forbidsWinograd = true;
  return conv;
}

/// Every chip must be served by the tile that the compiler chooses itself.
class JitCompiler : public testing::TestWithParam<std::string> {};

static std::vector<std::string> getChips() {
  std::vector<std::string> chips;
  for (const GpuTarget &target : getAllTargets())
    chips.emplace_back(target.name);
  return chips;
}

INSTANTIATE_TEST_SUITE_P(Chips, JitCompiler, testing::ValuesIn(getChips()),
                         [](const auto &info) { return info.param; });

// The kernel is complete: code, launch, arguments, resources, tile and times.
TEST_P(JitCompiler, CompilesAKernel) {
  const GpuTarget &target = *findTarget(GetParam());
  std::unique_ptr<KernelCompiler> compiler = createJitCompiler();
  ErrorOr<TileConfig> tile = compiler->chooseTile(getTestProblem(), target);
  ASSERT_TRUE(tile) << tile.getStatus().getMessage();
  ErrorOr<Kernel> kernel = compiler->compile(getTestProblem(), *tile, target);
  ASSERT_TRUE(kernel) << kernel.getStatus().getMessage();
  EXPECT_EQ(std::string_view(kernel->codeObject.data(), 4), "\177ELF");
  EXPECT_FALSE(kernel->launches.at(0).symbol.empty());
  EXPECT_EQ(kernel->launches.at(0).args,
            (std::vector<LaunchArg>{
                {KernelArg::X, 4}, {KernelArg::W, 4}, {KernelArg::Y, 4}}));
  EXPECT_EQ(kernel->launches.at(0).block[0] % target.waveSize, 0u);
  EXPECT_GT(kernel->resources.vgprs, 0u);
  EXPECT_EQ(kernel->resources.vgprSpills, 0u);
  EXPECT_EQ(kernel->resources.scratchBytes, 0u);
  EXPECT_EQ(kernel->tile, tile->toText());
  EXPECT_EQ(kernel->stageTimes.size(), 7u);
}

// TESSERA_TILE overrules the model only for problems that its algorithm covers.
// A text that is no tile is ignored.
TEST(JitCompilerTile, IsNamedByTheEnvironment) {
  std::unique_ptr<KernelCompiler> compiler = createJitCompiler();
  const GpuTarget &target = *findTarget("gfx942");
  auto choose = [&](const char *text, const Problem &problem) {
    setenv("TESSERA_TILE", text, 1);
    ErrorOr<TileConfig> tile = compiler->chooseTile(problem, target);
    unsetenv("TESSERA_TILE");
    return tile ? tile->toText() : tile.getStatus().getMessage();
  };
  constexpr const char *kNamed = "igemm-m64n64k32-w2x2-b2-mfma32";
  EXPECT_EQ(choose(kNamed, getTestProblem()), kNamed);
  const std::string own = choose("", getTestProblem());
  EXPECT_NE(own, kNamed);
  for (const char *text : {"-", "nonsense", "igem-m64n64k32-w2x2-b2-mfma32"})
    EXPECT_EQ(choose(text, getTestProblem()), own) << text;
  ErrorOr<Problem> pool = parseNetworkConfig(
      "pool-fwd-max-f16-nhwc,nhwc-n2c8h14w14-y2x2-p0x0-s2x2-inone");
  ASSERT_TRUE(pool) << pool.getStatus().getMessage();
  EXPECT_EQ(choose(kNamed, *pool).find("pool"), 0u);
}

// A tile whose instruction the chip lacks is an error, not a crash.
TEST(JitCompilerRefusal, TileOfAnotherChip) {
  std::unique_ptr<KernelCompiler> compiler = createJitCompiler();
  ErrorOr<TileConfig> tile =
      parseTileConfig("igemm-m128n128k32-w2x2-b2-mfma32");
  ASSERT_TRUE(tile) << tile.getStatus().getMessage();
  ErrorOr<Kernel> kernel =
      compiler->compile(getTestProblem(), *tile, *findTarget("gfx1030"));
  EXPECT_FALSE(kernel);
}

// The revision names LLVM's version and a hash, and does not change.
TEST(JitCompilerRevision, NamesLlvmAndTheSources) {
  std::string revision = createJitCompiler()->getRevision();
  EXPECT_EQ(revision.find("llvm-22."), 0u) << revision;
  EXPECT_GE(revision.size(), std::string("llvm-22.1.8-").size() + 16);
  EXPECT_EQ(createJitCompiler()->getRevision(), revision);
}
