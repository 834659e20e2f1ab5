//===- Float8Test.cpp - Convolutions of 8-bit floats ----------------------===//
//
// Random problems draw these types, too (DrawProblem.h). Here every number of a
// format is multiplied by every other, so that no code is decoded, and no
// product rounded, in another way than the reference does. And each way of
// computing is taken: by the matrix unit, and widened to bf16 where that does
// not multiply the format.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/ChooseTile.h"
#include "compiler/Algorithms/Registry.h"
#include "dialect/Reference/Tensor.h"
#include "runtime/Reference/ReferenceShape.h"
#include "test/unit/Support/DeviceTensors.h"
#include "test/unit/execute/ConvFixture.h"

#include <array>
#include <cmath>
#include <set>

using namespace tessera;
using namespace tessera::test;

static constexpr DataType kFloats8[] = {DataType::E4M3FNUZ, DataType::E5M2FNUZ,
                                        DataType::E4M3FN, DataType::E5M2};
static constexpr Direction kDirections[] = {
    Direction::Forward, Direction::BackwardData, Direction::BackwardWeights};
static constexpr int64_t kCodes = 256;

/// A pointwise convolution of 256 pixels and output channels. Of the inputs the
/// first channel has all codes, the others are zero.
static ConvProblem makeTable(DataType type, DataType result, int64_t channels) {
  ConvProblem p;
  p.dataType = type;
  p.byteResult = result;
  p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
  p.inChannels = channels;
  p.outChannels = kCodes;
  p.in = {1, kCodes};
  return p;
}

static Status launchTable(Engine &engine, const ConvProblem &p,
                          std::vector<char> &result) {
  std::vector<char> codes(kCodes * p.inChannels, 0);
  for (int64_t code = 0; code < kCodes; ++code)
    codes[code * p.inChannels] = static_cast<char>(code);
  result.assign(kCodes * kCodes * getByteSize(p.byteResult), '\x55');
  ErrorOr<const LoadedKernel *> kernel = engine.prepare(p);
  if (!kernel)
    return kernel.getStatus();
  DeviceTensors tensors(engine.getGpu());
  LaunchArgs args;
  args.x = tensors.add(codes);
  args.w = tensors.add(codes);
  args.y = tensors.add(result);
  args.workspace = tensors.add(nullptr, (*kernel)->getKernel().workspaceBytes);
  if (!tensors.getStatus().isOk())
    return tensors.getStatus();
  Status status = engine.launch(**kernel, nullptr, args);
  return status.isOk() ? readBack(engine.getGpu(), args.y, result) : status;
}

/// Checks that element i, j is the product of codes i and j.
static void checkTable(const ConvProblem &p, const std::vector<char> &result) {
  const reference::ElementType type = getReferenceType(p.dataType);
  const reference::ElementType written = getReferenceType(p.byteResult);
  std::array<char, kCodes> codes;
  for (int64_t code = 0; code < kCodes; ++code)
    codes[code] = static_cast<char>(code);
  int wrong = 0;
  for (int64_t i = 0; i < kCodes; ++i)
    for (int64_t j = 0; j < kCodes; ++j) {
      const double value = loadElement(type, codes.data(), i) *
                           loadElement(type, codes.data(), j);
      const double wanted = roundTo(written, value);
      const double found = loadElement(written, result.data(), i * kCodes + j);
      const bool isRight =
          std::isnan(wanted) ? std::isnan(found) : found == wanted;
      if (!isRight && wrong++ < 3)
        ADD_FAILURE() << "codes " << i << " and " << j << " give " << found
                      << ", not " << wanted;
    }
  EXPECT_EQ(wrong, 0);
}

// One channel goes the general way on every chip, 32 the way of a matrix unit
// where the chip multiplies the type. Results of 8 bits saturate, and
// infinities and NaNs are what they should be.
TEST(Float8, MultipliesEveryNumberByEveryOther) {
  auto engine = makeEngine(createJitCompiler());
  int64_t number = 0;
  for (DataType type : kFloats8)
    for (DataType written : {type, DataType::F16, DataType::F32})
      for (int64_t channels : {1, 32}) {
        if (!runsHere(number++ / 2 + channels / 32))
          continue;
        const ConvProblem p = makeTable(type, written, channels);
        SCOPED_TRACE(p.toNetworkConfig());
        std::vector<char> result;
        Status status = launchTable(*engine, p, result);
        ASSERT_TRUE(status.isOk()) << status.getMessage();
        checkTable(p, result);
      }
}

// Sums are exact where data are integers, in all directions, with two types of
// results and an epilogue in front of the rounding.
TEST(Float8, IsExactOnIntegers) {
  auto engine = makeEngine(createJitCompiler());
  int64_t number = 0;
  for (DataType type : kFloats8)
    for (Direction direction : kDirections)
      for (bool isWide : {false, true}) {
        if (!runsHere(number++ / 2 + isWide))
          continue;
        ConvProblem p;
        p.direction = direction;
        p.dataType = type;
        p.byteResult = isWide ? DataType::F32 : type;
        p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
        p.batch = 2;
        p.inChannels = 96;
        p.outChannels = 80;
        p.in = {9, 7};
        p.filter = {3, 3};
        p.pad = {1, 1};
        p.epilogue.alpha = !isWide;
        p.epilogue.bias = isWide;
        checkConv(*engine, p, reference::DataKind::Integer);
      }
}

//===----------------------------------------------------------------------===//
// Ways of computing
//===----------------------------------------------------------------------===//

/// Whether the matrix unit multiplies the format in this direction as well as
/// the chip can.
static bool hasUnitFor(DataType type, Direction direction) {
  const GpuTarget &target = getTarget();
  const MatrixUnit unit = target.matrixUnit;
  if (type == DataType::E4M3FNUZ || type == DataType::E5M2FNUZ)
    return unit == MatrixUnit::MfmaCdna3;
  return unit == MatrixUnit::MfmaCdna4 || unit == MatrixUnit::WmmaGfx12 ||
         (target.hasWgmma && direction != Direction::BackwardWeights);
}

/// The cheapest tile that widens the operands for each inner algorithm.
static std::vector<TileConfig> findWidened(const ConvProblem &p) {
  std::vector<Candidate> candidates;
  if (getChannelsLast().check(p, getTarget()).isOk())
    candidates = getChannelsLast().getCandidates(p, getTarget());
  std::ranges::sort(candidates, {}, &Candidate::cost);
  constexpr std::string_view kPrefix = "bf16-";
  std::set<std::string> inner;
  std::vector<TileConfig> tiles;
  for (const Candidate &candidate : candidates) {
    const std::string &text = candidate.tile.parameters;
    if (text.starts_with(kPrefix) &&
        inner.insert(text.substr(0, text.find('-', kPrefix.size()))).second)
      tiles.push_back(candidate.tile);
  }
  return tiles;
}

static ConvProblem makeProblem(Direction direction, DataType type,
                               DataType result, Layout layout) {
  ConvProblem p;
  p.direction = direction;
  p.dataType = type;
  p.byteResult = result;
  p.xLayout = p.wLayout = p.yLayout = layout;
  p.batch = 4;
  p.inChannels = p.outChannels = 128;
  p.in = {14, 14};
  p.filter = {3, 3};
  p.pad = {1, 1};
  return p;
}

// The matrix unit is used wherever there is one: with operands as they are, or
// widened to bf16 if it does not multiply the type; so they are without one.
TEST(Float8, TakesTheMatrixUnit) {
  auto engine = makeEngine(createJitCompiler());
  const bool hasAny = getTarget().matrixUnit != MatrixUnit::None;
  int64_t number = 0;
  for (DataType type : kFloats8)
    for (Direction direction : kDirections) {
      if (!runsHere(number++))
        continue;
      const ConvProblem p =
          makeProblem(direction, type, DataType::BF16, Layout::NHWC);
      auto kernel = engine->prepare(p);
      ASSERT_TRUE(kernel) << kernel.getStatus().getMessage();
      const std::string tile = (*kernel)->getKernel().tile;
      const bool hasUnit = hasUnitFor(type, direction);
      EXPECT_EQ(tile.find("-fma") == std::string::npos, hasAny) << tile;
      EXPECT_TRUE(tile.starts_with(hasUnit ? "igemm-" : "nhwc-bf16-igemm-"))
          << tile;
      EXPECT_EQ(findWidened(p).empty(), hasUnit && !getTarget().hasWgmma);
    }
}

class WidenedFloat8 : public testing::TestWithParam<DataType> {};
INSTANTIATE_TEST_SUITE_P(Types, WidenedFloat8, testing::ValuesIn(kFloats8),
                         [](const auto &info) {
                           return std::string(getName(info.param));
                         });

static void checkWidened(const ConvProblem &p) {
  SCOPED_TRACE(p.toNetworkConfig());
  ASSERT_TRUE(p.verify().isOk()) << p.verify().getMessage();
  for (const TileConfig &tile : findWidened(p)) {
    SCOPED_TRACE(tile.toText());
    auto engine = makeEngine(std::make_shared<FixedTileCompiler>(tile));
    checkConv(*engine, p, reference::DataKind::Uniform);
  }
}

/// Channels and pixels that no tile divides, with a stride; the same in groups;
/// groups narrower than a chunk; a first layer.
static std::vector<ConvProblem> makeOddProblems(const ConvProblem &like) {
  ConvProblem strided = like, grouped, narrow = like, first = like;
  strided.batch = 3;
  strided.inChannels = 72;
  strided.outChannels = 45;
  strided.in = {9, 7};
  strided.stride = {2, 1};
  grouped = strided;
  grouped.groups = 3;
  grouped.stride = {1, 1};
  grouped.dilation = {1, 2};
  narrow.batch = 1;
  narrow.groups = 8;
  narrow.inChannels = narrow.outChannels = 64;
  first.batch = 1;
  first.inChannels = 3;
  first.outChannels = 40;
  first.filter = {7, 7};
  first.pad = {3, 3};
  first.stride = {2, 2};
  return {strided, grouped, narrow, first};
}

// By each algorithm that takes widened operands, with each type of results, in
// both layouts.
TEST_P(WidenedFloat8, MatchesTheReference) {
  const std::array results = {GetParam(), DataType::F16, DataType::BF16,
                              DataType::F32};
  for (int direction = 0; direction < 3; ++direction)
    for (int i = 0; i < 4; ++i) {
      if (!runsHere(i / 2 + direction))
        continue;
      const bool isFirst = (i + direction) % 2 == 0;
      ConvProblem p =
          makeProblem(kDirections[direction], GetParam(), results[i],
                      isFirst ? Layout::NCHW : Layout::NHWC);
      p.epilogue.alpha = results[i] == DataType::F16;
      p.epilogue.bias = results[i] == GetParam();
      const std::vector<ConvProblem> odd = makeOddProblems(p);
      checkWidened(odd[0]);
      checkWidened(odd[1 + (i + direction) % 3]);
    }
}

// A residual of 8 bits is read where the result is, and one filter tap is in
// both layouts the same memory, but not the same type.
TEST_P(WidenedFloat8, AddsTensorsToTheResult) {
  int64_t number = static_cast<int64_t>(GetParam());
  for (Direction direction : kDirections) {
    ConvProblem p =
        makeProblem(direction, GetParam(), GetParam(), Layout::NHWC);
    p.in = {5, 7};
    p.epilogue.residual = p.epilogue.bias = true;
    p.epilogue.activation = Activation::Relu;
    if (!runsHere(number++)) {
      p.filter = {1, 1};
      p.pad = {};
      p.wLayout = Layout::NCHW;
    }
    checkWidened(p);
  }
}

// No code is widened to another number, NaN and infinities included.
TEST_P(WidenedFloat8, KeepsEveryNumber) {
  for (DataType written : {GetParam(), DataType::F32}) {
    const ConvProblem p = makeTable(GetParam(), written, 32);
    for (const TileConfig &tile : findWidened(p)) {
      SCOPED_TRACE(tile.toText());
      auto engine = makeEngine(std::make_shared<FixedTileCompiler>(tile));
      std::vector<char> result;
      Status status = launchTable(*engine, p, result);
      ASSERT_TRUE(status.isOk()) << status.getMessage();
      checkTable(p, result);
    }
  }
}

// Without a workspace, for which every problem has a kernel, nothing is
// widened.
TEST_P(WidenedFloat8, NeedsAWorkspace) {
  const ConvProblem p =
      makeProblem(Direction::Forward, GetParam(), DataType::BF16, Layout::NHWC);
  for (const TileConfig &tile : findWidened(p)) {
    auto engine = makeEngine(std::make_shared<FixedTileCompiler>(tile));
    auto kernel = engine->prepare(p);
    ASSERT_TRUE(kernel) << kernel.getStatus().getMessage();
    EXPECT_GE((*kernel)->getKernel().workspaceBytes,
              2 * (p.getInputElements() + p.getFilterElements()));
  }
  auto ranked = rankTiles(Problem(p).asWithoutWorkspace(), getTarget());
  ASSERT_TRUE(ranked) << ranked.getStatus().getMessage();
  for (const Candidate &candidate : *ranked)
    EXPECT_FALSE(candidate.tile.toText().starts_with("nhwc-bf16-"));
}
