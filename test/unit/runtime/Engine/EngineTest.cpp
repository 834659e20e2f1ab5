//===- EngineTest.cpp - Looking up, compiling once, launching -------------===//

#include "runtime/Engine/Engine.h"

#include "test/unit/Support/FakeCompiler.h"
#include "test/unit/Support/RandomProblem.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <new>

using namespace tessera;
using namespace tessera::test;

/// Counts the allocations of this executable in each thread. The operators are
/// weak, because the thread sanitizer has its own; then nothing is counted.
static thread_local uint64_t allocations = 0;

__attribute__((weak)) void *operator new(size_t size) {
  ++allocations;
  if (void *memory = std::malloc(size))
    return memory;
  throw std::bad_alloc();
}
__attribute__((weak)) void operator delete(void *memory) noexcept {
  std::free(memory);
}
__attribute__((weak)) void operator delete(void *memory, size_t) noexcept {
  std::free(memory);
}

namespace {
/// A test with an engine without a database.
struct EngineTest : testing::Test {
  const GpuApi &gpu = loadFakeHip();
  FakeHip &hip = getFakeHip();
  std::shared_ptr<FakeCompiler> compiler = std::make_shared<FakeCompiler>();
  std::unique_ptr<Engine> engine =
      std::move(*Engine::create(gpu, {compiler, ""}));

  void SetUp() override { hip.reset(); }

  StatusCode getCode(const Problem &problem) {
    return engine->prepare(problem).getStatus().getCode();
  }
};

ConvProblem makeProblem(int64_t batch = 4) {
  ConvProblem problem;
  problem.batch = batch;
  return problem;
}
} // namespace

// The first request compiles and loads, later ones find the same kernel.
TEST_F(EngineTest, CompilesOnce) {
  ErrorOr<const LoadedKernel *> first = engine->prepare(makeProblem());
  ErrorOr<const LoadedKernel *> second = engine->prepare(makeProblem());
  ASSERT_TRUE(first && second) << first.getStatus().getMessage();
  EXPECT_EQ(*first, *second);
  EXPECT_EQ((*first)->getOrigin(), LoadedKernel::Origin::Compiled);
  EXPECT_EQ((*first)->getKernel().tile, "igemm-m64n64k16-w1x1-b2-fma");
  EXPECT_EQ(compiler->compiled, 1);
  EXPECT_EQ(hip.getCalls("hipModuleLoadData"), 1);
  EXPECT_EQ(engine->getCounters().compiled, 1u);
  EXPECT_EQ(engine->getCounters().fromMemory, 1u);
  EXPECT_EQ(engine->getCounters().fromDatabase, 0u);
}

// Problems that differ in any field are different keys.
TEST_F(EngineTest, KeepsProblemsSeparate) {
  RandomProblem random;
  SCOPED_TRACE(testing::Message() << "TESSERA_TEST_SEED=" << random.getSeed());
  std::map<std::string, const LoadedKernel *> byConfig;
  for (int i = 0; i < 500; ++i) {
    ConvProblem problem = random.next();
    ErrorOr<const LoadedKernel *> kernel = engine->prepare(problem);
    ASSERT_TRUE(kernel) << kernel.getStatus().getMessage();
    ASSERT_EQ((*kernel)->getKernel().launches[0].grid[0], problem.batch);
    byConfig[problem.toNetworkConfig()] = *kernel;
  }
  EXPECT_EQ(compiler->compiled, static_cast<int>(byConfig.size()));
}

// A module belongs to one device, so each device has kernels of its own.
TEST_F(EngineTest, LoadsForEachDevice) {
  ErrorOr<const LoadedKernel *> first = engine->prepare(makeProblem());
  ASSERT_EQ(gpu.hipSetDevice(1), hipSuccess);
  ErrorOr<const LoadedKernel *> second = engine->prepare(makeProblem());
  ASSERT_TRUE(first && second);
  EXPECT_NE(*first, *second);
  EXPECT_EQ(hip.getCalls("hipModuleLoadData"), 2);
}

// Several threads that want one kernel at once wait for one compilation.
TEST_F(EngineTest, CompilesOnceAmongThreads) {
  compiler->delay = std::chrono::milliseconds(50);
  std::vector<std::thread> threads;
  std::array<const LoadedKernel *, 8> kernels = {};
  for (const LoadedKernel *&kernel : kernels)
    threads.emplace_back([&] { kernel = *engine->prepare(makeProblem()); });
  for (std::thread &thread : threads)
    thread.join();
  for (const LoadedKernel *kernel : kernels)
    EXPECT_EQ(kernel, kernels[0]);
  EXPECT_EQ(compiler->compiled, 1);
  EXPECT_EQ(hip.getCalls("hipModuleLoadData"), 1);
  EXPECT_EQ(engine->getCounters().fromMemory, 7u);
}

// Different kernels are compiled at the same time: 8 of them take much less
// than 8 times as long as one.
TEST_F(EngineTest, CompilesDifferentKernelsTogether) {
  compiler->delay = std::chrono::milliseconds(100);
  auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (int i = 1; i <= 8; ++i)
    threads.emplace_back(
        [&, i] { EXPECT_TRUE(engine->prepare(makeProblem(i))); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_LT(std::chrono::steady_clock::now() - start,
            std::chrono::milliseconds(500));
  EXPECT_EQ(compiler->compiled, 8);
}

// "No kernel for this problem" is an answer, and is remembered.
TEST_F(EngineTest, RemembersWhatIsNotSupported) {
  compiler->tileFailure = notSupported("no algorithm");
  EXPECT_EQ(getCode(makeProblem()), StatusCode::NotSupported);
  EXPECT_EQ(getCode(makeProblem()), StatusCode::NotSupported);
  EXPECT_EQ(compiler->tilesChosen, 1);
  EXPECT_EQ(compiler->compiled, 0);
  EXPECT_EQ(engine->getCounters().compiled, 0u);
}

// Other failures may be temporary, so the next call tries again; the message
// says what was being done.
TEST_F(EngineTest, RetriesAfterAFailure) {
  compiler->compileFailure = unavailable("worker died");
  Status status = engine->prepare(makeProblem()).getStatus();
  EXPECT_EQ(status.getCode(), StatusCode::Unavailable);
  EXPECT_EQ(status.getMessage(),
            makeProblem().toNetworkConfig() + ": worker died");
  compiler->compileFailure = Status::ok();
  EXPECT_TRUE(engine->prepare(makeProblem()));
  EXPECT_EQ(compiler->compiled, 2);
}

// Threads that waited for a failing compilation share its failure instead of
// repeating it one after another.
TEST_F(EngineTest, SharesAFailureAmongThreads) {
  compiler->compileFailure = unavailable("worker died");
  compiler->delay = std::chrono::milliseconds(200);
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back(
        [&] { failures += getCode(makeProblem()) == StatusCode::Unavailable; });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failures, 8);
  EXPECT_EQ(compiler->compiled, 1);
}

// A wrong problem never reaches the compiler.
TEST_F(EngineTest, VerifiesProblems) {
  EXPECT_EQ(getCode(makeProblem(0)), StatusCode::InvalidArgument);
  EXPECT_EQ(compiler->tilesChosen, 0);
}

// A code object that the device refuses is a failure, also if it loads but
// lacks the kernel, and nothing stays loaded.
TEST_F(EngineTest, ReportsUnloadableCodeObjects) {
  int alive = hip.getAlive("hipModuleLoadData");
  compiler->spoil = [](Kernel &kernel) { kernel.codeObject.assign(8, 'x'); };
  EXPECT_EQ(getCode(makeProblem(1)), StatusCode::Unavailable);
  compiler->spoil = [](Kernel &kernel) { kernel.launches[0].symbol = "pool"; };
  EXPECT_EQ(getCode(makeProblem(2)), StatusCode::Unavailable);
  compiler->spoil = [](Kernel &kernel) { kernel.codeObject.clear(); };
  EXPECT_EQ(getCode(makeProblem(3)), StatusCode::InvalidArgument);
  compiler->spoil = [](Kernel &kernel) {
    kernel.launches[0].args.assign(200, KernelArg::X);
  };
  EXPECT_EQ(getCode(makeProblem(4)), StatusCode::Internal);
  EXPECT_EQ(hip.getAlive("hipModuleLoadData"), alive);
}

// Failures of the device are reported, not remembered.
TEST_F(EngineTest, ReportsFailuresOfTheDevice) {
  hip.failNext("hipGetDevice", hipErrorNoDevice);
  EXPECT_EQ(getCode(makeProblem()), StatusCode::Unavailable);
  // The code must not be InvalidArgument, because our caller passed nothing
  // wrong.
  for (const char *function : {"hipGetDevice", "hipGetDeviceProperties",
                               "hipModuleLoadData", "hipModuleGetFunction"}) {
    hip.failNext(function, hipErrorInvalidValue);
    EXPECT_EQ(getCode(makeProblem()), StatusCode::Unavailable) << function;
  }
  hip.failNext("hipModuleLoadData", hipErrorOutOfMemory);
  EXPECT_EQ(getCode(makeProblem()), StatusCode::ResourceExhausted);
  EXPECT_EQ(getCode(makeProblem()), StatusCode::Ok);
}

// A launch passes the recipe's sizes, and the pointers in the recipe's order.
TEST_F(EngineTest, LaunchesAsTheRecipeSays) {
  compiler->spoil = [](Kernel &kernel) {
    kernel.launches[0].args = {KernelArg::Y, KernelArg::Workspace, KernelArg::X,
                               KernelArg::W};
    kernel.workspaceBytes = 64;
  };
  ErrorOr<const LoadedKernel *> kernel = engine->prepare(makeProblem());
  ASSERT_TRUE(kernel);
  int x, w, y, workspace, queue;
  auto stream = reinterpret_cast<hipStream_t>(&queue);
  ASSERT_TRUE(
      engine->launch(**kernel, stream, {&x, &w, &y, &workspace}).isOk());
  ASSERT_EQ(hip.launches.size(), 1u);
  const FakeLaunch &launch = hip.launches[0];
  EXPECT_EQ(launch.symbol, "conv");
  EXPECT_EQ(launch.grid, (std::array<uint32_t, 3>{4, 2, 3}));
  EXPECT_EQ(launch.block, (std::array<uint32_t, 3>{256, 1, 1}));
  EXPECT_EQ(launch.ldsBytes, 1024u);
  EXPECT_EQ(launch.stream, stream);
  const void *expected[] = {&y, &workspace, &x, &w};
  ASSERT_EQ(launch.kernarg.size(), sizeof(expected));
  EXPECT_EQ(memcmp(launch.kernarg.data(), expected, sizeof(expected)), 0);
  EXPECT_EQ(engine->getCounters().launched, 1u);
}

// Tensor maps come first, each encoded with the address of its tensor; such a
// kernel gets its arguments one by one.
TEST_F(EngineTest, EncodesTensorMaps) {
  compiler->spoil = [](Kernel &kernel) {
    TensorMap map;
    map.tensor = KernelArg::W;
    map.rank = 4;
    kernel.launches[0].maps = {map, map};
    kernel.launches[0].maps[1].tensor = KernelArg::Y;
    kernel.launches[0].args = {KernelArg::X};
  };
  ErrorOr<const LoadedKernel *> kernel = engine->prepare(makeProblem());
  ASSERT_TRUE(kernel) << kernel.getStatus().getMessage();
  alignas(16) int x;
  alignas(16) int w;
  alignas(16) int y;
  ASSERT_TRUE(engine->launch(**kernel, nullptr, {&x, &w, &y}).isOk());
  constexpr int kRank = 4;
  auto toWord = [](const void *address) {
    return reinterpret_cast<uint64_t>(address);
  };
  const std::array expected = {toWord(&w) + kRank, toWord(&y) + kRank,
                               toWord(&x)};
  const FakeLaunch &launch = hip.launches.back();
  ASSERT_EQ(launch.kernarg.size(), sizeof(expected));
  EXPECT_EQ(memcmp(launch.kernarg.data(), expected.data(), sizeof(expected)),
            0);
  // A map without its tensor, and a map that the device refuses, are failures.
  EXPECT_EQ(engine->launch(**kernel, nullptr, {&x, nullptr, &y}).getCode(),
            StatusCode::InvalidArgument);
  hip.failNext("tesseraEncodeTensorMap", hipErrorInvalidValue);
  EXPECT_FALSE(engine->launch(**kernel, nullptr, {&x, &w, &y}).isOk());
}

// A kernel that waits by itself for the launch in front gets a dependent
// launch; others do not.
TEST_F(EngineTest, LaunchesDependents) {
  compiler->spoil = [](Kernel &kernel) {
    kernel.launches.push_back(kernel.launches[0]);
    kernel.launches[1].isDependent = true;
  };
  ErrorOr<const LoadedKernel *> kernel = engine->prepare(makeProblem());
  ASSERT_TRUE(kernel) << kernel.getStatus().getMessage();
  alignas(16) std::array<int, 4> memory{};
  ASSERT_TRUE(
      engine
          ->launch(**kernel, nullptr,
                   {memory.data(), memory.data(), memory.data(), memory.data()})
          .isOk());
  ASSERT_EQ(hip.launches.size(), 2u);
  EXPECT_FALSE(hip.launches[0].isDependent);
  EXPECT_TRUE(hip.launches[1].isDependent);
  EXPECT_EQ(hip.launches[1].kernarg, hip.launches[0].kernarg);
}

/// Makes the kernel access 16 bytes at once, or, if tensors may begin anywhere,
/// one float.
static void accessWidely(Kernel &kernel) {
  for (LaunchArg &arg : kernel.launches[0].args)
    arg.alignment = 16;
}

// For a tensor that is not aligned to the bytes that the kernel accesses at
// once, a kernel for such tensors is compiled once and launched instead.
TEST_F(EngineTest, TakesTensorsThatBeginAnywhere) {
  compiler->spoil = accessWidely;
  ErrorOr<const LoadedKernel *> kernel = engine->prepare(makeProblem());
  ASSERT_TRUE(kernel);
  alignas(16) std::array<char, 32> memory;
  auto launch = [&](size_t offset) {
    return engine->launch(**kernel, nullptr,
                          {&memory[offset], &memory[0], &memory[16]});
  };
  EXPECT_TRUE(launch(0).isOk() && launch(16).isOk());
  EXPECT_EQ(compiler->compiled, 1);
  EXPECT_TRUE(launch(4).isOk() && launch(12).isOk());
  EXPECT_EQ(compiler->compiled, 2);
  ASSERT_EQ(hip.launches.size(), 4u);
  const void *x = &memory[12];
  EXPECT_EQ(memcmp(hip.launches[3].kernarg.data(), &x, sizeof x), 0);
  // No element begins at this address.
  const Status status = launch(2);
  EXPECT_EQ(status.getCode(), StatusCode::InvalidArgument);
  EXPECT_EQ(status.getMessage(), "x begins at no multiple of 4 bytes");
  EXPECT_EQ(hip.launches.size(), 4u);
}

// A tensor map requires its tensor at a multiple of 16 bytes.
TEST_F(EngineTest, KnowsWhereTensorMapsMayBegin) {
  compiler->spoil = [](Kernel &kernel) { kernel.launches[0].maps = {{}}; };
  ErrorOr<const LoadedKernel *> kernel = engine->prepare(makeProblem());
  ASSERT_TRUE(kernel);
  alignas(16) std::array<char, 32> memory;
  compiler->spoil = nullptr;
  EXPECT_TRUE(
      engine->launch(**kernel, nullptr, {&memory[4], &memory[0], &memory[16]})
          .isOk());
  EXPECT_EQ(compiler->compiled, 2);
  EXPECT_EQ(hip.launches.back().kernarg.size(), 3 * sizeof(void *));
}

// A sentence explains the failure where the other kernel would overrun the
// caller's workspace, and where the kernel's problem is unknown.
TEST_F(EngineTest, RefusesTensorsThatBeginAnywhere) {
  compiler->spoil = accessWidely;
  ErrorOr<const LoadedKernel *> kernel = engine->prepare(makeProblem());
  ASSERT_TRUE(kernel);
  alignas(16) std::array<char, 32> memory;
  const LaunchArgs args = {&memory[4], &memory[0], &memory[16]};
  compiler->spoil = [](Kernel &other) { other.workspaceBytes = 64; };
  const Status larger = engine->launch(**kernel, nullptr, args);
  EXPECT_EQ(larger.getCode(), StatusCode::NotSupported);
  EXPECT_EQ(larger.getMessage(),
            "x begins at no multiple of 16 bytes, and the kernel for such "
            "tensors needs a larger workspace");
  const ErrorOr<std::unique_ptr<LoadedKernel>> kept =
      engine->loadKernel((*kernel)->getKernel(), /*problem=*/nullptr);
  ASSERT_TRUE(kept);
  const Status unknown = engine->launch(**kept, nullptr, args);
  EXPECT_EQ(unknown.getCode(), StatusCode::NotSupported);
  EXPECT_EQ(unknown.getMessage(),
            "x begins at no multiple of 16 bytes, which the kept kernel needs");
  EXPECT_TRUE(hip.launches.empty());
}

// A null pointer that the kernel would read is refused before the device.
TEST_F(EngineTest, RefusesNullPointers) {
  compiler->spoil = [](Kernel &kernel) {
    kernel.launches[0].args.push_back(KernelArg::Workspace);
    kernel.workspaceBytes = 640;
  };
  ErrorOr<const LoadedKernel *> kernel = engine->prepare(makeProblem());
  ASSERT_TRUE(kernel);
  int memory;
  Status status =
      engine->launch(**kernel, nullptr, {&memory, &memory, &memory});
  EXPECT_EQ(status.getCode(), StatusCode::InvalidArgument);
  EXPECT_NE(status.getMessage().find("workspace of 640 bytes"),
            std::string::npos);
  EXPECT_EQ(
      engine->launch(**kernel, nullptr, {&memory, nullptr, &memory}).getCode(),
      StatusCode::InvalidArgument);
  EXPECT_TRUE(hip.launches.empty());
}

// A pointer that the kernel does not read may be null.
TEST_F(EngineTest, NeedsNoWorkspaceThatIsNotUsed) {
  ErrorOr<const LoadedKernel *> kernel = engine->prepare(makeProblem());
  int memory;
  EXPECT_TRUE(
      engine->launch(**kernel, nullptr, {&memory, &memory, &memory}).isOk());
}

// A launch that fails is not counted.
TEST_F(EngineTest, ReportsAFailingLaunch) {
  ErrorOr<const LoadedKernel *> kernel = engine->prepare(makeProblem());
  int memory;
  hip.failNext("hipModuleLaunchKernel", hipErrorLaunchFailure);
  Status status =
      engine->launch(**kernel, nullptr, {&memory, &memory, &memory});
  EXPECT_EQ(status.getCode(), StatusCode::Unavailable);
  EXPECT_EQ(engine->getCounters().launched, 0u);
}

// Modules are unloaded with their engine.
TEST_F(EngineTest, UnloadsItsModules) {
  int before = hip.getAlive("hipModuleLoadData");
  EXPECT_TRUE(engine->prepare(makeProblem(1)) &&
              engine->prepare(makeProblem(2)));
  EXPECT_EQ(hip.getAlive("hipModuleLoadData"), before + 2);
  engine.reset();
  EXPECT_EQ(hip.getAlive("hipModuleLoadData"), before);
}

// Without a compiler a miss is answered with a sentence that says so.
TEST_F(EngineTest, WorksWithoutACompiler) {
  engine = std::move(*Engine::create(gpu, {}));
  Status status = engine->prepare(makeProblem()).getStatus();
  EXPECT_EQ(status.getCode(), StatusCode::NotSupported);
  EXPECT_NE(status.getMessage().find("there is no compiler"),
            std::string::npos);
}

// A hit is one hash and one lookup: it allocates nothing.
TEST_F(EngineTest, HitsAllocateNothing) {
  ConvProblem problem = makeProblem();
  ASSERT_TRUE(engine->prepare(problem));
  uint64_t before = allocations;
  bool isFound = static_cast<bool>(engine->prepare(problem));
  EXPECT_EQ(allocations, before);
  EXPECT_TRUE(isFound);
}

// A kernel of a named tile belongs to the caller until it is adopted; then
// every lookup finds it, and the previous one stays loaded.
TEST_F(EngineTest, AdoptsAKernel) {
  const ErrorOr<const LoadedKernel *> before = engine->prepare(makeProblem());
  ASSERT_TRUE(before) << before.getStatus().getMessage();
  auto kernel = engine->prepareTile(makeProblem(), {"igemm", "other"});
  ASSERT_TRUE(kernel) << kernel.getStatus().getMessage();
  EXPECT_EQ(*engine->prepare(makeProblem()), *before);
  const LoadedKernel *adopted = kernel->get();
  ASSERT_TRUE(engine->adopt(makeProblem(), std::move(*kernel)).isOk());
  EXPECT_EQ(*engine->prepare(makeProblem()), adopted);
  EXPECT_EQ(adopted->getKernel().tile, "igemm-other");
  EXPECT_EQ(hip.getAlive("hipModuleLoadData"), 2);
}

// A kernel that is not adopted is unloaded with its owner.
TEST_F(EngineTest, DropsAKernelThatNobodyAdopts) {
  {
    auto kernel = engine->prepareTile(makeProblem(), {"igemm", "other"});
    ASSERT_TRUE(kernel) << kernel.getStatus().getMessage();
    EXPECT_EQ(hip.getAlive("hipModuleLoadData"), 1);
  }
  EXPECT_EQ(hip.getAlive("hipModuleLoadData"), 0);
}
