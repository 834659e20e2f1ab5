//===- PoolReference.cpp - What a pooling should give ---------------------===//

#include "dialect/Reference/PoolReference.h"
#include "dialect/Reference/Parallel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

using namespace tessera::reference;

/// `pads` is the padding of both ends together.
static int64_t getWindowCount(int64_t in, int64_t window, int64_t pads,
                              int64_t stride) {
  const int64_t last = in + pads - window;
  return last < 0 ? 1 : last / stride + 1;
}

int64_t PoolShape::getOutputHeight() const {
  return getWindowCount(h, window.h, 2 * pad.h + extraPad.h, stride.h);
}

int64_t PoolShape::getOutputWidth() const {
  return getWindowCount(w, window.w, 2 * pad.w + extraPad.w, stride.w);
}

int64_t PoolShape::getOutputDepth() const {
  return getWindowCount(d, window.d, 2 * pad.d + extraPad.d, stride.d);
}

/// The largest number of windows that contain one coordinate.
static int64_t getOverlap(int64_t window, int64_t stride) {
  return (window + stride - 1) / stride;
}

int64_t PoolShape::getBackwardLength() const {
  return getOverlap(window.d, stride.d) * getOverlap(window.h, stride.h) *
         getOverlap(window.w, stride.w);
}

template <typename T>
static uint64_t loadUnsigned(const void *data, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + index * sizeof(T),
              sizeof(T));
  return value;
}

uint64_t IndexView::load(const Coord &at) const {
  const int64_t index = strides.getOffset(at);
  switch (byteSize) {
  case 1:
    return loadUnsigned<uint8_t>(data, index);
  case 2:
    return loadUnsigned<uint16_t>(data, index);
  case 4:
    return loadUnsigned<uint32_t>(data, index);
  default:
    return loadUnsigned<uint64_t>(data, index);
  }
}

void tessera::reference::storeIndex(int64_t byteSize, void *data, int64_t index,
                                    uint64_t value) {
  char *to = static_cast<char *>(data) + index * byteSize;
  for (int64_t i = 0; i < byteSize; ++i) // Little-endian, like every GPU.
    to[i] = static_cast<char>(value >> (8 * i));
}

double tessera::reference::getLowest(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return -65504;
  case ElementType::BF16:
    return -0x1.fep127;
  case ElementType::F32:
    return std::numeric_limits<float>::lowest();
  default:
    return std::numeric_limits<double>::lowest();
  }
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

namespace {
/// One position of a window: its coordinates in x, and its number in the
/// window.
struct Position {
  Coord at;
  uint64_t mask;
};
} // namespace

/// Calls `visit` for each position of the window of the output at `out`, in
/// ascending order, with nothing for a position on padding. Here and below,
/// `visit` is called so often that it has to be inlined.
template <typename Visit>
static void visitWindow(const PoolShape &s, const Coord &out,
                        const Visit &visit) {
  uint64_t mask = 0;
  for (int64_t a = 0; a < s.window.d; ++a)
    for (int64_t b = 0; b < s.window.h; ++b)
      for (int64_t c = 0; c < s.window.w; ++c, ++mask) {
        const int64_t depth = out.depth * s.stride.d + a - s.pad.d;
        const int64_t row = out.row * s.stride.h + b - s.pad.h;
        const int64_t column = out.column * s.stride.w + c - s.pad.w;
        if (depth < 0 || depth >= s.d || row < 0 || row >= s.h || column < 0 ||
            column >= s.w)
          visit(std::nullopt);
        else
          visit(Position{{out.outer, out.channel, row, column, depth}, mask});
      }
}

static uint64_t getIndex(const PoolShape &s, const Position &position) {
  if (s.indexMode == IndexMode::Mask)
    return position.mask;
  const Coord &at = position.at;
  return (at.depth * s.h + at.row) * s.w + at.column;
}

/// The number of positions of a window that are inside along one dimension.
static int64_t countInside(int64_t output, int64_t in, int64_t window,
                           int64_t pad, int64_t stride) {
  int64_t count = 0;
  for (int64_t a = 0; a < window; ++a) {
    const int64_t at = output * stride + a - pad;
    count += at >= 0 && at < in;
  }
  return count;
}

/// The divisor of the sum over the window at `out`.
static double getDivisor(const PoolShape &s, const Coord &out) {
  if (s.mode == PoolMode::AverageInclusive)
    return static_cast<double>(s.getWindowSize());
  const int64_t inside =
      countInside(out.depth, s.d, s.window.d, s.pad.d, s.stride.d) *
      countInside(out.row, s.h, s.window.h, s.pad.h, s.stride.h) *
      countInside(out.column, s.w, s.window.w, s.pad.w, s.stride.w);
  return static_cast<double>(inside ? inside : 1);
}

//===----------------------------------------------------------------------===//
// Evaluators
//===----------------------------------------------------------------------===//

/// Calls `visit` with each requested element and its index in the list, in no
/// particular order, on all processors.
template <typename Visit>
static void visitElements(const Expected &result, const Visit &visit) {
  constexpr int64_t kChunk = 256;
  const auto count = static_cast<int64_t>(result.values.size());
  parallelFor((count + kChunk - 1) / kChunk, [&](int64_t chunk) {
    const int64_t end = std::min(count, (chunk + 1) * kChunk);
    for (int64_t i = chunk * kChunk; i < end; ++i)
      visit(i, result.sizes.getCoord(
                   result.indices.empty() ? i : result.indices[i]));
  });
}

/// Makes an expectation with space for its values. NaN and infinity are valid
/// results of pooling.
static Expected startExpected(const Sizes &sizes, int64_t length,
                              std::vector<int64_t> elements) {
  Expected result;
  result.sizes = sizes;
  result.indices = std::move(elements);
  result.reductionLength = length;
  result.mayBeNonFinite = true;
  const size_t count =
      result.indices.empty() ? sizes.getProduct() : result.indices.size();
  result.values.resize(count);
  result.magnitudes.resize(count);
  return result;
}

PoolOutputs tessera::reference::poolForward(const PoolShape &shape,
                                            const TensorView &x,
                                            std::vector<int64_t> elements) {
  PoolOutputs result;
  result.y = startExpected(shape.getOutputSizes(), shape.getWindowSize(),
                           std::move(elements));
  const bool isMax = isMaximum(shape.mode);
  const bool choosesNan = shape.mode == PoolMode::MaxNan;
  const double lowest = choosesNan ? -INFINITY : getLowest(x.type);
  if (isMax)
    result.indices.resize(result.y.values.size());
  visitElements(result.y, [&](size_t number, const Coord &out) {
    double value = isMax ? lowest : 0;
    double magnitude = 0;
    uint64_t index = 0;
    visitWindow(shape, out, [&](std::optional<Position> position) {
      if (!position)
        return;
      const double element = x.load(position->at);
      if (!isMax) {
        value += element;
        magnitude += std::fabs(element);
      } else if (element > value || (choosesNan && std::isnan(element))) {
        value = element;
        index = getIndex(shape, *position);
      }
    });
    const double divisor = isMax ? 1 : getDivisor(shape, out);
    result.y.values[number] = value / divisor;
    result.y.magnitudes[number] = magnitude / divisor;
    if (isMax)
      result.indices[number] = index;
  });
  return result;
}

/// Calls `visit` with each output along one dimension whose window contains
/// coordinate `at`, and the position in the window.
template <typename Visit>
static void visitOutputs(int64_t at, int64_t outputs, int64_t window,
                         int64_t pad, int64_t stride, const Visit &visit) {
  // Because of truncation the first one may be too early, but never too late.
  const int64_t first = std::max<int64_t>((at + pad - window) / stride, 0);
  for (int64_t output = first; output < outputs; ++output) {
    const int64_t position = at + pad - output * stride;
    if (position < 0)
      return;
    if (position < window)
      visit(output, position);
  }
}

/// Calls `visit` for each output whose window contains `at`, in ascending
/// order, with the position of `at` in that window.
template <typename Visit>
static void visitWindowsOf(const PoolShape &s, const Coord &at,
                           const Visit &visit) {
  const Sizes out = s.getOutputSizes();
  visitOutputs(at.depth, out.depth, s.window.d, s.pad.d, s.stride.d,
               [&](int64_t d, int64_t a) {
                 visitOutputs(at.row, out.row, s.window.h, s.pad.h, s.stride.h,
                              [&](int64_t h, int64_t b) {
                                visitOutputs(
                                    at.column, out.column, s.window.w, s.pad.w,
                                    s.stride.w, [&](int64_t w, int64_t c) {
                                      const int64_t mask =
                                          (a * s.window.h + b) * s.window.w + c;
                                      visit({at.outer, at.channel, h, w, d},
                                            {at, static_cast<uint64_t>(mask)});
                                    });
                              });
               });
}

Expected tessera::reference::poolBackward(const PoolShape &shape,
                                          const TensorView &dy,
                                          const IndexView &indices,
                                          std::vector<int64_t> elements) {
  const bool isMax = isMaximum(shape.mode);
  Expected result = startExpected(
      shape.getInputSizes(), shape.getBackwardLength(), std::move(elements));
  visitElements(result, [&](size_t number, const Coord &at) {
    double sum = 0;
    double magnitude = 0;
    visitWindowsOf(shape, at, [&](const Coord &out, Position position) {
      if (isMax && indices.load(out) != getIndex(shape, position))
        return;
      const double term = dy.load(out) / (isMax ? 1 : getDivisor(shape, out));
      sum += term;
      magnitude += std::fabs(term);
    });
    result.values[number] = sum;
    result.magnitudes[number] = magnitude;
  });
  return result;
}
