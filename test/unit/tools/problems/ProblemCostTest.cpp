//===- ProblemCostTest.cpp - Roughly what a problem costs -----------------===//

#include "tools/problems/ProblemCost.h"

#include <gtest/gtest.h>

using namespace tessera;

// The cost of a convolution is twice its products; that of a pooling is the
// positions that it reads.
TEST(ProblemCost, CountsOperations) {
  auto operations = [](const char *text) {
    return countOperations(*parseNetworkConfig(text));
  };
  EXPECT_EQ(
      operations(
          "conv-fwd-f16-nhwc,nhwc,nhwc-n1c8h4w4-k8y1x1-p0x0-s1x1-d1x1-g1"),
      2 * 8 * 8 * 16);
  EXPECT_EQ(
      operations("pool-fwd-avg-f16-nhwc,nhwc-n1c8h4w4-y2x2-p0x0-s2x2-inone"),
      8 * 4 * 4);
  // The gradient writes every pixel, also those in no window.
  EXPECT_EQ(
      operations("pool-bwd-avg-f16-nhwc,nhwc-n1c8h9w9-y1x1-p0x0-s8x8-inone"),
      8 * 4 + 8 * 81);
}
