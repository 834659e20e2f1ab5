//===- Translation.cpp - ONNX nodes as a graph of hipDNN's ----------------===//
//
// The meaning of the operators is that of ONNX's specification; the numbers of
// fields are those of hipDNN's schemas (capi/hipdnn).
//
//===----------------------------------------------------------------------===//

#include "capi/onnxruntime/Translation.h"
#include "capi/onnxruntime/Partition.h"
#include "capi/onnxruntime/Window.h"

#include <algorithm>
#include <limits>
#include <string_view>

using namespace tessera;
using namespace tessera::onnx;
using hipdnn::NodeKind;

/// hipDNN's numbers of element types; 0 for types that we do not have.
static uint8_t getTypeCode(int32_t type) {
  switch (type) {
  case kF32:
    return hipdnn::kFloatCode;
  case kF16:
    return 2;
  case kBF16:
    return 3;
  case kF64:
    return hipdnn::kDoubleCode;
  default:
    return 0;
  }
}

namespace {
/// hipDNN's pointwise operations, with the fields of their tensors.
enum : uint8_t {
  kAbs = 1,
  kAdd = 2,
  kElu = 14,
  kMax = 28,
  kMin = 29,
  kMul = 30,
  kNeg = 31,
  kRelu = 34,
  kSigmoid = 37,
  kSoftplus = 40,
  kSub = 42,
  kTanh = 47
};
enum { kLowerClip = 1, kUpperClip, kLowerSlope, kFirst = 5, kSecond };
enum { kResult = 8, kEluAlpha = 10 };

struct Operator;

/// Makes the tensors and nodes of a graph.
class Translator {
public:
  Translator(const Model &model, std::span<const int> nodes,
             std::vector<Shape> &lengths);

  Status add(const Node &node);
  ErrorOr<Translation> finish();

  Status addConvolution(const Operator &op);
  Status addPooling(const Operator &op);
  Status addGlobalPooling(const Operator &op);
  Status addBatchNorm(const Operator &op);
  Status addNorm(const Operator &op);
  Status addSoftmax(const Operator &op);
  Status addUnary(const Operator &op);
  Status addClip(const Operator &op);
  Status addBinary(const Operator &op);

private:
  const Shape &getInput(size_t number) const {
    return lengths[node->inputs[number]];
  }
  int addTensor(int value, Shape shape);
  int addNumber(double number);
  int addResult(Shape shape);
  ErrorOr<int> getChannels(size_t input);
  int getTensor(int value);
  hipdnn::Node &addNode(NodeKind kind, std::initializer_list<int> operands);
  hipdnn::Node &addPointwise(uint8_t operation, int first, int result);
  Status addBias(int sum, int result);

  const Model &model;
  std::vector<Shape> &lengths;
  std::vector<bool> isInside; ///< Of values: computed by a node of the graph.
  std::vector<int> known;     ///< Of values: their tensor, or -1.
  std::vector<hipdnn::Tensor> tensors;
  std::vector<hipdnn::Node> nodes;
  std::vector<int> values; ///< Of tensors.
  const Node *node = nullptr;
};

struct Operator {
  std::string_view name;
  Status (Translator::*add)(const Operator &);
  uint8_t code; ///< hipDNN's number of the operation or mode.
  size_t inputs;
};
} // namespace

static constexpr Operator kOperators[] = {
    {"Conv", &Translator::addConvolution, 0, 2},
    {"ConvTranspose", &Translator::addConvolution, 1, 2},
    {"MaxPool", &Translator::addPooling, 1, 1},
    {"AveragePool", &Translator::addPooling, 2, 1},
    {"GlobalMaxPool", &Translator::addGlobalPooling, 4, 1},
    {"GlobalAveragePool", &Translator::addGlobalPooling, 6, 1},
    {"BatchNormalization", &Translator::addBatchNorm, 0, 5},
    {"LayerNormalization", &Translator::addNorm, 0, 3},
    {"InstanceNormalization", &Translator::addNorm, 1, 3},
    {"Softmax", &Translator::addSoftmax, 0, 1},
    {"Clip", &Translator::addClip, kRelu, 1},
    {"Abs", &Translator::addUnary, kAbs, 1},
    {"Elu", &Translator::addUnary, kElu, 1},
    {"LeakyRelu", &Translator::addUnary, kRelu, 1},
    {"Neg", &Translator::addUnary, kNeg, 1},
    {"Relu", &Translator::addUnary, kRelu, 1},
    {"Sigmoid", &Translator::addUnary, kSigmoid, 1},
    {"Softplus", &Translator::addUnary, kSoftplus, 1},
    {"Tanh", &Translator::addUnary, kTanh, 1},
    {"Add", &Translator::addBinary, kAdd, 2},
    {"Max", &Translator::addBinary, kMax, 2},
    {"Min", &Translator::addBinary, kMin, 2},
    {"Mul", &Translator::addBinary, kMul, 2},
    {"Sub", &Translator::addBinary, kSub, 2},
};

static const Operator *findOperator(const Node &node) {
  if (!node.domain.empty() && node.domain != "ai.onnx")
    return nullptr;
  const auto *found = std::ranges::find(kOperators, node.op, &Operator::name);
  return found == std::end(kOperators) ? nullptr : found;
}

bool tessera::onnx::isWorthCopies(const Node &node) {
  const Operator *op = findOperator(node);
  return op && op->add != &Translator::addUnary &&
         op->add != &Translator::addClip && op->add != &Translator::addBinary;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Translator::Translator(const Model &model, std::span<const int> nodes,
                       std::vector<Shape> &lengths)
    : model(model), lengths(lengths), isInside(model.values.size()),
      known(model.values.size(), -1) {
  for (int number : nodes)
    for (int value : model.nodes[number].outputs)
      if (value >= 0)
        isInside[value] = true;
}

/// A tensor that shows a value with some lengths, its elements in order. -1 is
/// what no value is behind, with the type of the node's first input.
int Translator::addTensor(int value, Shape shape) {
  const Value &like = model.values[value < 0 ? node->inputs[0] : value];
  hipdnn::Tensor tensor;
  tensor.uid = static_cast<int64_t>(tensors.size());
  tensor.name = value < 0 ? "" : like.name;
  tensor.typeCode = getTypeCode(like.type);
  tensor.strides.assign(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    tensor.strides[dim - 1] = tensor.strides[dim] * shape[dim];
  tensor.lengths = std::move(shape);
  tensor.isVirtual = value < 0 || (isInside[value] && !like.isOutput);
  tensors.push_back(std::move(tensor));
  values.push_back(value);
  return static_cast<int>(tensors.size()) - 1;
}

int Translator::addNumber(double number) {
  const int tensor = addTensor(-1, {});
  tensors[tensor].isVirtual = false;
  tensors[tensor].value = number;
  return tensor;
}

int Translator::getTensor(int value) {
  if (known[value] < 0)
    known[value] = addTensor(value, lengths[value]);
  return known[value];
}

/// The tensor of the node's first output, whose lengths are new.
int Translator::addResult(Shape shape) {
  lengths[node->outputs[0]] = std::move(shape);
  return getTensor(node->outputs[0]);
}

/// An input that has a number for each channel, as one that spreads over
/// images: of lengths C, 1, ...
ErrorOr<int> Translator::getChannels(size_t input) {
  const int value = node->inputs[input];
  if (isInside[value])
    return notSupported("its numbers for channels are computed");
  if (lengths[value].size() != 1)
    return invalidArgument("its input '" + model.values[value].name +
                           "' has not one number for each channel");
  Shape shape(getInput(0).size() - 1, 1);
  shape[0] = lengths[value][0];
  return addTensor(value, std::move(shape));
}

/// Operands go to the fields from 0 on.
hipdnn::Node &Translator::addNode(NodeKind kind,
                                  std::initializer_list<int> operands) {
  hipdnn::Node &added = nodes.emplace_back();
  added.name = node->name;
  added.kind = kind;
  const bool isDouble = model.values[node->inputs[0]].type == kF64;
  added.computeTypeCode = isDouble ? hipdnn::kDoubleCode : hipdnn::kFloatCode;
  int field = 0;
  for (int operand : operands)
    added.attributes.set(field++, operand);
  return added;
}

hipdnn::Node &Translator::addPointwise(uint8_t operation, int first,
                                       int result) {
  hipdnn::Node &added = addNode(NodeKind::Pointwise, {operation});
  added.attributes.set(kFirst, first);
  added.attributes.set(kResult, result);
  return added;
}

Status Translator::add(const Node &next) {
  node = &next;
  const Operator *op = findOperator(next);
  if (!op)
    return notSupported("no kernel of ours computes it");
  if (next.inputs.size() < op->inputs || next.outputs.empty() ||
      next.outputs[0] < 0)
    return invalidArgument("it lacks an input or its output");
  for (size_t i = 0; i < next.inputs.size(); ++i) {
    const int value = next.inputs[i];
    if (value < 0 ? i < op->inputs : !getTypeCode(model.values[value].type))
      return notSupported("its input " + std::to_string(i) +
                          " is missing or of a type that no kernel has");
  }
  for (size_t i = 1; i < next.outputs.size(); ++i)
    if (next.outputs[i] >= 0)
      return notSupported("more than its first output is read");
  return (this->*op->add)(*op);
}

//===----------------------------------------------------------------------===//
// Convolutions and poolings
//===----------------------------------------------------------------------===//

/// Images of 1 to 3 dimensions.
static Status checkRank(const Shape &x) {
  if (x.size() >= 3 && x.size() <= 5)
    return Status::ok();
  return notSupported("its input has " + std::to_string(x.size()) +
                      " dimensions, and not 3 to 5");
}

static Shape getSpatial(const Shape &shape) {
  return {shape.begin() + 2, shape.end()};
}

static Shape join(int64_t batch, int64_t channels, const Shape &spatial) {
  Shape shape = {batch, channels};
  shape.insert(shape.end(), spatial.begin(), spatial.end());
  return shape;
}

/// The window of a convolution has its dilations in the last list, that of a
/// pooling its lengths.
static void setWindow(hipdnn::Node &node, const Window &window,
                      const Shape &last) {
  node.attributes.set(3, window.before);
  node.attributes.set(4, window.after);
  node.attributes.set(5, window.stride);
  node.attributes.set(6, last);
}

/// The third input is added to each channel of a sum.
Status Translator::addBias(int sum, int result) {
  const ErrorOr<int> bias = getChannels(2);
  if (!bias)
    return bias.getStatus();
  addPointwise(kAdd, sum, result).attributes.set(kSecond, *bias);
  return Status::ok();
}

Status Translator::addConvolution(const Operator &op) {
  constexpr double kCrossCorrelation = 2;
  const bool isTransposed = op.code == 1;
  const Shape &x = getInput(0), &w = getInput(1);
  if (Status status = checkRank(x); !status.isOk())
    return status;
  const int64_t groups = node->getInteger("group", 1);
  if (w.size() != x.size() || groups < 1 ||
      x[1] != (isTransposed ? w[0] : w[1] * groups))
    return invalidArgument("its filter does not fit its input");
  ErrorOr<Window> window =
      readWindow(*node, getSpatial(w), getSpatial(x), isTransposed);
  if (!window)
    return window.getStatus();
  const ErrorOr<Shape> extra =
      readList(*node, "output_padding", x.size() - 2, 0);
  if (!extra)
    return extra.getStatus();
  if (node->lists.contains("output_shape"))
    return notSupported("its padding follows from an output_shape");
  const ErrorOr<Shape> out =
      isTransposed ? window->getTransposedResult(getSpatial(x), *extra)
                   : window->getResult(getSpatial(x), false);
  if (!out)
    return out.getStatus();
  const Shape shape = join(x[0], isTransposed ? w[1] * groups : w[0], *out);
  const int result = addResult(shape);
  const bool hasBias = node->getInput(2) >= 0;
  const int sum = hasBias ? addTensor(-1, shape) : result;
  hipdnn::Node &added =
      addNode(isTransposed ? NodeKind::ConvolutionBackward
                           : NodeKind::ConvolutionForward,
              {getTensor(node->inputs[0]), getTensor(node->inputs[1]), sum});
  setWindow(added, *window, window->dilation);
  added.attributes.set(7, kCrossCorrelation);
  return hasBias ? addBias(sum, result) : Status::ok();
}

Status Translator::addPooling(const Operator &op) {
  constexpr uint8_t kMaximum = 1, kAverageOfPadded = 3;
  const Shape &x = getInput(0);
  if (Status status = checkRank(x); !status.isOk())
    return status;
  ErrorOr<Window> window = readWindow(*node, {}, getSpatial(x), false);
  if (!window)
    return window.getStatus();
  if (std::ranges::any_of(window->dilation, [](int64_t d) { return d != 1; }))
    return notSupported("its window is dilated");
  const bool countsPads =
      op.code != kMaximum && node->getInteger("count_include_pad", 0) != 0;
  const Shape after = window->after;
  const ErrorOr<Shape> out =
      window->getResult(getSpatial(x), node->getInteger("ceil_mode", 0) != 0);
  if (!out)
    return out.getStatus();
  if (countsPads && window->after != after)
    return notSupported("its averages count padding, but not behind the "
                        "padding that it says");
  const int result = addResult(join(x[0], x[1], *out));
  hipdnn::Node &added =
      addNode(NodeKind::ResampleForward, {getTensor(node->inputs[0]), result});
  setWindow(added, *window, window->filter);
  added.attributes.set(7, countsPads ? kAverageOfPadded : op.code);
  return Status::ok();
}

Status Translator::addGlobalPooling(const Operator &op) {
  const Shape &x = getInput(0);
  if (Status status = checkRank(x); !status.isOk())
    return status;
  const int result = addResult(join(x[0], x[1], Shape(x.size() - 2, 1)));
  addNode(NodeKind::Reduction, {op.code, getTensor(node->inputs[0]), result});
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Normalisations
//===----------------------------------------------------------------------===//

Status Translator::addBatchNorm(const Operator &) {
  const Shape x = getInput(0);
  if (node->version < 7 || node->getInteger("training_mode", 0) != 0 ||
      node->getInteger("spatial", 1) == 0)
    return notSupported("it is not the inference of operator set 7 or later");
  if (x.size() < 2)
    return notSupported("its input has no channels");
  int numbers[4]; // Scale, bias, mean, variance.
  for (size_t i = 0; i < 4; ++i) {
    const ErrorOr<int> tensor = getChannels(1 + i);
    if (!tensor)
      return tensor.getStatus();
    numbers[i] = *tensor;
  }
  const auto [scale, bias, mean, variance] = numbers;
  const int result = addResult(x);
  const int epsilon = addNumber(node->getNumber("epsilon", 1e-5));
  addNode(NodeKind::BatchNormInferenceVariance,
          {getTensor(node->inputs[0]), mean, variance, scale, bias, result,
           epsilon});
  return Status::ok();
}

/// Rows are the last dimensions from an axis on, or channels of one image,
/// which have one number each for scale and bias.
Status Translator::addNorm(const Operator &op) {
  const bool isInstance = op.code == 1;
  const Shape x = getInput(0);
  const auto rank = static_cast<int64_t>(x.size());
  int64_t axis = isInstance ? 2 : node->getInteger("axis", -1);
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis >= rank)
    return invalidArgument("its input has no such axis");
  int numbers[2]; // Scale and bias.
  for (size_t i = 0; i < 2; ++i) {
    const ErrorOr<int> tensor =
        isInstance ? getChannels(1 + i) : getTensor(node->inputs[1 + i]);
    if (!tensor)
      return tensor.getStatus();
    numbers[i] = *tensor;
  }
  const int result = addResult(x);
  const int epsilon = addNumber(node->getNumber("epsilon", 1e-5));
  addNode(NodeKind::LayerNorm,
          {getTensor(node->inputs[0]), numbers[0], numbers[1], epsilon, result,
           static_cast<int>(rank - axis)});
  return Status::ok();
}

/// Before operator set 13, a row is all dimensions from the axis on.
Status Translator::addSoftmax(const Operator &) {
  const Shape x = getInput(0);
  const auto rank = static_cast<int64_t>(x.size());
  const bool isOld = node->version < 13;
  int64_t axis = node->getInteger("axis", isOld ? 1 : -1);
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis >= rank)
    return invalidArgument("its input has no such axis");
  Shape dims = {axis};
  for (int64_t dim = axis + 1; isOld && dim < rank; ++dim)
    dims.push_back(dim);
  const int result = addResult(x);
  addNode(NodeKind::Softmax, {getTensor(node->inputs[0]), result})
      .attributes.set(2, dims);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

Status Translator::addUnary(const Operator &op) {
  const int result = addResult(Shape(getInput(0)));
  hipdnn::Node &added =
      addPointwise(op.code, getTensor(node->inputs[0]), result);
  if (op.name == "LeakyRelu")
    added.attributes.set(kLowerSlope, node->getNumber("alpha", 0.01));
  if (op.name == "Elu")
    added.attributes.set(kEluAlpha, node->getNumber("alpha", 1));
  return Status::ok();
}

/// Bounds are attributes before operator set 11, then inputs.
Status Translator::addClip(const Operator &op) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double bounds[2] = {node->getNumber("min", -kInfinity),
                      node->getNumber("max", kInfinity)};
  for (size_t i = 0; i < 2; ++i) {
    const int input = node->getInput(1 + i);
    if (input < 0)
      continue;
    if (!model.values[input].number)
      return notSupported("a bound of it is no constant");
    bounds[i] = *model.values[input].number;
  }
  const int result = addResult(Shape(getInput(0)));
  hipdnn::Node &added =
      addPointwise(op.code, getTensor(node->inputs[0]), result);
  added.attributes.set(kLowerClip, bounds[0]);
  added.attributes.set(kUpperClip, bounds[1]);
  return Status::ok();
}

/// The lengths of what two tensors give that spread over each other.
static ErrorOr<Shape> spread(const Shape &first, const Shape &second) {
  Shape shape(std::max(first.size(), second.size()), 1);
  for (const Shape *operand : {&first, &second})
    for (size_t i = 0; i < operand->size(); ++i) {
      const int64_t length = (*operand)[operand->size() - 1 - i];
      int64_t &common = shape[shape.size() - 1 - i];
      if (length != 1 && common != 1 && length != common)
        return invalidArgument("the lengths of its inputs do not fit");
      common = length == 1 ? common : length;
    }
  return shape;
}

Status Translator::addBinary(const Operator &op) {
  if (node->inputs.size() != 2)
    return notSupported("it has not two inputs");
  ErrorOr<Shape> shape = spread(getInput(0), getInput(1));
  if (!shape)
    return shape.getStatus();
  const int result = addResult(std::move(*shape));
  const int first = getTensor(node->inputs[0]);
  const int second = getTensor(node->inputs[1]);
  addPointwise(op.code, first, result).attributes.set(kSecond, second);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

ErrorOr<Translation> Translator::finish() {
  const ErrorOr<hipdnn::Graph> graph =
      hipdnn::Graph::make(std::move(tensors), std::move(nodes));
  if (!graph)
    return graph.getStatus();
  ErrorOr<hipdnn::Plan> plan = hipdnn::makePlan(*graph);
  if (!plan)
    return plan.getStatus();
  return Translation{std::move(*plan), std::move(values)};
}

ErrorOr<Translation> tessera::onnx::translate(const Model &model,
                                              std::span<const int> nodes,
                                              std::vector<Shape> &lengths) {
  Translator translator(model, nodes, lengths);
  for (int number : orderForFusion(model, nodes)) {
    const Node &node = model.nodes[number];
    if (Status status = translator.add(node); !status.isOk())
      return status.withContext(node.describe());
  }
  return translator.finish();
}
