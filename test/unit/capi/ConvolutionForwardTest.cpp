//===- ConvolutionForwardTest.cpp - Find, execute, immediate mode ---------===//

#include "capi/lib/Handle/CompileOnlyEngine.h"
#include "test/unit/capi/Descriptors.h"
#include "test/unit/capi/FakeEngine.h"

#include <tessera/tessera.h>

#include <string>

using namespace tessera;
using namespace tessera::test;

static const float kOne = 1, kZero = 0;

namespace {
/// A handle on a fake engine, a 3x3 problem, and pointers that nothing
/// dereferences.
class ConvolutionForward : public FakeEngineTest {
protected:
  void SetUp() override {
    FakeEngineTest::SetUp();
    ASSERT_EQ(miopenCreate(&handle), miopenStatusSuccess);
  }
  void TearDown() override {
    ASSERT_EQ(miopenDestroy(handle), miopenStatusSuccess);
    FakeEngineTest::TearDown();
  }

  miopenStatus_t find(int requested = 1, size_t workspaceBytes = 0,
                      void *workspace = nullptr) {
    return miopenFindConvolutionForwardAlgorithm(
        handle, x, xData, w, wData, conv, y, yData, requested, &found, &perf,
        workspace, workspaceBytes, false);
  }
  miopenStatus_t execute(size_t workspaceBytes = 0, void *workspace = nullptr,
                         const void *alpha = &kOne, const void *beta = &kZero) {
    return miopenConvolutionForward(handle, alpha, x, xData, w, wData, conv,
                                    miopenConvolutionFwdAlgoDirect, beta, y,
                                    yData, workspace, workspaceBytes);
  }
  miopenStatus_t immediate(uint64_t solution) {
    return miopenConvolutionForwardImmediate(handle, w, wData, x, xData, conv,
                                             y, yData, nullptr, 0, solution);
  }
  /// The id of the first solution.
  uint64_t getSolution() {
    miopenConvSolution_t solution{};
    size_t count = 0;
    EXPECT_EQ(miopenConvolutionForwardGetSolution(handle, w, x, conv, y, 1,
                                                  &count, &solution),
              miopenStatusSuccess);
    EXPECT_EQ(count, 1u);
    return solution.solution_id;
  }

  miopenHandle_t handle = nullptr;
  TensorDesc x{miopenTensorNCHW, {1, 4, 8, 8}};
  TensorDesc w{miopenTensorNCHW, {8, 4, 3, 3}};
  TensorDesc y{miopenTensorNCHW, {1, 8, 6, 6}};
  ConvDesc conv;
  int dataX = 0, dataW = 0, dataY = 0, dataWorkspace = 0;
  void *xData = &dataX, *wData = &dataW, *yData = &dataY;
  int found = -1;
  miopenConvAlgoPerf_t perf{};
};
} // namespace

// Find runs the kernel and reports its time and an algorithm below 4, because
// DeepBench throws on any other.
TEST_F(ConvolutionForward, FindReportsDirectAndATime) {
  ASSERT_EQ(find(4), miopenStatusSuccess) << tesseraGetLastErrorMessage();
  EXPECT_EQ(found, 1);
  EXPECT_EQ(perf.fwd_algo, miopenConvolutionFwdAlgoDirect);
  EXPECT_FLOAT_EQ(perf.time, kFakeEventMs);
  EXPECT_EQ(perf.memory, 0u);
  ASSERT_FALSE(engine->launches.empty());
  EXPECT_EQ(engine->launches[0].args.x, xData);
  EXPECT_EQ(engine->launches[0].args.w, wData);
  EXPECT_EQ(engine->launches[0].args.y, yData);
}

// Find refuses a request for no results, and every null pointer.
TEST_F(ConvolutionForward, FindChecksItsArguments) {
  EXPECT_EQ(find(0), miopenStatusBadParm);
  auto call = [&](const void *xPtr, const void *wPtr, void *yPtr, int *count,
                  miopenConvAlgoPerf_t *results) {
    return miopenFindConvolutionForwardAlgorithm(handle, x, xPtr, w, wPtr, conv,
                                                 y, yPtr, 1, count, results,
                                                 nullptr, 0, false);
  };
  EXPECT_EQ(call(nullptr, wData, yData, &found, &perf), miopenStatusBadParm);
  EXPECT_EQ(call(xData, nullptr, yData, &found, &perf), miopenStatusBadParm);
  EXPECT_EQ(call(xData, wData, nullptr, &found, &perf), miopenStatusBadParm);
  EXPECT_EQ(call(xData, wData, yData, nullptr, &perf), miopenStatusBadParm);
  EXPECT_EQ(call(xData, wData, yData, &found, nullptr), miopenStatusBadParm);
  EXPECT_TRUE(engine->launches.empty());
}

// With too little workspace Find skips the kernel and reports that it found
// nothing.
TEST_F(ConvolutionForward, FindWithTooLittleWorkspaceFindsNothing) {
  engine->kernel.kernel.workspaceBytes = 64;
  EXPECT_EQ(find(1, 63, &dataWorkspace), miopenStatusUnknownError);
  EXPECT_EQ(find(1, 64, &dataWorkspace), miopenStatusSuccess);
  EXPECT_EQ(perf.memory, 64u);
}

// Execution works without a Find before it, and uses the stream of the handle.
TEST_F(ConvolutionForward, ExecutesWithoutFind) {
  auto stream = reinterpret_cast<hipStream_t>(&dataWorkspace);
  ASSERT_EQ(miopenSetStream(handle, stream), miopenStatusSuccess);
  ASSERT_EQ(execute(), miopenStatusSuccess);
  ASSERT_EQ(engine->launches.size(), 1u);
  EXPECT_EQ(engine->launches[0].stream, stream);
  EXPECT_EQ(engine->launches[0].args.y, yData);
  EXPECT_EQ(engine->problems.back().getConv()->filter, (Spatial{3, 3}));
}

// alpha and beta other than 1 and 0 are not implemented, and null is BadParm.
TEST_F(ConvolutionForward, ScalingIsPassedOn) {
  const float half = 0.5f;
  EXPECT_EQ(execute(0, nullptr, nullptr, &kZero), miopenStatusBadParm);
  EXPECT_EQ(execute(0, nullptr, &kOne, nullptr), miopenStatusBadParm);
  EXPECT_TRUE(engine->launches.empty());
  EXPECT_EQ(execute(0, nullptr, &half, &kZero), miopenStatusSuccess);
  EXPECT_EQ(engine->launches.back().args.alpha, 0.5);
  EXPECT_EQ(execute(0, nullptr, &kOne, &half), miopenStatusSuccess);
  EXPECT_EQ(engine->launches.back().args.beta, 0.5);
}

// A workspace may be larger than needed. With one that is too small or missing
// the kernel is not launched.
TEST_F(ConvolutionForward, WorkspaceIsCheckedBeforeTheLaunch) {
  ASSERT_EQ(execute(1000, &dataWorkspace), miopenStatusSuccess);
  engine->kernel.kernel.workspaceBytes = 64;
  EXPECT_EQ(execute(63, &dataWorkspace), miopenStatusBadParm);
  EXPECT_EQ(execute(64, nullptr), miopenStatusBadParm);
  ASSERT_EQ(engine->launches.size(), 1u);
  ASSERT_EQ(execute(64, &dataWorkspace), miopenStatusSuccess);
  EXPECT_EQ(engine->launches.back().args.workspace, &dataWorkspace);
}

// Where the workspace is too small, a kernel without one runs, and Find reports
// it.
TEST_F(ConvolutionForward, RunsWithoutAWorkspace) {
  FakeKernel other;
  engine->withoutWorkspace = &other;
  engine->kernel.kernel.workspaceBytes = 64;
  ASSERT_EQ(execute(63, &dataWorkspace), miopenStatusSuccess);
  EXPECT_TRUE(engine->problems.back().isWithoutWorkspace());
  ASSERT_EQ(execute(64, &dataWorkspace), miopenStatusSuccess);
  EXPECT_FALSE(engine->problems.back().isWithoutWorkspace());
  EXPECT_EQ(engine->launches.size(), 2u);
  miopenConvAlgoPerf_t result;
  int count = 0;
  ASSERT_EQ(miopenFindConvolutionForwardAlgorithm(handle, x, xData, w, wData,
                                                  conv, y, yData, 1, &count,
                                                  &result, nullptr, 0, false),
            miopenStatusSuccess);
  ASSERT_EQ(count, 1);
  EXPECT_EQ(result.memory, 0u);
}

// Null data, null descriptors and unknown algorithms are refused before the
// engine is called.
TEST_F(ConvolutionForward, ExecuteChecksItsArguments) {
  auto call = [&](miopenHandle_t h, miopenTensorDescriptor_t xDesc,
                  const void *xPtr, const void *wPtr, void *yPtr, int algo) {
    return miopenConvolutionForward(h, &kOne, xDesc, xPtr, w, wPtr, conv,
                                    static_cast<miopenConvFwdAlgorithm_t>(algo),
                                    &kZero, y, yPtr, nullptr, 0);
  };
  EXPECT_EQ(call(nullptr, x, xData, wData, yData, 1), miopenStatusBadParm);
  EXPECT_EQ(call(handle, nullptr, xData, wData, yData, 1), miopenStatusBadParm);
  EXPECT_EQ(call(handle, x, nullptr, wData, yData, 1), miopenStatusBadParm);
  EXPECT_EQ(call(handle, x, xData, nullptr, yData, 1), miopenStatusBadParm);
  EXPECT_EQ(call(handle, x, xData, wData, nullptr, 1), miopenStatusBadParm);
  EXPECT_EQ(call(handle, x, xData, wData, yData, 4), miopenStatusBadParm);
  EXPECT_EQ(call(handle, x, xData, wData, yData, 7), miopenStatusBadParm);
  EXPECT_TRUE(engine->problems.empty());
  for (int algo : {0, 1, 2, 3, 5, 6})
    EXPECT_EQ(call(handle, x, xData, wData, yData, algo), miopenStatusSuccess);
}

// Inconsistent tensors are BadParm in every function that takes a problem.
TEST_F(ConvolutionForward, InconsistentProblemsAreBadParm) {
  ASSERT_EQ(miopenSet4dTensorDescriptor(w, miopenFloat, 8, 3, 3, 3), 0);
  size_t size;
  miopenConvSolution_t solution;
  EXPECT_EQ(find(), miopenStatusBadParm);
  EXPECT_EQ(execute(), miopenStatusBadParm);
  EXPECT_EQ(
      miopenConvolutionForwardGetWorkSpaceSize(handle, w, x, conv, y, &size),
      miopenStatusBadParm);
  EXPECT_EQ(
      miopenConvolutionForwardGetSolutionCount(handle, w, x, conv, y, &size),
      miopenStatusBadParm);
  EXPECT_EQ(miopenConvolutionForwardGetSolution(handle, w, x, conv, y, 1, &size,
                                                &solution),
            miopenStatusBadParm);
  EXPECT_TRUE(engine->problems.empty());
}

// A problem without a kernel is NotImplemented, and every other failure of the
// engine is InternalError; both keep the message.
TEST_F(ConvolutionForward, EngineFailuresBecomeStatuses) {
  engine->prepareStatus = notSupported("no algorithm covers this");
  EXPECT_EQ(execute(), miopenStatusNotImplemented);
  EXPECT_EQ(find(), miopenStatusNotImplemented);
  EXPECT_EQ(std::string(tesseraGetLastErrorMessage()),
            "miopenFindConvolutionForwardAlgorithm: no algorithm covers this");
  engine->prepareStatus = internalError("the verifier failed");
  EXPECT_EQ(execute(), miopenStatusInternalError);
  engine->prepareStatus = Status();
  engine->launchStatus = unavailable("the device is gone");
  EXPECT_EQ(execute(), miopenStatusInternalError);
  EXPECT_EQ(find(), miopenStatusInternalError);
}

// Find 1.0 reports the workspace of the kernel.
TEST_F(ConvolutionForward, WorkspaceSizeIsTheKernels) {
  engine->kernel.kernel.workspaceBytes = 4096;
  size_t size = 0;
  ASSERT_EQ(
      miopenConvolutionForwardGetWorkSpaceSize(handle, w, x, conv, y, &size),
      miopenStatusSuccess);
  EXPECT_EQ(size, 4096u);
  EXPECT_TRUE(engine->launches.empty());
  EXPECT_EQ(
      miopenConvolutionForwardGetWorkSpaceSize(handle, w, x, conv, y, nullptr),
      miopenStatusBadParm);
}

// Immediate mode lists one solution, whose id runs the kernel. PyTorch aborts
// on more than ten.
TEST_F(ConvolutionForward, ImmediateModeRunsItsSolution) {
  size_t count = 0;
  ASSERT_EQ(
      miopenConvolutionForwardGetSolutionCount(handle, w, x, conv, y, &count),
      miopenStatusSuccess);
  EXPECT_EQ(count, 1u);
  const uint64_t id = getSolution();
  size_t size = 1;
  ASSERT_EQ(miopenConvolutionForwardGetSolutionWorkspaceSize(handle, w, x, conv,
                                                             y, id, &size),
            miopenStatusSuccess);
  EXPECT_EQ(size, 0u);
  ASSERT_EQ(miopenConvolutionForwardCompileSolution(handle, w, x, conv, y, id),
            miopenStatusSuccess);
  EXPECT_TRUE(engine->launches.empty());
  ASSERT_EQ(immediate(id), miopenStatusSuccess);
  ASSERT_EQ(engine->launches.size(), 1u);
  EXPECT_EQ(engine->launches[0].args.x, xData);
  EXPECT_EQ(engine->launches[0].args.w, wData);
}

// Where the kernel needs a workspace, a second solution does without. Its id
// runs that kernel, whatever workspace the caller brings.
TEST_F(ConvolutionForward, ASecondSolutionNeedsNoWorkspace) {
  FakeKernel small;
  engine->withoutWorkspace = &small;
  engine->kernel.kernel.workspaceBytes = 4096;
  size_t count = 0;
  ASSERT_EQ(
      miopenConvolutionForwardGetSolutionCount(handle, w, x, conv, y, &count),
      miopenStatusSuccess);
  EXPECT_EQ(count, 2u);
  miopenConvSolution_t solutions[3];
  ASSERT_EQ(miopenConvolutionForwardGetSolution(handle, w, x, conv, y, 3,
                                                &count, solutions),
            miopenStatusSuccess);
  ASSERT_EQ(count, 2u);
  EXPECT_EQ(solutions[0].workspace_size, 4096u);
  EXPECT_EQ(solutions[1].workspace_size, 0u);
  const uint64_t id = solutions[1].solution_id;
  EXPECT_NE(id, solutions[0].solution_id);
  size_t size = 1;
  ASSERT_EQ(miopenConvolutionForwardGetSolutionWorkspaceSize(handle, w, x, conv,
                                                             y, id, &size),
            miopenStatusSuccess);
  EXPECT_EQ(size, 0u);
  ASSERT_EQ(immediate(id), miopenStatusSuccess);
  EXPECT_TRUE(engine->problems.back().isWithoutWorkspace());
  ASSERT_EQ(miopenConvolutionForwardGetSolution(handle, w, x, conv, y, 1,
                                                &count, solutions),
            miopenStatusSuccess);
  EXPECT_EQ(count, 1u);
  // It is not listed if its kernel needs a workspace, too.
  small.kernel.workspaceBytes = 64;
  ASSERT_EQ(
      miopenConvolutionForwardGetSolutionCount(handle, w, x, conv, y, &count),
      miopenStatusSuccess);
  EXPECT_EQ(count, 1u);
}

// An id that no solution has is BadParm, in all three functions that take one.
TEST_F(ConvolutionForward, UnknownSolutionIsBadParm) {
  const uint64_t id = getSolution() + 1;
  const size_t asked = engine->problems.size();
  size_t size;
  EXPECT_EQ(immediate(id), miopenStatusBadParm);
  EXPECT_EQ(miopenConvolutionForwardCompileSolution(handle, w, x, conv, y, id),
            miopenStatusBadParm);
  EXPECT_EQ(miopenConvolutionForwardGetSolutionWorkspaceSize(handle, w, x, conv,
                                                             y, id, &size),
            miopenStatusBadParm);
  EXPECT_EQ(engine->problems.size(), asked);
}

// An array for no solution, and null pointers, are BadParm.
TEST_F(ConvolutionForward, ImmediateModeChecksItsArguments) {
  miopenConvSolution_t solution;
  size_t count;
  EXPECT_EQ(miopenConvolutionForwardGetSolution(handle, w, x, conv, y, 0,
                                                &count, &solution),
            miopenStatusBadParm);
  EXPECT_EQ(miopenConvolutionForwardGetSolution(handle, w, x, conv, y, 1,
                                                nullptr, &solution),
            miopenStatusBadParm);
  EXPECT_EQ(miopenConvolutionForwardGetSolution(handle, w, x, conv, y, 1,
                                                &count, nullptr),
            miopenStatusBadParm);
  EXPECT_EQ(
      miopenConvolutionForwardGetSolutionCount(nullptr, w, x, conv, y, &count),
      miopenStatusBadParm);
  EXPECT_EQ(miopenConvolutionForwardImmediate(handle, w, wData, x, nullptr,
                                              conv, y, yData, nullptr, 0,
                                              getSolution()),
            miopenStatusBadParm);
}

// With profiling on, execution waits and its time can be read. Switching
// profiling resets the time.
TEST_F(ConvolutionForward, ProfilingKeepsTheKernelTime) {
  float time = -1;
  ASSERT_EQ(execute(), miopenStatusSuccess);
  ASSERT_EQ(miopenGetKernelTime(handle, &time), miopenStatusSuccess);
  EXPECT_EQ(time, 0);
  ASSERT_EQ(miopenEnableProfiling(handle, true), miopenStatusSuccess);
  ASSERT_EQ(execute(), miopenStatusSuccess);
  ASSERT_EQ(miopenGetKernelTime(handle, &time), miopenStatusSuccess);
  EXPECT_FLOAT_EQ(time, kFakeEventMs);
  ASSERT_EQ(miopenEnableProfiling(handle, false), miopenStatusSuccess);
  ASSERT_EQ(miopenGetKernelTime(handle, &time), miopenStatusSuccess);
  EXPECT_EQ(time, 0);
}

// With MIOPEN_DEBUG_COMPILE_ONLY kernels are prepared and never launched. Every
// call that would have launched one says so, and other calls succeed.
TEST_F(ConvolutionForward, CompileOnlyLaunchesNothing) {
  ASSERT_EQ(miopenDestroy(handle), miopenStatusSuccess);
  auto owned = std::make_unique<FakeEngine>();
  engine = owned.get();
  capi::replaceEngineForTesting(capi::makeCompileOnly(std::move(owned)));
  ASSERT_EQ(miopenCreate(&handle), miopenStatusSuccess);
  EXPECT_EQ(find(), miopenStatusGpuOperationsSkipped);
  EXPECT_EQ(execute(), miopenStatusGpuOperationsSkipped);
  EXPECT_EQ(immediate(getSolution()), miopenStatusGpuOperationsSkipped);
  EXPECT_FALSE(engine->problems.empty());
  EXPECT_TRUE(engine->launches.empty());
  EXPECT_EQ(execute(0, nullptr, nullptr), miopenStatusBadParm);
  EXPECT_EQ(miopenEnableProfiling(handle, true), miopenStatusSuccess);
}
