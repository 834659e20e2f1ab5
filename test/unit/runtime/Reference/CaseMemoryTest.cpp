//===- CaseMemoryTest.cpp - How much memory a problem's data take ---------===//

#include "runtime/Reference/CaseMemory.h"

#include "runtime/DriverCommand/DriverCommand.h"
#include "runtime/Reference/ConvCase.h"
#include "runtime/Reference/PoolCase.h"
#include "runtime/Reference/RowWiseCase.h"

#include <gtest/gtest.h>

using namespace tessera;
using Purpose = CaseUse::Purpose;

static Problem parse(const std::string &text) {
  ErrorOr<Problem> problem = parseDriverCommand(text);
  EXPECT_TRUE(problem) << problem.getStatus().getMessage();
  return problem ? *problem : Problem();
}

/// Bytes of the tensors that a case really allocates.
static uint64_t countTensors(const Problem &problem) {
  if (const ConvProblem *conv = problem.getConv()) {
    const ConvCase data(*conv, reference::DataKind::Uniform, 1);
    return data.x.size() + data.w.size() + data.y.size() + data.bias.size() +
           data.residual.size();
  }
  if (const PoolProblem *pool = problem.getPool()) {
    const PoolCase data(*pool, PoolData::Uniform, 1);
    return data.x.size() + data.y.size() + data.indices.size();
  }
  uint64_t bytes = 0;
  for (const auto &tensor : RowWiseCase(*problem.getRows(), 1).tensors)
    bytes += tensor.size();
  return bytes;
}

// The estimate equals what a case allocates, for every kind of problem. The
// emulated device holds the tensors once more, which is the difference of the
// two estimates.
TEST(CaseMemory, CountsTheTensorsOfACase) {
  for (const char *text :
       {"conv -n 3 -c 8 -H 9 -W 7 -k 5 -y 3 -x 2 -F 1",
        "convfp16 -n 3 -c 8 -H 9 -W 7 -k 5 -y 3 -x 2 -F 2",
        "convint8 -n 3 -c 8 -H 9 -W 7 -k 5 -y 3 -x 2 -F 1",
        "conv-fwd-f16-nhwc,nhwc,nhwc-n2c8h4w4-k8y1x1-p0x0-s1x1-d1x1-g1-ebias+"
        "residual",
        "pool-fwd-max-f16-nhwc,nhwc-n2c8h9w9-y3x3-p0x0-s1x1-iu16mask",
        "pool-bwd-avg-f32-nchw,nchw-n2c8h9w9-y3x3-p0x0-s1x1-inone",
        "rowwise-softmax_fwd-m2-64x1000-r1-i:f16:1024:1-o:f32:1000:1"}) {
    const Problem problem = parse(text);
    EXPECT_EQ(getCaseBytes(problem, {Purpose::Run, true}) -
                  getCaseBytes(problem, {Purpose::Run, false}),
              countTensors(problem))
        << text;
  }
}

// A judge needs a value and a tolerance for each element of the result, and a
// tuner an interval besides.
TEST(CaseMemory, JudgingTakesMore) {
  const Problem problem = parse("conv -n 2 -c 4 -H 8 -W 8 -k 4 -y 1 -x 1 -F 1");
  const uint64_t result = 2 * 4 * 8 * 8;
  const uint64_t run = getCaseBytes(problem, {Purpose::Run});
  EXPECT_EQ(run, 4 * (result + 16 + result + result));
  EXPECT_EQ(getCaseBytes(problem, {Purpose::Verify}), run + 16 * result);
  EXPECT_EQ(getCaseBytes(problem, {Purpose::Tune}),
            run + 16 * result + 3 * 4 * result);
}

// Tensors whose bytes fit 64 bits one by one may overflow them together.
TEST(CaseMemory, SumsDoNotOverflow) {
  const Problem problem =
      parse("conv-fwd-i8,i32-nchw,nchw,nchw-n2147483647c1073741824h1w1-"
            "k536870912y1x1-p0x0-s1x1-d1x1-g1");
  ASSERT_TRUE(problem.verify().isOk()) << problem.verify().getMessage();
  EXPECT_EQ(getCaseBytes(problem, {Purpose::Tune, true}), UINT64_MAX);
}

// A problem of terabytes is refused before a byte of it is allocated.
TEST(CaseMemory, RefusesWhatIsTooLarge) {
  const Problem problem =
      parse("conv -n 100000 -c 1000 -H 1000 -W 1000 -k 4 -y 5 -x 5 -F 1");
  const Status status = withCaseMemory(problem, {Purpose::Run},
                                       [] { return internalError("begun"); });
  EXPECT_EQ(status.getCode(), StatusCode::ResourceExhausted)
      << status.getMessage();
}
