//===- ProblemExtensionTest.cpp - Tests of tessera/problem.h --------------===//

#include "test/unit/capi/FakeEngine.h"

#include <tessera/problem.h>

#include <string>

using namespace tessera;
using namespace tessera::test;

static const char *const kProblem =
    "conv-fwd-f16-nhwc,nhwc,nhwc-n1c8h9w9-k8y3x3-p1x1-s1x1-d1x1-g1-ebias+relu";

namespace {
class ProblemExtension : public FakeEngineTest {
protected:
  void SetUp() override {
    FakeEngineTest::SetUp();
    ASSERT_EQ(miopenCreate(&handle), miopenStatusSuccess);
    engine->kernel.kernel.launches = {
        {.symbol = "conv",
         .maps = {},
         .args = {KernelArg::X, KernelArg::W, KernelArg::Y, KernelArg::Bias}}};
    arguments.x = &data[0];
    arguments.w = &data[1];
    arguments.y = &data[2];
    arguments.bias = &data[3];
  }
  void TearDown() override {
    ASSERT_EQ(miopenDestroy(handle), miopenStatusSuccess);
    FakeEngineTest::TearDown();
  }

  miopenHandle_t handle = nullptr;
  tesseraProblemArguments arguments = TESSERA_PROBLEM_ARGUMENTS_INIT;
  int data[4] = {};
};
} // namespace

// The problem and every value are passed to the engine.
TEST_F(ProblemExtension, RunsAProblem) {
  arguments.activAlpha = 3;
  arguments.alpha = 0.5;
  ASSERT_EQ(tesseraRunProblem(handle, kProblem, &arguments),
            miopenStatusSuccess)
      << tesseraGetLastErrorMessage();
  EXPECT_EQ(engine->problems.back().toNetworkConfig(), kProblem);
  const LaunchArgs &args = engine->launches.back().args;
  EXPECT_EQ(args.x, &data[0]);
  EXPECT_EQ(args.w, &data[1]);
  EXPECT_EQ(args.y, &data[2]);
  EXPECT_EQ(args.bias, &data[3]);
  EXPECT_EQ(args.alpha, 0.5);
  EXPECT_EQ(args.activAlpha, 3);
}

// Statistics go where the struct says; one that ends before them has none.
TEST_F(ProblemExtension, PassesStatistics) {
  arguments.x = arguments.w = arguments.y = &data[0];
  arguments.mean = &data[1];
  arguments.variance = &data[2];
  for (uint32_t size :
       {sizeof arguments, offsetof(tesseraProblemArguments, mean)}) {
    arguments.structSize = size;
    ASSERT_EQ(tesseraRunProblem(handle,
                                "conv-fwd-bf16-nhwc,nhwc,nhwc-n1c8h9w9-k8y1x1-"
                                "p0x0-s1x1-d1x1-g1-estats",
                                &arguments),
              miopenStatusSuccess)
        << tesseraGetLastErrorMessage();
    const LaunchArgs &args = engine->launches.back().args;
    const bool isWhole = size == sizeof arguments;
    EXPECT_EQ(args.mean, isWhole ? &data[1] : nullptr);
    EXPECT_EQ(args.variance, isWhole ? &data[2] : nullptr);
  }
}

// Tensors and scalars of a row-wise problem are passed to the engine. A struct
// that ends before them is accepted, and one of any other size is not.
TEST_F(ProblemExtension, RunsARowWiseProblem) {
  arguments.tensors[0] = &data[1];
  arguments.tensors[1] = &data[2];
  arguments.scalars[5] = 7;
  for (uint32_t size :
       {sizeof arguments, offsetof(tesseraProblemArguments, tensors)}) {
    arguments.structSize = size;
    ASSERT_EQ(tesseraRunProblem(handle,
                                "rowwise-activ_fwd-m3-9-r-i:f16:1-o:f16:1",
                                &arguments),
              miopenStatusSuccess)
        << tesseraGetLastErrorMessage();
    const LaunchArgs &args = engine->launches.back().args;
    const bool isWhole = size == sizeof arguments;
    EXPECT_EQ(args.tensors[1], isWhole ? &data[2] : nullptr);
    EXPECT_EQ(args.scalars[5], isWhole ? 7 : 0);
  }
  arguments.structSize = sizeof arguments - 8;
  EXPECT_EQ(tesseraRunProblem(
                handle, "rowwise-activ_fwd-m3-9-r-i:f16:1-o:f16:1", &arguments),
            miopenStatusBadParm);
}

// A row-wise problem without a workspace runs on memory of the handle. A
// workspace that is given must be large enough.
TEST_F(ProblemExtension, RunsARowWiseProblemWithoutWorkspace) {
  const char *const problem = "rowwise-activ_fwd-m3-9-r-i:f16:1-o:f16:1";
  engine->kernel.kernel.workspaceBytes = 24;
  engine->gpu.hipMalloc = [](void **memory, size_t bytes) {
    *memory = malloc(bytes);
    return hipSuccess;
  };
  engine->gpu.hipFree = [](void *memory) {
    free(memory);
    return hipSuccess;
  };
  engine->gpu.hipStreamIsCapturing = [](hipStream_t,
                                        hipStreamCaptureStatus *status) {
    *status = hipStreamCaptureStatusNone;
    return hipSuccess;
  };
  ASSERT_EQ(tesseraRunProblem(handle, problem, &arguments), miopenStatusSuccess)
      << tesseraGetLastErrorMessage();
  EXPECT_NE(engine->launches.back().args.workspace, nullptr);
  arguments.workSpace = &data[3];
  arguments.workSpaceSize = 16;
  EXPECT_EQ(tesseraRunProblem(handle, problem, &arguments),
            miopenStatusBadParm);
}

// Padding may differ between the ends, which no descriptor of MIOpen says.
TEST_F(ProblemExtension, RunsUnequalPadding) {
  const char *const problem = "conv-fwd-f16-ncdhw,ncdhw,ncdhw-n1c8d4h9w9-"
                              "k8z3y3x3-p2:0x1x0:1-s1x1x1-d1x1x1-g1";
  ASSERT_EQ(tesseraRunProblem(handle, problem, &arguments), miopenStatusSuccess)
      << tesseraGetLastErrorMessage();
  EXPECT_EQ(engine->problems.back().toNetworkConfig(), problem);
}

// A handle reads a text once, and knows it by what it says.
TEST_F(ProblemExtension, KnowsTextsThatItHasRead) {
  std::string text = "conv-fwd-f16-nhwc,nhwc,nhwc-n1c8h9w9-k8y3x3-p1x1-s1x1-"
                     "d1x1-g1";
  for (char batch : {'1', '2', '1', '2'}) {
    text[text.find("c8h9") - 1] = batch;
    ASSERT_EQ(tesseraRunProblem(handle, text.c_str(), &arguments),
              miopenStatusSuccess)
        << tesseraGetLastErrorMessage();
    EXPECT_EQ(engine->problems.back().toNetworkConfig(), text);
  }
}

// Tensors that the kernel uses must be given; others may be null.
TEST_F(ProblemExtension, ChecksWhatTheKernelUses) {
  arguments.bias = nullptr;
  EXPECT_EQ(tesseraRunProblem(handle, kProblem, &arguments),
            miopenStatusBadParm);
  EXPECT_STREQ(tesseraGetLastErrorMessage(),
               "tesseraRunProblem: bias is NULL, but the kernel uses it");
  arguments.bias = &data[3];
  engine->kernel.kernel.workspaceBytes = 8;
  EXPECT_EQ(tesseraRunProblem(handle, kProblem, &arguments),
            miopenStatusBadParm);
  EXPECT_TRUE(engine->launches.empty());
}

// A text that is no problem, a problem that breaks a rule, and a struct of
// another release are refused.
TEST_F(ProblemExtension, RefusesWhatItCannotRead) {
  EXPECT_EQ(tesseraRunProblem(handle, "conv", &arguments), miopenStatusBadParm);
  EXPECT_EQ(
      tesseraRunProblem(handle,
                        "conv-fwd-f16-nhwc,nhwc,nhwc-n1c8h9w9-k8y3x3-p1x1-"
                        "s1x1-d1x1-g3",
                        &arguments),
      miopenStatusBadParm);
  // Equal padding of both ends has one number.
  EXPECT_EQ(
      tesseraRunProblem(handle,
                        "conv-fwd-f16-nhwc,nhwc,nhwc-n1c8h9w9-k8y3x3-p1:1x1-"
                        "s1x1-d1x1-g1",
                        &arguments),
      miopenStatusBadParm);
  EXPECT_NE(
      std::string(tesseraGetLastErrorMessage()).find("is not a network config"),
      std::string::npos);
  arguments.structSize = 4;
  EXPECT_EQ(tesseraRunProblem(handle, kProblem, &arguments),
            miopenStatusBadParm);
  EXPECT_TRUE(engine->problems.empty());
}

// Tuning, too, reads the text and prepares the problem first.
TEST_F(ProblemExtension, RefusesToTuneWhatHasNoKernel) {
  EXPECT_EQ(tesseraTuneProblem(handle, "conv"), miopenStatusBadParm);
  EXPECT_EQ(tesseraTuneProblem(handle, nullptr), miopenStatusBadParm);
  EXPECT_EQ(tesseraTuneProblem(nullptr, kProblem), miopenStatusBadParm);
  EXPECT_TRUE(engine->problems.empty());
  engine->prepareStatus = notSupported("no kernel");
  EXPECT_EQ(tesseraTuneProblem(handle, kProblem), miopenStatusNotImplemented);
  EXPECT_EQ(engine->problems.size(), 1u);
}

// The description of the kernel has its workspace.
TEST_F(ProblemExtension, DescribesTheKernel) {
  engine->kernel.kernel.workspaceBytes = 24;
  engine->kernel.kernel.tile = "point-v4";
  tesseraKernelInfo info{};
  EXPECT_EQ(tesseraGetProblemKernelInfo(handle, kProblem, &info),
            miopenStatusBadParm);
  info.structSize = sizeof info;
  ASSERT_EQ(tesseraGetProblemKernelInfo(handle, kProblem, &info),
            miopenStatusSuccess);
  EXPECT_EQ(info.workspaceBytes, 24u);
  EXPECT_STREQ(info.tile, "point-v4");
  EXPECT_TRUE(engine->launches.empty());
}
