//===- Int8Test.cpp - Convolutions of int8 with results of int8 -----------===//
//
// Random problems draw such results, too (DrawProblem.h). Here every product
// is rounded, ties and both ends of the range included, and each algorithm that
// takes a problem stores such results behind an epilogue.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/ChooseTile.h"
#include "test/unit/Support/DeviceTensors.h"
#include "test/unit/execute/ConvFixture.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace tessera;
using namespace tessera::test;

static constexpr int64_t kCodes = 256;

static ConvProblem makeProblem(Layout layout) {
  ConvProblem p;
  p.dataType = p.byteResult = DataType::I8;
  p.xLayout = p.wLayout = p.yLayout = layout;
  return p;
}

/// A pointwise convolution of 256 pixels and output channels. Of the inputs the
/// first channel has all codes, the others are zero.
static Status launchTable(Engine &engine, const ConvProblem &p, double alpha,
                          std::vector<char> &result) {
  std::vector<char> codes(kCodes * p.inChannels, 0);
  for (int64_t code = 0; code < kCodes; ++code)
    codes[code * p.inChannels] = static_cast<char>(code);
  result.assign(kCodes * kCodes, '\x55');
  ErrorOr<const LoadedKernel *> kernel = engine.prepare(p);
  if (!kernel)
    return kernel.getStatus();
  DeviceTensors tensors(engine.getGpu());
  LaunchArgs args;
  args.x = tensors.add(codes);
  args.w = tensors.add(codes);
  args.y = tensors.add(result);
  args.alpha = alpha;
  args.workspace = tensors.add(nullptr, (*kernel)->getKernel().workspaceBytes);
  if (!tensors.getStatus().isOk())
    return tensors.getStatus();
  Status status = engine.launch(**kernel, nullptr, args);
  return status.isOk() ? readBack(engine.getGpu(), args.y, result) : status;
}

static int countWrong(const std::vector<char> &result, double alpha) {
  int wrong = 0;
  for (int64_t i = 0; i < kCodes; ++i)
    for (int64_t j = 0; j < kCodes; ++j) {
      const int product = static_cast<int8_t>(i) * static_cast<int8_t>(j);
      const double wanted =
          std::clamp(std::nearbyint(alpha * product), -128.0, 127.0);
      const int found = static_cast<int8_t>(result[i * kCodes + j]);
      if (found != wanted && wrong++ < 3)
        ADD_FAILURE() << "codes " << i << " and " << j << " give " << found
                      << ", not " << wanted;
    }
  return wrong;
}

// With a scale of 2^-7 a product in 128 lies between two integers; without one
// most products are beyond 127. One channel goes the general way, 64 the way of
// a matrix unit.
TEST(Int8, RoundsEveryProduct) {
  auto engine = makeEngine(createJitCompiler());
  for (int64_t channels : {1, 64})
    for (double alpha : {1.0, 0x1p-7, -0x1p-6, 0.0}) {
      ConvProblem p = makeProblem(Layout::NHWC);
      p.inChannels = channels;
      p.outChannels = kCodes;
      p.in = {1, kCodes};
      p.epilogue.alpha = alpha != 1;
      SCOPED_TRACE(p.toNetworkConfig());
      std::vector<char> result;
      Status status = launchTable(*engine, p, alpha, result);
      ASSERT_TRUE(status.isOk()) << status.getMessage();
      EXPECT_EQ(countWrong(result, alpha), 0);
    }
}

/// Channels and pixels that no tile divides; a stride; groups; a depthwise
/// filter; depth; a long reduction of few pixels, which may be split.
static std::vector<ConvProblem> makeShapes(Layout layout) {
  ConvProblem odd = makeProblem(layout);
  odd.batch = 3;
  odd.inChannels = 72;
  odd.outChannels = 45;
  odd.in = {9, 7};
  odd.filter = {3, 3};
  odd.pad = {1, 1};
  ConvProblem strided = odd, grouped = odd, depthwise = odd, deep = odd,
              split = odd, even = odd;
  strided.stride = {2, 1};
  strided.inChannels = strided.outChannels = 64;
  grouped.groups = 3;
  grouped.dilation = {1, 2};
  depthwise.groups = depthwise.outChannels = depthwise.inChannels = 24;
  deep.in.d = 4;
  deep.filter.d = 2;
  deep.inChannels = 32;
  split.batch = 1;
  split.in = {3, 3};
  split.inChannels = 512;
  split.outChannels = 64;
  even.inChannels = even.outChannels = 128;
  even.in = {8, 16};
  return {odd, strided, grouped, depthwise, deep, split, even};
}

/// The cheapest tile of each algorithm, and the cheapest one with splits.
static std::vector<TileConfig> chooseTiles(const ConvProblem &p) {
  const auto ranked = rankTiles(Problem(p), getTarget());
  std::vector<TileConfig> tiles;
  if (!ranked) {
    ADD_FAILURE() << ranked.getStatus().getMessage();
    return tiles;
  }
  std::set<std::string> known;
  for (const Candidate &candidate : *ranked) {
    const std::string text = candidate.tile.toText();
    const bool isSplit = text.find("-s") != std::string::npos;
    if (known.insert(candidate.tile.algorithm + (isSplit ? "s" : "")).second)
      tiles.push_back(candidate.tile);
  }
  return tiles;
}

// Without an epilogue the sums saturate; with one of all terms, whose bias is
// f32 and whose residual is int8, the scaled sum does.
TEST(Int8, EveryAlgorithmStoresBytes) {
  constexpr Layout kLayouts[] = {Layout::NHWC, Layout::NCHW};
  for (size_t i = 0; i < makeShapes(Layout::NHWC).size(); ++i)
    for (bool hasEpilogue : {false, true}) {
      if (!isTurn(i / 2 + hasEpilogue))
        continue;
      ConvProblem p = makeShapes(kLayouts[(i + hasEpilogue) % 2])[i];
      if (hasEpilogue)
        p.epilogue = {.alpha = true,
                      .beta = true,
                      .bias = true,
                      .residual = true,
                      .activation = Activation::LeakyRelu};
      for (const TileConfig &tile : chooseTiles(p)) {
        SCOPED_TRACE(p.toNetworkConfig() + " " + tile.toText());
        auto engine = makeEngine(std::make_shared<FixedTileCompiler>(tile));
        checkConv(*engine, p,
                  hasEpilogue ? reference::DataKind::Uniform
                              : reference::DataKind::Integer);
      }
    }
}

// The matrix unit computes such results wherever there is one.
TEST(Int8, TakesTheMatrixUnit) {
  auto engine = makeEngine(createJitCompiler());
  for (bool hasEpilogue : {false, true}) {
    ConvProblem p = makeShapes(Layout::NHWC).back();
    p.epilogue.alpha = p.epilogue.bias = hasEpilogue;
    auto kernel = engine->prepare(p);
    ASSERT_TRUE(kernel) << kernel.getStatus().getMessage();
    const std::string tile = (*kernel)->getKernel().tile;
    EXPECT_TRUE(tile.starts_with("igemm-")) << tile;
    EXPECT_EQ(tile.find("-fma") == std::string::npos,
              getTarget().matrixUnit != MatrixUnit::None)
        << tile;
  }
}
