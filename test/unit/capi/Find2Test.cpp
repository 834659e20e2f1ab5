//===- Find2Test.cpp - Tests of problems, options and saved bytes ---------===//
//
// These tests need no device: they check that problems must be complete, and
// that damaged bytes of a solution are refused. test/lit/CAPI/find2.c runs
// solutions.
//
//===----------------------------------------------------------------------===//

#define MIOPEN_BETA_API 1
#include "capi/lib/Find/Solution.h"
#include "runtime/Base/Hash.h"
#include "test/unit/capi/Descriptors.h"
#include "test/unit/capi/FakeEngine.h"

#include <tessera/tessera.h>

#include <cstring>
#include <optional>
#include <random>

using namespace tessera;
using namespace tessera::test;

namespace {
class Find2 : public FakeEngineTest {
protected:
  void SetUp() override {
    FakeEngineTest::SetUp();
    ASSERT_EQ(miopenCreate(&handle), miopenStatusSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(miopenDestroy(handle), miopenStatusSuccess);
    FakeEngineTest::TearDown();
  }
  miopenStatus_t find(miopenProblem_t problem, size_t maxCount = 1) {
    return miopenFindSolutions(handle, problem, nullptr, &solution, &count,
                               maxCount);
  }

  miopenHandle_t handle = nullptr;
  miopenSolution_t solution = nullptr;
  size_t count = 0;
};
} // namespace

// A convolution needs all three tensors, and has no others.
TEST_F(Find2, MissingTensorsAreInvalid) {
  const TensorDesc x(miopenTensorNCHW, {1, 4, 5, 5});
  const ConvDesc conv(0, 1, 1);
  miopenProblem_t problem;
  ASSERT_EQ(
      miopenCreateConvProblem(&problem, conv, miopenProblemDirectionForward),
      miopenStatusSuccess);
  EXPECT_EQ(find(problem), miopenStatusInvalidValue);
  EXPECT_EQ(
      miopenSetProblemTensorDescriptor(problem, miopenTensorConvolutionX, x),
      miopenStatusSuccess);
  EXPECT_EQ(find(problem), miopenStatusInvalidValue);
  EXPECT_NE(std::string(tesseraGetLastErrorMessage()).find("tensor w"),
            std::string::npos);
  EXPECT_EQ(find(problem, 0), miopenStatusBadParm);
  for (miopenTensorArgumentId_t id :
       {miopenTensorArgumentIdInvalid, miopenTensorMhaK, miopenTensorMhaMask})
    EXPECT_EQ(miopenSetProblemTensorDescriptor(problem, id, x),
              miopenStatusBadParm);
  EXPECT_EQ(miopenSetProblemTensorDescriptor(problem, miopenTensorConvolutionW,
                                             TensorDesc()),
            miopenStatusBadParm);
  EXPECT_EQ(miopenDestroyProblem(problem), miopenStatusSuccess);
}

// Inference is a direction of normalisations, but not of convolutions.
TEST_F(Find2, DirectionsAreChecked) {
  const ConvDesc conv(0, 1, 1);
  miopenProblem_t problem;
  EXPECT_EQ(
      miopenCreateConvProblem(&problem, conv, miopenProblemDirectionInference),
      miopenStatusBadParm);
  EXPECT_EQ(miopenCreateConvProblem(&problem, conv,
                                    static_cast<miopenProblemDirection_t>(3)),
            miopenStatusBadParm);
  ASSERT_EQ(miopenCreateBatchnormProblem(&problem, miopenBNSpatial, true,
                                         miopenProblemDirectionInference),
            miopenStatusSuccess);
  EXPECT_EQ(miopenDestroyProblem(problem), miopenStatusSuccess);
}

// Problems of other operations, and fused ones, have no solutions.
TEST_F(Find2, OtherProblemsAreNotImplemented) {
  miopenProblem_t bias, activation;
  miopenActivationDescriptor_t relu;
  ASSERT_EQ(miopenCreateActivationDescriptor(&relu), miopenStatusSuccess);
  ASSERT_EQ(miopenCreateBiasProblem(&bias, miopenProblemDirectionForward),
            miopenStatusSuccess);
  ASSERT_EQ(miopenCreateActivationProblem(&activation, relu,
                                          miopenProblemDirectionForward),
            miopenStatusSuccess);
  EXPECT_EQ(find(bias), miopenStatusNotImplemented);
  ASSERT_EQ(miopenFuseProblems(bias, activation), miopenStatusSuccess);
  EXPECT_EQ(find(bias), miopenStatusNotImplemented);
  EXPECT_EQ(
      miopenSetProblemTensorDescriptor(
          bias, miopenTensorBiasX, TensorDesc(miopenTensorNCHW, {1, 1, 1, 1})),
      miopenStatusBadParm);
  EXPECT_EQ(miopenDestroyProblem(bias), miopenStatusSuccess);
  EXPECT_EQ(miopenDestroyProblem(activation), miopenStatusSuccess);
  EXPECT_EQ(miopenDestroyActivationDescriptor(relu), miopenStatusSuccess);
}

// A problem without a kernel is NotImplemented, and a kernel that needs more
// workspace than the options allow is UnknownError, as in Find 1.0.
TEST_F(Find2, NoKernelIsNotImplemented) {
  const TensorDesc x(miopenTensorNCHW, {1, 4, 8, 8});
  const TensorDesc w(miopenTensorNCHW, {8, 4, 3, 3});
  const TensorDesc y(miopenTensorNCHW, {1, 8, 6, 6});
  const ConvDesc conv;
  miopenProblem_t problem;
  miopenFindOptions_t options;
  ASSERT_EQ(
      miopenCreateConvProblem(&problem, conv, miopenProblemDirectionForward),
      miopenStatusSuccess);
  miopenSetProblemTensorDescriptor(problem, miopenTensorConvolutionX, x);
  miopenSetProblemTensorDescriptor(problem, miopenTensorConvolutionW, w);
  miopenSetProblemTensorDescriptor(problem, miopenTensorConvolutionY, y);
  ASSERT_EQ(miopenCreateFindOptions(&options), miopenStatusSuccess);
  ASSERT_EQ(miopenSetFindOptionWorkspaceLimit(options, 63),
            miopenStatusSuccess);
  engine->kernel.kernel.workspaceBytes = 64;
  EXPECT_EQ(miopenFindSolutions(handle, problem, options, &solution, &count, 1),
            miopenStatusUnknownError);
  engine->prepareStatus = notSupported("no kernel");
  EXPECT_EQ(find(problem), miopenStatusNotImplemented);
  EXPECT_EQ(miopenDestroyFindOptions(options), miopenStatusSuccess);
  EXPECT_EQ(miopenDestroyProblem(problem), miopenStatusSuccess);
}

// Options refuse values that are not known.
TEST_F(Find2, OptionsAreChecked) {
  miopenFindOptions_t options;
  ASSERT_EQ(miopenCreateFindOptions(&options), miopenStatusSuccess);
  EXPECT_EQ(miopenSetFindOptionTuning(options, 1), miopenStatusSuccess);
  EXPECT_EQ(miopenSetFindOptionResultsOrder(
                options, miopenFindResultsOrderByWorkspaceSize),
            miopenStatusSuccess);
  EXPECT_EQ(miopenSetFindOptionResultsOrder(
                options, static_cast<miopenFindResultsOrder_t>(9)),
            miopenStatusBadParm);
  EXPECT_EQ(miopenSetFindOptionAttachBinaries(options, 1), miopenStatusSuccess);
  EXPECT_EQ(miopenSetFindOptionAttachBinaries(options, 2), miopenStatusBadParm);
  EXPECT_EQ(miopenDestroyFindOptions(options), miopenStatusSuccess);
}

// Ids of immediate mode have an algorithm; other ids are BadParm.
TEST_F(Find2, SolverIdsAreThoseOfImmediateMode) {
  miopenConvAlgorithm_t algorithm;
  EXPECT_EQ(miopenGetSolverIdConvAlgorithm(1002, &algorithm),
            miopenStatusSuccess);
  EXPECT_EQ(algorithm, miopenConvolutionAlgoDirect);
  EXPECT_EQ(miopenGetSolverIdConvAlgorithm(7, &algorithm), miopenStatusBadParm);
}

//===----------------------------------------------------------------------===//
// Saved bytes
//===----------------------------------------------------------------------===//

static capi::SolutionData makeData() {
  capi::SolutionData data;
  data.networkConfig = "conv-fwd";
  data.target = "gfx942";
  data.id = 1001;
  data.timeMs = 0.25f;
  data.scalars = {0.5, -0.0};
  for (int i = 0; i < 3; ++i) {
    capi::SolutionTensor &tensor = data.tensors.emplace_back();
    tensor.id = miopenTensorConvolutionX + i;
    tensor.arg = getTensorArg(i);
    tensor.desc.dataType = miopenHalf;
    tensor.desc.lengths = {1, 2, 3 + i, 4};
    tensor.desc.strides = {24, 12, 4, 1};
  }
  data.kernel.codeObject = {'E', 'L', 'F', 0, 1};
  LaunchRecipe recipe;
  recipe.symbol = "kernel";
  recipe.grid = {4, 5, 6};
  recipe.args = {KernelArg::X, KernelArg::W, KernelArg::Y};
  data.kernel.launches = {recipe};
  data.kernel.workspaceBytes = 96;
  data.kernel.resources.vgprs = 128;
  data.kernel.tile = "m64n64";
  return data;
}

// A solution that is loaded equals the one that was saved.
TEST(SolutionBytes, ReadBack) {
  const capi::SolutionData data = makeData();
  const std::string bytes = capi::saveSolution(data);
  miopenSolution_t solution;
  ASSERT_EQ(miopenLoadSolution(&solution, bytes.data(), bytes.size()),
            miopenStatusSuccess);
  const capi::SolutionData &back = solution->data;
  EXPECT_EQ(back.networkConfig, data.networkConfig);
  EXPECT_EQ(back.target, data.target);
  EXPECT_EQ(back.scalars, data.scalars);
  ASSERT_EQ(back.tensors.size(), 3u);
  EXPECT_EQ(back.tensors[2].id, miopenTensorConvolutionY);
  EXPECT_EQ(back.tensors[2].arg, getTensorArg(2));
  EXPECT_EQ(back.tensors[2].desc.lengths, data.tensors[2].desc.lengths);
  EXPECT_EQ(back.tensors[2].desc.strides, data.tensors[2].desc.strides);
  EXPECT_EQ(back.tensors[2].desc.dataType, miopenHalf);
  EXPECT_EQ(back.kernel.codeObject, data.kernel.codeObject);
  EXPECT_EQ(back.kernel.launches, data.kernel.launches);
  EXPECT_EQ(back.kernel.resources.vgprs, 128u);
  EXPECT_EQ(back.kernel.tile, data.kernel.tile);
  size_t workspace = 0, size = 0;
  float time = 0;
  uint64_t id = 0;
  EXPECT_EQ(miopenGetSolutionWorkspaceSize(solution, &workspace), 0);
  EXPECT_EQ(miopenGetSolutionTime(solution, &time), 0);
  EXPECT_EQ(miopenGetSolutionSolverId(solution, &id), 0);
  EXPECT_EQ(miopenGetSolutionSize(solution, &size), 0);
  EXPECT_EQ(workspace, 96u);
  EXPECT_EQ(time, 0.25f);
  EXPECT_EQ(id, 1001u);
  ASSERT_EQ(size, bytes.size());
  std::string again(size, 0);
  EXPECT_EQ(miopenSaveSolution(solution, again.data()), miopenStatusSuccess);
  EXPECT_EQ(again, bytes);
  EXPECT_EQ(miopenDestroySolution(solution), miopenStatusSuccess);
}

// A workspace that is too small is refused before a kernel is loaded.
TEST_F(Find2, SmallWorkspaceIsBadParm) {
  const std::string bytes = capi::saveSolution(makeData());
  ASSERT_EQ(miopenLoadSolution(&solution, bytes.data(), bytes.size()),
            miopenStatusSuccess);
  int memory = 0;
  const miopenTensorArgument_t tensors[] = {
      {miopenTensorConvolutionX, nullptr, &memory},
      {miopenTensorConvolutionW, nullptr, &memory},
      {miopenTensorConvolutionY, nullptr, &memory}};
  EXPECT_EQ(miopenRunSolution(handle, solution, 3, tensors, &memory, 95),
            miopenStatusBadParm);
  EXPECT_EQ(miopenRunSolution(handle, solution, 3, tensors, nullptr, 96),
            miopenStatusBadParm);
  EXPECT_EQ(miopenRunSolution(handle, solution, 2, tensors, &memory, 96),
            miopenStatusInvalidValue);
  EXPECT_EQ(miopenDestroySolution(solution), miopenStatusSuccess);
}

static miopenStatus_t load(const std::string &bytes) {
  miopenSolution_t solution = nullptr;
  const miopenStatus_t status =
      miopenLoadSolution(&solution, bytes.data(), bytes.size());
  if (status == miopenStatusSuccess)
    miopenDestroySolution(solution);
  return status;
}

// Bytes with a wrong magic number are InvalidValue. Another version, or another
// format of kernels, is VersionMismatch.
TEST(SolutionBytes, KnowTheirVersion) {
  std::string bytes = capi::saveSolution(makeData());
  std::string wrong = bytes;
  wrong[0] ^= 1;
  EXPECT_EQ(load(wrong), miopenStatusInvalidValue);
  for (size_t position : {8, 16}) {
    wrong = bytes;
    ++wrong[position];
    EXPECT_EQ(load(wrong), miopenStatusVersionMismatch);
  }
  EXPECT_EQ(load(""), miopenStatusInvalidValue);
}

// Truncated bytes, and bytes with a flipped bit, are refused.
TEST(SolutionBytes, DamageIsFound) {
  const std::string bytes = capi::saveSolution(makeData());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(load(bytes.substr(0, size)), miopenStatusSuccess);
  for (size_t position = 0; position < bytes.size(); ++position) {
    std::string wrong = bytes;
    wrong[position] ^= 0x40;
    EXPECT_NE(load(wrong), miopenStatusSuccess);
  }
}

/// Corrects the checksum of changed bytes, as an attacker would.
static void sign(std::string &bytes) {
  Fnv1a hash;
  hash.addField(std::string_view(bytes).substr(32));
  const uint64_t checksum = hash.get();
  std::memcpy(&bytes[24], &checksum, sizeof checksum);
}

/// Loads a solution from `bytes` and saves it again; nothing if they are
/// refused.
static std::optional<std::string> saveAgain(const std::string &bytes) {
  capi::SolutionData data;
  if (capi::loadSolution(bytes, data).getStatus() != miopenStatusSuccess)
    return std::nullopt;
  return capi::saveSolution(data);
}

// Bytes with a right checksum and wrong content are either refused, or loaded
// as a solution that can be saved and loaded. They are never read beyond their
// end, which the sanitizer checks.
TEST(SolutionBytes, ForgedBytesAreSafe) {
  const std::string bytes = capi::saveSolution(makeData());
  std::mt19937 random(7);
  int taken = 0, refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string wrong = bytes;
    for (int changes = 1 + random() % 3; changes > 0; --changes)
      wrong[32 + random() % (wrong.size() - 32)] = static_cast<char>(random());
    if (random() % 4 == 0)
      wrong.resize(32 + random() % (wrong.size() - 32));
    sign(wrong);
    const std::optional<std::string> saved = saveAgain(wrong);
    ++(saved ? taken : refused);
    if (saved)
      EXPECT_EQ(saveAgain(*saved), saved) << "round " << round;
  }
  EXPECT_GT(taken, 0);
  EXPECT_GT(refused, 0);
}
