//===- EngineDatabaseTest.cpp - What a second process need not compile ----===//
//
// A second engine on the same directory stands for a second process.
//
//===----------------------------------------------------------------------===//

#include "runtime/Db/KernelDatabase.h"
#include "runtime/Db/PerfDatabase.h"
#include "runtime/Engine/Engine.h"

#include "test/unit/Support/FakeCompiler.h"
#include "test/unit/Support/OpenFile.h"
#include "test/unit/Support/TemporaryDirectory.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace tessera;
using namespace tessera::test;

namespace {
struct EngineDatabase : testing::Test {
  TemporaryDirectory folder;
  std::shared_ptr<FakeCompiler> compiler = std::make_shared<FakeCompiler>();

  std::unique_ptr<Engine> start(const std::string &variant = "fake-hip") {
    return std::move(
        *Engine::create(loadFakeHip(variant), {compiler, folder.getPath()}));
  }

  static LoadedKernel::Origin getOrigin(Engine &engine) {
    ErrorOr<const LoadedKernel *> kernel = engine.prepare(Problem());
    EXPECT_TRUE(kernel) << kernel.getStatus().getMessage();
    return (*kernel)->getOrigin();
  }
};

constexpr LoadedKernel::Origin kCompiled = LoadedKernel::Origin::Compiled;
constexpr LoadedKernel::Origin kDatabase = LoadedKernel::Origin::Database;
} // namespace

// The second process finds the kernel and does not even ask for a tile.
TEST_F(EngineDatabase, SecondProcessCompilesNothing) {
  EXPECT_EQ(getOrigin(*start()), kCompiled);
  std::unique_ptr<Engine> second = start();
  EXPECT_EQ(getOrigin(*second), kDatabase);
  EXPECT_EQ(compiler->compiled, 1);
  EXPECT_EQ(compiler->tilesChosen, 1);
  EXPECT_EQ(second->getCounters().fromDatabase, 1u);
  EXPECT_EQ(second->getCounters().compiled, 0u);
}

// A kernel from the database launches like a compiled one.
TEST_F(EngineDatabase, StoredKernelsLaunch) {
  EXPECT_EQ(getOrigin(*start()), kCompiled);
  std::unique_ptr<Engine> second = start();
  ErrorOr<const LoadedKernel *> kernel = second->prepare(Problem());
  ASSERT_TRUE(kernel);
  getFakeHip().reset();
  int memory;
  EXPECT_TRUE(
      second->launch(**kernel, nullptr, {&memory, &memory, &memory}).isOk());
  ASSERT_EQ(getFakeHip().launches.size(), 1u);
  EXPECT_EQ(getFakeHip().launches[0].grid, (std::array<uint32_t, 3>{1, 2, 3}));
  EXPECT_EQ(getFakeHip().launches[0].kernarg.size(), 3 * sizeof(void *));
}

// A compiler that changed compiles its kernels anew.
TEST_F(EngineDatabase, AnotherRevisionIsAMiss) {
  EXPECT_EQ(getOrigin(*start()), kCompiled);
  compiler->revision = "fake-2";
  EXPECT_EQ(getOrigin(*start()), kCompiled);
  EXPECT_EQ(getOrigin(*start()), kDatabase);
  EXPECT_EQ(compiler->compiled, 2);
}

// Another chip needs another kernel.
TEST_F(EngineDatabase, AnotherChipIsAMiss) {
  EXPECT_EQ(getOrigin(*start("fake-hip")), kCompiled);
  EXPECT_EQ(getOrigin(*start("fake-hip6")), kCompiled);
  EXPECT_EQ(getOrigin(*start("fake-hip6")), kDatabase);
}

// A stored code object that the device refuses is replaced by a new one.
TEST_F(EngineDatabase, ReplacesWhatCannotBeLoaded) {
  Kernel broken;
  broken.codeObject.assign(64, 'x');
  broken.launches.emplace_back().symbol = "conv";
  broken.tile = "old";
  KernelDatabase(openFile(folder.getPath()))
      .store({Problem().toNetworkConfig(), "gfx90a", "fake-1"}, broken);
  EXPECT_EQ(getOrigin(*start()), kCompiled);
  EXPECT_EQ(getOrigin(*start()), kDatabase);
}

// A kernel that the device refuses is not stored.
TEST_F(EngineDatabase, StoresOnlyWhatLoads) {
  compiler->spoil = [](Kernel &kernel) { kernel.codeObject.assign(8, 'x'); };
  EXPECT_FALSE(start()->prepare(Problem()));
  compiler->spoil = nullptr;
  EXPECT_EQ(getOrigin(*start()), kCompiled);
}

// An adopted kernel is the one that later processes find.
TEST_F(EngineDatabase, StoresWhatIsAdopted) {
  std::unique_ptr<Engine> first = start();
  EXPECT_EQ(getOrigin(*first), kCompiled);
  auto kernel = first->prepareTile(Problem(), {"igemm", "better"});
  ASSERT_TRUE(kernel) << kernel.getStatus().getMessage();
  ASSERT_TRUE(first->adopt(Problem(), std::move(*kernel)).isOk());
  std::unique_ptr<Engine> second = start();
  EXPECT_EQ(getOrigin(*second), kDatabase);
  EXPECT_EQ((*second->prepare(Problem()))->getKernel().tile, "igemm-better");
}

// After forget(), later processes compile with the compiler's choice again.
TEST_F(EngineDatabase, Forgets) {
  std::unique_ptr<Engine> first = start();
  auto kernel = first->prepareTile(Problem(), {"igemm", "better"});
  ASSERT_TRUE(kernel) << kernel.getStatus().getMessage();
  ASSERT_TRUE(first->adopt(Problem(), std::move(*kernel)).isOk());
  ASSERT_TRUE(first->forget(Problem()).isOk());
  EXPECT_EQ((*first->prepare(Problem()))->getKernel().tile, "igemm-better");
  std::unique_ptr<Engine> second = start();
  EXPECT_EQ(getOrigin(*second), kCompiled);
  EXPECT_EQ((*second->prepare(Problem()))->getKernel().tile,
            "igemm-m64n64k16-w1x1-b2-fma");
}

// A process without a compiler uses what others have stored.
TEST_F(EngineDatabase, ServesWithoutACompiler) {
  EXPECT_EQ(getOrigin(*start()), kCompiled);
  compiler = nullptr;
  EXPECT_EQ(getOrigin(*start()), kDatabase);
}

// Of two processes that want a kernel at once one compiles it, and the other
// waits for it.
TEST_F(EngineDatabase, OneProcessCompilesForAll) {
  compiler->delay = std::chrono::milliseconds(50);
  std::vector<std::unique_ptr<Engine>> engines;
  for (int i = 0; i < 6; ++i)
    engines.push_back(start());
  std::vector<std::thread> threads;
  for (std::unique_ptr<Engine> &engine : engines)
    threads.emplace_back([&] { EXPECT_TRUE(engine->prepare(Problem())); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(compiler->compiled, 1);
  uint64_t waited = 0, found = 0;
  for (std::unique_ptr<Engine> &engine : engines) {
    waited += engine->getCounters().waited;
    found += engine->getCounters().fromDatabase;
  }
  EXPECT_EQ(found, engines.size() - 1);
  EXPECT_GT(waited, 0u);
  EXPECT_LE(waited, found);
}

// A process that has waited long enough compiles the kernel itself.
TEST_F(EngineDatabase, DoesNotWaitForever) {
  compiler->delay = std::chrono::milliseconds(200);
  std::unique_ptr<Engine> slow = start();
  std::thread maker([&] { EXPECT_TRUE(slow->prepare(Problem())); });
  while (compiler->compiled == 0)
    std::this_thread::yield();
  EngineOptions options = {compiler, folder.getPath()};
  options.claimLimit = std::chrono::milliseconds(1);
  std::unique_ptr<Engine> hasty =
      std::move(*Engine::create(loadFakeHip(), options));
  EXPECT_EQ(getOrigin(*hasty), kCompiled);
  EXPECT_EQ(compiler->compiled, 2);
  maker.join();
}

// A package serves kernels that the user's file lacks, also those of another
// compiler.
TEST_F(EngineDatabase, FindsKernelsInPackages) {
  EXPECT_EQ(getOrigin(*start()), kCompiled);
  EngineOptions options = {compiler, ""};
  options.packages = {folder.get("kernels.db")};
  compiler->revision = "fake-2";
  std::unique_ptr<Engine> engine =
      std::move(*Engine::create(loadFakeHip(), options));
  EXPECT_EQ(getOrigin(*engine), kDatabase);
  EXPECT_EQ(engine->getCounters().fromPackage, 1u);
  EXPECT_EQ(compiler->compiled, 1);
}

// The best tuned tile is compiled; the model is not asked.
TEST_F(EngineDatabase, CompilesTheTunedTile) {
  const GpuApi &gpu = loadFakeHip();
  Tuning tuning;
  tuning.tile = "igemm-tuned";
  tuning.device = *gpu.getDeviceName();
  tuning.value = 5;
  PerfDatabase tunings(openFile(folder.getPath()));
  tunings.store({Problem().toNetworkConfig(), "gfx90a", *gpu.getComputeUnits()},
                tuning);
  std::unique_ptr<Engine> engine = start();
  ErrorOr<const LoadedKernel *> kernel = engine->prepare(Problem());
  ASSERT_TRUE(kernel) << kernel.getStatus().getMessage();
  EXPECT_EQ((*kernel)->getKernel().tile, "igemm-tuned");
  EXPECT_EQ(compiler->tilesChosen, 0);
}

// If this compiler refuses the tuned tile, the model's is taken.
TEST_F(EngineDatabase, FallsBackToTheModelsTile) {
  Tuning tuning;
  tuning.tile = compiler->refusedTile = "igemm-refused";
  PerfDatabase tunings(openFile(folder.getPath()));
  tunings.store(
      {Problem().toNetworkConfig(), "gfx90a", *loadFakeHip().getComputeUnits()},
      tuning);
  std::unique_ptr<Engine> engine = start();
  ErrorOr<const LoadedKernel *> kernel = engine->prepare(Problem());
  ASSERT_TRUE(kernel) << kernel.getStatus().getMessage();
  EXPECT_NE((*kernel)->getKernel().tile, tuning.tile);
  EXPECT_EQ(compiler->tilesChosen, 1);
}

// With an unusable directory nothing is cached, but kernels are compiled.
TEST_F(EngineDatabase, WorksWithoutTheDirectory) {
  folder.write("file", "");
  ErrorOr<std::unique_ptr<Engine>> engine =
      Engine::create(loadFakeHip(), {compiler, folder.get("file/cache")});
  ASSERT_TRUE(engine);
  EXPECT_EQ(getOrigin(**engine), kCompiled);
}

// The directory follows MIOpen's variables, then the XDG rules.
TEST(EngineCacheDirectory, FollowsTheEnvironment) {
  for (const char *name : {"MIOPEN_DISABLE_CACHE", "MIOPEN_CUSTOM_CACHE_DIR",
                           "XDG_CACHE_HOME", "HOME"})
    unsetenv(name);
  EXPECT_EQ(Engine::getDefaultCacheDirectory(), "");
  setenv("HOME", "/home/ada", 1);
  EXPECT_EQ(Engine::getDefaultCacheDirectory(), "/home/ada/.cache/tessera");
  setenv("XDG_CACHE_HOME", "/var/ada", 1);
  EXPECT_EQ(Engine::getDefaultCacheDirectory(), "/var/ada/tessera");
  setenv("MIOPEN_CUSTOM_CACHE_DIR", "/scratch/kernels", 1);
  EXPECT_EQ(Engine::getDefaultCacheDirectory(), "/scratch/kernels");
  setenv("MIOPEN_DISABLE_CACHE", "1", 1);
  EXPECT_EQ(Engine::getDefaultCacheDirectory(), "");
}
