//===- ExtensionsTest.cpp - Tests of tessera/tessera.h --------------------===//

#include "capi/lib/Common/ErrorGuard.h"
#include "test/unit/capi/Descriptors.h"
#include "test/unit/capi/FailingNew.h"
#include "test/unit/capi/FakeEngine.h"

#include <tessera/tessera.h>

#include <new>
#include <stdexcept>
#include <string>
#include <thread>

using namespace tessera;
using namespace tessera::test;

namespace {
class Extensions : public FakeEngineTest {};
} // namespace

// Each thread has its own text, and a successful call leaves it as it is.
TEST(LastError, BelongsToTheThread) {
  ASSERT_EQ(miopenDestroy(nullptr), miopenStatusBadParm);
  std::thread([] {
    EXPECT_STREQ(tesseraGetLastErrorMessage(), "");
    EXPECT_EQ(miopenGetVersion(nullptr, nullptr, nullptr), 0);
    EXPECT_EQ(miopenCreateTensorDescriptor(nullptr), miopenStatusBadParm);
    EXPECT_STREQ(tesseraGetLastErrorMessage(),
                 "miopenCreateTensorDescriptor: tensorDesc is NULL");
  }).join();
  EXPECT_EQ(miopenGetVersion(nullptr, nullptr, nullptr), miopenStatusSuccess);
  EXPECT_STREQ(tesseraGetLastErrorMessage(), "miopenDestroy: handle is NULL");
}

// Every code of Status becomes its status of MIOpen.
TEST(ErrorGuard, ConvertsEveryStatusCode) {
  auto convert = [](StatusCode code) {
    return capi::guard("test", REQUIRED(), [&]() -> capi::ApiResult {
      return Status(code, "text");
    });
  };
  EXPECT_EQ(convert(StatusCode::Ok), miopenStatusSuccess);
  EXPECT_EQ(convert(StatusCode::InvalidArgument), miopenStatusBadParm);
  EXPECT_EQ(convert(StatusCode::NotSupported), miopenStatusNotImplemented);
  EXPECT_EQ(convert(StatusCode::ResourceExhausted), miopenStatusAllocFailed);
  EXPECT_EQ(convert(StatusCode::NotFound), miopenStatusInternalError);
  EXPECT_EQ(convert(StatusCode::Unavailable), miopenStatusInternalError);
  EXPECT_EQ(convert(StatusCode::Internal), miopenStatusInternalError);
}

// No exception of the standard library crosses into C.
TEST(ErrorGuard, CatchesExceptions) {
  EXPECT_EQ(capi::guard("test", REQUIRED(),
                        []() -> capi::ApiResult { throw std::bad_alloc(); }),
            miopenStatusAllocFailed);
  EXPECT_STREQ(tesseraGetLastErrorMessage(), "memory ran out");
  EXPECT_EQ(capi::guard("test", REQUIRED(),
                        []() -> capi::ApiResult {
                          throw std::length_error("too long");
                        }),
            miopenStatusInternalError);
  EXPECT_STREQ(tesseraGetLastErrorMessage(), "test: exception: too long");
  EXPECT_EQ(
      capi::guard("test", REQUIRED(), []() -> capi::ApiResult { throw 7; }),
      miopenStatusInternalError);
}

// No exception crosses into C if memory runs out while the message of another
// one is built. Whichever allocation fails, there are a status and a message.
TEST(ErrorGuard, CatchesExceptionsWithoutMemory) {
  if (!kReplacesNew)
    GTEST_SKIP() << "no allocation fails under the thread sanitizer";
  const std::length_error error("longer than a string holds in itself");
  auto failAfter = [&](int allocations) {
    const FailingNew failure(allocations);
    return capi::guard("test", REQUIRED(),
                       [&]() -> capi::ApiResult { throw error; });
  };
  int refused = 0;
  for (; failAfter(refused) == miopenStatusAllocFailed; ++refused)
    ASSERT_STREQ(tesseraGetLastErrorMessage(), "memory ran out");
  EXPECT_GT(refused, 0);
  EXPECT_EQ(failAfter(refused), miopenStatusInternalError);
  EXPECT_STREQ(tesseraGetLastErrorMessage(),
               "test: exception: longer than a string holds in itself");
}

// The counters are those of the engine, and 0 before there is one.
TEST_F(Extensions, Counters) {
  engine->counters.compiled = 1;
  engine->counters.fromDatabase = 2;
  engine->counters.fromMemory = 3;
  engine->counters.launched = 4;
  tesseraCounters counters = TESSERA_COUNTERS_INIT;
  ASSERT_EQ(tesseraGetCounters(&counters), miopenStatusSuccess);
  EXPECT_EQ(counters.compiled, 1u);
  EXPECT_EQ(counters.fromDatabase, 2u);
  EXPECT_EQ(counters.fromMemory, 3u);
  EXPECT_EQ(counters.launched, 4u);
  EXPECT_EQ(counters.structSize, sizeof counters);

  capi::replaceEngineForTesting(nullptr);
  ASSERT_EQ(tesseraGetCounters(&counters), miopenStatusSuccess);
  EXPECT_EQ(counters.launched, 0u);
}

// A struct of a size that this release does not know is refused.
TEST_F(Extensions, CountersCheckTheirSize) {
  tesseraCounters counters = TESSERA_COUNTERS_INIT;
  counters.structSize = 8;
  EXPECT_EQ(tesseraGetCounters(&counters), miopenStatusBadParm);
  EXPECT_EQ(tesseraGetCounters(nullptr), miopenStatusBadParm);
}

// All properties of a kernel are reported; long texts are truncated.
TEST_F(Extensions, KernelInfo) {
  Kernel &kernel = engine->kernel.kernel;
  kernel.codeObject.resize(1234);
  kernel.workspaceBytes = 16;
  kernel.resources = {.vgprs = 256,
                      .agprs = 128,
                      .sgprs = 40,
                      .vgprSpills = 1,
                      .sgprSpills = 2,
                      .ldsBytes = 65536,
                      .scratchBytes = 8};
  kernel.tile = "igemm-m256n256k32";
  kernel.stageTimes = {{"dnn", 0.5}, {std::string(100, 'x'), 1.5}};
  engine->kernel.origin = LoadedKernel::Origin::Database;

  miopenHandle_t handle;
  ASSERT_EQ(miopenCreate(&handle), miopenStatusSuccess);
  TensorDesc x(miopenTensorNCHW, {1, 4, 8, 8});
  TensorDesc w(miopenTensorNCHW, {8, 4, 3, 3});
  TensorDesc y(miopenTensorNCHW, {1, 8, 6, 6});
  ConvDesc conv;
  tesseraKernelInfo info{};
  EXPECT_EQ(
      tesseraGetConvolutionForwardKernelInfo(handle, x, w, conv, y, &info),
      miopenStatusBadParm);
  info.structSize = sizeof info;
  ASSERT_EQ(
      tesseraGetConvolutionForwardKernelInfo(handle, x, w, conv, y, &info),
      miopenStatusSuccess);
  EXPECT_EQ(info.origin, tesseraKernelFromDatabase);
  EXPECT_EQ(info.codeObjectBytes, 1234u);
  EXPECT_EQ(info.workspaceBytes, 16u);
  EXPECT_EQ(info.vgprs, 256u);
  EXPECT_EQ(info.agprs, 128u);
  EXPECT_EQ(info.sgprs, 40u);
  EXPECT_EQ(info.vgprSpills, 1u);
  EXPECT_EQ(info.sgprSpills, 2u);
  EXPECT_EQ(info.ldsBytes, 65536u);
  EXPECT_EQ(info.scratchBytes, 8u);
  EXPECT_STREQ(info.tile, "igemm-m256n256k32");
  ASSERT_EQ(info.stageCount, 2u);
  EXPECT_STREQ(info.stages[0].name, "dnn");
  EXPECT_EQ(info.stages[0].timeMs, 0.5);
  EXPECT_EQ(std::string(info.stages[1].name),
            std::string(TESSERA_NAME_BYTES - 1, 'x'));
  EXPECT_TRUE(engine->launches.empty());
  ASSERT_EQ(miopenDestroy(handle), miopenStatusSuccess);
}
