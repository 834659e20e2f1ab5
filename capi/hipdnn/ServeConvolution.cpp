//===- ServeConvolution.cpp - Convolutions of graphs ----------------------===//
//
// A forward convolution takes along what follows it as long as nobody else sees
// the tensors between: a bias, a tensor of the result's shape, an activation.
//
//===----------------------------------------------------------------------===//

#include "capi/hipdnn/Planner.h"

#include <vector>

using namespace tessera;
using namespace tessera::hipdnn;

namespace {
namespace field {
enum { PadBefore = 3, PadAfter, Stride, Dilation, Mode };
}
/// The schema's cross-correlation, which is what everybody calls convolution.
constexpr uint8_t kCrossCorrelation = 2;

/// The tensors of the definition, whichever of them is computed.
struct Operands {
  int x, w, y;
};
} // namespace

static Direction getDirection(NodeKind kind) {
  return kind == NodeKind::ConvolutionForward    ? Direction::Forward
         : kind == NodeKind::ConvolutionBackward ? Direction::BackwardData
                                                 : Direction::BackwardWeights;
}

static ErrorOr<Operands> findOperands(const Planner &planner,
                                      const Node &node) {
  const ErrorOr<int> first = planner.find(node, 0);
  const ErrorOr<int> second = planner.find(node, 1);
  const ErrorOr<int> result = planner.find(node, 2);
  for (const ErrorOr<int> *tensor : {&first, &second, &result})
    if (!*tensor)
      return tensor->getStatus();
  switch (getDirection(node.kind)) {
  case Direction::Forward:
    return Operands{*first, *second, *result};
  case Direction::BackwardData:
    return Operands{*result, *second, *first};
  case Direction::BackwardWeights:
    return Operands{*first, *result, *second};
  }
  return internalError("no such direction");
}

/// The lists of pads and the like, one number for each spatial dimension.
static Status setWindow(ConvProblem &p, const Node &node, const Tensor &x) {
  Pads after;
  Status status = readSpatial(node, field::PadBefore, x, p.pad);
  if (status.isOk())
    status = readSpatial(node, field::PadAfter, x, after);
  if (status.isOk())
    status = readSpatial(node, field::Stride, x, p.stride);
  if (status.isOk())
    status = readSpatial(node, field::Dilation, x, p.dilation);
  p.setPadAfter(after);
  return status;
}

static Status setTypes(ConvProblem &p, const Tensor &x, const Tensor &w,
                       const Tensor &y) {
  const ErrorOr<DataType> xType = x.getType(), wType = w.getType(),
                          yType = y.getType();
  for (const auto *type : {&xType, &wType, &yType})
    if (!*type)
      return type->getStatus();
  const bool isByte = *xType == DataType::I8 && *wType == DataType::I8 &&
                      p.direction == Direction::Forward &&
                      (*yType == DataType::I32 || *yType == DataType::F32 ||
                       *yType == DataType::I8);
  const bool isFloat = *xType == *wType && *xType == *yType &&
                       *xType != DataType::I8 && *xType != DataType::I32;
  if (!isByte && !isFloat)
    return notSupported("its tensors have types that no kernel combines");
  p.dataType = *xType;
  if (isByte)
    p.byteResult = *yType;
  return Status::ok();
}

/// Sets everything but the epilogue. `result` has the strides and the type of
/// what is stored.
static Status describe(ConvProblem &p, const Node &node, const Tensor &x,
                       const Tensor &w, const Tensor &y, const Tensor &result) {
  const int rank = x.getRank();
  if (rank < 3 || rank > 5 || w.getRank() != rank || y.getRank() != rank)
    return notSupported("its tensors have not all 3, 4 or 5 dimensions");
  if (node.attributes.get<uint8_t>(field::Mode) != kCrossCorrelation)
    return notSupported("its mode is not cross-correlation");
  const bool isForward = p.direction == Direction::Forward;
  if (Status status = setTypes(p, x, w, isForward ? result : y); !status.isOk())
    return status;
  p.batch = x.lengths[0];
  p.inChannels = x.lengths[1];
  p.outChannels = w.lengths[0];
  if (x.lengths[1] % w.lengths[1] != 0)
    return invalidArgument("the channels of its filter do not divide those of "
                           "its input");
  p.groups = x.lengths[1] / w.lengths[1];
  setSpatial(p.in, getSpatial(x.lengths));
  setSpatial(p.filter, getSpatial(w.lengths));
  p.xLayout = p.wLayout = p.yLayout = Layout::Strided;
  p.xStrides = getStrides(x);
  p.wStrides = getStrides(w);
  p.yStrides = getStrides(isForward ? result : y);
  if (Status status = setWindow(p, node, x); !status.isOk())
    return status;
  if (Status status = p.verify(); !status.isOk())
    return status;
  Spatial out;
  setSpatial(out, getSpatial(y.lengths));
  if (y.lengths[0] != p.batch || y.lengths[1] != p.outChannels ||
      out != p.getOutput())
    return invalidArgument("the lengths of " + y.describe() +
                           " are not those of its output");
  return Status::ok();
}

/// Whether a tensor is one value for each channel, one behind the other.
static bool isBias(const Tensor &tensor, const Tensor &y) {
  const size_t before = y.lengths.size() - tensor.lengths.size();
  if (tensor.lengths.size() > y.lengths.size() || before > 1)
    return false;
  for (size_t dim = 0; dim < tensor.lengths.size(); ++dim)
    if (tensor.lengths[dim] != (dim + before == 1 ? y.lengths[1] : 1))
      return false;
  return y.lengths[1] == 1 || tensor.strides[1 - before] == 1;
}

namespace {
/// What a forward convolution takes along.
struct Chain {
  size_t nodes = 1;
  int result; ///< What the last node computes.
  int bias = -1, residual = -1;
  ActivationCall activation = {};
};
} // namespace

/// Whether results may skip a tensor: it is as wide as what is stored, or as
/// what is computed with.
static bool canSkip(const Planner &planner, int between, int result) {
  const Tensor &tensor = planner.getTensor(between);
  return planner.isInternal(between) &&
         tensor.lengths == planner.getTensor(result).lengths &&
         (tensor.typeCode == kFloatCode ||
          tensor.typeCode == planner.getTensor(result).typeCode);
}

/// Makes what a sum adds a term of the epilogue, if it has that term free.
static bool addTerm(const Planner &planner, Chain &chain, int other) {
  const Tensor &term = planner.getTensor(other);
  const Tensor &y = planner.getTensor(chain.result);
  if (term.value)
    return false;
  const bool isVector = isBias(term, y);
  int &slot = chain.bias < 0 && isVector ? chain.bias : chain.residual;
  if (slot >= 0 || (!isVector && term.lengths != y.lengths))
    return false;
  slot = other;
  return true;
}

/// Terms must have the type of what is stored, or of bytes a bias f32, and a
/// tensor its strides.
static bool fits(const Planner &planner, const Chain &chain) {
  const Tensor &result = planner.getTensor(chain.result);
  const ErrorOr<DataType> type = result.getType();
  const bool isByte = type && *type == DataType::I8;
  const auto biasCode = isByte ? kFloatCode : result.typeCode;
  if (chain.bias >= 0 && planner.getTensor(chain.bias).typeCode != biasCode)
    return false;
  if (chain.residual >= 0 &&
      planner.getTensor(chain.residual).typeCode != result.typeCode)
    return false;
  return chain.residual < 0 ||
         (planner.getTensor(chain.residual).lengths == result.lengths &&
          planner.getTensor(chain.residual).strides == result.strides);
}

/// All chains that begin with the convolution, the shortest first.
static std::vector<Chain> findChains(const Planner &planner, size_t first,
                                     int y) {
  std::vector<Chain> chains = {{.result = y}};
  for (size_t next = first + 1; next < planner.graph.getNodes().size();
       ++next) {
    Chain chain = chains.back();
    ++chain.nodes;
    int other = -1;
    chain.result = findSum(planner, next, chains.back().result, other);
    const bool isSum = chain.result >= 0;
    if (!isSum)
      chain.result =
          findActivation(planner, next, chains.back().result, chain.activation);
    if (chain.result < 0 ||
        !canSkip(planner, chains.back().result, chain.result) ||
        (isSum && !addTerm(planner, chain, other)))
      break;
    chains.push_back(chain);
    if (!isSum)
      break; // Nothing is added behind an activation.
  }
  return chains;
}

static Status addStep(Planner &planner, const Node &node,
                      const Operands &operands, const Chain &chain) {
  ConvProblem p;
  p.direction = getDirection(node.kind);
  p.epilogue.bias = chain.bias >= 0;
  p.epilogue.residual = chain.residual >= 0;
  p.epilogue.activation = chain.activation.activation;
  if (Status status = describe(
          p, node, planner.getTensor(operands.x), planner.getTensor(operands.w),
          planner.getTensor(operands.y), planner.getTensor(chain.result));
      !status.isOk())
    return status;
  Step step;
  step.add(Slot::X, operands.x);
  step.add(Slot::W, operands.w);
  const bool isForward = p.direction == Direction::Forward;
  step.add(Slot::Y, isForward ? chain.result : operands.y);
  if (chain.bias >= 0)
    step.add(Slot::Bias, chain.bias);
  if (chain.residual >= 0)
    step.add(Slot::Residual, chain.residual);
  step.arguments.activAlpha = chain.activation.a;
  step.arguments.activBeta = chain.activation.b;
  step.arguments.activGamma = chain.activation.c;
  step.written = {isForward                                ? chain.result
                  : p.direction == Direction::BackwardData ? operands.x
                                                           : operands.w};
  return planner.add(std::move(step), p);
}

ErrorOr<size_t> tessera::hipdnn::serveConvolution(Planner &planner,
                                                  size_t first) {
  const Node &node = planner.graph.getNodes()[first];
  const ErrorOr<Operands> operands = findOperands(planner, node);
  if (!operands)
    return operands.getStatus();
  std::vector<Chain> chains = {{.result = operands->y}};
  if (node.kind == NodeKind::ConvolutionForward)
    chains = findChains(planner, first, operands->y);
  for (; chains.size() > 1; chains.pop_back())
    if (fits(planner, chains.back()) &&
        addStep(planner, node, *operands, chains.back()).isOk())
      return chains.back().nodes;
  if (Status status = addStep(planner, node, *operands, chains.front());
      !status.isOk())
    return status;
  return size_t(1);
}
