//===- DrawProblem.cpp - Draws valid convolutions -----------------------===//

#include "test/unit/execute/DrawProblem.h"

#include <initializer_list>
#include <random>

using namespace tessera;

namespace {
/// std::mt19937_64 with our own ranges: the standard's distributions differ
/// between libraries, and a seed must name one problem everywhere.
class Draw {
public:
  explicit Draw(uint64_t seed) : engine(seed) {}

  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine() % (high - low + 1));
  }
  bool chance(int64_t percent) { return between(1, 100) <= percent; }
  int64_t oneOf(std::initializer_list<int64_t> values) {
    return values.begin()[between(0, static_cast<int64_t>(values.size()) - 1)];
  }

private:
  std::mt19937_64 engine;
};
} // namespace

static void drawChannels(Draw &draw, ConvProblem &p) {
  if (draw.chance(15)) { // depthwise
    p.groups = draw.oneOf({1, 3, 8, 17});
    p.inChannels = p.groups;
    p.outChannels = p.groups * draw.oneOf({1, 1, 2});
    return;
  }
  p.groups = draw.chance(25) ? draw.oneOf({2, 3, 4}) : 1;
  p.inChannels =
      p.groups * draw.oneOf({1, 3, 4, 8, 16, 24, 32, 40, 64, 67, 128});
  p.outChannels = p.groups * draw.oneOf({1, 3, 8, 20, 32, 60, 64, 67, 136});
}

static void drawWindow(Draw &draw, ConvProblem &p) {
  p.filter = {draw.oneOf({1, 1, 2, 3, 3, 5, 7}),
              draw.oneOf({1, 1, 3, 3, 4, 5, 7})};
  if (draw.chance(25))
    p.filter = {1, 1};
  p.stride = {draw.oneOf({1, 1, 1, 2, 3}), draw.oneOf({1, 1, 1, 2, 3})};
  p.dilation = {draw.oneOf({1, 1, 1, 2, 3}), draw.oneOf({1, 1, 1, 2, 3})};
  p.pad = {draw.oneOf({0, 0, 1, 2, 3}), draw.oneOf({0, 0, 1, 2, 4})};
}

/// Sizes that the window fits; sometimes only thanks to the padding.
static void drawSizes(Draw &draw, ConvProblem &p) {
  auto pick = [&](int64_t filter, int64_t dilation, int64_t pad) {
    int64_t reach = 1 + dilation * (filter - 1);
    int64_t least = std::max<int64_t>(1, reach - 2 * pad);
    return least + (draw.chance(20) ? 0 : draw.between(0, 13));
  };
  p.in = {pick(p.filter.h, p.dilation.h, p.pad.h),
          pick(p.filter.w, p.dilation.w, p.pad.w)};
  p.batch = draw.oneOf({1, 1, 2, 3});
}

ConvProblem tessera::drawProblem(uint64_t seed, int index) {
  constexpr double kMaxFlops = 60e6;
  Draw draw(seed * 1000003 + index);
  ConvProblem p;
  constexpr DataType kTypes[] = {DataType::F16, DataType::BF16, DataType::F32};
  p.dataType = kTypes[index % 3];
  Layout layout = index / 3 % 2 == 0 ? Layout::NHWC : Layout::NCHW;
  p.xLayout = p.wLayout = p.yLayout = layout;
  if (draw.chance(10))
    p.wLayout = draw.chance(50) ? Layout::NHWC : Layout::NCHW;
  if (draw.chance(10))
    p.yLayout = draw.chance(50) ? Layout::NHWC : Layout::NCHW;
  do {
    drawChannels(draw, p);
    drawWindow(draw, p);
    drawSizes(draw, p);
  } while (p.getFlops() > kMaxFlops || !p.verify().isOk());
  return p;
}
