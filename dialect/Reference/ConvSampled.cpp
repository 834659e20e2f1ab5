//===- ConvSampled.cpp - Single elements of a convolution -----------------===//
//
// The spec's formulas, literally. The full evaluators compute the same sums in
// another order, and are tested against these.
//
//===----------------------------------------------------------------------===//

#include "dialect/Reference/ConvReference.h"
#include "dialect/Reference/Parallel.h"

#include <cmath>
#include <numeric>

using namespace tessera::reference;

/// `pads` is the padding of both ends together.
static int64_t getWindowPositions(int64_t in, int64_t filter, int64_t pads,
                                  int64_t stride, int64_t dilation) {
  const int64_t last = in + pads - (1 + dilation * (filter - 1));
  return last < 0 ? 1 : last / stride + 1;
}

int64_t ConvShape::getOutputDepth() const {
  return getWindowPositions(d, z, 2 * pad.d + extraPad.d, stride.d, dilation.d);
}

int64_t ConvShape::getOutputHeight() const {
  return getWindowPositions(h, y, 2 * pad.h + extraPad.h, stride.h, dilation.h);
}

int64_t ConvShape::getOutputWidth() const {
  return getWindowPositions(w, x, 2 * pad.w + extraPad.w, stride.w, dilation.w);
}

/// The number of taps that reach a pixel: every (s / gcd(s, d))-th does.
static int64_t getReachingTaps(int64_t filter, int64_t stride,
                               int64_t dilation) {
  const int64_t every = stride / std::gcd(stride, dilation);
  return (filter + every - 1) / every;
}

int64_t ConvShape::getBackwardDataLength() const {
  return k / groups * getReachingTaps(z, stride.d, dilation.d) *
         getReachingTaps(y, stride.h, dilation.h) *
         getReachingTaps(x, stride.w, dilation.w);
}

int64_t ConvShape::getBackwardWeightsLength() const {
  return n * getOutputDepth() * getOutputHeight() * getOutputWidth();
}

namespace {
/// A sum and the sum of its magnitudes.
struct Sum {
  double value = 0;
  double magnitude = 0;

  void add(double product) {
    value += product;
    magnitude += std::fabs(product);
  }
};
} // namespace

/// Finds the pixel of x that tap (z, a, b) of the output pixel `out` reads. The
/// tap is given as coordinates of the filter, whose channel does not matter.
static Coord getPixel(const ConvShape &shape, const Coord &out,
                      const Coord &tap) {
  Coord pixel;
  pixel.outer = out.outer;
  pixel.depth =
      out.depth * shape.stride.d - shape.pad.d + tap.depth * shape.dilation.d;
  pixel.row =
      out.row * shape.stride.h - shape.pad.h + tap.row * shape.dilation.h;
  pixel.column =
      out.column * shape.stride.w - shape.pad.w + tap.column * shape.dilation.w;
  return pixel;
}

static bool isInside(const ConvShape &shape, const Coord &pixel) {
  return pixel.depth >= 0 && pixel.depth < shape.d && pixel.row >= 0 &&
         pixel.row < shape.h && pixel.column >= 0 && pixel.column < shape.w;
}

/// Calls `body` with all coordinates of `sizes` with channel 0.
template <typename Body>
static void forEachCoord(Sizes sizes, Body body) {
  sizes.channel = 1;
  Coord at;
  for (int64_t i = 0; i < sizes.getProduct(); ++i, sizes.advance(at))
    body(at);
}

/// The taps of one filter.
static Sizes getTaps(const ConvShape &shape) {
  return {1, 1, shape.y, shape.x, shape.z};
}

/// Fills a result with `sumAt` of each of `indices`.
template <typename SumAt>
static Expected sample(const ConvShape &shape, const Sizes &sizes,
                       int64_t length, ElementType type,
                       std::vector<int64_t> indices, SumAt sumAt) {
  Expected result;
  result.operandRoundoff = shape.allowsTf32 ? kTf32Roundoff : 0;
  result.sizes = sizes;
  result.reductionLength = length;
  result.unitRoundoff = getUnitRoundoff(type);
  result.values.resize(indices.size());
  result.magnitudes.resize(indices.size());
  parallelFor(static_cast<int64_t>(indices.size()), [&](int64_t i) {
    const Sum sum = sumAt(sizes.getCoord(indices[i]));
    result.values[i] = sum.value;
    result.magnitudes[i] = sum.magnitude;
  });
  result.indices = std::move(indices);
  return result;
}

Expected tessera::reference::convForwardAt(const ConvShape &shape,
                                           const TensorView &x,
                                           const TensorView &w,
                                           std::vector<int64_t> indices) {
  const int64_t groupChannels = shape.c / shape.groups;
  auto sumAt = [&](const Coord &out) {
    Sum sum;
    const int64_t group = out.channel / (shape.k / shape.groups);
    forEachCoord(getTaps(shape), [&](Coord tap) {
      Coord pixel = getPixel(shape, out, tap);
      if (!isInside(shape, pixel))
        return;
      tap.outer = out.channel;
      for (tap.channel = 0; tap.channel < groupChannels; ++tap.channel) {
        pixel.channel = group * groupChannels + tap.channel;
        sum.add(x.load(pixel) * w.load(tap));
      }
    });
    return sum;
  };
  return sample(shape, shape.getOutputSizes(), shape.getForwardLength(), x.type,
                std::move(indices), sumAt);
}

/// Finds the output that reads pixel `at` with tap `tap` in one dimension.
static bool findReader(int64_t at, int64_t tap, int64_t pad, int64_t stride,
                       int64_t dilation, int64_t size, int64_t &reader) {
  const int64_t distance = at + pad - tap * dilation;
  reader = distance / stride;
  return distance >= 0 && distance % stride == 0 && reader < size;
}

Expected tessera::reference::convBackwardDataAt(const ConvShape &shape,
                                                const TensorView &w,
                                                const TensorView &dy,
                                                std::vector<int64_t> indices) {
  const Sizes out = shape.getOutputSizes();
  const int64_t groupChannels = shape.c / shape.groups;
  const int64_t groupFilters = shape.k / shape.groups;
  const Pads &pad = shape.pad;
  const Steps &stride = shape.stride, &dilation = shape.dilation;
  auto sumAt = [&](const Coord &pixel) {
    Sum sum;
    const int64_t group = pixel.channel / groupChannels;
    forEachCoord(getTaps(shape), [&](Coord tap) {
      Coord reader{.outer = pixel.outer};
      if (!findReader(pixel.depth, tap.depth, pad.d, stride.d, dilation.d,
                      out.depth, reader.depth) ||
          !findReader(pixel.row, tap.row, pad.h, stride.h, dilation.h, out.row,
                      reader.row) ||
          !findReader(pixel.column, tap.column, pad.w, stride.w, dilation.w,
                      out.column, reader.column))
        return;
      tap.channel = pixel.channel % groupChannels;
      for (int64_t k = 0; k < groupFilters; ++k) {
        tap.outer = reader.channel = group * groupFilters + k;
        sum.add(dy.load(reader) * w.load(tap));
      }
    });
    return sum;
  };
  return sample(shape, shape.getInputSizes(), shape.getBackwardDataLength(),
                w.type, std::move(indices), sumAt);
}

Expected tessera::reference::convBackwardWeightsAt(
    const ConvShape &shape, const TensorView &x, const TensorView &dy,
    std::vector<int64_t> indices) {
  const int64_t groupChannels = shape.c / shape.groups;
  const int64_t groupFilters = shape.k / shape.groups;
  auto sumAt = [&](const Coord &tap) {
    Sum sum;
    const int64_t group = tap.outer / groupFilters;
    forEachCoord(shape.getOutputSizes(), [&](Coord out) {
      Coord pixel = getPixel(shape, out, tap);
      if (!isInside(shape, pixel))
        return;
      out.channel = tap.outer;
      pixel.channel = group * groupChannels + tap.channel;
      sum.add(x.load(pixel) * dy.load(out));
    });
    return sum;
  };
  return sample(shape, shape.getFilterSizes(), shape.getBackwardWeightsLength(),
                x.type, std::move(indices), sumAt);
}
