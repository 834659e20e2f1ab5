//===- Evaluation.cpp - What graphs of hipDNN give ------------------------===//

#include "test/unit/capi/hipdnn/TestGraph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

using namespace tessera::test;

/// Computes one node in double.
class TestGraph::Evaluation {
public:
  Evaluation(const TestGraph &graph, const Node &node,
             std::map<int64_t, Values> &values)
      : graph(graph), table(node.fields), values(values) {}

  void convolve(GraphNode kind);
  int64_t findPixel(const Lengths &in, const Lengths &out,
                    const Lengths &tap) const;
  void pointwise();
  void batchNormInference(bool hasVariance);
  void batchNormTraining();
  void batchNormBackward();
  void normalize(bool isRms);
  void rmsBackward();
  void layerBackward();
  void reduce();
  void resample(bool isForward);

private:
  bool has(int field) const { return table.fields.contains(field); }
  int64_t uid(int field) const { return getNumber<int64_t>(table, field); }
  const GraphTensor &tensor(int field) const {
    return graph.tensors.at(uid(field));
  }
  const Lengths &list(int field) const {
    return std::get<Lengths>(table.fields.at(field));
  }
  double number(int field) const { return *tensor(field).value; }

  /// The indices of an element.
  static Lengths unravel(int64_t element, const Lengths &lengths) {
    Lengths index(lengths.size());
    for (size_t dim = lengths.size(); dim-- > 0;) {
      index[dim] = element % lengths[dim];
      element /= lengths[dim];
    }
    return index;
  }
  /// The element of a tensor at indices, which count as 0 along dimensions of
  /// length 1 and of which only the last ones are its own.
  double &at(int field, const Lengths &index) {
    const GraphTensor &t = tensor(field);
    Values &all = values[uid(field)];
    all.resize(t.getElements());
    const size_t before = index.size() - t.lengths.size();
    int64_t element = 0;
    for (size_t dim = 0; dim < t.lengths.size(); ++dim)
      element = element * t.lengths[dim] +
                (t.lengths[dim] == 1 ? 0 : index[before + dim]);
    return t.value ? (constant = *t.value) : all[element];
  }
  template <typename Body>
  void forEach(const Lengths &lengths, Body body) {
    const int64_t count = std::accumulate(lengths.begin(), lengths.end(),
                                          int64_t(1), std::multiplies());
    for (int64_t element = 0; element < count; ++element)
      body(unravel(element, lengths));
  }

  const TestGraph &graph;
  const FlatFields &table;
  std::map<int64_t, Values> &values;
  double constant = 0;
};

/// The element of an image that a tap reads for an output, all counted with the
/// last dimension fastest; -1 in the padding.
int64_t TestGraph::Evaluation::findPixel(const Lengths &in, const Lengths &out,
                                         const Lengths &tap) const {
  int64_t pixel = 0;
  for (size_t dim = 0; dim < tap.size(); ++dim) {
    const int64_t position =
        out[dim] * list(5)[dim] - list(3)[dim] + tap[dim] * list(6)[dim];
    if (position < 0 || position >= in[dim])
      return -1;
    pixel = pixel * in[dim] + position;
  }
  return pixel;
}

/// Adds up x * w for every pair of an output and a tap, and gives each of the
/// three directions its own sum of the same products.
void TestGraph::Evaluation::convolve(GraphNode kind) {
  const bool isForward = kind == GraphNode::ConvolutionForward;
  const bool isWeights = kind == GraphNode::ConvolutionWeights;
  const int x = isForward || isWeights ? 0 : 2;
  const int w = isWeights ? 2 : 1;
  const int y = isForward ? 2 : isWeights ? 1 : 0;
  const auto getSpatial = [&](int field) {
    const Lengths &all = tensor(field).lengths;
    return Lengths(all.begin() + 2, all.end());
  };
  const auto count = [](const Lengths &lengths) {
    return std::accumulate(lengths.begin(), lengths.end(), int64_t(1),
                           std::multiplies());
  };
  const Lengths in = getSpatial(x), taps = getSpatial(w), out = getSpatial(y);
  const int64_t inputs = tensor(x).lengths[1], outputs = tensor(y).lengths[1];
  const int64_t inGroup = tensor(w).lengths[1];
  const int64_t outGroup = outputs / (inputs / inGroup);
  const int64_t inSize = count(in), tapSize = count(taps), outSize = count(out);
  Values &xs = values[uid(x)], &ws = values[uid(w)], &ys = values[uid(y)];
  values[uid(2)].assign(tensor(2).getElements(), 0);
  for (int64_t o = 0; o < outSize; ++o)
    for (int64_t t = 0; t < tapSize; ++t) {
      const int64_t i = findPixel(in, unravel(o, out), unravel(t, taps));
      if (i < 0)
        continue;
      for (int64_t pair = 0; pair < tensor(y).lengths[0] * outputs; ++pair) {
        const int64_t image = pair / outputs, k = pair % outputs;
        const int64_t first = image * inputs + k / outGroup * inGroup;
        double &to = ys[pair * outSize + o];
        for (int64_t c = 0; c < inGroup; ++c) {
          double &from = xs[(first + c) * inSize + i];
          double &weight = ws[(k * inGroup + c) * tapSize + t];
          if (isForward)
            to += from * weight;
          else if (isWeights)
            weight += from * to;
          else
            from += to * weight;
        }
      }
    }
}

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

void TestGraph::Evaluation::pointwise() {
  const auto operation = getNumber<uint8_t>(table, 0);
  const double infinity = std::numeric_limits<double>::infinity();
  const double lower = getNumber<float>(table, 1, 0);
  const double upper = has(2) ? getNumber<float>(table, 2) : infinity;
  const double slope = getNumber<float>(table, 3, 0);
  const double alpha = getNumber<float>(table, 10, 1);
  const auto compute = [&](double a, double b) -> double {
    const double x = b, dy = a; // Of gradients.
    switch (operation) {
    case 1:
      return std::abs(a);
    case 2:
      return a + b;
    case 13:
      return dy * (x > 0 ? 1 : alpha * std::exp(x));
    case 14:
      return a > 0 ? a : alpha * (std::exp(a) - 1);
    case 23:
      return a;
    case 28:
      return std::max(a, b);
    case 29:
      return std::min(a, b);
    case 30:
      return a * b;
    case 31:
      return -a;
    case 33:
      return dy * (x <= lower ? slope : x > upper ? 0 : 1);
    case 34:
      return a <= lower ? lower + slope * (a - lower) : std::min(a, upper);
    case 36:
      return dy * sigmoid(x) * (1 - sigmoid(x));
    case 37:
      return sigmoid(a);
    case 39:
      return dy * sigmoid(x);
    case 40:
      return std::log1p(std::exp(a));
    case 42:
      return a - b;
    case 44:
      return a * sigmoid(a);
    case 46:
      return dy * (1 - std::tanh(x) * std::tanh(x));
    case 47:
      return std::tanh(a);
    }
    return std::nan("");
  };
  forEach(tensor(8).lengths, [&](const Lengths &i) {
    const double a = at(5, i), b = has(6) ? at(6, i) : 0;
    at(8, i) = compute(a, b);
  });
}

void TestGraph::Evaluation::batchNormInference(bool hasVariance) {
  forEach(tensor(0).lengths, [&](const Lengths &i) {
    const double spread = at(2, i);
    const double inverse =
        hasVariance ? 1 / std::sqrt(spread + number(6)) : spread;
    const double mean = at(1, i), scale = at(3, i), bias = at(4, i);
    const double x = at(0, i);
    at(5, i) = (x - mean) * inverse * scale + bias;
  });
}

void TestGraph::Evaluation::batchNormTraining() {
  const Lengths lengths = tensor(0).lengths;
  const double rows = static_cast<double>(tensor(0).getElements()) / lengths[1];
  Values mean(lengths[1]), variance(lengths[1]);
  forEach(lengths, [&](const Lengths &i) { mean[i[1]] += at(0, i) / rows; });
  forEach(lengths, [&](const Lengths &i) {
    const double off = at(0, i) - mean[i[1]];
    variance[i[1]] += off * off / rows;
  });
  const double epsilon = number(3);
  forEach(lengths, [&](const Lengths &i) {
    const double inverse = 1 / std::sqrt(variance[i[1]] + epsilon);
    const double n = (at(0, i) - mean[i[1]]) * inverse;
    const double scale = at(1, i), bias = at(2, i);
    at(8, i) = n * scale + bias;
    if (has(9))
      at(9, i) = mean[i[1]];
    if (has(10))
      at(10, i) = inverse;
    if (!has(11))
      return;
    const double share = number(7);
    const double oldMean = at(5, i), oldVariance = at(6, i);
    at(11, i) = (1 - share) * oldMean + share * mean[i[1]];
    at(12, i) =
        (1 - share) * oldVariance + share * variance[i[1]] * rows / (rows - 1);
  });
}

void TestGraph::Evaluation::batchNormBackward() {
  const Lengths lengths = tensor(1).lengths;
  const double rows = static_cast<double>(tensor(1).getElements()) / lengths[1];
  values[uid(7)].assign(lengths[1], 0);
  values[uid(8)].assign(lengths[1], 0);
  const auto normal = [&](const Lengths &i) {
    const double x = at(1, i), mean = at(2, i), inverse = at(3, i);
    return (x - mean) * inverse;
  };
  forEach(lengths, [&](const Lengths &i) {
    const double dy = at(0, i);
    at(7, i) += dy * normal(i);
    at(8, i) += dy;
  });
  forEach(lengths, [&](const Lengths &i) {
    const double dy = at(0, i), n = normal(i), inverse = at(3, i);
    const double scale = at(4, i), dscale = at(7, i), dbias = at(8, i);
    at(6, i) = scale * inverse * (dy - dbias / rows - n * dscale / rows);
  });
}

/// Rows are the last dimensions: of a layer as many as the node says, of RMS
/// those in which the scale has the lengths of x.
void TestGraph::Evaluation::normalize(bool isRms) {
  const Lengths lengths = tensor(0).lengths;
  const int bias = isRms ? 4 : 2, y = isRms ? 3 : 4;
  const int inverse = isRms ? 5 : 7;
  size_t begin = lengths.size();
  if (!isRms)
    begin -= getNumber<int64_t>(table, 5);
  else
    while (begin > 1 && tensor(1).lengths[begin - 1] == lengths[begin - 1])
      --begin;
  const Lengths outer(lengths.begin(), lengths.begin() + begin);
  const Lengths inner(lengths.begin() + begin, lengths.end());
  const double epsilon = number(isRms ? 2 : 3);
  forEach(outer, [&](const Lengths &o) {
    const auto join = [&](const Lengths &i) {
      Lengths all = o;
      all.insert(all.end(), i.begin(), i.end());
      return all;
    };
    double rows = 0, mean = 0, squares = 0;
    forEach(inner, [&](const Lengths &i) {
      ++rows;
      mean += isRms ? 0 : at(0, join(i));
    });
    mean /= rows;
    forEach(inner, [&](const Lengths &i) {
      const double off = at(0, join(i)) - mean;
      squares += off * off;
    });
    const double spread = 1 / std::sqrt(squares / rows + epsilon);
    forEach(inner, [&](const Lengths &i) {
      const Lengths all = join(i);
      const double scale = at(1, all), shift = has(bias) ? at(bias, all) : 0;
      const double x = at(0, all);
      at(y, all) = (x - mean) * spread * scale + shift;
      if (has(inverse))
        at(inverse, all) = spread;
      if (!isRms && has(6))
        at(6, all) = mean;
    });
  });
}

/// The derivatives of y = x d scale, by the definition of a derivative of a
/// quotient, for rows of all dimensions but the first.
void TestGraph::Evaluation::rmsBackward() {
  const Lengths lengths = tensor(1).lengths;
  // One for each value of the inverse.
  Values sums(tensor(3).getElements());
  const double row =
      static_cast<double>(tensor(1).getElements() / tensor(3).getElements());
  const auto sumOf = [&](const Lengths &i) -> double & {
    const double *inverse = &at(3, i);
    return sums[inverse - values[uid(3)].data()];
  };
  forEach(lengths, [&](const Lengths &i) {
    const double dy = at(0, i), x = at(1, i), scale = at(2, i);
    sumOf(i) += dy * scale * x;
  });
  values[uid(5)].assign(tensor(5).getElements(), 0);
  if (has(6))
    values[uid(6)].assign(tensor(6).getElements(), 0);
  forEach(lengths, [&](const Lengths &i) {
    const double dy = at(0, i), x = at(1, i), scale = at(2, i), d = at(3, i);
    at(4, i) = d * (dy * scale - x * d * d * sumOf(i) / row);
    at(5, i) += dy * x * d;
    if (has(6))
      at(6, i) += dy;
  });
}

/// The derivatives of y = n scale + bias with n = (x - m) d, where m and d are
/// given or measured.
void TestGraph::Evaluation::layerBackward() {
  const Lengths lengths = tensor(1).lengths;
  const size_t begin = lengths.size() - getNumber<int64_t>(table, 9);
  Lengths rows = lengths;
  std::fill(rows.begin() + begin, rows.end(), 1);
  int64_t rowCount = 1;
  for (int64_t length : rows)
    rowCount *= length;
  const double row = static_cast<double>(tensor(1).getElements()) / rowCount;
  std::map<Lengths, std::array<double, 4>> sums; // m, d, sum g, sum g n.
  const auto getSums = [&](Lengths i) -> std::array<double, 4> & {
    std::fill(i.begin() + begin, i.end(), 0);
    return sums[i];
  };
  forEach(lengths, [&](const Lengths &i) { getSums(i)[0] += at(1, i) / row; });
  forEach(lengths, [&](const Lengths &i) {
    auto &[m, d, g, gn] = getSums(i);
    d += (at(1, i) - m) * (at(1, i) - m) / row;
  });
  for (auto &[i, sum] : sums) {
    sum[0] = has(3) ? at(3, i) : sum[0];
    sum[1] = has(4) ? at(4, i) : 1 / std::sqrt(sum[1] + number(5));
  }
  values[uid(7)].assign(tensor(7).getElements(), 0);
  values[uid(8)].assign(tensor(8).getElements(), 0);
  forEach(lengths, [&](const Lengths &i) {
    auto &[m, d, g, gn] = getSums(i);
    const double n = (at(1, i) - m) * d, dy = at(0, i), scale = at(2, i);
    g += dy * scale;
    gn += dy * scale * n;
    at(7, i) += dy * n;
    at(8, i) += dy;
  });
  forEach(lengths, [&](const Lengths &i) {
    const auto &[m, d, g, gn] = getSums(i);
    const double n = (at(1, i) - m) * d, dy = at(0, i), scale = at(2, i);
    at(6, i) = d * (dy * scale - g / row - n * gn / row);
  });
}

void TestGraph::Evaluation::reduce() {
  const auto mode = getNumber<uint8_t>(table, 0);
  const Lengths lengths = tensor(1).lengths;
  const double infinity = std::numeric_limits<double>::infinity();
  const double first = mode == 2   ? 1
                       : mode == 3 ? infinity
                       : mode == 4 ? -infinity
                                   : 0;
  values[uid(2)].assign(tensor(2).getElements(), first);
  const double rows =
      static_cast<double>(tensor(1).getElements()) / tensor(2).getElements();
  forEach(lengths, [&](const Lengths &i) {
    const double a = at(1, i);
    double &c = at(2, i);
    c = mode == 1   ? c + a
        : mode == 2 ? c * a
        : mode == 3 ? std::min(c, a)
        : mode == 4 ? std::max(c, a)
        : mode == 5 ? std::max(c, std::abs(a))
        : mode == 6 ? c + a / rows
        : mode == 7 ? c + std::abs(a)
                    : c + a * a;
  });
  if (mode == 8)
    for (double &c : values[uid(2)])
      c = std::sqrt(c);
}

void TestGraph::Evaluation::resample(bool isForward) {
  const int x = isForward ? 0 : 1, y = isForward ? 1 : 0;
  const auto mode = getNumber<uint8_t>(table, 7);
  const Lengths in = tensor(x).lengths, out = tensor(y).lengths;
  if (!isForward)
    values[uid(x)].assign(tensor(x).getElements(), 0);
  forEach(out, [&](const Lengths &o) {
    std::vector<Lengths> inside;
    double positions = 0;
    forEach(list(6), [&](const Lengths &tap) {
      ++positions;
      Lengths i = {o[0], o[1]};
      for (size_t dim = 0; dim < tap.size(); ++dim)
        i.push_back(o[dim + 2] * list(5)[dim] - list(3)[dim] + tap[dim]);
      for (size_t dim = 2; dim < i.size(); ++dim)
        if (i[dim] < 0 || i[dim] >= in[dim])
          return;
      inside.push_back(i);
    });
    const double count =
        mode == 3 ? positions : std::max<double>(inside.size(), 1);
    double sum = 0, largest = -std::numeric_limits<double>::infinity();
    double winner = -1;
    for (const Lengths &i : inside) {
      int64_t pixel = 0;
      for (size_t dim = 2; dim < i.size(); ++dim)
        pixel = pixel * in[dim] + i[dim];
      if (!isForward) {
        if (mode != 1)
          at(x, i) += at(y, o) / count;
        else if (at(2, o) == static_cast<double>(pixel))
          at(x, i) += at(y, o);
        continue;
      }
      sum += at(x, i);
      if (at(x, i) > largest)
        winner = static_cast<double>(pixel);
      largest = std::max(largest, at(x, i));
    }
    if (!isForward)
      return;
    at(y, o) = mode == 1 ? largest : sum / count;
    if (has(2))
      at(2, o) = winner;
  });
}

void TestGraph::compute(std::map<int64_t, Values> &values) const {
  for (const Node &node : nodes) {
    Evaluation evaluation(*this, node, values);
    switch (node.kind) {
    case GraphNode::ConvolutionForward:
    case GraphNode::ConvolutionBackward:
    case GraphNode::ConvolutionWeights:
      evaluation.convolve(node.kind);
      break;
    case GraphNode::Pointwise:
      evaluation.pointwise();
      break;
    case GraphNode::BatchNormInference:
    case GraphNode::BatchNormInferenceVariance:
      evaluation.batchNormInference(node.kind ==
                                    GraphNode::BatchNormInferenceVariance);
      break;
    case GraphNode::BatchNorm:
      evaluation.batchNormTraining();
      break;
    case GraphNode::BatchNormBackward:
      evaluation.batchNormBackward();
      break;
    case GraphNode::RmsNorm:
    case GraphNode::LayerNorm:
      evaluation.normalize(node.kind == GraphNode::RmsNorm);
      break;
    case GraphNode::RmsNormBackward:
      evaluation.rmsBackward();
      break;
    case GraphNode::Reduction:
      evaluation.reduce();
      break;
    case GraphNode::ResampleForward:
    case GraphNode::ResampleBackward:
      evaluation.resample(node.kind == GraphNode::ResampleForward);
      break;
    case GraphNode::LayerNormBackward:
      evaluation.layerBackward();
      break;
    case GraphNode::Matmul:
    case GraphNode::Sdpa:
    case GraphNode::BlockScaleDequantize:
      break; // Declined: there is nothing to compare.
    }
  }
}

std::set<int64_t> TestGraph::getResults() const {
  std::set<int64_t> results;
  const auto add = [&](const Node &node, std::initializer_list<int> fields) {
    for (int field : fields)
      if (node.fields.fields.contains(field))
        results.insert(getNumber<int64_t>(node.fields, field));
  };
  for (const Node &node : nodes)
    switch (node.kind) {
    case GraphNode::Pointwise:
      add(node, {8});
      break;
    case GraphNode::BatchNormInference:
    case GraphNode::BatchNormInferenceVariance:
      add(node, {5});
      break;
    case GraphNode::BatchNorm:
      add(node, {8, 9, 10, 11, 12});
      break;
    case GraphNode::BatchNormBackward:
      add(node, {6, 7, 8});
      break;
    case GraphNode::RmsNorm:
      add(node, {3, 5});
      break;
    case GraphNode::LayerNorm:
      add(node, {4, 6, 7});
      break;
    case GraphNode::RmsNormBackward:
      add(node, {4, 5, 6});
      break;
    case GraphNode::LayerNormBackward:
      add(node, {6, 7, 8});
      break;
    case GraphNode::ResampleForward:
      add(node, {1, 2});
      break;
    case GraphNode::ResampleBackward:
      add(node, {1});
      break;
    default:
      add(node, {2});
    }
  return results;
}
