//===- FuzzTest.cpp - Random calls never crash ----------------------------===//
//
// Calls every exported function that has a body in random order, with null
// pointers, objects that earlier calls made, invalid enumerators and numbers
// that are too small or too large (Fuzzer.h). The engine is the real one, on a
// device that computes nothing. Every status is a right answer; what must not
// happen is a crash.
//
//===----------------------------------------------------------------------===//

#include "capi/lib/Common/Library.h"
#include "runtime/Worker/WorkerProcess.h"
#include "test/unit/Support/FakeCompiler.h"
#include "test/unit/capi/Fuzzer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sys/resource.h>
#include <thread>

using namespace tessera;
using namespace tessera::test;

//===----------------------------------------------------------------------===//
// The engine
//===----------------------------------------------------------------------===//

/// All arguments that a launch for the problem may take.
static std::vector<LaunchArg> getArgs(const Problem &problem) {
  std::vector<LaunchArg> args;
  if (const RowWiseProblem *rows = problem.getRows()) {
    for (int tensor = 0; tensor < rows->tensorCount; ++tensor)
      args.push_back(getTensorArg(tensor));
    for (int scalar = 0; scalar < kMaxScalars; ++scalar)
      args.push_back(getScalarArg(scalar));
    return args;
  }
  args = {KernelArg::X, KernelArg::Y, KernelArg::Alpha, KernelArg::Beta};
  const ConvProblem *conv = problem.getConv();
  if (conv)
    args.push_back(KernelArg::W);
  if (conv && conv->epilogue.bias)
    args.push_back(KernelArg::Bias);
  if (conv && conv->epilogue.residual)
    args.push_back(KernelArg::Residual);
  if (conv && conv->epilogue.statistics)
    args.insert(args.end(), {KernelArg::Mean, KernelArg::Variance});
  if (conv && conv->epilogue.normGradient != NormGradient::None)
    args.insert(args.end(), {norm_gradient::kInput, norm_gradient::kSum});
  if (!conv && problem.getPool()->indexType != IndexType::None)
    args.push_back(KernelArg::Indices);
  return args;
}

/// Tuning a drawn problem may take as much memory as the machine has, which
/// other tests need.
static void limitMemory() {
  if (!kWorkersLimitMemory)
    return;
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_AS, &limit), 0);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, rlim_t(4) << 30);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
}

namespace {
/// A compiler that sometimes fails, and sometimes makes a kernel that needs a
/// workspace.
class FuzzCompiler : public FakeCompiler {
public:
  ErrorOr<Kernel> compile(const Problem &problem, const TileConfig &tile,
                          const GpuTarget &target) override {
    ErrorOr<Kernel> kernel = FakeCompiler::compile(problem, tile, target);
    if (compiled % 64 == 0)
      return unavailable("the fuzzer's compiler has crashed");
    if (!kernel)
      return kernel;
    std::vector<LaunchArg> &args = kernel->launches[0].args;
    args = getArgs(problem);
    if (compiled % 5 == 0) {
      args.push_back(KernelArg::Workspace);
      kernel->workspaceBytes = 64;
    }
    return kernel;
  }
};

class Fuzz : public testing::Test {
protected:
  void SetUp() override {
    setenv("MIOPEN_LOG_LEVEL", "1", 1); // Read at the first message.
    limitMemory();
    getFakeHip().reset();
    auto engine =
        Engine::create(loadFakeHip(), {std::make_shared<FuzzCompiler>(), {}});
    ASSERT_TRUE(engine);
    capi::replaceEngineForTesting(std::move(*engine));
  }
  void TearDown() override { capi::replaceEngineForTesting(nullptr); }
};
} // namespace

/// Makes one of the next calls of the device fail.
static void spoilDevice(Fuzzer &fuzzer) {
  static constexpr std::array kFunctions = {
      "hipMalloc",         "hipGetDevice",          "hipEventCreate",
      "hipModuleLoadData", "hipModuleLaunchKernel", "hipGetDeviceProperties"};
  static constexpr std::array kErrors = {
      hipErrorOutOfMemory, hipErrorInvalidValue, hipErrorLaunchFailure};
  getFakeHip().reset();
  getFakeHip().failNext(kFunctions[fuzzer.drawBelow(kFunctions.size())],
                        kErrors[fuzzer.drawBelow(kErrors.size())]);
}

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

namespace {
struct Function {
  const char *name;
  bool (*call)(Fuzzer &);
  size_t objectCount; ///< Objects among its arguments.
};
} // namespace

#define FUNCTION(name)                                                         \
  {#name, [](Fuzzer &fuzzer) { return fuzzer.call(name, #name); },             \
   Fuzzer::countObjects(name)},
static constexpr Function kExported[] = {
#include "every_function.inc"
};

#define TESSERA_NOT_IMPLEMENTED(name) #name,
static constexpr std::string_view kWithoutBody[] = {
#include "capi/lib/Common/NotImplemented.def"
};

static std::vector<Function> getFunctions() {
  std::vector<Function> functions;
  for (const Function &function : kExported)
    if (std::ranges::find(kWithoutBody, function.name) ==
        std::end(kWithoutBody))
      functions.push_back(function);
  return functions;
}

/// Functions whose tensors have to fit each other in so many lengths and types
/// that drawn ones hardly ever do. They are called like the others; that they
/// succeed is tested on the emulated device (ApiRowWiseTests).
static constexpr std::string_view kSeldomFitting[] = {
    "miopenCTCLoss",
    "miopenFusedAdamWithOutput",
    "miopenGetMultiMarginLossForwardWorkspaceSize",
    "miopenGetitemBackward",
    "miopenKthvalueForward",
    "miopenMultiMarginLossForward",
    "miopenTransformersAdamWWithOutput",
};

/// The seed is fixed, unless --gtest_shuffle --gtest_random_seed=N gives
/// another.
static unsigned getSeed() {
  return 2026 + testing::UnitTest::GetInstance()->random_seed();
}

/// Destroys the objects that are left.
static void cleanUp(Fuzzer &fuzzer, const std::vector<Function> &functions) {
  for (int round = 0; round < 10000 && fuzzer.countObjects() != 0; ++round)
    for (const Function &function : functions)
      if (FunctionTraits(function.name).isDestroyer)
        function.call(fuzzer);
  EXPECT_EQ(fuzzer.countObjects(), 0u);
}

// No sequence of calls crashes, and every function whose arguments can be drawn
// succeeds at least once.
// Functions that have not succeeded yet are called more often.
TEST_F(Fuzz, RandomCallsGiveStatuses) {
  constexpr int kCalls = 1000000;
  const std::vector<Function> functions = getFunctions();
  std::vector<Function> missing = functions;
  std::erase_if(missing, [](const Function &function) {
    return std::ranges::find(kSeldomFitting, function.name) !=
           std::end(kSeldomFitting);
  });
  Fuzzer fuzzer(getSeed());
  for (int i = 0; i < kCalls && !HasFailure(); ++i) {
    if (i % 64 == 0)
      spoilDevice(fuzzer);
    const std::vector<Function> &pool =
        missing.empty() || i % 4 == 0 ? functions : missing;
    const Function function =
        pool[fuzzer.drawBelow(static_cast<uint32_t>(pool.size()))];
    if (function.call(fuzzer))
      std::erase_if(missing, [&](const Function &other) {
        return other.name == function.name;
      });
  }
  for (const Function &function : missing)
    ADD_FAILURE() << function.name << " never succeeded";
  cleanUp(fuzzer, functions);
}

// No call crashes if memory runs out in the middle of it. Nothing leaks, and
// the next call works.
TEST_F(Fuzz, FailedAllocationsGiveStatuses) {
  constexpr int kCalls = 200000;
  const std::vector<Function> functions = getFunctions();
  Fuzzer fuzzer(getSeed());
  fuzzer.failAllocations();
  for (int i = 0; i < kCalls && !HasFailure(); ++i)
    functions[fuzzer.drawBelow(static_cast<uint32_t>(functions.size()))].call(
        fuzzer);
  cleanUp(fuzzer, functions);
}

// Every function refuses an object of another type and a destroyed object in
// each of its arguments, and names the mistake. Destroying an object twice is
// one of the cases.
TEST_F(Fuzz, BadObjectsAreTold) {
  using Bad = Fuzzer::Bad;
  Fuzzer fuzzer(getSeed());
  fuzzer.setDestroyed(UsualObjects().getAll());
  size_t count = 0;
  for (const Function &function : getFunctions())
    for (size_t object = 0; object < function.objectCount; ++object)
      for (Bad bad : {Bad::OtherType, Bad::Destroyed}) {
        fuzzer.spoilObject(object, bad);
        EXPECT_FALSE(function.call(fuzzer));
        EXPECT_EQ(fuzzer.getLastStatus(), miopenStatusBadParm)
            << function.name << ", object " << object;
        const std::string_view message = tesseraGetLastErrorMessage();
        EXPECT_NE(message.find(bad == Bad::Destroyed
                                   ? " that has been destroyed"
                                   : " descriptor, not a"),
                  message.npos)
            << message;
        ++count;
      }
  EXPECT_GT(count, 500u);
}

// Calls of several threads, each with objects of its own, do not crash either.
TEST_F(Fuzz, ThreadsGetStatuses) {
  constexpr int kThreads = 4, kCalls = 10000;
  const std::vector<Function> functions = getFunctions();
  std::vector<std::unique_ptr<Fuzzer>> fuzzers;
  for (unsigned thread = 0; thread < kThreads; ++thread)
    fuzzers.push_back(std::make_unique<Fuzzer>(getSeed() + thread));
  std::vector<std::thread> threads;
  for (const std::unique_ptr<Fuzzer> &owned : fuzzers)
    threads.emplace_back([&, &fuzzer = *owned] {
      for (int i = 0; i < kCalls; ++i)
        functions[fuzzer.drawBelow(static_cast<uint32_t>(functions.size()))]
            .call(fuzzer);
      cleanUp(fuzzer, functions);
    });
  for (std::thread &thread : threads)
    thread.join();
}
