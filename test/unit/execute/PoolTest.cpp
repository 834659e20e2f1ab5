//===- PoolTest.cpp - Pooling on the device -------------------------------===//
//
// Tests every mode, type, layout and kind of index, with the tiles that the
// model chooses and with others, on the device that TESSERA_DEVICE names.
//
//===----------------------------------------------------------------------===//

#include "test/unit/Support/RunPool.h"
#include "test/unit/execute/ConvFixture.h"

using namespace tessera;
using namespace tessera::test;

/// Compiles and runs `problem` and compares its results with the reference:
/// `sample` elements or, if that is 0, all.
static void checkPool(Engine &engine, const PoolProblem &problem, PoolData data,
                      int64_t sample = 0) {
  SCOPED_TRACE(problem.toNetworkConfig());
  PoolOutcome outcome = runPool(engine, problem, data, getSeed(), sample);
  EXPECT_TRUE(outcome.passed()) << outcome.tile << ": " << outcome.toText();
}

static Engine &getEngine() {
  static std::unique_ptr<Engine> engine =
      makeEngine(std::shared_ptr<KernelCompiler>(createJitCompiler()));
  return *engine;
}

/// Checks `problem` with the tile `text`, or with the model's if it is empty.
static void checkWithTile(const PoolProblem &problem, std::string_view text,
                          PoolData data) {
  if (text.empty())
    return checkPool(getEngine(), problem, data);
  auto tile = parseTileConfig(std::string(text));
  ASSERT_TRUE(tile) << tile.getStatus().getMessage();
  auto engine = makeEngine(std::make_shared<FixedTileCompiler>(*tile));
  checkPool(*engine, problem, data);
}

/// Returns the gradient of the same pooling.
static PoolProblem getBackward(PoolProblem problem) {
  problem.direction = Direction::BackwardData;
  if (isMaximum(problem.mode) && problem.indexType == IndexType::None)
    problem.indexType = IndexType::U32;
  return problem;
}

/// Checks `problem` and, unless only forward has such tiles, its gradient.
static void checkBoth(const PoolProblem &problem, std::string_view tile,
                      PoolData data) {
  checkWithTile(problem, tile, data);
  if (!tile.starts_with("poolsplit"))
    checkWithTile(getBackward(problem), tile, PoolData::Uniform);
}

/// Checks every mode with its indices, on NaNs and infinities where a maximum
/// is sought.
static void checkModes(PoolProblem problem, std::string_view tile = {}) {
  for (PoolMode mode : {PoolMode::Average, PoolMode::AverageInclusive}) {
    problem.mode = mode;
    problem.indexType = IndexType::None;
    checkBoth(problem, tile, PoolData::Uniform);
  }
  for (PoolMode maximum : {PoolMode::Max, PoolMode::MaxNan}) {
    problem.mode = maximum;
    problem.indexType = IndexType::None;
    checkWithTile(problem, tile, PoolData::Specials);
    problem.indexType = IndexType::U16;
    for (IndexMode mode : {IndexMode::Mask, IndexMode::Image}) {
      problem.indexMode = mode;
      checkBoth(problem, tile,
                mode == IndexMode::Mask ? PoolData::Specials : PoolData::Ties);
    }
  }
}

/// Returns a 3x3 window with stride 2 and padding on a small image whose height
/// and width differ.
static PoolProblem getSmall(Layout layout, DataType type, int64_t channels) {
  PoolProblem problem;
  problem.dataType = type;
  problem.xLayout = problem.yLayout = layout;
  problem.batch = 2;
  problem.channels = channels;
  problem.in = {9, 11};
  problem.window = {3, 3};
  problem.pad = {1, 1};
  problem.stride = {2, 2};
  return problem;
}

// Tests the types in both layouts, with vectors of channels.
TEST(Pool, Types) {
  int64_t number = 0;
  for (DataType type : {DataType::F16, DataType::BF16, DataType::F32})
    for (Layout layout : {Layout::NCHW, Layout::NHWC})
      if (runsHere(number++ / 2 + (layout == Layout::NHWC)))
        checkModes(getSmall(layout, type, 8));
}

// Tests odd sizes with numbers of channels that a vector does and does not
// divide.
TEST(Pool, Channels) {
  for (int64_t channels : {1, 2, 3, 4, 6, 12, 17})
    for (Layout layout : {Layout::NCHW, Layout::NHWC}) {
      PoolProblem problem = getSmall(layout, DataType::F16, channels);
      problem.indexType = IndexType::U8;
      checkPool(getEngine(), problem, PoolData::Specials);
      checkPool(getEngine(), getBackward(problem), PoolData::Ties);
    }
}

// A vector divides the columns, so that NCHW is read and written in vectors.
// Windows begin before a vector and end behind it.
TEST(Pool, VectorsOfColumns) {
  for (int64_t window : {1, 2, 3, 5})
    for (int64_t stride : {1, 2, 3}) {
      PoolProblem problem = getSmall(Layout::NCHW, DataType::F16, 2);
      problem.in = {6, 24};
      problem.window = {2, window};
      problem.pad = {0, window / 2};
      problem.stride = {1, stride};
      problem.indexType = IndexType::U8;
      for (const char *tile : {"", "pool-c1h2w8"}) {
        checkBoth(problem, tile, PoolData::Specials);
        PoolProblem average = problem;
        average.mode = PoolMode::Average;
        average.indexType = IndexType::None;
        average.dataType = DataType::F32;
        checkBoth(average, tile, PoolData::Uniform);
      }
    }
}

// Every tile computes the same, whether it divides the image or overhangs.
TEST(Pool, Tiles) {
  int64_t number = 0;
  for (const char *tile : {"pool-c1h1w1", "pool-c1h2w4", "pool-c2h4w1"})
    if (runsHere(number++))
      checkModes(getSmall(Layout::NCHW, DataType::F16, 8), tile);
  for (const char *tile : {"pool-c8h1w1", "pool-c8h2w2", "pool-c4h1w8"})
    if (runsHere(number++))
      checkModes(getSmall(Layout::NHWC, DataType::F16, 8), tile);
}

// Padding at one end, at the other, and longer than the window, with every kind
// of tile; in the time of volumes, too.
TEST(Pool, UnequalPads) {
  int64_t number = 0;
  for (auto [before, after] :
       {std::pair{Pads{1, 0}, Pads{0, 2}}, std::pair{Pads{0, 2}, Pads{3, 0}},
        std::pair{Pads{0, 0}, Pads{5, 6}}}) {
    PoolProblem problem = getSmall(Layout::NCHW, DataType::F16, 8);
    problem.stride = {1, 2};
    problem.pad = before;
    problem.setPadAfter(after);
    ASSERT_TRUE(problem.canonicalize().hasUnequalPads());
    for (const char *tile :
         {"", "pool-c1h1w1", "pool-c1h2w4", "poolsplit-c1h1w16"})
      if (runsHere(number++))
        checkModes(problem, tile);
    problem.xLayout = problem.yLayout = Layout::NHWC;
    for (const char *tile : {"", "pool-c8h2w2", "poolsplit-c4h5w2"})
      if (runsHere(number++))
        checkModes(problem, tile);
    problem.in.d = 5;
    problem.window.d = 3;
    problem.pad.d = 2;
    problem.extraPad.d = -2;
    if (runsHere(number++))
      checkModes(problem);
  }
}

// Several threads share a window, and some of them have nothing to do. Their
// partial results are merged to what one thread would have found.
TEST(Pool, SplitWindows) {
  int64_t number = 0;
  for (const char *tile : {"poolsplit-c1h4w1", "poolsplit-c1h1w16",
                           "poolsplit-c4h5w2", "poolsplit-c8h16w8"})
    for (Layout layout : {Layout::NCHW, Layout::NHWC}) {
      if (!runsHere(number++ / 2 + (layout == Layout::NHWC)))
        continue;
      PoolProblem problem = getSmall(layout, DataType::F16, 8);
      problem.in = {20, 23};
      problem.window = {13, 19};
      problem.pad = {7, 10};
      problem.stride = {9, 11};
      checkModes(problem, tile);
    }
  PoolProblem problem = getSmall(Layout::NHWC, DataType::BF16, 3);
  problem.in = problem.window = {12, 15, 3};
  checkModes(problem, "poolsplit-c1h4w4");
}

// The model splits a window of the size of the image between threads.
TEST(Pool, SplitIsChosen) {
  PoolProblem problem;
  problem.in = problem.window = {410, 400};
  problem.mode = PoolMode::Average;
  auto kernel = getEngine().prepare(problem);
  ASSERT_TRUE(kernel) << kernel.getStatus().getMessage();
  EXPECT_EQ((*kernel)->getKernel().launches.size(), 2u)
      << (*kernel)->getKernel().tile;
  checkPool(getEngine(), problem, PoolData::Uniform);
}

// Tests every index type in both modes.
TEST(Pool, Indices) {
  for (IndexType type :
       {IndexType::U8, IndexType::U16, IndexType::U32, IndexType::U64})
    for (IndexMode mode : {IndexMode::Mask, IndexMode::Image})
      for (DataType element : {DataType::F16, DataType::F32})
        for (Layout layout : {Layout::NCHW, Layout::NHWC}) {
          PoolProblem problem = getSmall(layout, element, 4);
          problem.indexType = type;
          problem.indexMode = mode;
          checkPool(getEngine(), problem, PoolData::Specials);
          checkPool(getEngine(), getBackward(problem), PoolData::Uniform);
        }
}

// Tests three dimensions, with padding along each of them.
TEST(Pool, ThreeDimensions) {
  for (Layout layout : {Layout::NCHW, Layout::NHWC}) {
    PoolProblem problem = getSmall(layout, DataType::F16, 4);
    problem.in = {5, 6, 4};
    problem.window = {2, 3, 3};
    problem.pad = {0, 1, 1};
    problem.stride = {2, 1, 2};
    checkModes(problem);
    problem.window = {5, 6, 4};
    problem.pad = {4, 2, 3};
    checkModes(problem);
  }
}

// Windows that are too large to be unrolled are walked by loops. They are
// clipped at both ends and have more elements than an iteration takes, with a
// remainder.
TEST(Pool, WideWindows) {
  int64_t number = 0;
  for (Layout layout : {Layout::NCHW, Layout::NHWC}) {
    PoolProblem problem = getSmall(layout, DataType::F16, 8);
    problem.in = {20, 23};
    problem.window = {13, 19};
    problem.pad = {7, 10};
    problem.stride = runsHere(number++) ? Spatial{3, 2} : Spatial{30, 1};
    checkModes(problem);
  }
}

// Tests windows that cover only padding, windows larger than the input, and a
// stride that leaves elements out.
TEST(Pool, OddWindows) {
  for (Layout layout : {Layout::NCHW, Layout::NHWC}) {
    PoolProblem problem = getSmall(layout, DataType::F32, 2);
    problem.in = {4, 5};
    problem.window = {2, 2};
    problem.pad = {3, 2};
    problem.stride = {1, 2};
    checkModes(problem);
    problem.window = {9, 12};
    problem.pad = {1, 0};
    checkModes(problem);
    problem.window = {1, 2};
    problem.pad = {0, 0};
    problem.stride = {3, 4};
    checkModes(problem);
    // These windows are walked by loops, and some cover only padding.
    problem.window = {14, 14};
    problem.pad = {14, 16};
    problem.stride = {5, 3};
    checkModes(problem);
  }
}

// These lengths are so large that code unrolled for each element would not fit.
// The problems must be compiled, and quickly.
TEST(Pool, LargeNumbers) {
  PoolProblem problem = getSmall(Layout::NHWC, DataType::F16, 8);
  problem.in = {3, 3, 3};
  problem.window = {1000000, 1000000, 1000000};
  problem.pad = {500000, 500000, 500000};
  problem.stride = {1000000, 1000000, 1000000};
  problem.mode = PoolMode::AverageInclusive;
  for (Direction direction : {Direction::Forward, Direction::BackwardData}) {
    problem.direction = direction;
    auto kernel = getEngine().prepare(problem);
    EXPECT_TRUE(kernel) << kernel.getStatus().getMessage();
  }
  problem = getSmall(Layout::NCHW, DataType::F32, 2);
  problem.stride = {1000000, 1000000};
  problem.pad = {0, 0};
  checkModes(problem);
  checkWithTile(problem, "pool-c1h4w4", PoolData::Ties);
}

// One window covers the whole image.
TEST(Pool, Global) {
  for (Layout layout : {Layout::NCHW, Layout::NHWC})
    for (DataType type : {DataType::F16, DataType::F32}) {
      PoolProblem problem = getSmall(layout, type, 24);
      problem.in = problem.window = {7, 7};
      problem.pad = {0, 0};
      problem.stride = {1, 1};
      checkModes(problem);
    }
}

// The layouts of x and y are independent of one another.
TEST(Pool, MixedLayouts) {
  PoolProblem problem = getSmall(Layout::NCHW, DataType::F16, 8);
  problem.yLayout = Layout::NHWC;
  checkModes(problem);
  std::swap(problem.xLayout, problem.yLayout);
  checkModes(problem);
}

// Tests gaps between channels, rows and images, an order of dimensions that no
// layout has, and strides that keep vectors contiguous.
TEST(Pool, Strides) {
  PoolProblem problem = getSmall(Layout::Strided, DataType::F16, 8);
  // A slice of the channels and columns of a larger image.
  problem.xStrides = {.n = 16 * 9 * 12, .c = 1, .h = 16 * 12, .w = 16};
  problem.yStrides = {.n = 9 * 5 * 6, .c = 1, .h = 9 * 6, .w = 9};
  checkModes(problem);
  // Columns are outermost within an image, channels in the middle.
  problem.xStrides = {.n = 10 * 8 * 11, .c = 10, .h = 1, .w = 80};
  problem.yStrides = {.n = 300, .c = 5 * 7, .h = 7, .w = 1};
  checkModes(problem);
  // The batch stride of a batch of one means nothing.
  problem.batch = 1;
  problem.xStrides = {.n = 1, .c = 9 * 16, .h = 16, .w = 1};
  problem.in = {9, 8};
  problem.yStrides = {.n = 1, .c = 40, .h = 8, .w = 1};
  checkModes(problem);
}

//===----------------------------------------------------------------------===//
// The shapes of MIOpen's own tests
//===----------------------------------------------------------------------===//

/// Checks both directions if the emulated device runs them in a moment;
/// compiles larger problems, for one chip of each family.
static void checkOrCompile(const PoolProblem &problem) {
  constexpr double kMaxWork = 300000;
  double work = static_cast<double>(problem.getOutputLengths().getElements()) *
                problem.window.d * problem.window.h * problem.window.w;
  work += static_cast<double>(problem.getInputLengths().getElements());
  for (const PoolProblem &p : {problem, getBackward(problem)}) {
    SCOPED_TRACE(p.toNetworkConfig());
    if (work <= kMaxWork) {
      checkPool(getEngine(), p, PoolData::Ties);
    } else if (getTarget().name == "gfx942" || getTarget().name == "gfx1100") {
      auto kernel = getEngine().prepare(p);
      EXPECT_TRUE(kernel) << kernel.getStatus().getMessage();
      if (kernel) {
        EXPECT_EQ((*kernel)->getKernel().resources.vgprSpills, 0u)
            << (*kernel)->getKernel().tile;
      }
    }
  }
}

/// Varies layout, type and mode with `number`, so that each meets many shapes.
static PoolProblem vary(PoolProblem problem, int number) {
  problem.dataType = number % 3 == 0 ? DataType::F32 : DataType::F16;
  problem.xLayout = problem.yLayout = number % 2 ? Layout::NHWC : Layout::NCHW;
  problem.mode = static_cast<PoolMode>(number / 2 % 4);
  if (isMaximum(problem.mode)) {
    problem.indexType = IndexType::U32;
    problem.indexMode = number % 4 < 2 ? IndexMode::Mask : IndexMode::Image;
  }
  return problem;
}

// Tests usual windows on the inputs of networks, from 4x4 to 4096x4096.
TEST(PoolShapes, Usual) {
  constexpr int64_t kInputs[][4] = {
      {1, 19, 1024, 2048}, {10, 3, 32, 32},   {5, 32, 8, 8},
      {2, 1024, 12, 12},   {4, 3, 231, 231},  {8, 3, 227, 227},
      {1, 384, 13, 13},    {1, 96, 27, 27},   {2, 160, 7, 7},
      {1, 192, 256, 512},  {2, 192, 28, 28},  {1, 832, 64, 128},
      {1, 256, 56, 56},    {4, 3, 224, 224},  {2, 64, 112, 112},
      {2, 608, 4, 4},      {1, 2048, 11, 11}, {1, 16, 4096, 4096}};
  int number = 0;
  for (const auto &[n, c, h, w] : kInputs)
    for (int64_t window : {2, 3}) {
      PoolProblem problem;
      problem.batch = n;
      problem.channels = c;
      problem.in = {h, w};
      problem.window = {window, window};
      problem.stride = {1 + number % 2, 1 + number % 2};
      problem.pad = {number / 2 % 2, number / 2 % 2};
      checkOrCompile(vary(problem, ++number));
    }
}

// Tests windows and strides that differ in height and width.
TEST(PoolShapes, Asymmetric) {
  int number = 0;
  for (Spatial window : {Spatial{2, 2}, Spatial{1, 2}, Spatial{2, 1}})
    for (Spatial stride :
         {Spatial{1, 1}, Spatial{2, 1}, Spatial{1, 2}, Spatial{2, 2}}) {
      PoolProblem problem;
      problem.channels = 4;
      problem.in = {4, 4};
      problem.window = window;
      problem.stride = stride;
      checkOrCompile(vary(problem, ++number));
    }
}

// Tests windows up to the size of the image.
TEST(PoolShapes, Wide) {
  constexpr int64_t kInputs[][4] = {
      {1, 3, 255, 255}, {2, 3, 227, 227}, {1, 7, 127, 127}, {1, 1, 410, 400}};
  int number = 0;
  for (const auto &[n, c, h, w] : kInputs)
    for (Spatial window : {Spatial{35, 35}, Spatial{100, 100},
                           Spatial{255, 255}, Spatial{410, 400}}) {
      if (window.h > h || window.w > w)
        continue;
      PoolProblem problem;
      problem.batch = n;
      problem.channels = c;
      problem.in = {h, w};
      problem.window = window;
      checkOrCompile(vary(problem, ++number));
    }
}

// Tests images with depth.
TEST(PoolShapes, Deep) {
  constexpr int64_t kInputs[][5] = {{16, 64, 3, 4, 4},    {16, 32, 4, 9, 9},
                                    {8, 512, 3, 14, 14},  {8, 512, 4, 28, 28},
                                    {16, 64, 56, 56, 56}, {4, 3, 4, 227, 227},
                                    {4, 4, 4, 161, 700}};
  int number = 0;
  for (const auto &[n, c, d, h, w] : kInputs)
    for (int64_t window : {2, 3}) {
      int64_t stride = 1 + number % 2, pad = number / 2 % 2;
      PoolProblem problem;
      problem.batch = n;
      problem.channels = c;
      problem.in = {h, w, d};
      problem.window = {window, window, window};
      problem.stride = {stride, stride, stride};
      problem.pad = {pad, pad, pad};
      checkOrCompile(vary(problem, ++number));
    }
}
