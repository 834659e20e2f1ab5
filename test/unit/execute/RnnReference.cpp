//===- RnnReference.cpp - A recurrent network in double -------------------===//

#include "test/unit/execute/RnnReference.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace tessera::test;

int RnnShape::getRows() const {
  return std::accumulate(batches.begin(), batches.end(), 0);
}

static int getInput(const RnnShape &shape, int layer) {
  return layer > 0          ? shape.getDirections() * shape.hidden
         : shape.skipsInput ? 0
                            : shape.input;
}

std::vector<RnnOffsets> tessera::test::countOffsets(const RnnShape &shape) {
  const int directions = shape.getDirections(), gates = shape.getGates();
  std::vector<RnnOffsets> all(shape.layers * directions);
  int next = 0;
  for (int layer = 0; layer < shape.layers; ++layer)
    for (int columns : {getInput(shape, layer), shape.hidden})
      for (int direction = 0; direction < directions; ++direction)
        for (int gate = 0; gate < gates; ++gate) {
          all[layer * directions + direction].matrices.push_back(
              columns == 0 ? -1 : next);
          next += shape.hidden * columns;
        }
  for (int layer = 0; layer < shape.layers; ++layer)
    for (int kind = 0; kind < 2; ++kind)
      for (int direction = 0; direction < directions; ++direction)
        for (int gate = 0; gate < gates; ++gate) {
          all[layer * directions + direction].biases.push_back(
              shape.hasBias ? next : -1);
          next += shape.hidden;
        }
  return all;
}

int RnnShape::getWeights() const {
  const int directions = getDirections();
  int matrices = 0;
  for (int layer = 0; layer < layers; ++layer)
    matrices +=
        getGates() * directions * hidden * (getInput(*this, layer) + hidden);
  return matrices +
         (hasBias ? layers * 2 * directions * getGates() * hidden : 0);
}

namespace {
/// One layer and direction.
struct Cell {
  const RnnShape &shape;
  const Doubles &w;
  const RnnOffsets &offsets;
  int inputColumns;

  /// Row `unit` of matrix `number` times `v`, plus the bias.
  double multiply(int number, int unit, const double *v) const {
    const bool isInput = number < shape.getGates();
    double sum =
        offsets.biases[number] < 0 ? 0 : w[offsets.biases[number] + unit];
    if (offsets.matrices[number] < 0)
      return sum + v[unit];
    const int columns = isInput ? inputColumns : shape.hidden;
    for (int i = 0; i < columns; ++i)
      sum += w[offsets.matrices[number] + unit * columns + i] * v[i];
    return sum;
  }

  void step(const double *x, Doubles &h, Doubles &c) const {
    const Doubles oldH = h, oldC = c;
    const int gates = shape.getGates();
    auto logistic = [](double v) { return 1 / (1 + std::exp(-v)); };
    for (int unit = 0; unit < shape.hidden; ++unit) {
      auto in = [&](int gate) { return multiply(gate, unit, x); };
      auto state = [&](int gate) {
        return multiply(gates + gate, unit, oldH.data());
      };
      auto both = [&](int gate) { return in(gate) + state(gate); };
      switch (shape.mode) {
      case miopenLSTM:
        c[unit] = logistic(both(1)) * oldC[unit] +
                  logistic(both(0)) * std::tanh(both(3));
        h[unit] = logistic(both(2)) * std::tanh(c[unit]);
        break;
      case miopenGRU: {
        const double z = logistic(both(0)), r = logistic(both(1));
        const double n = std::tanh(in(2) + r * state(2));
        h[unit] = (1 - z) * n + z * oldH[unit];
        break;
      }
      case miopenRNNTANH:
        h[unit] = std::tanh(both(0));
        break;
      default:
        h[unit] = std::max(0.0, both(0));
        break;
      }
    }
  }
};
} // namespace

/// Runs a layer in one direction over one sequence.
static void runSequence(const RnnShape &shape, const Cell &cell, int number,
                        int sequence, const Doubles &input, Doubles &output,
                        RnnData &data) {
  const int directions = shape.getDirections(), hidden = shape.hidden;
  const int direction = number % directions;
  const int batch = shape.getSequences();
  const auto state = (static_cast<size_t>(number) * batch + sequence) * hidden;
  Doubles h(&data.hx[state], &data.hx[state] + hidden);
  Doubles c(&data.cx[state], &data.cx[state] + hidden);
  std::vector<int> rows;
  int first = 0;
  for (int rowsOfStep : shape.batches) {
    if (sequence < rowsOfStep)
      rows.push_back(first + sequence);
    first += rowsOfStep;
  }
  if (direction == 1)
    std::reverse(rows.begin(), rows.end());
  const auto columns = input.size() / shape.getRows();
  for (int row : rows) {
    cell.step(&input[row * columns], h, c);
    std::copy(h.begin(), h.end(),
              &output[(row * directions + direction) * hidden]);
  }
  std::copy(h.begin(), h.end(), &data.hy[state]);
  std::copy(c.begin(), c.end(), &data.cy[state]);
}

void tessera::test::runReference(const RnnShape &shape, RnnData &data) {
  const int directions = shape.getDirections();
  const std::vector<RnnOffsets> offsets = countOffsets(shape);
  data.hy = data.cy = Doubles(shape.getStates());
  Doubles input = data.x;
  for (int layer = 0; layer < shape.layers; ++layer) {
    Doubles output(shape.getRows() * directions * shape.hidden);
    for (int direction = 0; direction < directions; ++direction) {
      const int number = layer * directions + direction;
      const Cell cell{shape, data.w, offsets[number], getInput(shape, layer)};
      for (int sequence = 0; sequence < shape.getSequences(); ++sequence)
        runSequence(shape, cell, number, sequence, input, output, data);
    }
    input = output;
    if (layer + 1 < shape.layers && !data.scales.empty())
      for (size_t i = 0; i < input.size(); ++i)
        input[i] *= data.scales[layer][i];
    data.y = output;
  }
}

static double multiply(const Doubles &a, const Doubles &b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

RnnGradients tessera::test::differentiate(const RnnShape &shape,
                                          const RnnData &data,
                                          const Doubles &dy, const Doubles &dhy,
                                          const Doubles &dcy, size_t every) {
  RnnData moved = data;
  auto differentiateBy = [&](Doubles RnnData::*member) {
    constexpr double kStep = 1e-5;
    constexpr size_t kLeastSampled = 24;
    Doubles gradient((moved.*member).size(), NAN);
    const size_t stride =
        std::clamp<size_t>(gradient.size() / kLeastSampled, 1, every);
    for (size_t i = 0; i < gradient.size(); i += stride) {
      gradient[i] = 0;
      double &number = (moved.*member)[i];
      const double old = number;
      for (double step : {kStep, -kStep}) {
        number = old + step;
        runReference(shape, moved);
        gradient[i] += (multiply(moved.y, dy) + multiply(moved.hy, dhy) +
                        multiply(moved.cy, dcy)) /
                       (2 * step);
      }
      number = old;
    }
    return gradient;
  };
  return {differentiateBy(&RnnData::x), differentiateBy(&RnnData::w),
          differentiateBy(&RnnData::hx), differentiateBy(&RnnData::cx)};
}
