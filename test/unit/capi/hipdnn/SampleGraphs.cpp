//===- SampleGraphs.cpp - Graphs as hipDNN's clients build them -----------===//

#include "test/unit/capi/hipdnn/SampleGraphs.h"

#include <algorithm>

using namespace tessera::test;

namespace {
/// Operations of pointwise nodes.
enum : uint8_t { kAdd = 2, kReluBackward = 33, kRelu = 34 };

/// A graph whose images have one form.
struct Images {
  explicit Images(Form form) : form(form) {}
  int64_t add(const Lengths &lengths) {
    return g.tensor(form.type, lengths, form.getStrides(lengths));
  }
  /// A virtual tensor, which clients leave in f32.
  int64_t between(const Lengths &lengths) {
    return g.internal(GraphType::F32, lengths, form.getStrides(lengths));
  }
  /// A number for each channel.
  int64_t channels(const Lengths &lengths, double least = -1) {
    Lengths own(lengths.size(), 1);
    own[1] = lengths[1];
    const int64_t uid = g.tensor(GraphType::F32, own);
    g.get(uid).least = least;
    return uid;
  }

  Form form;
  TestGraph g;
};
} // namespace

static FlatFields makeRectifier(uint8_t operation, int64_t first,
                                int64_t second, int64_t result,
                                const Clips &clips) {
  FlatFields table = makePointwise(operation, first, second, result);
  for (const auto &[field, number] : clips)
    table.number(field, number);
  return table;
}

//===----------------------------------------------------------------------===//
// Batch normalisation
//===----------------------------------------------------------------------===//

TestGraph
tessera::test::makeBatchNormInference(Form form, const Lengths &lengths,
                                      bool hasVariance,
                                      const std::optional<Clips> &activation) {
  Images images(form);
  TestGraph &g = images.g;
  const int64_t x = images.add(lengths), mean = images.channels(lengths);
  const int64_t spread = images.channels(lengths, 0.1);
  const int64_t scale = images.channels(lengths);
  const int64_t bias = images.channels(lengths);
  const int64_t result = images.add(lengths);
  const int64_t y = activation ? images.between(lengths) : result;
  std::vector<int64_t> uids = {x, mean, spread, scale, bias, y};
  if (hasVariance)
    uids.push_back(g.number(1e-5));
  g.node(hasVariance ? GraphNode::BatchNormInferenceVariance
                     : GraphNode::BatchNormInference,
         makeTable(uids));
  if (activation)
    g.node(GraphNode::Pointwise,
           makeRectifier(kRelu, y, -1, result, *activation));
  return g;
}

TestGraph
tessera::test::makeBatchNormTraining(Form form, const Lengths &lengths,
                                     bool hasRunning,
                                     const std::optional<Clips> &activation) {
  Images images(form);
  TestGraph &g = images.g;
  const int64_t x = images.add(lengths), scale = images.channels(lengths);
  const int64_t bias = images.channels(lengths), epsilon = g.number(1e-5);
  const int64_t result = images.add(lengths);
  const int64_t y = activation ? images.between(lengths) : result;
  std::vector<int64_t> uids = {x,  scale, bias, epsilon, -1, -1,
                               -1, -1,    y,    -1,      -1};
  uids[9] = images.channels(lengths);
  uids[10] = images.channels(lengths);
  if (hasRunning) {
    uids[5] = images.channels(lengths);
    uids[6] = images.channels(lengths, 0.1);
    uids[7] = g.number(0.1);
    uids.push_back(images.channels(lengths));
    uids.push_back(images.channels(lengths));
  }
  g.node(GraphNode::BatchNorm, makeTable(uids));
  if (activation)
    g.node(GraphNode::Pointwise,
           makeRectifier(kRelu, y, -1, result, *activation));
  return g;
}

TestGraph
tessera::test::makeBatchNormBackward(Form form, const Lengths &lengths,
                                     const std::optional<Clips> &activation,
                                     bool isInputFirst) {
  Images images(form);
  TestGraph &g = images.g;
  const int64_t x = images.add(lengths), scale = images.channels(lengths);
  const int64_t mean = images.channels(lengths);
  const int64_t inverse = images.channels(lengths, 0.1);
  int64_t dy = images.add(lengths);
  if (activation) {
    const int64_t bias = images.channels(lengths);
    const int64_t y = images.between(lengths);
    const int64_t passed = images.between(lengths);
    g.node(GraphNode::BatchNormInference,
           makeTable({x, mean, inverse, scale, bias, y}));
    g.node(GraphNode::Pointwise,
           makeRectifier(kReluBackward, isInputFirst ? y : dy,
                         isInputFirst ? dy : y, passed, *activation));
    dy = passed;
  }
  const int64_t dx = images.add(lengths), dscale = images.channels(lengths);
  const int64_t dbias = images.channels(lengths);
  g.node(GraphNode::BatchNormBackward,
         makeTable({dy, x, mean, inverse, scale, -1, dx, dscale, dbias}));
  return g;
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

Lengths ConvCase::getResult() const {
  Lengths y = {x[0], w[0]};
  for (size_t dim = 0; dim + 2 < x.size(); ++dim) {
    const int64_t reach = window.dilation[dim] * (w[dim + 2] - 1) + 1;
    const int64_t padded = x[dim + 2] + window.before[dim] + window.after[dim];
    y.push_back((padded - reach) / window.stride[dim] + 1);
  }
  return y;
}

TestGraph tessera::test::makeConvolutionGraph(GraphNode kind, Form form,
                                              const ConvCase &c) {
  Images images(form);
  const int64_t x = images.add(c.x), w = images.add(c.w);
  const int64_t y = images.add(c.getResult());
  const FlatFields table = kind == GraphNode::ConvolutionForward
                               ? makeConvolution(x, w, y, c.window)
                           : kind == GraphNode::ConvolutionBackward
                               ? makeConvolution(y, w, x, c.window)
                               : makeConvolution(x, y, w, c.window);
  images.g.node(kind, table);
  return images.g;
}

TestGraph tessera::test::makeConvolutionWithTail(Form form, const ConvCase &c,
                                                 const Tail &tail) {
  Images images(form);
  TestGraph &g = images.g;
  const Lengths lengths = c.getResult();
  const int64_t x = images.add(c.x), w = images.add(c.w);
  int64_t last = images.between(lengths);
  g.node(GraphNode::ConvolutionForward, makeConvolution(x, w, last, c.window));
  if (tail.hasBias) {
    Lengths channels(lengths.size(), 1);
    channels[1] = lengths[1];
    const int64_t bias = images.add(channels);
    const int64_t sum =
        tail.activation ? images.between(lengths) : images.add(lengths);
    g.node(GraphNode::Pointwise, tail.isBiasFirst
                                     ? makePointwise(kAdd, bias, last, sum)
                                     : makePointwise(kAdd, last, bias, sum));
    last = sum;
  }
  if (tail.activation)
    g.node(
        GraphNode::Pointwise,
        makeRectifier(kRelu, last, -1, images.add(lengths), *tail.activation));
  return g;
}

//===----------------------------------------------------------------------===//
// Normalisation of rows
//===----------------------------------------------------------------------===//

/// The lengths of what has one number for each row, or for each element of one.
static Lengths keep(const Lengths &lengths, size_t from, size_t to) {
  Lengths kept(lengths.size(), 1);
  std::copy(lengths.begin() + from, lengths.begin() + to, kept.begin() + from);
  return kept;
}

TestGraph tessera::test::makeLayerNorm(const NormTypes &types,
                                       bool isChannelsLast,
                                       const Lengths &lengths, size_t begin,
                                       bool isTraining) {
  TestGraph g;
  const auto add = [&](GraphType type, const Lengths &own) {
    return g.tensor(type, own, Form{type, isChannelsLast}.getStrides(own));
  };
  const Lengths row = keep(lengths, begin, lengths.size());
  const Lengths rows = keep(lengths, 0, begin);
  const int64_t x = add(types.x, lengths), scale = add(types.scale, row);
  const int64_t bias = add(types.scale, row), epsilon = g.number(1e-5);
  const int64_t y = add(types.y, lengths);
  FlatFields table =
      makeTable({x, scale, bias, epsilon, y})
          .number(5, static_cast<int64_t>(lengths.size() - begin));
  if (isTraining)
    table.number(6, add(types.statistics, rows))
        .number(7, add(types.statistics, rows));
  g.node(GraphNode::LayerNorm, table);
  return g;
}

TestGraph tessera::test::makeLayerNormBackward(const NormTypes &types,
                                               bool isChannelsLast,
                                               const Lengths &lengths,
                                               size_t begin,
                                               bool hasStatistics) {
  TestGraph g;
  const auto add = [&](GraphType type, const Lengths &own) {
    return g.tensor(type, own, Form{type, isChannelsLast}.getStrides(own));
  };
  const Lengths row = keep(lengths, begin, lengths.size());
  const Lengths rows = keep(lengths, 0, begin);
  const int64_t dy = add(types.y, lengths), x = add(types.x, lengths);
  const int64_t scale = add(types.scale, row);
  const int64_t mean = hasStatistics ? add(types.statistics, rows) : -1;
  const int64_t inverse = hasStatistics ? add(types.statistics, rows) : -1;
  const int64_t epsilon = g.number(1e-5), dx = add(types.x, lengths);
  const int64_t dscale = add(types.scale, row), dbias = add(types.scale, row);
  g.node(GraphNode::LayerNormBackward,
         makeTable({dy, x, scale, mean, inverse, epsilon, dx, dscale, dbias})
             .number(9, static_cast<int64_t>(lengths.size() - begin)));
  return g;
}

TestGraph tessera::test::makeRmsNorm(Form form, const Lengths &lengths,
                                     const Lengths &scaleLengths, bool hasBias,
                                     bool isTraining) {
  Images images(form);
  TestGraph &g = images.g;
  const int64_t x = images.add(lengths), scale = images.add(scaleLengths);
  const int64_t epsilon = g.number(1e-5), y = images.add(lengths);
  const int64_t bias = hasBias ? images.add(scaleLengths) : -1;
  Lengths rows = lengths;
  for (size_t dim = 1; dim < rows.size(); ++dim)
    rows[dim] = scaleLengths[dim] == 1 ? rows[dim] : 1;
  const int64_t inverse =
      isTraining ? g.tensor(GraphType::F32, rows, form.getStrides(rows)) : -1;
  g.node(GraphNode::RmsNorm, makeTable({x, scale, epsilon, y, bias, inverse}));
  return g;
}

TestGraph tessera::test::makeRmsNormBackward(
    const NormTypes &types, bool isChannelsLast, const Lengths &lengths,
    const Lengths &scaleLengths, const std::optional<Clips> &activation) {
  TestGraph g;
  const auto add = [&](GraphType type, const Lengths &own) {
    return g.tensor(type, own, Form{type, isChannelsLast}.getStrides(own));
  };
  int64_t dy = add(types.y, lengths);
  if (activation) {
    const int64_t y = add(types.y, lengths);
    const int64_t passed =
        g.internal(GraphType::F32, lengths,
                   Form{GraphType::F32, isChannelsLast}.getStrides(lengths));
    g.node(GraphNode::Pointwise,
           makeRectifier(kReluBackward, dy, y, passed, *activation));
    dy = passed;
  }
  Lengths rows = lengths;
  for (size_t dim = 1; dim < rows.size(); ++dim)
    rows[dim] = scaleLengths[dim] == 1 ? rows[dim] : 1;
  const int64_t x = add(types.x, lengths);
  const int64_t scale = add(types.scale, scaleLengths);
  const int64_t inverse = add(types.statistics, rows);
  const int64_t dx = add(types.x, lengths);
  const int64_t dscale = add(types.scale, scaleLengths);
  const int64_t dbias = add(types.scale, scaleLengths);
  g.node(GraphNode::RmsNormBackward,
         makeTable({dy, x, scale, inverse, dx, dscale, dbias}));
  return g;
}

//===----------------------------------------------------------------------===//
// The rest
//===----------------------------------------------------------------------===//

TestGraph tessera::test::makeUnaryGraph(Form form, const Lengths &lengths,
                                        uint8_t operation, const Clips &clips) {
  Images images(form);
  const int64_t x = images.add(lengths), y = images.add(lengths);
  images.g.node(GraphNode::Pointwise,
                makeRectifier(operation, x, -1, y, clips));
  return images.g;
}

TestGraph tessera::test::makeReduction(Form form, const Lengths &from,
                                       const Lengths &to, uint8_t mode) {
  Images images(form);
  const int64_t x = images.add(from), y = images.add(to);
  images.g.node(GraphNode::Reduction, makeTable({-1, x, y}).number(0, mode));
  return images.g;
}

TestGraph tessera::test::makePool(Form form, const PoolCase &c,
                                  bool isBackward) {
  Images images(form);
  TestGraph &g = images.g;
  Lengths out = {c.x[0], c.x[1]};
  for (size_t dim = 0; dim < c.window.size(); ++dim)
    out.push_back(
        (c.x[dim + 2] + c.before[dim] + c.after[dim] - c.window[dim]) /
            c.stride[dim] +
        1);
  const auto make = [&](const std::vector<int64_t> &uids) {
    return makeTable(uids)
        .set(3, c.before)
        .set(4, c.after)
        .set(5, c.stride)
        .set(6, c.window)
        .number(7, c.mode)
        .number(8, c.padding);
  };
  const int64_t x = images.add(c.x), y = images.add(out);
  const int64_t indices =
      c.mode == 1 ? g.tensor(GraphType::I32, out, form.getStrides(out)) : -1;
  g.node(GraphNode::ResampleForward,
         make({x, y, indices}).number(9, uint8_t(c.mode == 1)));
  if (isBackward) {
    const int64_t dy = images.add(out), dx = images.add(c.x);
    g.node(GraphNode::ResampleBackward, make({dy, dx, indices}));
  }
  return g;
}
