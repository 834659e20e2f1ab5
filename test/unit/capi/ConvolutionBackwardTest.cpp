//===- ConvolutionBackwardTest.cpp - The two gradients --------------------===//
//
// The tests of forward cover what all directions share. These tests cover what
// could go wrong between a public function of a gradient and the shared code:
// the roles of its arguments, its checks and its ids.
//
//===----------------------------------------------------------------------===//

#define MIOPEN_BETA_API 1
#include "test/unit/capi/Descriptors.h"
#include "test/unit/capi/FakeEngine.h"

#include <tessera/tessera.h>

#include <string>
#include <utility>

using namespace tessera;
using namespace tessera::test;

static const float kOne = 1, kZero = 0, kHalf = 0.5f;

namespace {
/// The public functions of one of the two gradients. Arguments are in the order
/// of the prototypes: `a` and `b` are read, `c` is written.
struct Gradient {
  const char *name;
  Direction direction;
  uint64_t solution;
  decltype(&miopenConvolutionBackwardDataGetWorkSpaceSize) getWorkSpaceSize;
  decltype(&miopenFindConvolutionBackwardDataAlgorithm) find;
  decltype(&miopenConvolutionBackwardDataGetSolutionCount) getSolutionCount;
  decltype(&miopenConvolutionBackwardDataGetSolution) getSolution;
  decltype(&miopenConvolutionBackwardDataGetSolutionWorkspaceSize)
      getSolutionWorkspaceSize;
  decltype(&miopenConvolutionBackwardDataCompileSolution) compileSolution;
  decltype(&miopenConvolutionBackwardDataImmediate) runImmediate;
};
} // namespace

static const Gradient kGradients[] = {
    {"BackwardData", Direction::BackwardData, 1002,
     miopenConvolutionBackwardDataGetWorkSpaceSize,
     miopenFindConvolutionBackwardDataAlgorithm,
     miopenConvolutionBackwardDataGetSolutionCount,
     miopenConvolutionBackwardDataGetSolution,
     miopenConvolutionBackwardDataGetSolutionWorkspaceSize,
     miopenConvolutionBackwardDataCompileSolution,
     miopenConvolutionBackwardDataImmediate},
    {"BackwardWeights", Direction::BackwardWeights, 1003,
     miopenConvolutionBackwardWeightsGetWorkSpaceSize,
     miopenFindConvolutionBackwardWeightsAlgorithm,
     miopenConvolutionBackwardWeightsGetSolutionCount,
     miopenConvolutionBackwardWeightsGetSolution,
     miopenConvolutionBackwardWeightsGetSolutionWorkspaceSize,
     miopenConvolutionBackwardWeightsCompileSolution,
     miopenConvolutionBackwardWeightsImmediate},
};

namespace {
/// A 3x3 convolution in which every length differs, so that swapping two
/// tensors is noticed.
class ConvolutionBackward : public FakeEngineTest,
                            public ::testing::WithParamInterface<Gradient> {
protected:
  void SetUp() override {
    FakeEngineTest::SetUp();
    ASSERT_EQ(miopenCreate(&handle), miopenStatusSuccess);
    bool isData = g.direction == Direction::BackwardData;
    b = isData ? w : x;
    c = isData ? x : w;
  }
  void TearDown() override {
    ASSERT_EQ(miopenDestroy(handle), miopenStatusSuccess);
    FakeEngineTest::TearDown();
  }

  miopenStatus_t execute(int algo = 1, size_t workspaceBytes = 0,
                         void *workspace = nullptr, const void *alpha = &kOne,
                         const void *beta = &kZero) {
    if (g.direction == Direction::BackwardData)
      return miopenConvolutionBackwardData(
          handle, alpha, y, aData, b, bData, conv,
          static_cast<miopenConvBwdDataAlgorithm_t>(algo), beta, c, cData,
          workspace, workspaceBytes);
    return miopenConvolutionBackwardWeights(
        handle, alpha, y, aData, b, bData, conv,
        static_cast<miopenConvBwdWeightsAlgorithm_t>(algo), beta, c, cData,
        workspace, workspaceBytes);
  }
  miopenStatus_t find(int requested = 1) {
    return g.find(handle, y, aData, b, bData, conv, c, cData, requested, &found,
                  &perf, nullptr, 0, false);
  }

  /// Expects that the last launch got each tensor in its role.
  void expectRoles() {
    ASSERT_FALSE(engine->launches.empty());
    const LaunchArgs &args = engine->launches.back().args;
    bool isData = g.direction == Direction::BackwardData;
    EXPECT_EQ(args.y, aData);
    EXPECT_EQ(args.w, isData ? bData : cData);
    EXPECT_EQ(args.x, isData ? cData : bData);
    const ConvProblem &problem = *engine->problems.back().getConv();
    EXPECT_EQ(problem.direction, g.direction);
    EXPECT_EQ(problem.inChannels, 4);
    EXPECT_EQ(problem.outChannels, 6);
    EXPECT_EQ(problem.in, (Spatial{8, 9}));
    EXPECT_EQ(problem.filter, (Spatial{3, 5}));
  }

  const Gradient &g = GetParam();
  miopenHandle_t handle = nullptr;
  TensorDesc x{miopenTensorNCHW, {2, 4, 8, 9}};
  TensorDesc w{miopenTensorNCHW, {6, 4, 3, 5}};
  TensorDesc y{miopenTensorNCHW, {2, 6, 6, 5}};
  miopenTensorDescriptor_t b = nullptr, c = nullptr;
  ConvDesc conv;
  int data[4] = {};
  void *aData = &data[0], *bData = &data[1], *cData = &data[2];
  int found = -1;
  miopenConvAlgoPerf_t perf{};
};
} // namespace

INSTANTIATE_TEST_SUITE_P(All, ConvolutionBackward,
                         ::testing::ValuesIn(kGradients),
                         [](const auto &info) { return info.param.name; });

// Execution needs no Find and gives each tensor its role.
TEST_P(ConvolutionBackward, Executes) {
  ASSERT_EQ(execute(), miopenStatusSuccess) << tesseraGetLastErrorMessage();
  expectRoles();
}

// Find measures the kernel and reports Direct.
TEST_P(ConvolutionBackward, Finds) {
  ASSERT_EQ(find(), miopenStatusSuccess) << tesseraGetLastErrorMessage();
  EXPECT_EQ(found, 1);
  EXPECT_EQ(perf.bwd_data_algo, miopenConvolutionBwdDataAlgoDirect);
  EXPECT_EQ(perf.bwd_weights_algo, miopenConvolutionBwdWeightsAlgoDirect);
  EXPECT_FLOAT_EQ(perf.time, kFakeEventMs);
  expectRoles();
  EXPECT_EQ(find(0), miopenStatusBadParm);
}

// Every function that reports a workspace size reports that of the kernel, and
// a call with less does not launch the kernel.
TEST_P(ConvolutionBackward, WorkspaceIsTheKernels) {
  engine->kernel.kernel.workspaceBytes = 96;
  size_t size = 0, solutionSize = 0, count = 0;
  miopenConvSolution_t solution{};
  EXPECT_EQ(g.getWorkSpaceSize(handle, y, b, conv, c, &size), 0);
  EXPECT_EQ(g.getSolutionWorkspaceSize(handle, y, b, conv, c, g.solution,
                                       &solutionSize),
            0);
  EXPECT_EQ(g.getSolution(handle, y, b, conv, c, 1, &count, &solution), 0);
  EXPECT_EQ(size, 96u);
  EXPECT_EQ(solutionSize, 96u);
  EXPECT_EQ(solution.workspace_size, 96u);
  EXPECT_EQ(execute(1, 95, &data[3]), miopenStatusBadParm);
  EXPECT_EQ(execute(1, 96, nullptr), miopenStatusBadParm);
  EXPECT_EQ(find(), miopenStatusUnknownError);
  EXPECT_TRUE(engine->launches.empty());
  EXPECT_EQ(execute(1, 97, &data[3]), miopenStatusSuccess);
  EXPECT_EQ(engine->launches.back().args.workspace, &data[3]);
}

// A kernel that adds by atomics, which only TESSERA_TILE can select, does not
// run if the descriptor asks for determinism.
TEST_P(ConvolutionBackward, AttributeRefusesAtomics) {
  const auto attribute = MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC;
  engine->kernel.kernel.tile = "igemm-m64n64k32-w2x2-b2-mfma32-a4";
  EXPECT_EQ(execute(), miopenStatusSuccess);
  ASSERT_EQ(miopenSetConvolutionAttribute(conv, attribute, 1), 0);
  EXPECT_EQ(execute(), miopenStatusNotImplemented);
  EXPECT_NE(std::string(tesseraGetLastErrorMessage()).find("adds by atomics"),
            std::string::npos);
  EXPECT_EQ(find(), miopenStatusNotImplemented);
  EXPECT_EQ(engine->launches.size(), 1u);
  engine->kernel.kernel.tile = "igemm-m64n64k32-w2x2-b2-mfma32-s4";
  EXPECT_EQ(execute(), miopenStatusSuccess);
}

// Immediate mode counts, lists, compiles and runs the one solution. Each
// direction has an id of its own.
TEST_P(ConvolutionBackward, ImmediateModeRunsItsSolution) {
  size_t count = 0;
  EXPECT_EQ(g.getSolutionCount(handle, y, b, conv, c, &count), 0);
  EXPECT_EQ(count, 1u);
  miopenConvSolution_t solution{};
  EXPECT_EQ(g.getSolution(handle, y, b, conv, c, 1, &count, &solution), 0);
  EXPECT_EQ(solution.solution_id, g.solution);
  EXPECT_EQ(solution.algorithm, miopenConvolutionAlgoDirect);
  EXPECT_EQ(g.compileSolution(handle, y, b, conv, c, g.solution), 0);
  EXPECT_TRUE(engine->launches.empty());
  EXPECT_EQ(g.runImmediate(handle, y, aData, b, bData, conv, c, cData, nullptr,
                           0, g.solution),
            miopenStatusSuccess);
  expectRoles();
}

// The id of another direction is BadParm.
TEST_P(ConvolutionBackward, ForeignSolutionsAreBadParm) {
  constexpr uint64_t kForward = 1001;
  size_t size;
  EXPECT_EQ(g.compileSolution(handle, y, b, conv, c, kForward),
            miopenStatusBadParm);
  EXPECT_EQ(g.getSolutionWorkspaceSize(handle, y, b, conv, c, kForward, &size),
            miopenStatusBadParm);
  EXPECT_EQ(g.runImmediate(handle, y, aData, b, bData, conv, c, cData, nullptr,
                           0, kForward),
            miopenStatusBadParm);
  EXPECT_TRUE(engine->problems.empty());
}

// Null data, null descriptors and unknown algorithms are refused before the
// engine is called.
TEST_P(ConvolutionBackward, ChecksItsArguments) {
  size_t size;
  EXPECT_EQ(g.getWorkSpaceSize(nullptr, y, b, conv, c, &size),
            miopenStatusBadParm);
  EXPECT_EQ(g.getWorkSpaceSize(handle, nullptr, b, conv, c, &size),
            miopenStatusBadParm);
  EXPECT_EQ(g.getWorkSpaceSize(handle, y, nullptr, conv, c, &size),
            miopenStatusBadParm);
  EXPECT_EQ(g.getWorkSpaceSize(handle, y, b, nullptr, c, &size),
            miopenStatusBadParm);
  EXPECT_EQ(g.getWorkSpaceSize(handle, y, b, conv, nullptr, &size),
            miopenStatusBadParm);
  EXPECT_EQ(g.getWorkSpaceSize(handle, y, b, conv, c, nullptr),
            miopenStatusBadParm);
  for (void **pointer : {&aData, &bData, &cData}) {
    void *const value = std::exchange(*pointer, nullptr);
    EXPECT_EQ(execute(), miopenStatusBadParm);
    EXPECT_EQ(find(), miopenStatusBadParm);
    EXPECT_EQ(g.runImmediate(handle, y, aData, b, bData, conv, c, cData,
                             nullptr, 0, g.solution),
              miopenStatusBadParm);
    *pointer = value;
  }
  EXPECT_EQ(execute(4), miopenStatusBadParm);
  EXPECT_EQ(execute(6), miopenStatusBadParm);
  EXPECT_TRUE(engine->problems.empty());
}

// Each gradient accepts the algorithms of its enum: FFT is one of backward data
// only.
TEST_P(ConvolutionBackward, AlgorithmsFollowTheEnum) {
  EXPECT_EQ(execute(miopenConvolutionAlgoFFT),
            g.direction == Direction::BackwardData ? miopenStatusSuccess
                                                   : miopenStatusBadParm);
  for (int algo : {0, 1, 3, 5})
    EXPECT_EQ(execute(algo), miopenStatusSuccess);
}

// int8 has no gradients.
TEST_P(ConvolutionBackward, Int8IsBadParm) {
  ASSERT_EQ(miopenSet4dTensorDescriptor(x, miopenInt8, 2, 4, 8, 9), 0);
  ASSERT_EQ(miopenSet4dTensorDescriptor(w, miopenInt8, 6, 4, 3, 5), 0);
  ASSERT_EQ(miopenSet4dTensorDescriptor(y, miopenInt32, 2, 6, 6, 5), 0);
  EXPECT_EQ(find(), miopenStatusBadParm);
  EXPECT_EQ(execute(), miopenStatusBadParm);
  EXPECT_TRUE(std::string(tesseraGetLastErrorMessage())
                  .ends_with("int8 is a type of forward convolutions only"));
}

// Scaling works in two dimensions and three, also after a Find of the default
// case.
TEST_P(ConvolutionBackward, Scales) {
  EXPECT_EQ(execute(1, 0, nullptr, &kHalf, &kZero), miopenStatusSuccess);
  EXPECT_EQ(engine->problems.back().getConv()->epilogue,
            Epilogue{.alpha = true});
  const int zeros[] = {0, 0, 0}, ones[] = {1, 1, 1};
  const int xLengths[] = {2, 4, 3, 8, 9}, wLengths[] = {6, 4, 2, 3, 5},
            yLengths[] = {2, 6, 2, 6, 5};
  ASSERT_EQ(miopenInitConvolutionNdDescriptor(conv, 3, zeros, ones, ones,
                                              miopenConvolution),
            0);
  ASSERT_EQ(miopenSetTensorDescriptor(x, miopenHalf, 5, xLengths, nullptr), 0);
  ASSERT_EQ(miopenSetTensorDescriptor(w, miopenHalf, 5, wLengths, nullptr), 0);
  ASSERT_EQ(miopenSetTensorDescriptor(y, miopenHalf, 5, yLengths, nullptr), 0);
  ASSERT_EQ(find(), miopenStatusSuccess) << tesseraGetLastErrorMessage();
  EXPECT_TRUE(engine->problems.back().getConv()->epilogue.isEmpty());
  ASSERT_EQ(execute(1, 0, nullptr, &kHalf, &kOne), miopenStatusSuccess);
  EXPECT_EQ(engine->problems.back().getConv()->epilogue,
            (Epilogue{.alpha = true, .beta = true}));
  EXPECT_EQ(engine->launches.back().args.alpha, 0.5);
  EXPECT_EQ(engine->launches.back().args.beta, 1);
}

// No case of alpha and beta needs more than the workspace; what does not fit is
// refused.
TEST_P(ConvolutionBackward, ScaledWeightsNeedNoBuffer) {
  size_t bytes = 1;
  for (miopenAlphaBetaCase_t scaling : {DEFAULT, SCALE, BILINEAR}) {
    EXPECT_EQ(miopenConvolutionABBackwardWeightsGetWorkSpaceSize(scaling, x, y,
                                                                 conv, &bytes),
              miopenStatusSuccess);
    EXPECT_EQ(bytes, 0u);
  }
  EXPECT_EQ(miopenConvolutionABBackwardWeightsGetWorkSpaceSize(ERROR_STATE, x,
                                                               y, conv, &bytes),
            miopenStatusBadParm);
  EXPECT_EQ(miopenConvolutionABBackwardWeightsGetWorkSpaceSize(
                SCALE, x, nullptr, conv, &bytes),
            miopenStatusBadParm);
  const int lengths[] = {2, 4, 3};
  ASSERT_EQ(miopenSetTensorDescriptor(x, miopenHalf, 3, lengths, nullptr), 0);
  EXPECT_EQ(miopenConvolutionABBackwardWeightsGetWorkSpaceSize(SCALE, x, y,
                                                               conv, &bytes),
            miopenStatusBadParm);
}

// In transposed mode x and dy are swapped, and so is their memory.
TEST_P(ConvolutionBackward, TransposedModeSwapsTheData) {
  ASSERT_EQ(
      miopenInitConvolutionDescriptor(conv, miopenTranspose, 0, 0, 1, 1, 1, 1),
      0);
  ASSERT_EQ(miopenSet4dTensorDescriptor(w, miopenFloat, 4, 6, 3, 5), 0);
  ASSERT_EQ(miopenSet4dTensorDescriptor(y, miopenFloat, 2, 6, 10, 13), 0);
  ASSERT_EQ(execute(), miopenStatusSuccess) << tesseraGetLastErrorMessage();
  const LaunchArgs &args = engine->launches.back().args;
  const ConvProblem &problem = *engine->problems.back().getConv();
  bool isData = g.direction == Direction::BackwardData;
  EXPECT_EQ(problem.direction,
            isData ? Direction::Forward : Direction::BackwardWeights);
  EXPECT_EQ(problem.in, (Spatial{10, 13}));
  EXPECT_EQ(problem.inChannels, 6);
  EXPECT_EQ(problem.outChannels, 4);
  EXPECT_EQ(args.x, aData) << "dy";
  EXPECT_EQ(args.w, isData ? bData : cData);
  EXPECT_EQ(args.y, isData ? cData : bData) << "dx or x";
}
