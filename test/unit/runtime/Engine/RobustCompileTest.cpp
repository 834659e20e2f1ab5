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
/// Knows several tiles, and fails over some.
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
  /// The tile of the kernel that a new process gets, or why it gets none.
  std::string run() {
    compiler->asked.clear();
    const auto engine = Engine::create(loadFakeHip(), options);
    const ErrorOr<const LoadedKernel *> kernel = (*engine)->prepare(Problem());
    return kernel ? (*kernel)->getKernel().tile
                  : kernel.getStatus().getMessage();
  }
  /// Makes `tile` the best of the problem on this device.
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

// Where the compiler crashes over the chosen tile, the kernel has the best tile
// of `general`; without such an algorithm, the best other one.
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

// If that fails too, the sentence says both.
TEST_F(RobustCompile, TellsBothFailures) {
  compiler->failing = {"igemm-m64", "general-b1"};
  EXPECT_NE(run().find("died of SIGSEGV; then tile general-b1: the compile"),
            std::string::npos);
  EXPECT_EQ(compiler->asked.size(), 2u);
}

// A refusal stands, and so does every failure where tests want to see it.
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

// Such a kernel is for this process. The next one asks for the best tile that
// has not failed, and what it gets is kept; another revision begins anew.
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

// What was no fault of the compiler is forgotten: the next process asks again.
TEST_F(RobustCompile, ForgetsWhatOthersDid) {
  options.cacheDirectory = folder.getPath();
  compiler->failing = {"igemm-m64"};
  compiler->failure = {StatusCode::ResourceExhausted, "died of SIGKILL"};
  EXPECT_EQ(run(), "general-b1");
  EXPECT_EQ(run(), "general-b1");
  compiler->failing.clear();
  EXPECT_EQ(run(), "igemm-m64");
}

// Where every process that compiles is killed, the client makes the kernel:
// with another tile if there is one. A crash is not brought here.
TEST_F(RobustCompile, CompilesHereAtLast) {
  compiler->failing = {"igemm-m64", "igemm-m32", "general-b1", "general-b2"};
  compiler->failure = {StatusCode::ResourceExhausted, "died of SIGKILL"};
  EXPECT_EQ(run(), "general-b1");
  compiler->tiles = {"igemm-m64"};
  EXPECT_EQ(run(), "igemm-m64");
  compiler->failure = unavailable("died of SIGSEGV");
  EXPECT_NE(run().find("died of SIGSEGV"), std::string::npos);
}

// A tuned tile that a kill has kept from this process is for the next one: what
// was made instead is not stored.
TEST_F(RobustCompile, LeavesATunedTileToTheNext) {
  options.cacheDirectory = folder.getPath();
  storeTuning("igemm-m32");
  compiler->failing = {"igemm-m32"};
  compiler->failure = {StatusCode::ResourceExhausted, "died of SIGKILL"};
  EXPECT_EQ(run(), "igemm-m64");
  compiler->failing.clear();
  EXPECT_EQ(run(), "igemm-m32");
}

// The tile that tuning has found is taken before the compiler's choice; if the
// compiler does not take it, its choice is as ever.
TEST_F(RobustCompile, PrefersATunedTile) {
  options.cacheDirectory = folder.getPath();
  storeTuning("igemm-m32");
  compiler->failing = {"igemm-m32"};
  EXPECT_EQ(run(), "igemm-m64");
  compiler->failing.clear();
  compiler->revision = "fake-2";
  EXPECT_EQ(run(), "igemm-m32");
}
