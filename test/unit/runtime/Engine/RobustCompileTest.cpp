//===- RobustCompileTest.cpp - A kernel, though not the best one ----------===//

#include "runtime/Db/PerfDatabase.h"
#include "runtime/Engine/Engine.h"

#include "test/unit/Support/FakeCompiler.h"
#include "test/unit/Support/TemporaryDirectory.h"

#include <gtest/gtest.h>

#include <set>

using namespace tessera;
using namespace tessera::test;

namespace {
/// A compiler that has several tiles, and fails over some.
class ManyTiles : public FakeCompiler {
public:
  std::vector<std::string> tiles = {"igemm-m64", "igemm-m32", "general-b1",
                                    "general-b2"};
  std::set<std::string> failing;
  Status failure = unavailable("the compile worker died of SIGSEGV");
  std::vector<std::string> asked;

  ErrorOr<TileConfig> chooseTile(const Problem &,
                                 const GpuTarget &) const override {
    return parseTileConfig(tiles.front());
  }
  ErrorOr<std::vector<RankedTile>> rankTiles(const Problem &, const GpuTarget &,
                                             size_t) const override {
    std::vector<RankedTile> ranked;
    for (const std::string &tile : tiles)
      ranked.push_back({*parseTileConfig(tile), 0});
    return ranked;
  }
  ErrorOr<Kernel> compile(const Problem &problem, const TileConfig &tile,
                          const GpuTarget &target) override {
    asked.push_back(tile.toText());
    if (failing.contains(tile.toText()))
      return failure;
    return FakeCompiler::compile(problem, tile, target);
  }
  ErrorOr<Kernel> compileHere(const Problem &problem, const TileConfig &tile,
                              const GpuTarget &target) override {
    return FakeCompiler::compile(problem, tile, target);
  }
};

struct RobustCompile : testing::Test {
  TemporaryDirectory folder;
  std::shared_ptr<ManyTiles> compiler = std::make_shared<ManyTiles>();
  EngineOptions options;

  void SetUp() override {
    options.compiler = compiler;
    options.takesOtherTiles = true;
  }
  /// The tile of the kernel that a new process gets, or the failure.
  std::string run() {
    compiler->asked.clear();
    const auto engine = Engine::create(loadFakeHip(), options);
    const ErrorOr<const LoadedKernel *> kernel = (*engine)->prepare(Problem());
    return kernel ? (*kernel)->getKernel().tile
                  : kernel.getStatus().getMessage();
  }
  /// Stores `tile` as the best of the problem on this device.
  void storeTuning(const std::string &tile) {
    const GpuApi &gpu = loadFakeHip();
    Tuning tuning;
    tuning.tile = tile;
    tuning.value = 5;
    tuning.device = *gpu.getDeviceName();
    const TuningKey key = {Problem().toNetworkConfig(),
                           std::string((*gpu.getTarget())->name),
                           *gpu.getComputeUnits()};
    (*Engine::create(gpu, options))->getTunings()->store(key, tuning);
  }
};
} // namespace

// If the compiler crashes over the chosen tile, the kernel has the best tile of
// `general`; without such an algorithm, the best other one.
TEST_F(RobustCompile, TakesAnotherTile) {
  EXPECT_EQ(run(), "igemm-m64");
  compiler->failing = {"igemm-m64"};
  EXPECT_EQ(run(), "general-b1");
  EXPECT_EQ(compiler->asked,
            (std::vector<std::string>{"igemm-m64", "general-b1"}));
  compiler->tiles = {"igemm-m64", "igemm-m32"};
  EXPECT_EQ(run(), "igemm-m32");
  compiler->tiles = {"igemm-m64"};
  EXPECT_NE(run().find("died of SIGSEGV"), std::string::npos);
}

// If that fails too, the sentence names both failures.
TEST_F(RobustCompile, TellsBothFailures) {
  compiler->failing = {"igemm-m64", "general-b1"};
  EXPECT_NE(run().find("died of SIGSEGV; then tile general-b1: the compile"),
            std::string::npos);
  EXPECT_EQ(compiler->asked.size(), 2u);
}

// A refusal is final, and so is every failure if other tiles are not allowed.
TEST_F(RobustCompile, LeavesOthersAlone) {
  compiler->failing = {"igemm-m64"};
  compiler->failure = notSupported("no such kernel");
  EXPECT_NE(run().find("no such kernel"), std::string::npos);
  EXPECT_EQ(compiler->asked.size(), 1u);
  compiler->failure = internalError("two things that cannot be");
  EXPECT_EQ(run(), "general-b1");
  options.takesOtherTiles = false;
  EXPECT_NE(run().find("two things that cannot be"), std::string::npos);
}

// Such a kernel is for this process only. The next process asks for the best
// tile that has not failed, and stores what it gets; another revision begins
// anew.
TEST_F(RobustCompile, RemembersWhatFails) {
  options.cacheDirectory = folder.getPath();
  compiler->failing = {"igemm-m64"};
  EXPECT_EQ(run(), "general-b1");
  EXPECT_EQ(run(), "igemm-m32");
  EXPECT_EQ(compiler->asked, std::vector<std::string>{"igemm-m32"});
  EXPECT_EQ(run(), "igemm-m32");
  EXPECT_TRUE(compiler->asked.empty());
  compiler->failing.clear();
  compiler->revision = "fake-2";
  EXPECT_EQ(run(), "igemm-m64");
}

// Failures that are not the compiler's fault are not stored: the next process
// asks again.
TEST_F(RobustCompile, ForgetsWhatOthersDid) {
  options.cacheDirectory = folder.getPath();
  compiler->failing = {"igemm-m64"};
  compiler->failure = {StatusCode::ResourceExhausted, "died of SIGKILL"};
  EXPECT_EQ(run(), "general-b1");
  EXPECT_EQ(run(), "general-b1");
  compiler->failing.clear();
  EXPECT_EQ(run(), "igemm-m64");
}

// If every process that compiles is killed, the client compiles in its own
// process: with another tile if there is one. A tile that crashes is not
// compiled here.
TEST_F(RobustCompile, CompilesHereAtLast) {
  compiler->failing = {"igemm-m64", "igemm-m32", "general-b1", "general-b2"};
  compiler->failure = {StatusCode::ResourceExhausted, "died of SIGKILL"};
  EXPECT_EQ(run(), "general-b1");
  compiler->tiles = {"igemm-m64"};
  EXPECT_EQ(run(), "igemm-m64");
  compiler->failure = unavailable("died of SIGSEGV");
  EXPECT_NE(run().find("died of SIGSEGV"), std::string::npos);
}

// If a kill keeps the tuned tile from this process, the next one may use it:
// the kernel that was compiled instead is not stored.
TEST_F(RobustCompile, LeavesATunedTileToTheNext) {
  options.cacheDirectory = folder.getPath();
  storeTuning("igemm-m32");
  compiler->failing = {"igemm-m32"};
  compiler->failure = {StatusCode::ResourceExhausted, "died of SIGKILL"};
  EXPECT_EQ(run(), "igemm-m64");
  compiler->failing.clear();
  EXPECT_EQ(run(), "igemm-m32");
}

// The tuned tile is preferred to the compiler's choice; if the compiler refuses
// it, its own choice is taken as usual.
TEST_F(RobustCompile, PrefersATunedTile) {
  options.cacheDirectory = folder.getPath();
  storeTuning("igemm-m32");
  compiler->failing = {"igemm-m32"};
  EXPECT_EQ(run(), "igemm-m64");
  compiler->failing.clear();
  compiler->revision = "fake-2";
  EXPECT_EQ(run(), "igemm-m32");
}
