//===- DrawPool.cpp - Draws valid poolings --------------------------------===//

#include "test/unit/execute/Draw.h"
#include "test/unit/execute/DrawProblem.h"

#include <algorithm>
#include <array>

using namespace tessera;

/// Draws windows that overlap, touch or leave gaps, and sometimes cover the
/// whole image or more.
static void drawWindow(Draw &draw, PoolProblem &p, bool deep) {
  p.in = {draw.oneOf({1, 4, 7, 9, 13, 16, 30}),
          draw.oneOf({1, 5, 8, 11, 13, 16, 33})};
  p.window = {draw.oneOf({1, 2, 2, 3, 3, 5}), draw.oneOf({1, 2, 2, 3, 3, 4})};
  p.stride = {draw.oneOf({1, 1, 2, 2, 3, 5}), draw.oneOf({1, 1, 2, 2, 3, 4})};
  p.pad = {draw.oneOf({0, 0, 1, 1, 2, 4}), draw.oneOf({0, 0, 1, 1, 2, 3})};
  if (draw.chance(15))
    p.window = {p.in.h, p.in.w + draw.oneOf({0, 0, 3})};
  if (deep) {
    p.in.d = draw.oneOf({1, 2, 4, 5});
    p.window.d = draw.oneOf({1, 2, 3});
    p.stride.d = draw.oneOf({1, 2, 3});
    p.pad.d = draw.oneOf({0, 0, 1});
  }
  if (draw.chance(30))
    p.setPadAfter({draw.oneOf({0, 1, 2, 4}), draw.oneOf({0, 1, 2, 3}),
                   deep ? draw.oneOf({0, 1, 2}) : 0});
}

/// Draws an index type that is large enough, and sometimes larger than needed.
static void drawIndices(Draw &draw, PoolProblem &p) {
  if (!isMaximum(p.mode) ||
      (p.direction == Direction::Forward && draw.chance(40)))
    return;
  p.indexMode = draw.chance(50) ? IndexMode::Mask : IndexMode::Image;
  constexpr std::array kTypes{IndexType::U8, IndexType::U16, IndexType::U32,
                              IndexType::U64};
  auto first = static_cast<size_t>(draw.between(0, kTypes.size() - 1));
  for (p.indexType = kTypes[first]; !p.verify().isOk();)
    p.indexType = kTypes[++first];
}

PoolProblem tessera::drawPool(uint64_t seed, int64_t index) {
  Draw draw(~seed * 1000003 + static_cast<uint64_t>(index));
  PoolProblem p;
  auto take = [&](auto values) {
    auto count = static_cast<int64_t>(values.size());
    auto value = values[index % count];
    index /= count;
    return value;
  };
  p.mode = take(std::array{PoolMode::Max, PoolMode::Average,
                           PoolMode::AverageInclusive, PoolMode::MaxNan});
  p.direction = take(std::array{Direction::Forward, Direction::BackwardData});
  p.dataType = take(std::array{DataType::F16, DataType::F32, DataType::BF16});
  p.xLayout = p.yLayout = take(std::array{Layout::NHWC, Layout::NCHW});
  p.batch = draw.oneOf({1, 1, 2, 3});
  p.channels = draw.oneOf({1, 3, 8, 16, 19, 40, 64});
  drawWindow(draw, p, draw.chance(25));
  if (draw.chance(10))
    p.yLayout = Layout::NCHW;
  if (draw.chance(15)) {
    p.xStrides = drawStrides(draw, p.xLayout, p.getInputLengths());
    p.xLayout = Layout::Strided;
  }
  if (draw.chance(15)) {
    p.yStrides = drawStrides(draw, p.yLayout, p.getOutputLengths());
    p.yLayout = Layout::Strided;
  }
  drawIndices(draw, p);
  return p.canonicalize();
}
