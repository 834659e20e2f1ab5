//===- GenericKernelTest.cpp - When a family's kernel serves a problem ----===//

#include "runtime/Engine/GenericKernel.h"

#include "runtime/Engine/Engine.h"
#include "test/unit/Support/FakeCompiler.h"
#include "test/unit/Support/TemporaryDirectory.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace tessera;
using namespace tessera::test;

namespace {
/// A test with engines that may share a database.
struct GenericKernel : testing::Test {
  const GpuApi &gpu = loadFakeHip();
  std::shared_ptr<FakeCompiler> compiler = std::make_shared<FakeCompiler>();
  TemporaryDirectory folder;

  void SetUp() override { getFakeHip().reset(); }

  std::unique_ptr<Engine> makeEngine(GenericOptions generic,
                                     bool hasDatabase = false) {
    EngineOptions options;
    options.compiler = compiler;
    options.generic = generic;
    if (hasDatabase)
      options.cacheDirectory = folder.getPath();
    return std::move(*Engine::create(gpu, std::move(options)));
  }
};
} // namespace

static Problem makeProblem(int64_t batch) {
  ConvProblem problem;
  problem.batch = batch;
  return problem;
}

/// Prepares the problem; the fake compiler makes a workgroup for each image.
static const LoadedKernel *prepare(Engine &engine, int64_t batch) {
  const ErrorOr<const LoadedKernel *> kernel =
      engine.prepare(makeProblem(batch));
  EXPECT_TRUE(kernel) << kernel.getStatus().getMessage();
  if (!kernel)
    return nullptr;
  const LaunchRecipe &launch = (*kernel)->getKernel().launches[0];
  EXPECT_EQ(launch.grid[0], batch);
  EXPECT_FALSE(launch.hasUnknownSizes());
  return *kernel;
}

// The first problems of a family get kernels of their own; then one kernel
// serves all, without a compilation or a module.
TEST_F(GenericKernel, ServesFamilyAfterSomeProblems) {
  auto engine = makeEngine({GenericUse::Keep, 2});
  prepare(*engine, 1);
  prepare(*engine, 2);
  EXPECT_EQ(compiler->compiled, 2);
  EXPECT_EQ(engine->getCounters().generic, 0u);
  for (int64_t batch = 3; batch < 20; ++batch)
    prepare(*engine, batch);
  EXPECT_EQ(compiler->compiled, 3);
  EXPECT_EQ(engine->getCounters().generic, 17u);
  // They share its code.
  const LoadedKernel *first = prepare(*engine, 3), *last = prepare(*engine, 19);
  EXPECT_FALSE(first->getCodeObject().empty());
  EXPECT_EQ(&first->getCodeObject(), &last->getCodeObject());
  EXPECT_TRUE(last->getKernel().codeObject.empty());
  EXPECT_EQ(getFakeHip().getCalls("hipModuleLoadData"), 3);
}

// A problem that comes back gets its own kernel, once; others keep theirs.
TEST_F(GenericKernel, SwitchesAfterUses) {
  auto engine = makeEngine({GenericUse::Switch, 0, 3});
  const LoadedKernel *first = prepare(*engine, 5);
  const LoadedKernel *other = prepare(*engine, 6);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(prepare(*engine, 5), first);
  engine->drain();
  EXPECT_EQ(compiler->compiled, 1);
  prepare(*engine, 5);
  engine->drain();
  EXPECT_EQ(compiler->compiled, 2);
  EXPECT_EQ(engine->getCounters().promoted, 1u);
  const LoadedKernel *own = prepare(*engine, 5);
  EXPECT_NE(own, first);
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(prepare(*engine, 5), own);
  EXPECT_EQ(prepare(*engine, 6), other);
  engine->drain();
  EXPECT_EQ(compiler->compiled, 2);
}

// The deterministic mode: the kernel of a problem never changes.
TEST_F(GenericKernel, KeepsKernel) {
  auto engine = makeEngine({GenericUse::Keep, 0, 3});
  const LoadedKernel *first = prepare(*engine, 5);
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(prepare(*engine, 5), first);
  engine->drain();
  EXPECT_EQ(compiler->compiled, 1);
  EXPECT_EQ(engine->getCounters().promoted, 0u);
}

// Without the option every problem has its own kernel.
TEST_F(GenericKernel, IsNotUsedUnasked) {
  auto engine = makeEngine({GenericUse::Never, 0});
  for (int64_t batch = 1; batch < 10; ++batch)
    prepare(*engine, batch);
  EXPECT_EQ(compiler->compiled, 9);
  EXPECT_EQ(engine->getCounters().generic, 0u);
}

// A stored kernel for unknown sizes serves the first problem of a process; a
// stored kernel of the problem's own is preferred.
TEST_F(GenericKernel, IsFoundInDatabase) {
  {
    auto engine = makeEngine({GenericUse::Keep, 1}, /*hasDatabase=*/true);
    prepare(*engine, 1);
    prepare(*engine, 2);
    EXPECT_EQ(compiler->compiled, 2);
  }
  auto engine = makeEngine({GenericUse::Keep, 100}, /*hasDatabase=*/true);
  prepare(*engine, 7);
  prepare(*engine, 1);
  EXPECT_EQ(compiler->compiled, 2);
  EXPECT_EQ(engine->getCounters().generic, 1u);
  EXPECT_EQ(engine->getCounters().fromDatabase, 2u);
}

// A problem of a known family asks the runtime for nothing that takes long: to
// describe a device takes CUDA's a millisecond.
TEST_F(GenericKernel, AsksForTheChipOnce) {
  auto engine = makeEngine({GenericUse::Keep, 0});
  prepare(*engine, 1);
  const int asked = getFakeHip().getCalls("hipGetDeviceProperties");
  EXPECT_GT(asked, 0);
  prepare(*engine, 2);
  EXPECT_EQ(engine->getCounters().generic, 2u);
  EXPECT_EQ(getFakeHip().getCalls("hipGetDeviceProperties"), asked);
}

// Every problem looks for a stored kernel of its family, not the first alone:
// another thread may be loading it, or another process may have stored it
// since.
TEST_F(GenericKernel, IsFoundByLaterProblems) {
  auto engine = makeEngine({GenericUse::Keep, 100}, /*hasDatabase=*/true);
  prepare(*engine, 1);
  EXPECT_EQ(engine->getCounters().generic, 0u);
  prepare(*makeEngine({GenericUse::Keep, 0}, /*hasDatabase=*/true), 2);
  EXPECT_EQ(compiler->compiled, 2);
  prepare(*engine, 3);
  EXPECT_EQ(engine->getCounters().generic, 1u);
  EXPECT_EQ(compiler->compiled, 2);
}

// Convolutions are left out where that is asked for, also of what is stored.
TEST_F(GenericKernel, IsNoConvolutionUnasked) {
  {
    auto engine = makeEngine({GenericUse::Keep, 0}, /*hasDatabase=*/true);
    prepare(*engine, 1);
    EXPECT_EQ(engine->getCounters().generic, 1u);
  }
  GenericOptions generic{GenericUse::Keep, 0};
  generic.convolutions = false;
  auto engine = makeEngine(generic, /*hasDatabase=*/true);
  prepare(*engine, 2);
  EXPECT_EQ(engine->getCounters().generic, 0u);
}

// A client may say while the process runs that sizes do not repeat.
TEST_F(GenericKernel, IsAConvolutionWhereNewSizesAreExpected) {
  GenericOptions generic{GenericUse::Switch, 4};
  generic.convolutions = false;
  auto engine = makeEngine(generic);
  prepare(*engine, 1);
  expectNewSizes(true);
  for (int64_t batch = 2; batch < 10; ++batch)
    prepare(*engine, batch);
  expectNewSizes(false);
  EXPECT_EQ(compiler->compiled, 2);
  EXPECT_EQ(engine->getCounters().generic, 8u);
}

/// Gives every kernel for known sizes a workspace, unless it must do without,
/// which only the number of grid rows tells here: the fake compiler's problems
/// are alike.
static void addWorkspace(Kernel &kernel) {
  const bool isOwn = kernel.launches[0].grid[0] != 0;
  kernel.workspaceBytes = isOwn ? 64 : 32;
}

// A problem that clients have been told a workspace of keeps its kernel if its
// own needs a larger one.
TEST_F(GenericKernel, KeepsKernelWhoseOwnNeedsMore) {
  compiler->spoil = addWorkspace;
  auto engine = makeEngine({GenericUse::Switch, 0, 1});
  const LoadedKernel *first = prepare(*engine, 5);
  prepare(*engine, 5);
  engine->drain();
  EXPECT_EQ(prepare(*engine, 5), first);
  EXPECT_EQ(engine->getCounters().promoted, 0u);
}

/// The same, but the first own kernel alone, and the other two without.
static void addWorkspaceOnce(Kernel &kernel) {
  static int own = 0;
  const bool isOwn = kernel.launches[0].grid[0] != 0;
  kernel.workspaceBytes = isOwn && own++ == 0 ? 64 : 0;
}

// A convolution that was told of no workspace gets its own kernel without one.
TEST_F(GenericKernel, SwitchesToKernelWithoutWorkspace) {
  compiler->spoil = addWorkspaceOnce;
  auto engine = makeEngine({GenericUse::Switch, 0, 1});
  const LoadedKernel *first = prepare(*engine, 5);
  prepare(*engine, 5);
  engine->drain();
  const LoadedKernel *own = prepare(*engine, 5);
  EXPECT_NE(own, first);
  EXPECT_EQ(own->getKernel().workspaceBytes, 0u);
  EXPECT_EQ(compiler->compiled, 3);
  EXPECT_EQ(engine->getCounters().promoted, 1u);
}

// The general convolution serves what it does faster than a compilation.
TEST_F(GenericKernel, ServesSmallConvolutionsByGeneral) {
  ConvProblem conv;
  conv.inChannels = conv.outChannels = 64;
  conv.in = {32, 32};
  EXPECT_TRUE(isServedGenerically(conv, "general-b4r1t256s1"));
  conv.batch = 4096; // 3.4e10 operations.
  EXPECT_FALSE(isServedGenerically(conv, "general-b4r1t256s1"));
  EXPECT_TRUE(isServedGenerically(conv, "igemm-m128n64k32-w2x2-b2-mfma32"));
}

// If the family has no kernel, every problem gets its own.
TEST_F(GenericKernel, FallsBackToOwnKernel) {
  compiler->refusesUnknownSizes = true;
  auto engine = makeEngine({GenericUse::Switch, 0});
  for (int64_t batch = 1; batch < 10; ++batch)
    prepare(*engine, batch);
  EXPECT_EQ(engine->getCounters().generic, 0u);
  EXPECT_EQ(engine->getCounters().compiled, 9u);
}

// Sizes that a kernel's arithmetic does not reach are refused, so that the
// problem's own kernel is made.
TEST_F(GenericKernel, RefusesTooManyPoints) {
  Kernel kernel;
  LaunchRecipe &launch = kernel.launches.emplace_back();
  launch.block = {256, 1, 1};
  launch.grid[0] = 0;
  launch.workgroups = SizeExpr::makeSize(KernelArg::X, 0) * 1024;
  launch.args = {
      LaunchArg(KernelArg::Divisor, SizeExpr::makeSize(KernelArg::X, 0) * 3)};
  const ErrorOr<Kernel> bound = bindSizes(kernel, makeProblem(8191));
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->launches[0].grid[0], 8191u * 1024);
  EXPECT_EQ(bound->launches[0].args[0].size.getNumber(),
            static_cast<int64_t>(makeDivisor(8191 * 3)));
  EXPECT_EQ(bindSizes(kernel, makeProblem(8192)).getStatus().getCode(),
            StatusCode::NotSupported);
}

// Tensor maps become those of the problem; one that is beyond what a map can
// say is refused.
TEST_F(GenericKernel, BindsTensorMaps) {
  Kernel kernel;
  LaunchRecipe &launch = kernel.launches.emplace_back();
  launch.workgroups = SizeExpr::makeSize(KernelArg::X, 0);
  launch.maps.push_back(
      *parseTensorMap("x:f16:tiled:64,xd0.8.*:128:64,16:1,1"));
  const ErrorOr<Kernel> bound = bindSizes(kernel, makeProblem(7));
  ASSERT_TRUE(bound) << bound.getStatus().getMessage();
  EXPECT_EQ(bound->launches[0].maps[0].toText(),
            "x:f16:tiled:64,56:128:64,16:1,1");
  launch.maps.push_back(
      *parseTensorMap("x:f16:im2col:64,xd0,9,3:128,128,1152:64,64:1,1,1,1:0,0:"
                      "200~xd0,0"));
  EXPECT_EQ(bindSizes(kernel, makeProblem(7)).getStatus().getCode(),
            StatusCode::NotSupported);
  EXPECT_TRUE(bindSizes(kernel, makeProblem(100)));
}

// The workspace becomes as large as the launch that needs most, and what lies
// in it is found by the sizes, by pointers and by maps.
TEST_F(GenericKernel, BindsWorkspace) {
  const SizeExpr batch = SizeExpr::makeSize(KernelArg::X, 0);
  Kernel kernel;
  kernel.workspaceBytes = 64;
  for (const SizeExpr &bytes : {batch * 512, SizeExpr()}) {
    LaunchRecipe &launch = kernel.launches.emplace_back();
    launch.workspace = bytes;
    launch.args = {LaunchArg(KernelArg::Workspace, batch * 256),
                   LaunchArg(KernelArg::X)};
    launch.maps.push_back(
        *parseTensorMap("workspace+xd0.256.*:f16:tiled:64,8:128:64,8:1,1"));
  }
  const ErrorOr<Kernel> bound = bindSizes(kernel, makeProblem(7));
  ASSERT_TRUE(bound) << bound.getStatus().getMessage();
  EXPECT_EQ(bound->workspaceBytes, 7u * 512);
  for (const LaunchRecipe &launch : bound->launches) {
    EXPECT_FALSE(launch.hasUnknownSizes());
    EXPECT_EQ(launch.args[0].size.getNumber(), 7 * 256);
    EXPECT_EQ(launch.maps[0].offset, 7u * 256);
    EXPECT_EQ(launch.maps[0].toText(),
              "workspace+1792:f16:tiled:64,8:128:64,8:1,1");
  }
}

// Kernels count bytes of a workspace in 32 bits.
TEST_F(GenericKernel, RefusesTooLargeWorkspace) {
  constexpr int64_t kMega = 1 << 20;
  Kernel kernel;
  kernel.launches.emplace_back().workspace =
      SizeExpr::makeSize(KernelArg::X, 0) * kMega;
  EXPECT_TRUE(bindSizes(kernel, makeProblem(4095)));
  const ErrorOr<Kernel> bound = bindSizes(kernel, makeProblem(4096));
  ASSERT_FALSE(bound);
  EXPECT_EQ(bound.getStatus().getCode(), StatusCode::NotSupported);
}

// The launch passes what the sizes give.
TEST_F(GenericKernel, PassesSizes) {
  auto engine = makeEngine({GenericUse::Keep, 0});
  const LoadedKernel *kernel = prepare(*engine, 12);
  char tensor = 0;
  LaunchArgs args;
  args.x = args.w = args.y = &tensor;
  ASSERT_TRUE(engine->launch(*kernel, nullptr, args).isOk());
  const std::vector<char> &kernarg = getFakeHip().launches.back().kernarg;
  ASSERT_EQ(kernarg.size(), 4 * sizeof(uint64_t));
  uint64_t size = 0;
  std::memcpy(&size, kernarg.data() + 3 * sizeof(size), sizeof(size));
  EXPECT_EQ(size, 12u * 5);
}
