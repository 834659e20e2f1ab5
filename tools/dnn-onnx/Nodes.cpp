//===- Nodes.cpp - Nodes of a model as problems ---------------------------===//
//
// The meaning of the operators is that of ONNX's specification (Conv 11,
// ConvTranspose 11, MaxPool 12, AveragePool 11); older versions mean the same
// with fewer attributes.
//
//===----------------------------------------------------------------------===//

#include "tools/dnn-onnx/Nodes.h"
#include "tools/dnn-onnx/Window.h"

#include <algorithm>
#include <limits>

using namespace tessera;
using namespace tessera::model;

using Shape = std::vector<int64_t>;

//===----------------------------------------------------------------------===//
// What all operators have in common
//===----------------------------------------------------------------------===//

static ErrorOr<DataType> getType(const onnx::NodeProto &node,
                                 const Scope &scope,
                                 const ProblemFileOptions &options) {
  if (options.dataType)
    return *options.dataType;
  const int type = scope.getElementType(node.input(0));
  switch (type) {
  case onnx::TensorProto::FLOAT:
    return DataType::F32;
  case onnx::TensorProto::FLOAT16:
    return DataType::F16;
  case onnx::TensorProto::BFLOAT16:
    return DataType::BF16;
  case onnx::TensorProto::DOUBLE:
    return DataType::F64;
  case onnx::TensorProto::INT8:
    return DataType::I8;
  case onnx::TensorProto::UNDEFINED:
    return invalidArgument("the type of its input is not known; give --type");
  default:
    return notSupported("its elements are of a type that is not supported; "
                        "give --type");
  }
}

namespace {
/// The tensors of every such node.
struct Tensors {
  Shape in, out; ///< All lengths.
  DataType type = DataType::F32;

  Shape getSpatialIn() const { return {in.begin() + 2, in.end()}; }
  Shape getSpatialOut() const { return {out.begin() + 2, out.end()}; }
};
} // namespace

static ErrorOr<Tensors> readTensors(const onnx::NodeProto &node,
                                    const Scope &scope,
                                    const ProblemFileOptions &options) {
  if (node.input_size() < 1 || node.output_size() < 1)
    return invalidArgument("it has no input or no output");
  ErrorOr<Shape> in = scope.getShape(node.input(0), "its input");
  if (!in)
    return in.getStatus();
  ErrorOr<Shape> out = scope.getShape(node.output(0), "its output");
  if (!out)
    return out.getStatus();
  if (in->size() < 3 || in->size() > 5 || in->size() != out->size())
    return notSupported("it has " + std::to_string(in->size()) +
                        " dimensions; there are problems of 3 to 5");
  ErrorOr<DataType> type = getType(node, scope, options);
  if (!type)
    return type.getStatus();
  return Tensors{*in, *out, *type};
}

static std::vector<int64_t> get(const std::vector<Axis> &axes,
                                int64_t Axis::*field) {
  std::vector<int64_t> numbers;
  for (const Axis &axis : axes)
    numbers.push_back(axis.*field);
  return numbers;
}

/// The fitted lengths of all axes.
using Fitted = std::vector<FittedAxis>;

static Shape get(const Fitted &axes, int64_t FittedAxis::*field) {
  Shape numbers;
  for (const FittedAxis &axis : axes)
    numbers.push_back(axis.*field);
  return numbers;
}

static ErrorOr<Fitted> fitAll(const std::vector<Axis> &axes, const Shape &in,
                              const Shape &out, bool roundsUp) {
  Fitted fitted;
  for (size_t i = 0; i < axes.size(); ++i) {
    ErrorOr<FittedAxis> axis = fit(axes[i], in[i], out[i], roundsUp);
    if (!axis)
      return axis.getStatus();
    fitted.push_back(*axis);
  }
  return fitted;
}

/// If the padding differs between the ends, there are two forms of a problem:
/// with such padding, which tesseraRunProblem() takes, and that of a client
/// that pads the input itself because MIOpen's descriptors cannot say it, if
/// such a client gets the same results (`mayGrow`).
static std::vector<Fitted> getForms(const Fitted &fitted, bool mayGrow) {
  Fitted grown;
  for (const FittedAxis &axis : fitted)
    grown.push_back(axis.growInput());
  const bool isEqual =
      get(grown, &FittedAxis::in) == get(fitted, &FittedAxis::in);
  if (isEqual || !mayGrow)
    return {fitted};
  return {fitted, grown};
}

/// Sets what a problem of either kind has of the input's axes.
template <typename AnyProblem>
static void setInput(const Fitted &fitted, AnyProblem &problem) {
  problem.in = toLengths<1>(get(fitted, &FittedAxis::in));
  problem.pad = toLengths<0>(get(fitted, &FittedAxis::pad));
  problem.extraPad = toLengths<0>(get(fitted, &FittedAxis::extraPad));
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

/// A bound of a Clip: an attribute before version 11, then an operand.
static std::optional<float> getBound(const onnx::NodeProto &clip,
                                     const Scope &scope, int operand,
                                     const char *attribute, float otherwise) {
  if (clip.input_size() > operand && !clip.input(operand).empty())
    return scope.getScalar(clip.input(operand));
  return getFloat(clip, attribute, otherwise);
}

static Activation getClip(const onnx::NodeProto &clip, const Scope &scope) {
  constexpr float kNone = std::numeric_limits<float>::max();
  std::optional<float> low = getBound(clip, scope, 1, "min", -kNone);
  std::optional<float> high = getBound(clip, scope, 2, "max", kNone);
  if (low != 0.0f)
    return Activation::Clamp;
  return high == kNone ? Activation::Relu : Activation::ClippedRelu;
}

static Activation getActivation(const onnx::NodeProto &node,
                                const Scope &scope) {
  const std::string &name = node.op_type();
  if (name == "Relu")
    return Activation::Relu;
  if (name == "LeakyRelu")
    return Activation::LeakyRelu;
  if (name == "Sigmoid")
    return Activation::Logistic;
  if (name == "Tanh")
    return Activation::Tanh;
  if (name == "Elu")
    return Activation::Elu;
  return name == "Clip" ? getClip(node, scope) : Activation::None;
}

static Epilogue getEpilogue(const onnx::NodeProto &conv, const Scope &scope) {
  Epilogue epilogue;
  epilogue.bias = conv.input_size() > 2 && !conv.input(2).empty();
  if (const onnx::NodeProto *next = scope.getOnlyReader(conv.output(0)))
    epilogue.activation = getActivation(*next, scope);
  return epilogue;
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// The lengths of the filter. Its first length must match `first`, which is the
/// input of a transposed convolution and the output of another; its second,
/// over all groups, must match `second`.
static ErrorOr<Shape> readFilter(const onnx::NodeProto &node,
                                 const Scope &scope, const Shape &first,
                                 const Shape &second) {
  if (node.input_size() < 2)
    return invalidArgument("it has no filter");
  ErrorOr<Shape> filter = scope.getShape(node.input(1), "its filter");
  if (!filter)
    return filter;
  const int64_t groups = getInt(node, "group", 1);
  if (groups < 1 || groups > INT32_MAX)
    return invalidArgument("its attribute group is " + std::to_string(groups));
  if (filter->size() != first.size() || (*filter)[0] != first[1] ||
      (*filter)[1] * groups != second[1])
    return invalidArgument("its filter does not fit its input and output");
  return filter;
}

static ErrorOr<std::vector<Axis>> readConvWindow(const onnx::NodeProto &node,
                                                 const Shape &filter,
                                                 const Tensors &tensors) {
  const Shape window(filter.begin() + 2, filter.end());
  ErrorOr<std::vector<Axis>> axes =
      readWindow(node, window, tensors.getSpatialIn(), tensors.getSpatialOut());
  if (axes && get(*axes, &Axis::filter) != window)
    return invalidArgument("its attribute kernel_shape is not that of its "
                           "filter");
  return axes;
}

/// Makes a convolution without direction and channels.
static ConvProblem makeConv(const std::vector<Axis> &axes,
                            const Tensors &tensors, int64_t groups,
                            const Fitted &fitted,
                            const ProblemFileOptions &options) {
  ConvProblem problem;
  problem.dataType = tensors.type;
  problem.xLayout = problem.wLayout = problem.yLayout = options.layout;
  problem.batch = tensors.in[0];
  problem.groups = groups;
  problem.filter = toLengths<1>(get(axes, &Axis::filter));
  problem.stride = toLengths<1>(get(axes, &Axis::stride));
  problem.dilation = toLengths<1>(get(axes, &Axis::dilation));
  setInput(fitted, problem);
  return problem;
}

static ErrorOr<std::vector<Problem>>
readConv(const onnx::NodeProto &node, const Scope &scope,
         const ProblemFileOptions &options) {
  ErrorOr<Tensors> tensors = readTensors(node, scope, options);
  if (!tensors)
    return tensors.getStatus();
  ErrorOr<Shape> filter = readFilter(node, scope, tensors->out, tensors->in);
  if (!filter)
    return filter.getStatus();
  const Shape in = tensors->getSpatialIn(), out = tensors->getSpatialOut();
  ErrorOr<std::vector<Axis>> axes = readConvWindow(node, *filter, *tensors);
  if (!axes)
    return axes.getStatus();
  ErrorOr<Fitted> fitted = fitAll(*axes, in, out, /*roundsUp=*/false);
  if (!fitted)
    return fitted.getStatus();
  std::vector<Problem> problems;
  for (const Fitted &form : getForms(*fitted, /*mayGrow=*/true)) {
    ConvProblem problem =
        makeConv(*axes, *tensors, getInt(node, "group", 1), form, options);
    problem.inChannels = tensors->in[1];
    problem.outChannels = (*filter)[0];
    for (Direction direction : options.directions) {
      problem.direction = direction;
      problem.epilogue = options.fuse && direction == Direction::Forward
                             ? getEpilogue(node, scope)
                             : Epilogue();
      problems.push_back(problem);
    }
  }
  return problems;
}

/// Sets the padding of a transposed convolution, which is what its result
/// lacks.
static void padTransposed(const onnx::NodeProto &node, int64_t in,
                          int64_t result, Axis &axis) {
  const bool isUpper = getString(node, "auto_pad", "NOTSET") == "SAME_UPPER";
  // The output padding is at the end, so it shortens the padding there.
  const int64_t total =
      std::max<int64_t>(axis.stride * (in - 1) + axis.getExtent() - result, 0);
  axis.padBegin = isUpper ? total / 2 : total - total / 2;
  axis.padEnd = total - axis.padBegin;
}

/// A transposed convolution is backward data of the convolution whose input is
/// its result.
static ErrorOr<std::vector<Problem>>
readConvTranspose(const onnx::NodeProto &node, const Scope &scope,
                  const ProblemFileOptions &options) {
  ErrorOr<Tensors> tensors = readTensors(node, scope, options);
  if (!tensors)
    return tensors.getStatus();
  ErrorOr<Shape> filter = readFilter(node, scope, tensors->in, tensors->out);
  if (!filter)
    return filter.getStatus();
  const Shape in = tensors->getSpatialIn(), result = tensors->getSpatialOut();
  ErrorOr<std::vector<Axis>> axes = readConvWindow(node, *filter, *tensors);
  if (!axes)
    return axes.getStatus();
  const bool hasRule =
      getString(node, "auto_pad", "NOTSET").starts_with("SAME") ||
      getString(node, "output_shape", "none") != "none";
  for (size_t i = 0; hasRule && i < axes->size(); ++i)
    padTransposed(node, in[i], result[i], (*axes)[i]);
  ErrorOr<Fitted> fitted = fitAll(*axes, result, in, /*roundsUp=*/false);
  if (!fitted)
    return fitted.getStatus();
  std::vector<Problem> problems;
  for (const Fitted &form : getForms(*fitted, /*mayGrow=*/true)) {
    ConvProblem problem =
        makeConv(*axes, *tensors, getInt(node, "group", 1), form, options);
    problem.inChannels = tensors->out[1];
    problem.outChannels = tensors->in[1];
    for (Direction direction : options.directions) {
      // The model's forward is our backward, and the reverse.
      problem.direction =
          direction == Direction::Forward        ? Direction::BackwardData
          : direction == Direction::BackwardData ? Direction::Forward
                                                 : direction;
      problem.epilogue = options.fuse && direction == Direction::Forward
                             ? getEpilogue(node, scope)
                             : Epilogue();
      problems.push_back(problem);
    }
  }
  return problems;
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

/// Sets MIOpen's default: offsets in the window as bytes, and indices of the
/// image if there is depth.
static void setIndices(PoolProblem &problem) {
  problem.indexType = problem.hasDepth() ? IndexType::U32 : IndexType::U8;
  problem.indexMode = problem.hasDepth() ? IndexMode::Image : IndexMode::Mask;
}

/// Makes one problem for each direction that pooling has.
static std::vector<Problem> direct(PoolProblem problem, bool keepsIndices,
                                   const ProblemFileOptions &options) {
  std::vector<Problem> problems;
  for (Direction direction : options.directions) {
    if (direction == Direction::BackwardWeights)
      continue;
    problem.direction = direction;
    const bool hasBackward =
        std::ranges::find(options.directions, Direction::BackwardData) !=
        options.directions.end();
    problem.indexType = IndexType::None;
    if (problem.mode == PoolMode::Max && (keepsIndices || hasBackward))
      setIndices(problem);
    problems.push_back(problem);
  }
  return problems;
}

static PoolProblem makePool(PoolMode mode, const Tensors &tensors,
                            const ProblemFileOptions &options) {
  PoolProblem problem;
  problem.mode = mode;
  problem.dataType = tensors.type;
  problem.xLayout = problem.yLayout = options.layout;
  problem.batch = tensors.in[0];
  problem.channels = tensors.in[1];
  problem.in = toLengths<1>(tensors.getSpatialIn());
  return problem;
}

/// Whether rounding up makes a window reach past the padding of the end.
static bool reachesPastPads(const std::vector<Axis> &axes,
                            const Fitted &fitted) {
  for (size_t i = 0; i < axes.size(); ++i)
    if (fitted[i].extraPad > axes[i].padEnd - axes[i].padBegin)
      return true;
  return false;
}

static ErrorOr<std::vector<Problem>>
readPool(const onnx::NodeProto &node, const Scope &scope,
         const ProblemFileOptions &options) {
  ErrorOr<Tensors> tensors = readTensors(node, scope, options);
  if (!tensors)
    return tensors.getStatus();
  const Shape in = tensors->getSpatialIn(), out = tensors->getSpatialOut();
  ErrorOr<std::vector<Axis>> axes = readWindow(node, {}, in, out);
  if (!axes)
    return axes.getStatus();
  for (const Axis &axis : *axes)
    if (axis.dilation != 1)
      return notSupported("its window is dilated");
  const bool isMax = node.op_type() == "MaxPool";
  const bool roundsUp = getInt(node, "ceil_mode", 0) != 0;
  const bool countsPads = getInt(node, "count_include_pad", 0) != 0;
  ErrorOr<Fitted> fitted = fitAll(*axes, in, out, roundsUp);
  if (!fitted)
    return fitted.getStatus();
  if (countsPads && !isMax && reachesPastPads(*axes, *fitted))
    return notSupported("its average counts its padding, but not what windows "
                        "have beyond it");
  PoolProblem problem = makePool(isMax        ? PoolMode::Max
                                 : countsPads ? PoolMode::AverageInclusive
                                              : PoolMode::Average,
                                 *tensors, options);
  problem.window = toLengths<1>(get(*axes, &Axis::filter));
  problem.stride = toLengths<1>(get(*axes, &Axis::stride));
  std::vector<Problem> problems;
  // Zeros that a client adds count in an average.
  for (const Fitted &form :
       getForms(*fitted, isMax || (countsPads && !roundsUp))) {
    setInput(form, problem);
    for (const Problem &one :
         direct(problem, isMax && node.output_size() > 1, options))
      problems.push_back(one);
  }
  return problems;
}

static ErrorOr<std::vector<Problem>>
readGlobalPool(const onnx::NodeProto &node, const Scope &scope,
               const ProblemFileOptions &options) {
  ErrorOr<Tensors> tensors = readTensors(node, scope, options);
  if (!tensors)
    return tensors.getStatus();
  const bool isMax = node.op_type() == "GlobalMaxPool";
  PoolProblem problem =
      makePool(isMax ? PoolMode::Max : PoolMode::Average, *tensors, options);
  problem.window = problem.in;
  return direct(problem, /*keepsIndices=*/false, options);
}

//===----------------------------------------------------------------------===//
// Every node
//===----------------------------------------------------------------------===//

ErrorOr<std::vector<Problem>>
tessera::model::toProblems(const onnx::NodeProto &node, const Scope &scope,
                           const ProblemFileOptions &options) {
  const std::string &name = node.op_type();
  if (!node.domain().empty() && node.domain() != "ai.onnx")
    return std::vector<Problem>();
  if (name == "Conv")
    return readConv(node, scope, options);
  if (name == "ConvTranspose")
    return readConvTranspose(node, scope, options);
  if (name == "MaxPool" || name == "AveragePool")
    return readPool(node, scope, options);
  if (name == "GlobalMaxPool" || name == "GlobalAveragePool")
    return readGlobalPool(node, scope, options);
  for (const char *other : {"QLinearConv", "ConvInteger", "LpPool", "MaxUnpool",
                            "GlobalLpPool", "MaxRoiPool"})
    if (name == other)
      return notSupported("the operator " + name + " is not supported");
  return std::vector<Problem>();
}
