//===- ConvReference.cpp - What a convolution should give -----------------===//
//
// This computes all elements of a result in an order that suits a processor:
// the inputs are unpacked to floats (doubles for f64) so that the inner loop of
// PanelProduct.h reads neighbours. The sums of magnitudes that comparisons need
// are the same computation on absolute values.
//
// Forward and backward data both gather: an element of the result adds, over
// taps and the channels of the source tensor, what the tap reads. They differ
// only in which pixel that is. Backward weights reduces over pixels instead,
// and its rows are channels of x.
//
//===----------------------------------------------------------------------===//

#include "dialect/Reference/ConvReference.h"
#include "dialect/Reference/PanelProduct.h"
#include "dialect/Reference/Parallel.h"

#include <algorithm>
#include <cmath>

using namespace tessera::reference;

static int64_t divideUp(int64_t value, int64_t by) {
  return (value + by - 1) / by;
}

/// Unpacks a tensor for use as rows: [outer][depth][row][column][channel].
template <typename T>
static std::vector<T> unpackRows(const Sizes &sizes, const TensorView &view) {
  std::vector<T> values(sizes.getProduct());
  const int64_t lineSize = sizes.column * sizes.channel;
  parallelFor(sizes.getProduct() / lineSize, [&](int64_t line) {
    Coord at = sizes.getCoord(line * lineSize);
    for (int64_t i = 0; i < lineSize; ++i, sizes.advance(at))
      values[line * lineSize + i] = static_cast<T>(view.load(at));
  });
  return values;
}

template <typename T>
static void makeAbsolute(std::vector<T> &values) {
  for (T &value : values)
    value = std::fabs(value);
}

//===----------------------------------------------------------------------===//
// Forward and backward data
//===----------------------------------------------------------------------===//

namespace {
/// One spatial dimension of a gathering convolution.
struct GatherAxis {
  bool backward;
  int64_t sourceSize, taps, pad, stride, dilation;

  /// Returns where in the source `tap` of the element `at` reads, or -1 if it
  /// reads nothing.
  int64_t find(int64_t at, int64_t tap) const {
    int64_t source = at * stride - pad + tap * dilation;
    if (backward) {
      const int64_t distance = at + pad - tap * dilation;
      source = distance % stride == 0 ? distance / stride : -1;
    }
    return source >= 0 && source < sourceSize ? source : -1;
  }
};

template <typename T>
class GatherConv {
public:
  GatherConv(const ConvShape &shape, bool backward, const TensorView &source,
             const TensorView &w)
      : shape(shape), backward(backward),
        sourceSizes(backward ? shape.getOutputSizes() : shape.getInputSizes()),
        resultSizes(backward ? shape.getInputSizes() : shape.getOutputSizes()),
        sourceChannels(sourceSizes.channel / shape.groups),
        resultChannels(resultSizes.channel / shape.groups),
        panels(divideUp(resultChannels, kPanel)), zeros(sourceChannels),
        rows(unpackRows<T>(sourceSizes, source)) {
    depth = {backward,    sourceSizes.depth, shape.z,
             shape.pad.d, shape.stride.d,    shape.dilation.d};
    row = {backward,    sourceSizes.row, shape.y,
           shape.pad.h, shape.stride.h,  shape.dilation.h};
    column = {backward,    sourceSizes.column, shape.x,
              shape.pad.w, shape.stride.w,     shape.dilation.w};
    unpackFilter(w);
  }

  /// Returns all results in the order of flat indices.
  std::vector<double> compute() const {
    std::vector<double> values(resultSizes.getProduct());
    const int64_t lineSize = resultSizes.column * resultSizes.channel;
    parallelFor(resultSizes.getProduct() / lineSize, [&](int64_t line) {
      computeLine(resultSizes.getCoord(line * lineSize),
                  &values[line * lineSize]);
    });
    return values;
  }

  void makeInputsAbsolute() {
    makeAbsolute(rows);
    makeAbsolute(filter);
  }

private:
  int64_t getPanelSize() const {
    return shape.z * shape.y * shape.x * sourceChannels * kPanel;
  }

  /// The layout is [group][panel][tap][source channel][kPanel]; incomplete
  /// panels are padded with zeros.
  void unpackFilter(const TensorView &w) {
    filter.resize(shape.groups * panels * getPanelSize());
    const Sizes taps{1, 1, shape.y, shape.x, shape.z};
    parallelFor(resultSizes.channel, [&](int64_t channel) {
      const int64_t group = channel / resultChannels;
      const int64_t inGroup = channel % resultChannels;
      T *to = &filter[(group * panels + inGroup / kPanel) * getPanelSize() +
                      inGroup % kPanel];
      Coord at;
      for (int64_t tap = 0; tap < taps.getProduct(); ++tap, taps.advance(at))
        for (int64_t source = 0; source < sourceChannels;
             ++source, to += kPanel) {
          Coord element = at;
          element.outer = backward ? group * sourceChannels + source : channel;
          element.channel = backward ? inGroup : source;
          *to = static_cast<T>(w.load(element));
        }
    });
  }

  void computeLine(const Coord &line, double *values) const {
    // When gathering backwards the columns of a block are at a distance of the
    // stride, so that a tap reaches either all of them or none.
    const int64_t step = backward ? shape.stride.w : 1;
    for (int64_t group = 0; group < shape.groups; ++group)
      for (int64_t panel = 0; panel < panels; ++panel)
        for (int64_t phase = 0; phase < step; ++phase)
          for (int64_t first = phase; first < resultSizes.column;
               first += step * kBlock)
            computeBlock(line, group, panel, first, step, values);
  }

  /// Computes one panel at up to kBlock columns from `first`.
  void computeBlock(const Coord &line, int64_t group, int64_t panel,
                    int64_t first, int64_t step, double *values) const {
    const int64_t columns =
        std::min<int64_t>(kBlock, divideUp(resultSizes.column - first, step));
    const T *taps = &filter[(group * panels + panel) * getPanelSize()];
    double accumulators[kBlock * kPanel] = {};
    for (int64_t z = 0; z < shape.z; ++z)
      for (int64_t y = 0; y < shape.y; ++y)
        for (int64_t x = 0; x < shape.x; ++x, taps += sourceChannels * kPanel) {
          const T *pixels[kBlock];
          bool any = false;
          for (int64_t i = 0; i < kBlock; ++i) {
            const int64_t at = first + std::min(i, columns - 1) * step;
            pixels[i] = findPixel(line, group, at, z, y, x);
            any |= pixels[i] != zeros.data();
          }
          if (any)
            addProducts(pixels, 1, taps, sourceChannels, accumulators);
        }

    const int64_t count =
        std::min<int64_t>(kPanel, resultChannels - panel * kPanel);
    for (int64_t i = 0; i < columns; ++i)
      std::copy_n(&accumulators[i * kPanel], count,
                  &values[(first + i * step) * resultSizes.channel +
                          group * resultChannels + panel * kPanel]);
  }

  /// Returns the source channels of `group` that a tap reads.
  const T *findPixel(const Coord &line, int64_t group, int64_t at, int64_t z,
                     int64_t y, int64_t x) const {
    Coord pixel;
    pixel.outer = line.outer;
    pixel.channel = group * sourceChannels;
    pixel.depth = depth.find(line.depth, z);
    pixel.row = row.find(line.row, y);
    pixel.column = column.find(at, x);
    if (pixel.depth < 0 || pixel.row < 0 || pixel.column < 0)
      return zeros.data();
    return &rows[sourceSizes.getFlatIndex(pixel)];
  }

  const ConvShape &shape;
  bool backward;
  Sizes sourceSizes, resultSizes;
  int64_t sourceChannels, resultChannels; ///< per group
  int64_t panels;                         ///< per group
  GatherAxis depth, row, column;
  std::vector<T> zeros; ///< The channels of a pixel on padding.
  std::vector<T> rows;
  std::vector<T> filter;
};
} // namespace

//===----------------------------------------------------------------------===//
// Backward weights
//===----------------------------------------------------------------------===//

namespace {
template <typename T>
class WeightsConv {
public:
  WeightsConv(const ConvShape &shape, const TensorView &x, const TensorView &dy)
      : shape(shape), out(shape.getOutputSizes()),
        groupChannels(shape.c / shape.groups),
        groupFilters(shape.k / shape.groups),
        blocks(divideUp(groupChannels, kBlock)),
        panels(divideUp(groupFilters, kPanel)) {
    unpackInput(x);
    unpackGradient(dy);
  }

  std::vector<double> compute() const {
    const Sizes sizes = shape.getFilterSizes();
    std::vector<double> values(sizes.getProduct());
    const Sizes units{shape.groups * panels, blocks, shape.y, shape.x, shape.z};
    parallelFor(units.getProduct(), [&](int64_t unit) {
      computeUnit(units.getCoord(unit), sizes, values);
    });
    return values;
  }

  void makeInputsAbsolute() {
    makeAbsolute(input);
    makeAbsolute(gradient);
  }

private:
  /// The layout is [n][d][h][group][block][w][kBlock]; incomplete blocks are
  /// padded with zeros.
  void unpackInput(const TensorView &x) {
    const int64_t lineSize = shape.groups * blocks * shape.w * kBlock;
    input.resize(shape.n * shape.d * shape.h * lineSize);
    const Sizes lines{shape.n, 1, shape.h, 1, shape.d};
    parallelFor(lines.getProduct(), [&](int64_t line) {
      Coord at = lines.getCoord(line);
      for (at.channel = 0; at.channel < shape.c; ++at.channel) {
        const int64_t inGroup = at.channel % groupChannels;
        const int64_t block =
            at.channel / groupChannels * blocks + inGroup / kBlock;
        T *to = &input[line * lineSize + block * shape.w * kBlock +
                       inGroup % kBlock];
        for (at.column = 0; at.column < shape.w; ++at.column, to += kBlock)
          *to = static_cast<T>(x.load(at));
      }
    });
  }

  /// The layout is [group][panel][n][do][ho][wo][kPanel]; incomplete panels are
  /// padded with zeros.
  void unpackGradient(const TensorView &dy) {
    gradient.resize(shape.groups * panels * getPanelSize());
    Sizes pixels = out;
    pixels.channel = 1;
    parallelFor(shape.k, [&](int64_t channel) {
      const int64_t inGroup = channel % groupFilters;
      const int64_t panel = channel / groupFilters * panels + inGroup / kPanel;
      T *to = &gradient[panel * getPanelSize() + inGroup % kPanel];
      Coord at;
      for (int64_t i = 0; i < pixels.getProduct();
           ++i, pixels.advance(at), to += kPanel) {
        Coord element = at;
        element.channel = channel;
        *to = static_cast<T>(dy.load(element));
      }
    });
  }

  int64_t getPanelSize() const {
    return out.outer * out.depth * out.row * out.column * kPanel;
  }

  /// Computes one panel of filters, one block of channels and one tap. `unit`
  /// holds them as outer, channel, and spatial coordinates.
  void computeUnit(const Coord &unit, const Sizes &sizes,
                   std::vector<double> &values) const {
    // The columns of the output whose tap is inside of the image.
    const int64_t shift = unit.column * shape.dilation.w - shape.pad.w;
    const int64_t low = shift >= 0 ? 0 : divideUp(-shift, shape.stride.w);
    const int64_t high = std::min(
        out.column,
        shift < shape.w ? divideUp(shape.w - shift, shape.stride.w) : 0);
    double accumulators[kBlock * kPanel] = {};
    for (Coord at; at.outer < out.outer; ++at.outer)
      for (at.depth = 0; at.depth < out.depth; ++at.depth)
        for (at.row = 0; at.row < out.row; ++at.row)
          if (low < high)
            addLine(unit, at, low, high, accumulators);

    const int64_t group = unit.outer / panels;
    const int64_t filter = unit.outer % panels * kPanel;
    for (int64_t c = 0; c < kBlock; ++c)
      for (int64_t k = 0; k < kPanel; ++k) {
        Coord at = unit;
        at.outer = group * groupFilters + filter + k;
        at.channel = unit.channel * kBlock + c;
        if (at.channel < groupChannels && filter + k < groupFilters)
          values[sizes.getFlatIndex(at)] = accumulators[c * kPanel + k];
      }
  }

  /// Adds columns `low` to `high` of one line of the output.
  void addLine(const Coord &unit, const Coord &line, int64_t low, int64_t high,
               double *accumulators) const {
    const int64_t depth = line.depth * shape.stride.d - shape.pad.d +
                          unit.depth * shape.dilation.d;
    const int64_t row =
        line.row * shape.stride.h - shape.pad.h + unit.row * shape.dilation.h;
    if (depth < 0 || depth >= shape.d || row < 0 || row >= shape.h)
      return;
    const int64_t column =
        low * shape.stride.w - shape.pad.w + unit.column * shape.dilation.w;
    const int64_t image = (line.outer * shape.d + depth) * shape.h + row;
    const int64_t block = image * shape.groups * blocks +
                          unit.outer / panels * blocks + unit.channel;
    const T *pixels[kBlock];
    for (int64_t c = 0; c < kBlock; ++c)
      pixels[c] = &input[(block * shape.w + column) * kBlock + c];
    const int64_t pixel =
        ((line.outer * out.depth + line.depth) * out.row + line.row) *
            out.column +
        low;
    addProducts(pixels, shape.stride.w * kBlock,
                &gradient[unit.outer * getPanelSize() + pixel * kPanel],
                high - low, accumulators);
  }

  const ConvShape &shape;
  Sizes out;
  int64_t groupChannels, groupFilters;
  int64_t blocks, panels; ///< per group
  std::vector<T> input;
  std::vector<T> gradient;
};
} // namespace

//===----------------------------------------------------------------------===//
// The three directions
//===----------------------------------------------------------------------===//

template <typename Conv>
static Expected evaluate(Conv conv, const ConvShape &shape, const Sizes &sizes,
                         int64_t length, ElementType type) {
  Expected result;
  result.operandRoundoff = shape.allowsTf32 ? kTf32Roundoff : 0;
  result.sizes = sizes;
  result.reductionLength = length;
  result.unitRoundoff = getUnitRoundoff(type);
  result.values = conv.compute();
  conv.makeInputsAbsolute();
  result.magnitudes = conv.compute();
  return result;
}

Expected tessera::reference::convForward(const ConvShape &shape,
                                         const TensorView &x,
                                         const TensorView &w) {
  const Sizes sizes = shape.getOutputSizes();
  const int64_t length = shape.getForwardLength();
  if (x.type == ElementType::F64)
    return evaluate(GatherConv<double>(shape, false, x, w), shape, sizes,
                    length, x.type);
  return evaluate(GatherConv<float>(shape, false, x, w), shape, sizes, length,
                  x.type);
}

Expected tessera::reference::convBackwardData(const ConvShape &shape,
                                              const TensorView &w,
                                              const TensorView &dy) {
  const Sizes sizes = shape.getInputSizes();
  const int64_t length = shape.getBackwardDataLength();
  if (w.type == ElementType::F64)
    return evaluate(GatherConv<double>(shape, true, dy, w), shape, sizes,
                    length, w.type);
  return evaluate(GatherConv<float>(shape, true, dy, w), shape, sizes, length,
                  w.type);
}

Expected tessera::reference::convBackwardWeights(const ConvShape &shape,
                                                 const TensorView &x,
                                                 const TensorView &dy) {
  const Sizes sizes = shape.getFilterSizes();
  const int64_t length = shape.getBackwardWeightsLength();
  if (x.type == ElementType::F64)
    return evaluate(WeightsConv<double>(shape, x, dy), shape, sizes, length,
                    x.type);
  return evaluate(WeightsConv<float>(shape, x, dy), shape, sizes, length,
                  x.type);
}
