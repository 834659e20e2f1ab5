//===- ConvReference.cpp - What a convolution should give -----------------===//
//
// Two evaluators. The sampled one is the spec's formula as it stands. The full
// one computes the same sums in an order that suits a processor: both inputs
// are unpacked to floats with the channels innermost, and a block of pixels
// meets a panel of filters, channel by channel, so that each loaded filter
// value is used once for each pixel of the block. Sums of magnitudes, which
// comparisons need, are the same computation on absolute values.
//
//===----------------------------------------------------------------------===//

#include "dialect/Reference/ConvReference.h"
#include "dialect/Reference/Random.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <thread>

using namespace tessera::reference;

static int64_t getWindowPositions(int64_t in, int64_t filter, int64_t pad,
                                  int64_t stride, int64_t dilation) {
  const int64_t room = in + 2 * pad - (1 + dilation * (filter - 1));
  return room < 0 ? 1 : room / stride + 1;
}

int64_t ConvShape::getOutputHeight() const {
  return getWindowPositions(h, y, pad.h, stride.h, dilation.h);
}

int64_t ConvShape::getOutputWidth() const {
  return getWindowPositions(w, x, pad.w, stride.w, dilation.w);
}

//===----------------------------------------------------------------------===//
// Sampled
//===----------------------------------------------------------------------===//

Expected tessera::reference::convForwardAt(const ConvShape &shape,
                                           const TensorView &x,
                                           const TensorView &w,
                                           std::vector<int64_t> indices) {
  Expected result;
  result.sizes = shape.getOutputSizes();
  result.reductionLength = shape.getReductionLength();
  const int64_t groupChannels = shape.c / shape.groups;
  for (int64_t index : indices) {
    const Coord at = result.getCoord(index);
    const int64_t group = at.channel / (shape.k / shape.groups);
    double sum = 0;
    double magnitude = 0;
    for (int64_t a = 0; a < shape.y; ++a) {
      const int64_t row =
          at.row * shape.stride.h - shape.pad.h + a * shape.dilation.h;
      for (int64_t b = 0; b < shape.x; ++b) {
        const int64_t column =
            at.column * shape.stride.w - shape.pad.w + b * shape.dilation.w;
        if (row < 0 || row >= shape.h || column < 0 || column >= shape.w)
          continue;
        for (int64_t c = 0; c < groupChannels; ++c) {
          const double product =
              double(
                  x.load({at.outer, group * groupChannels + c, row, column})) *
              w.load({at.channel, c, a, b});
          sum += product;
          magnitude += std::fabs(product);
        }
      }
    }
    result.values.push_back(sum);
    result.magnitudes.push_back(magnitude);
  }
  result.indices = std::move(indices);
  return result;
}

std::vector<int64_t> tessera::reference::sampleOutputs(const ConvShape &shape,
                                                       int64_t count,
                                                       uint64_t seed) {
  const Expected tensor{.sizes = shape.getOutputSizes(),
                        .indices = {},
                        .values = {},
                        .magnitudes = {}};
  const int64_t total = tensor.sizes.getProduct();
  std::vector<int64_t> indices;
  for (int corner = 0; corner < 16; ++corner)
    indices.push_back(
        tensor.getFlatIndex({(corner & 1) ? tensor.sizes.outer - 1 : 0,
                             (corner & 2) ? tensor.sizes.channel - 1 : 0,
                             (corner & 4) ? tensor.sizes.row - 1 : 0,
                             (corner & 8) ? tensor.sizes.column - 1 : 0}));
  for (int64_t i = indices.size(); i < count; ++i)
    indices.push_back(static_cast<int64_t>(getRandomBits(seed, i) %
                                           static_cast<uint64_t>(total)));
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  return indices;
}

//===----------------------------------------------------------------------===//
// Full
//===----------------------------------------------------------------------===//

/// Filters of one panel and pixels of one block: 4 x 8 sums of double are half
/// of the registers of AVX2 and an eighth of those of AVX-512.
static constexpr int kPanel = 8;
static constexpr int kBlock = 4;

namespace {
using Doubles = double __attribute__((vector_size(kPanel * sizeof(double))));
using Floats = float __attribute__((vector_size(kPanel * sizeof(float))));

/// Both inputs, unpacked.
struct Unpacked {
  std::vector<float> x;     ///< [n][h][w][c]
  std::vector<float> w;     ///< [group][panel][y][x][c][kPanel], zero-filled
  std::vector<float> zeros; ///< The channels of a tap that falls on padding.
  int64_t groupChannels;
  int64_t groupFilters;
  int64_t panels; ///< Of one group.
};
} // namespace

/// Runs `body(0)` to `body(count - 1)` on all processors.
static void parallelFor(int64_t count,
                        const std::function<void(int64_t)> &body) {
  std::atomic<int64_t> next{0};
  auto work = [&] {
    for (int64_t i; (i = next.fetch_add(1)) < count;)
      body(i);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
}

static Unpacked unpack(const ConvShape &shape, const TensorView &x,
                       const TensorView &w) {
  Unpacked in;
  in.groupChannels = shape.c / shape.groups;
  in.groupFilters = shape.k / shape.groups;
  in.panels = (in.groupFilters + kPanel - 1) / kPanel;
  in.zeros.resize(in.groupChannels);

  in.x.resize(shape.getInputSizes().getProduct());
  parallelFor(shape.n * shape.h, [&](int64_t line) {
    float *to = &in.x[line * shape.w * shape.c];
    for (int64_t column = 0; column < shape.w; ++column)
      for (int64_t c = 0; c < shape.c; ++c)
        *to++ = x.load({line / shape.h, c, line % shape.h, column});
  });

  const int64_t panelSize = shape.getReductionLength() * kPanel;
  in.w.resize(shape.groups * in.panels * panelSize);
  parallelFor(shape.k, [&](int64_t filter) {
    const int64_t inGroup = filter % in.groupFilters;
    const int64_t panel =
        filter / in.groupFilters * in.panels + inGroup / kPanel;
    float *to = &in.w[panel * panelSize + inGroup % kPanel];
    for (int64_t a = 0; a < shape.y; ++a)
      for (int64_t b = 0; b < shape.x; ++b)
        for (int64_t c = 0; c < in.groupChannels; ++c, to += kPanel)
          *to = w.load({filter, c, a, b});
  });
  return in;
}

/// For each of kBlock pixels, adds the products of its channels with those of
/// a panel of filters.
#if defined(__x86_64__) && defined(__clang__)
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
static void accumulate(const float *const *pixels, const float *panel,
                       int64_t channels, double *sums) {
  Doubles total[kBlock];
  __builtin_memcpy(total, sums, sizeof(total));
  for (int64_t c = 0; c < channels; ++c) {
    Floats filter;
    __builtin_memcpy(&filter, panel + c * kPanel, sizeof(filter));
    const Doubles wide = __builtin_convertvector(filter, Doubles);
    for (int pixel = 0; pixel < kBlock; ++pixel)
      total[pixel] += wide * static_cast<double>(pixels[pixel][c]);
  }
  __builtin_memcpy(sums, total, sizeof(total));
}

/// The channels of `group` that tap (a, b) of the output at (n, i, j) reads.
static const float *getTap(const ConvShape &shape, const Unpacked &in,
                           int64_t group, const Coord &out, int64_t a,
                           int64_t b) {
  const int64_t row =
      out.row * shape.stride.h - shape.pad.h + a * shape.dilation.h;
  const int64_t column =
      out.column * shape.stride.w - shape.pad.w + b * shape.dilation.w;
  if (row < 0 || row >= shape.h || column < 0 || column >= shape.w)
    return in.zeros.data();
  return &in.x[((out.outer * shape.h + row) * shape.w + column) * shape.c +
               group * in.groupChannels];
}

/// Outputs of one panel of filters at up to kBlock columns from `first`.
static void computeBlock(const ConvShape &shape, const Unpacked &in,
                         int64_t group, int64_t panel, const Coord &first,
                         const Coord &sizes, double *line) {
  const int64_t columns =
      std::min<int64_t>(kBlock, sizes.column - first.column);
  const float *weights =
      &in.w[(group * in.panels + panel) * shape.getReductionLength() * kPanel];
  double sums[kBlock * kPanel] = {};
  for (int64_t a = 0; a < shape.y; ++a)
    for (int64_t b = 0; b < shape.x; ++b) {
      const float *pixels[kBlock];
      for (int64_t pixel = 0; pixel < kBlock; ++pixel) {
        Coord out = first;
        out.column += std::min(pixel, columns - 1); // the last one again
        pixels[pixel] = getTap(shape, in, group, out, a, b);
      }
      accumulate(pixels, weights, in.groupChannels, sums);
      weights += in.groupChannels * kPanel;
    }

  const int64_t filters =
      std::min<int64_t>(kPanel, in.groupFilters - panel * kPanel);
  for (int64_t pixel = 0; pixel < columns; ++pixel)
    std::copy_n(&sums[pixel * kPanel], filters,
                &line[(first.column + pixel) * sizes.channel +
                      group * in.groupFilters + panel * kPanel]);
}

/// All outputs in the order of flat indices.
static std::vector<double> computeAll(const ConvShape &shape,
                                      const Unpacked &in) {
  const Coord sizes = shape.getOutputSizes();
  std::vector<double> values(sizes.getProduct());
  parallelFor(sizes.outer * sizes.row, [&](int64_t index) {
    double *line = &values[index * sizes.column * sizes.channel];
    Coord at{index / sizes.row, 0, index % sizes.row, 0};
    for (int64_t group = 0; group < shape.groups; ++group)
      for (int64_t panel = 0; panel < in.panels; ++panel)
        for (at.column = 0; at.column < sizes.column; at.column += kBlock)
          computeBlock(shape, in, group, panel, at, sizes, line);
  });
  return values;
}

Expected tessera::reference::convForward(const ConvShape &shape,
                                         const TensorView &x,
                                         const TensorView &w) {
  Unpacked in = unpack(shape, x, w);
  Expected result;
  result.sizes = shape.getOutputSizes();
  result.reductionLength = shape.getReductionLength();
  result.values = computeAll(shape, in);
  for (std::vector<float> *values : {&in.x, &in.w})
    for (float &value : *values)
      value = std::fabs(value);
  result.magnitudes = computeAll(shape, in);
  return result;
}
