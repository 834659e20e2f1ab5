//===- ServePointwise.cpp - Pointwise operations and reductions -----------===//

#include "capi/hipdnn/Planner.h"

#include <limits>
#include <optional>
#include <utility>

using namespace tessera;
using namespace tessera::hipdnn;

namespace {
namespace field {
enum {
  Operation,
  LowerClip,
  UpperClip,
  LowerSlope,
  Axis,
  First,
  Second,
  Third,
  Result,
  SwishBeta,
  EluAlpha,
  SoftplusBeta
};
}

/// The schema's numbers of the operations that are served.
enum class Operation : uint8_t {
  Abs = 1,
  Add = 2,
  EluBackward = 13,
  Elu = 14,
  Identity = 23,
  Max = 28,
  Min = 29,
  Mul = 30,
  Neg = 31,
  ReluBackward = 33,
  Relu = 34,
  SigmoidBackward = 36,
  Sigmoid = 37,
  SoftplusBackward = 39,
  Softplus = 40,
  Sub = 42,
  Swish = 44,
  TanhBackward = 46,
  Tanh = 47,
};

/// Modes of op_tensor and transform (docs/spec/row-wise.md).
enum : uint32_t { kSum = 0, kProduct = 1, kSmaller = 2, kLarger = 3 };
enum : uint32_t { kMove = 0, kScale = 1 };
} // namespace

static Operation getOperation(const Node &node) {
  return Operation{node.attributes.get<uint8_t>(field::Operation)};
}

static float getFloat(const Node &node, int number, float otherwise) {
  return node.attributes.get<float>(number, otherwise);
}

/// A rectifier with clips. A slope below the lower clip is served where the
/// clip is 0 and nothing is clipped above.
static std::optional<ActivationCall> getRelu(const Node &node) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float lower = getFloat(node, field::LowerClip, 0);
  const float upper = getFloat(node, field::UpperClip, kInfinity);
  const float slope = getFloat(node, field::LowerSlope, 0);
  if (slope != 0) {
    if (lower != 0 || upper != kInfinity)
      return std::nullopt;
    return ActivationCall{Activation::LeakyRelu, slope};
  }
  if (lower != 0)
    return ActivationCall{Activation::Clamp, lower, upper};
  if (upper != kInfinity)
    return ActivationCall{Activation::ClippedRelu, upper};
  return ActivationCall{Activation::Relu};
}

/// The activation of a node, or the one whose gradient it is.
static std::optional<ActivationCall> getActivation(const Node &node,
                                                   bool isGradient) {
  const Operation operation = getOperation(node);
  const auto is = [&](Operation forward, Operation backward) {
    return operation == (isGradient ? backward : forward);
  };
  if (is(Operation::Relu, Operation::ReluBackward))
    return getRelu(node);
  if (is(Operation::Sigmoid, Operation::SigmoidBackward))
    return ActivationCall{Activation::Logistic};
  if (is(Operation::Tanh, Operation::TanhBackward))
    return ActivationCall{Activation::Tanh, 1, 1};
  if (is(Operation::Elu, Operation::EluBackward))
    return ActivationCall{Activation::Elu, getFloat(node, field::EluAlpha, 1)};
  if (is(Operation::Softplus, Operation::SoftplusBackward) &&
      getFloat(node, field::SoftplusBeta, 1) == 1)
    return ActivationCall{Activation::SoftRelu};
  if (!isGradient && operation == Operation::Abs)
    return ActivationCall{Activation::Abs};
  return std::nullopt;
}

namespace {
/// The fields of the operands of an activation's gradient.
struct GradientFields {
  int dy, x;
};
} // namespace

static GradientFields getGradientFields(const Node &node) {
  if (node.isEarly)
    return {field::Second, field::First};
  return {field::First, field::Second};
}

//===----------------------------------------------------------------------===//
// Parts of other kernels
//===----------------------------------------------------------------------===//

static const Node *getPointwise(const Planner &planner, size_t number) {
  if (number >= planner.graph.getNodes().size())
    return nullptr;
  const Node &node = planner.graph.getNodes()[number];
  return node.kind == NodeKind::Pointwise ? &node : nullptr;
}

/// The tensor of a field, or -1.
static int getTensor(const Planner &planner, const Node &node, int number) {
  const ErrorOr<int> tensor = planner.find(node, number);
  return tensor ? *tensor : -1;
}

int tessera::hipdnn::findActivation(const Planner &planner, size_t number,
                                    int input, ActivationCall &call) {
  const Node *node = getPointwise(planner, number);
  if (!node || getTensor(planner, *node, field::First) != input ||
      !planner.isInternal(input))
    return -1;
  const std::optional<ActivationCall> activation = getActivation(*node, false);
  if (!activation)
    return -1;
  call = *activation;
  return getTensor(planner, *node, field::Result);
}

int tessera::hipdnn::findSum(const Planner &planner, size_t number, int input,
                             int &other) {
  const Node *node = getPointwise(planner, number);
  if (!node || getOperation(*node) != Operation::Add ||
      !planner.isInternal(input))
    return -1;
  const int first = getTensor(planner, *node, field::First);
  const int second = getTensor(planner, *node, field::Second);
  if (first < 0 || second < 0 || (first == input) == (second == input))
    return -1;
  other = first == input ? second : first;
  return getTensor(planner, *node, field::Result);
}

int tessera::hipdnn::findActivationGradient(const Planner &planner,
                                            size_t number, int input,
                                            int &gradient,
                                            ActivationCall &call) {
  const Node *node = getPointwise(planner, number);
  if (!node)
    return -1;
  auto [dy, x] = getGradientFields(*node);
  // Until May 2026 x was the first one; what is looked for says which it is.
  if (!planner.graph.hasVersion() && getTensor(planner, *node, dy) == input)
    std::swap(dy, x);
  if (getTensor(planner, *node, x) != input || !planner.isInternal(input))
    return -1;
  const std::optional<ActivationCall> activation = getActivation(*node, true);
  if (!activation)
    return -1;
  call = *activation;
  gradient = getTensor(planner, *node, dy);
  return gradient < 0 ? -1 : getTensor(planner, *node, field::Result);
}

//===----------------------------------------------------------------------===//
// Nodes of their own
//===----------------------------------------------------------------------===//

static uint32_t getMode(Activation activation) {
  return static_cast<uint32_t>(activation);
}

static Status addActivation(Planner &planner, const ActivationCall &call, int x,
                            int y) {
  return RowStep(planner, RowWiseKind::ActivationForward,
                 getMode(call.activation), y)
      .input(x)
      .output(y)
      .scalars(call)
      .finish();
}

/// The gradients of the functions that grow exponentially take the result,
/// which hipDNN does not pass.
static Status addActivationGradient(Planner &planner,
                                    const ActivationCall &call, int dy, int x,
                                    int dx) {
  int y = x;
  if (call.activation == Activation::Logistic ||
      call.activation == Activation::Tanh ||
      call.activation == Activation::Elu) {
    y = planner.addTemporary(x);
    if (Status status = addActivation(planner, call, x, y); !status.isOk())
      return status;
  }
  return RowStep(planner, RowWiseKind::ActivationBackward,
                 getMode(call.activation), dx)
      .input(x)
      .input(y)
      .input(dy)
      .output(dx)
      .scalars(call)
      .finish();
}

static Status addBinary(Planner &planner, uint32_t mode, double factor,
                        int first, int second, int result) {
  return RowStep(planner, RowWiseKind::OpTensor, mode, result)
      .input(first)
      .input(second)
      .output(result)
      .scalar(1)
      .scalar(factor)
      .finish();
}

static Status addUnary(Planner &planner, const Node &node, int x, int y) {
  switch (getOperation(node)) {
  case Operation::Identity:
    return RowStep(planner, RowWiseKind::TransformTensor, kMove, y)
        .input(x)
        .output(y)
        .finish();
  case Operation::Neg:
    return RowStep(planner, RowWiseKind::TransformTensor, kScale, y)
        .input(x)
        .output(y)
        .scalar(-1)
        .finish();
  case Operation::Swish:
    if (getFloat(node, field::SwishBeta, 1) != 1)
      return notSupported("its swish has a beta other than 1");
    return RowStep(planner, RowWiseKind::GluForward, 0, y)
        .input(x)
        .input(x)
        .output(y)
        .finish();
  default:
    break;
  }
  if (const auto call = getActivation(node, false))
    return addActivation(planner, *call, x, y);
  return notSupported("no kernel has its mode " +
                      std::to_string(static_cast<int>(getOperation(node))));
}

ErrorOr<size_t> tessera::hipdnn::servePointwise(Planner &planner,
                                                size_t number) {
  const Node &node = planner.graph.getNodes()[number];
  const ErrorOr<int> first = planner.find(node, field::First);
  const ErrorOr<int> second = planner.findOptional(node, field::Second);
  const ErrorOr<int> result = planner.find(node, field::Result);
  for (const ErrorOr<int> *tensor : {&first, &second, &result})
    if (!*tensor)
      return tensor->getStatus();
  if (node.attributes.has(field::Third))
    return notSupported("it has three operands");
  Status status;
  if (*second < 0)
    status = addUnary(planner, node, *first, *result);
  else if (const auto call = getActivation(node, true))
    status = addActivationGradient(
        planner, *call, *planner.find(node, getGradientFields(node).dy),
        *planner.find(node, getGradientFields(node).x), *result);
  else if (getOperation(node) == Operation::Add)
    status = addBinary(planner, kSum, 1, *first, *second, *result);
  else if (getOperation(node) == Operation::Sub)
    status = addBinary(planner, kSum, -1, *first, *second, *result);
  else if (getOperation(node) == Operation::Mul)
    status = addBinary(planner, kProduct, 1, *first, *second, *result);
  else if (getOperation(node) == Operation::Min)
    status = addBinary(planner, kSmaller, 1, *first, *second, *result);
  else if (getOperation(node) == Operation::Max)
    status = addBinary(planner, kLarger, 1, *first, *second, *result);
  else
    status = notSupported("no kernel has its mode " +
                          std::to_string(static_cast<int>(getOperation(node))));
  if (!status.isOk())
    return status;
  return size_t(1);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Modes of the schema as modes of `reduce`; -1 for those that it lacks.
static int convertReduction(uint8_t mode) {
  static constexpr int8_t kModes[] = {-1, 0, 1, 2, 3, 4, 5, 6, 7};
  return mode < std::size(kModes) ? kModes[mode] : -1;
}

ErrorOr<size_t> tessera::hipdnn::serveReduction(Planner &planner,
                                                size_t number) {
  const Node &node = planner.graph.getNodes()[number];
  const ErrorOr<int> in = planner.find(node, 1);
  const ErrorOr<int> out = planner.find(node, 2);
  for (const ErrorOr<int> *tensor : {&in, &out})
    if (!*tensor)
      return tensor->getStatus();
  const auto schemaMode = node.attributes.get<uint8_t>(0);
  const int mode = convertReduction(schemaMode);
  if (mode < 0)
    return notSupported("no kernel has its mode " + std::to_string(schemaMode));
  const Tensor &from = planner.getTensor(*in), &to = planner.getTensor(*out);
  if (from.getRank() != to.getRank())
    return notSupported("its tensors differ in their number of dimensions");
  RowStep step(planner, RowWiseKind::Reduce, mode, *in);
  for (int dim = 0; dim < step.getRank(); ++dim)
    if (from.lengths[dim] != 1 && to.lengths[dim] == 1)
      step.reduce(dim);
  Status status = step.input(*in).rowOutput(*out).scalar(1).scalar(0).finish();
  if (!status.isOk())
    return status;
  return size_t(1);
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// Fields: x, y, and the list of dimensions whose elements add up to 1.
ErrorOr<size_t> tessera::hipdnn::serveSoftmax(Planner &planner, size_t number) {
  constexpr uint32_t kAccurate = 1;
  const Node &node = planner.graph.getNodes()[number];
  const ErrorOr<int> x = planner.find(node, 0);
  const ErrorOr<int> y = planner.find(node, 1);
  for (const ErrorOr<int> *tensor : {&x, &y})
    if (!*tensor)
      return tensor->getStatus();
  RowStep step(planner, RowWiseKind::SoftmaxForward, kAccurate, *x);
  for (int64_t dim : node.attributes.getNumbers(2))
    step.reduce(static_cast<int>(dim));
  Status status = step.input(*x).output(*y).scalar(1).scalar(0).finish();
  if (!status.isOk())
    return status;
  return size_t(1);
}
