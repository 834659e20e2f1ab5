//===- SavedKernelTest.cpp - Kernels that a client keeps ------------------===//

#include "capi/lib/Common/Library.h"
#include "capi/lib/Find/Solution.h"
#include "test/unit/Support/FakeCompiler.h"
#include "test/unit/Support/FakeHip.h"

#include <tessera/problem.h>

#include <gtest/gtest.h>

#include <string>

using namespace tessera;
using namespace tessera::test;

static const char *const kProblem =
    "conv-fwd-f16-nhwc,nhwc,nhwc-n1c8h9w9-k8y3x3-p1x1-s1x1-d1x1-g1";

namespace {
/// The real engine on a device that computes nothing.
class SavedKernel : public testing::Test {
protected:
  void SetUp() override {
    getFakeHip().reset();
    begin();
  }
  void TearDown() override {
    ASSERT_EQ(miopenDestroy(handle), miopenStatusSuccess);
    capi::replaceEngineForTesting(nullptr);
  }

  /// A process that knows no kernel, and one that cannot make any.
  void begin(bool compiles = true) {
    if (handle)
      ASSERT_EQ(miopenDestroy(handle), miopenStatusSuccess);
    const auto compiler = compiles ? std::make_shared<FakeCompiler>() : nullptr;
    auto made = Engine::create(loadFakeHip(), {compiler, {}});
    ASSERT_TRUE(made);
    engine = made->get();
    capi::replaceEngineForTesting(std::move(*made));
    ASSERT_EQ(miopenCreate(&handle), miopenStatusSuccess);
  }

  std::string save() {
    size_t size = 0;
    EXPECT_EQ(tesseraSaveKernel(handle, kProblem, nullptr, &size),
              miopenStatusSuccess)
        << tesseraGetLastErrorMessage();
    std::string bytes(size, 0);
    EXPECT_EQ(tesseraSaveKernel(handle, kProblem, bytes.data(), &size),
              miopenStatusSuccess);
    EXPECT_EQ(size, bytes.size());
    return bytes;
  }
  miopenStatus_t load(const std::string &bytes) {
    return tesseraLoadKernel(handle, bytes.data(), bytes.size());
  }

  miopenHandle_t handle = nullptr;
  Engine *engine = nullptr; ///< Owned by the library.
};
} // namespace

// What one process has saved serves another, which has no compiler.
TEST_F(SavedKernel, ServesAnotherProcess) {
  const std::string bytes = save();
  EXPECT_EQ(engine->getCounters().compiled, 1u);
  begin(false);
  EXPECT_EQ(tesseraSaveKernel(handle, kProblem, nullptr, nullptr),
            miopenStatusBadParm);
  ASSERT_EQ(load(bytes), miopenStatusSuccess) << tesseraGetLastErrorMessage();
  EXPECT_EQ(engine->getCounters().fromDatabase, 1u);
  tesseraKernelInfo info{};
  info.structSize = sizeof info;
  EXPECT_EQ(tesseraGetProblemKernelInfo(handle, kProblem, &info),
            miopenStatusSuccess);
  EXPECT_EQ(info.origin, tesseraKernelFromDatabase);
  EXPECT_EQ(save(), bytes);
  // A second one changes nothing.
  EXPECT_EQ(load(bytes), miopenStatusSuccess);
  EXPECT_EQ(engine->getCounters().fromDatabase, 1u);
}

TEST_F(SavedKernel, SaysHowManyBytesThereAre) {
  const std::string bytes = save();
  std::string less(bytes.size() - 1, 0);
  size_t size = less.size();
  EXPECT_EQ(tesseraSaveKernel(handle, kProblem, less.data(), &size),
            miopenStatusBadParm);
  EXPECT_EQ(size, bytes.size());
  EXPECT_EQ(tesseraSaveKernel(handle, "conv", nullptr, &size),
            miopenStatusBadParm);
}

// What is no saved kernel, is damaged, of another format or for another chip,
// is refused, each with its status.
TEST_F(SavedKernel, RefusesForeignBytes) {
  const std::string bytes = save();
  EXPECT_EQ(tesseraLoadKernel(handle, nullptr, 1), miopenStatusBadParm);
  EXPECT_EQ(load(""), miopenStatusInvalidValue);
  std::string wrong = bytes;
  ++wrong.back();
  EXPECT_EQ(load(wrong), miopenStatusInvalidValue);
  wrong = bytes;
  ++wrong[8];
  EXPECT_EQ(load(wrong), miopenStatusVersionMismatch);
  capi::SolutionData data;
  ASSERT_EQ(capi::loadSolution(bytes, data).getStatus(), miopenStatusSuccess);
  capi::SolutionData other = data;
  other.target = "gfx000";
  EXPECT_EQ(load(capi::saveSolution(other)), miopenStatusNotImplemented);
  EXPECT_NE(std::string(tesseraGetLastErrorMessage())
                .find("the kernel is for gfx000, but the device is a"),
            std::string::npos);
  other = data;
  other.networkConfig = "conv-of-tomorrow";
  EXPECT_EQ(load(capi::saveSolution(other)), miopenStatusNotImplemented);
}

// Machine code that the driver refuses makes no kernel; the next bytes may.
TEST_F(SavedKernel, SurvivesRefusedCode) {
  const std::string bytes = save();
  begin(false);
  getFakeHip().failNext("hipModuleLoadData", hipErrorInvalidValue);
  EXPECT_NE(load(bytes), miopenStatusSuccess);
  EXPECT_EQ(load(bytes), miopenStatusSuccess) << tesseraGetLastErrorMessage();
}
