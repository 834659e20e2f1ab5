//===- Verification.cpp - MIOpenDriver's judgement of a result ------------===//

#include "tools/dnn-driver/Verification.h"

#include "dialect/Reference/ConvReference.h"
#include "dialect/Reference/TestData.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace tessera;
using namespace tessera::driver;
using reference::ElementType;
using reference::Sizes;
using reference::TensorView;

/// The parser lets only these three through.
static ElementType getElementType(DataType type) {
  switch (type) {
  case DataType::F16:
    return ElementType::F16;
  case DataType::BF16:
    return ElementType::BF16;
  default:
    return ElementType::F32;
  }
}

static double getTolerance(DataType type) {
  constexpr double kHalf = 8.2e-3;
  switch (type) {
  case DataType::F16:
    return kHalf;
  case DataType::BF16:
    return 8 * kHalf;
  default:
    return 1.5e-6;
  }
}

static reference::ConvShape getShape(const ConvProblem &problem) {
  reference::ConvShape shape;
  shape.n = problem.batch;
  shape.c = problem.inChannels;
  shape.h = problem.in.h;
  shape.w = problem.in.w;
  shape.k = problem.outChannels;
  shape.y = problem.filter.h;
  shape.x = problem.filter.w;
  shape.pad = {problem.pad.h, problem.pad.w};
  shape.stride = {problem.stride.h, problem.stride.w};
  shape.dilation = {problem.dilation.h, problem.dilation.w};
  shape.groups = problem.groups;
  return shape;
}

static TensorView getView(DataType type, const std::vector<char> &data,
                          const Sizes &sizes, Layout layout) {
  return {getElementType(type), data.data(),
          layout == Layout::NHWC ? reference::getNhwcStrides(sizes)
                                 : reference::getNchwStrides(sizes)};
}

HostTensors driver::makeHostTensors(const ConvProblem &problem, uint64_t seed) {
  using reference::DataKind;
  const ElementType type = getElementType(problem.dataType);
  return {reference::makeData(type, problem.getInputElements(),
                              DataKind::Uniform, seed),
          reference::makeData(type, problem.getFilterElements(),
                              DataKind::Uniform, seed + 1),
          reference::makePoison(type, problem.getOutputElements())};
}

Verification driver::verifyForward(const ConvProblem &problem,
                                   const HostTensors &tensors) {
  const reference::ConvShape shape = getShape(problem);
  const DataType type = problem.dataType;
  const reference::Expected expected = reference::convForward(
      shape, getView(type, tensors.x, shape.getInputSizes(), problem.xLayout),
      getView(type, tensors.w, shape.getFilterSizes(), problem.wLayout));
  const TensorView actual =
      getView(type, tensors.y, shape.getOutputSizes(), problem.yLayout);
  double squares = 0;
  double largest = std::numeric_limits<double>::min();
  const auto count = static_cast<int64_t>(expected.values.size());
  for (int64_t i = 0; i < count; ++i) {
    const double value = actual.load(expected.sizes.getCoord(i));
    const double difference = value - expected.values[i];
    squares += difference * difference;
    largest =
        std::max({largest, std::abs(value), std::abs(expected.values[i])});
  }
  return {std::sqrt(squares / static_cast<double>(count)) / largest,
          getTolerance(type)};
}
