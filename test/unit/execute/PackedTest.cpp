//===- PackedTest.cpp - Convolutions whose tensors are packed first -------===//
//
// Tests the launches that pack, the product of the packed tensors and the sum
// of backward weights, with the smallest tile of igemm. Only NVIDIA's chips
// choose this algorithm; their program is the same but for its copies.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Registry.h"
#include "test/unit/execute/ConvFixture.h"
#include "test/unit/execute/DrawProblem.h"

using namespace tessera;
using namespace tessera::test;

/// Returns a tile of igemm under the name "packed", or none if one of the two
/// algorithms does not serve the problem.
static std::optional<TileConfig> getTile(const ConvProblem &problem) {
  if (!getPacked().check(problem, getTarget()).isOk())
    return std::nullopt;
  auto candidates = getImplicitGemm().getCandidates(problem, getTarget());
  for (const Candidate &candidate : candidates)
    if (candidate.tile.parameters.find("-s") == std::string::npos)
      return TileConfig{"packed", candidate.tile.parameters};
  return std::nullopt;
}

static void checkPacked(const ConvProblem &problem, reference::DataKind kind) {
  auto tile = getTile(problem);
  ASSERT_TRUE(tile) << problem.toNetworkConfig();
  auto engine = makeEngine(std::make_shared<FixedTileCompiler>(*tile));
  ASSERT_NE(engine, nullptr);
  checkConv(*engine, problem, kind);
}

class PackedConvolution : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Random, PackedConvolution, testing::Range(0, 48));

// Tests every direction, epilogues, odd numbers of input and output channels,
// and windows of all kinds.
TEST_P(PackedConvolution, MatchesTheReference) {
  int index = GetParam();
  ProblemSpace space;
  space.types = {DataType::F16, DataType::BF16, DataType::F32};
  space.depth = false;
  space.strided = false;
  space.maxFlops = 4e6;
  ConvProblem p = drawProblem(getSeed() + 23, index, space);
  p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
  p.groups = 1;
  p.dilation = Spatial();
  p.inChannels = 1 + index * 7 % 19;
  p.outChannels = index % 3 ? 24 : 21;
  p = p.canonicalize();
  if (!p.verify().isOk() || !getTile(p))
    GTEST_SKIP() << "a window that the algorithm leaves to another";
  checkPacked(p, reference::DataKind::Uniform);
}

// The data are small integers, so that a tap from another block of pixels, or a
// padding channel that is not zero, cannot hide in rounding.
TEST(PackedConvolution, IsExactOnIntegers) {
  int64_t number = 0;
  for (DataType type : {DataType::F16, DataType::F32})
    for (Direction direction : {Direction::Forward, Direction::BackwardData,
                                Direction::BackwardWeights})
      for (int64_t channels : {3, 13})
        for (int64_t stride : {1, 2, 3}) {
          if (!runsHere(number++))
            continue;
          ConvProblem p;
          p.direction = direction;
          p.dataType = type;
          p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
          p.batch = 2;
          p.inChannels = channels;
          p.outChannels = stride == 2 ? 16 : 11;
          p.in = {13, 10};
          p.filter = {5, 4};
          p.pad = {2, 1};
          p.stride = {stride, stride};
          checkPacked(p, reference::DataKind::Integer);
        }
}

// Of backward weights all tensors that are packed or summed may have channels
// first, one by one. The data are integers: a wrong tap or channel cannot hide.
TEST(PackedConvolution, ReadsChannelsFirstOfWeights) {
  for (DataType type : {DataType::F16, DataType::F32})
    for (int64_t channels : {3, 13})
      for (int number = 1; number < 8; ++number) {
        if (!runsHere(number + channels / 13 + (type == DataType::F32)))
          continue;
        auto getLayout = [&](int bit) {
          return number >> bit & 1 ? Layout::NCHW : Layout::NHWC;
        };
        ConvProblem p;
        p.direction = Direction::BackwardWeights;
        p.dataType = type;
        p.xLayout = getLayout(0);
        p.wLayout = getLayout(1);
        p.yLayout = getLayout(2);
        p.batch = 2;
        p.inChannels = channels;
        p.outChannels = 11;
        p.in = {13, 10};
        p.filter = {5, 4};
        p.pad = {2, 1};
        p.stride = {1 + number % 2, 1 + number / 4};
        checkPacked(p, reference::DataKind::Integer);
      }
}

// Backward weights of 70 channels would need 128 rows. The channels are 80
// columns instead (96 of tf32), so that the partial results of a split are
// transposed. The data are integers: a tap of another line or block, or
// channels taken for taps, cannot hide in rounding.
TEST(PackedConvolution, HasTapsAsRows) {
  for (DataType type : {DataType::F16, DataType::F32})
    for (int64_t channels : {3, 13})
      for (int64_t stride : {1, 2}) {
        ConvProblem p;
        p.direction = Direction::BackwardWeights;
        p.dataType = type;
        p.mathType = MathType::Tf32;
        p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
        p.batch = 2;
        p.inChannels = channels;
        p.outChannels = 70;
        p.in = {11, 7};
        p.filter = {3, 4};
        p.pad = {1, 2};
        p.stride = {stride, stride};
        checkPacked(p, reference::DataKind::Integer);
      }
}
