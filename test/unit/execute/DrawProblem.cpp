//===- DrawProblem.cpp - Draws valid convolutions -------------------------===//

#include "test/unit/execute/DrawProblem.h"
#include "test/unit/execute/Draw.h"

#include <algorithm>
#include <array>

using namespace tessera;

static void drawChannels(Draw &draw, ConvProblem &p) {
  if (draw.chance(15)) { // depthwise
    p.groups = draw.oneOf({1, 3, 8, 17, 64});
    p.inChannels = p.groups;
    p.outChannels = p.groups * draw.oneOf({1, 1, 2});
    return;
  }
  p.groups = draw.chance(25) ? draw.oneOf({2, 3, 4}) : 1;
  p.inChannels =
      p.groups * draw.oneOf({1, 3, 4, 8, 16, 24, 32, 40, 64, 67, 128});
  p.outChannels = p.groups * draw.oneOf({1, 3, 8, 20, 32, 60, 64, 67, 136});
}

/// Draws padding after the last elements, of one dimension or of all of them.
static void drawPadAfter(Draw &draw, ConvProblem &p, bool deep) {
  p.extraPad = {};
  if (!draw.chance(25))
    return;
  Pads after = p.getPadAfter();
  for (int64_t Pads::*end : {&Pads::h, &Pads::w, &Pads::d})
    if (draw.chance(60) && (deep || end != &Pads::d))
      after.*end = draw.oneOf({0, 0, 1, 2, 3, 5});
  p.setPadAfter(after);
}

static void drawWindow(Draw &draw, ConvProblem &p, bool deep) {
  p.filter = {draw.oneOf({1, 1, 2, 3, 3, 5, 7}),
              draw.oneOf({1, 1, 3, 3, 4, 5, 7})};
  if (draw.chance(25))
    p.filter = {1, 1};
  p.stride = {draw.oneOf({1, 1, 1, 2, 3}), draw.oneOf({1, 1, 1, 2, 3})};
  p.dilation = {draw.oneOf({1, 1, 1, 2, 3}), draw.oneOf({1, 1, 1, 2, 3})};
  p.pad = {draw.oneOf({0, 0, 1, 2, 3}), draw.oneOf({0, 0, 1, 2, 4})};
  if (!deep)
    return drawPadAfter(draw, p, deep);
  p.filter.d = draw.oneOf({1, 2, 3, 3, 4});
  p.stride.d = draw.oneOf({1, 1, 2, 3});
  p.dilation.d = draw.oneOf({1, 1, 2});
  p.pad.d = draw.oneOf({0, 0, 1, 2});
  drawPadAfter(draw, p, deep);
}

/// Draws image sizes that the window fits into, sometimes only thanks to the
/// padding and sometimes not at all.
static void drawSizes(Draw &draw, ConvProblem &p, bool deep) {
  auto pick = [&](int64_t filter, int64_t dilation, int64_t pads,
                  int64_t range) {
    int64_t reach = 1 + dilation * (filter - 1);
    int64_t least = std::max<int64_t>(1, reach - pads);
    if (draw.chance(4))
      return draw.between(1, least);
    return least + (draw.chance(20) ? 0 : draw.between(0, range));
  };
  const Pads after = p.getPadAfter();
  p.in = {pick(p.filter.h, p.dilation.h, p.pad.h + after.h, deep ? 6 : 13),
          pick(p.filter.w, p.dilation.w, p.pad.w + after.w, deep ? 8 : 13)};
  if (deep)
    p.in.d = pick(p.filter.d, p.dilation.d, p.pad.d + after.d, 5);
  p.batch = draw.oneOf({1, 1, 2, 3});
}

static void drawLayouts(Draw &draw, ConvProblem &p, bool strided) {
  struct Tensor {
    Layout &layout;
    Strides &strides;
    TensorLengths lengths;
  };
  const bool anyStrided = strided && draw.chance(25);
  for (Tensor tensor : {Tensor{p.xLayout, p.xStrides, p.getInputLengths()},
                        Tensor{p.wLayout, p.wStrides, p.getFilterLengths()},
                        Tensor{p.yLayout, p.yStrides, p.getOutputLengths()}}) {
    if (draw.chance(10))
      tensor.layout = draw.chance(50) ? Layout::NHWC : Layout::NCHW;
    if (anyStrided && draw.chance(60)) {
      tensor.strides = drawStrides(draw, tensor.layout, tensor.lengths);
      tensor.layout = Layout::Strided;
    }
  }
}

static void drawEpilogue(Draw &draw, ConvProblem &p) {
  if (!draw.chance(30) || p.getResultType() == DataType::I32)
    return;
  p.epilogue.alpha = draw.chance(30);
  p.epilogue.beta = draw.chance(30);
  p.epilogue.bias = draw.chance(50);
  p.epilogue.residual = draw.chance(25);
  p.epilogue.activation = static_cast<Activation>(
      draw.between(0, static_cast<int64_t>(Activation::Clamp)));
}

/// Whether all three tensors are small enough to be copied and compared.
static bool isSmall(const ConvProblem &p) {
  constexpr int64_t kMaxElements = 2'000'000;
  return p.getInputElements() < kMaxElements &&
         p.getFilterElements() < kMaxElements &&
         p.getOutputElements() < kMaxElements;
}

ConvProblem tessera::drawProblem(uint64_t seed, int64_t index,
                                 const ProblemSpace &space) {
  Draw draw(seed * 1000003 + static_cast<uint64_t>(index));
  auto take = [&](const auto &values) {
    auto count = static_cast<int64_t>(values.size());
    auto value = values[index % count];
    index /= count;
    return value;
  };
  ConvProblem p;
  p.dataType = take(space.types);
  Layout layout = take(std::array{Layout::NHWC, Layout::NCHW});
  p.direction = take(space.directions);
  if (p.dataType == DataType::I8) {
    p.direction = Direction::Forward;
    p.byteResult = std::array{DataType::I32, DataType::F32,
                              DataType::I8}[draw.between(0, 2)];
  }
  if (isFloat8(p.dataType))
    p.byteResult = std::array{p.dataType, DataType::F16, DataType::BF16,
                              DataType::F32}[draw.between(0, 3)];
  p.xLayout = p.wLayout = p.yLayout = layout;
  const bool deep = space.depth && draw.chance(25);
  do {
    drawChannels(draw, p);
    drawWindow(draw, p, deep);
    drawSizes(draw, p, deep);
  } while (p.getFlops() > space.maxFlops || !isSmall(p));
  drawLayouts(draw, p, space.strided);
  if (space.epilogues)
    drawEpilogue(draw, p);
  if (draw.chance(50))
    p.mathType = MathType::Tf32;
  return p.canonicalize();
}

Problem tessera::drawAny(uint64_t seed, int64_t index,
                         const ProblemSpace &space) {
  constexpr int64_t kPeriod = 5;
  if (space.rows)
    return drawRowWise(seed, index);
  if (!space.pooling)
    return drawProblem(seed, index, space);
  if (index % kPeriod == kPeriod - 1)
    return drawPool(seed, index / kPeriod);
  // The convolutions have consecutive indices, as they have without poolings:
  // otherwise they would skip combinations of direction, type and layout.
  return drawProblem(seed, index / kPeriod * (kPeriod - 1) + index % kPeriod,
                     space);
}
