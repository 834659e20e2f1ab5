//===- Planner.cpp - From nodes to steps ----------------------------------===//

#include "capi/hipdnn/Planner.h"

#include <algorithm>
#include <utility>

using namespace tessera;
using namespace tessera::hipdnn;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

std::vector<TensorField> tessera::hipdnn::getReadFields(NodeKind kind) {
  switch (kind) {
  case NodeKind::BatchNormInference:
    return {{0}, {1}, {2}, {3}, {4}};
  case NodeKind::BatchNormInferenceVariance:
    return {{0}, {1}, {2}, {3}, {4}, {6}};
  case NodeKind::BatchNorm:
    return {{0}, {1}, {2}, {3}, {5, true}, {6, true}, {7, true}};
  case NodeKind::BatchNormBackward:
    return {{0}, {1}, {2, true}, {3, true}, {4}};
  case NodeKind::Pointwise:
    return {{5}, {6, true}, {7, true}};
  case NodeKind::ConvolutionForward:
  case NodeKind::ConvolutionBackward:
  case NodeKind::ConvolutionWeights:
    return {{0}, {1}};
  case NodeKind::RmsNorm:
    return {{0}, {1}, {2}, {4, true}};
  case NodeKind::LayerNorm:
  case NodeKind::RmsNormBackward:
    return {{0}, {1}, {2}, {3}};
  case NodeKind::Reduction:
    return {{1}};
  case NodeKind::LayerNormBackward:
    return {{0}, {1}, {2}, {3, true}, {4, true}};
  case NodeKind::ResampleForward:
  case NodeKind::Softmax:
    return {{0}};
  case NodeKind::ResampleBackward:
    return {{0}, {2, true}};
  }
  return {};
}

Planner::Planner(const Graph &graph)
    : graph(graph), tensors(graph.getTensors()), readers(tensors.size()) {
  for (const Tensor &tensor : tensors)
    plan.tensors.push_back({tensor.uid, tensor.isVirtual});
  for (const Node &node : graph.getNodes())
    for (const auto &[field, isOptional] : getReadFields(node.kind)) {
      if (isOptional && !node.attributes.has(field))
        continue;
      const int tensor = graph.find(node.attributes.get<int64_t>(field));
      if (tensor >= 0)
        ++readers[tensor];
    }
}

ErrorOr<int> Planner::find(const Node &node, int field) const {
  // A uid of 0 is the default, which a FlatBuffer leaves out.
  const auto uid = node.attributes.get<int64_t>(field);
  const int tensor = graph.find(uid);
  if (tensor < 0)
    return invalidArgument("the graph has no tensor " + std::to_string(uid));
  return tensor;
}

ErrorOr<int> Planner::findOptional(const Node &node, int field) const {
  return node.attributes.has(field) ? find(node, field) : -1;
}

ErrorOr<double> Planner::findValue(const Node &node, int field) const {
  const ErrorOr<int> tensor = find(node, field);
  if (!tensor)
    return tensor.getStatus();
  if (!getTensor(*tensor).value)
    return notSupported(getTensor(*tensor).describe() +
                        " is no number that the graph says");
  return *getTensor(*tensor).value;
}

bool Planner::isInternal(int tensor) const {
  return getTensor(tensor).isVirtual && readers[tensor] == 1;
}

int Planner::addTemporary(int tensor) {
  Tensor temporary = getTensor(tensor);
  temporary.isVirtual = true;
  temporary.value.reset();
  temporary.isRuntimeValue = false;
  temporary.typeCode = kFloatCode;
  tensors.push_back(std::move(temporary));
  plan.tensors.push_back({0, true});
  return static_cast<int>(tensors.size()) - 1;
}

int Planner::addTemporary(int tensor, const std::vector<int64_t> &lengths) {
  const int temporary = addTemporary(tensor);
  Tensor &made = tensors[temporary];
  made.lengths = made.strides = lengths;
  int64_t stride = 1;
  for (size_t dim = lengths.size(); dim-- > 0; stride *= lengths[dim])
    made.strides[dim] = stride;
  return temporary;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Whether kernels compute in a type if one of their tensors has another: f64
/// and i32 only where a tensor asks for it, f32 otherwise.
static bool makesCompute(uint8_t computeTypeCode, DataType type) {
  if (computeTypeCode == kDoubleCode)
    return type == DataType::F64;
  if (computeTypeCode == kInt32Code)
    return type == DataType::I8 || type == DataType::I32;
  return true;
}

Status Planner::checkComputeType(const Step &step) const {
  const bool fits =
      std::ranges::any_of(step.addresses, [&](const auto &address) {
        const ErrorOr<DataType> type = getTensor(address.tensor).getType();
        return type && makesCompute(computeTypeCode, *type);
      });
  if (fits)
    return Status::ok();
  return notSupported("its compute type is wider than its tensors");
}

Status Planner::add(Step step, const Problem &problem) {
  if (Status status = problem.verify(); !status.isOk())
    return status;
  if (Status status = checkComputeType(step); !status.isOk())
    return status;
  for (const auto &[slot, number] : step.addresses) {
    const Tensor &tensor = getTensor(number);
    if (tensor.isRagged)
      return notSupported(tensor.describe() + " is ragged");
    if (tensor.value || tensor.isRuntimeValue)
      return notSupported(tensor.describe() + " is a number and has no memory");
    PlanTensor &memory = plan.tensors[number];
    if (!memory.isVirtual)
      continue;
    const ErrorOr<DataType> type = tensor.getType();
    if (!type)
      return type.getStatus();
    memory.bytes = tensor.getSpan() * getByteSize(*type);
  }
  step.problem = problem.canonicalize().toNetworkConfig();
  plan.steps.push_back(std::move(step));
  return Status::ok();
}

ErrorOr<size_t> Planner::serve(size_t first) {
  const Node &node = graph.getNodes()[first];
  computeTypeCode = node.computeTypeCode;
  switch (node.kind) {
  case NodeKind::ConvolutionForward:
  case NodeKind::ConvolutionBackward:
  case NodeKind::ConvolutionWeights:
    return serveConvolution(*this, first);
  case NodeKind::BatchNorm:
  case NodeKind::BatchNormInference:
  case NodeKind::BatchNormInferenceVariance:
  case NodeKind::BatchNormBackward:
    return serveBatchNorm(*this, first);
  case NodeKind::RmsNorm:
  case NodeKind::RmsNormBackward:
  case NodeKind::LayerNorm:
  case NodeKind::LayerNormBackward:
    return serveNorm(*this, first);
  case NodeKind::Pointwise:
    return servePointwise(*this, first);
  case NodeKind::Reduction:
    return serveReduction(*this, first);
  case NodeKind::ResampleForward:
  case NodeKind::ResampleBackward:
    return serveResample(*this, first);
  case NodeKind::Softmax:
    return serveSoftmax(*this, first);
  }
  return notSupported("no kernel of ours computes it");
}

/// A virtual tensor has no memory before a step has written it.
static Status checkOrder(const Plan &plan) {
  std::vector<bool> isWritten(plan.tensors.size());
  for (const Step &step : plan.steps) {
    for (const auto &[slot, tensor] : step.addresses)
      if (plan.tensors[tensor].isVirtual && !isWritten[tensor] &&
          !step.writes(tensor))
        return invalidArgument("a node reads virtual tensor " +
                               std::to_string(plan.tensors[tensor].uid) +
                               " before another writes it");
    for (const auto &[slot, tensor] : step.addresses)
      if (step.writes(tensor))
        isWritten[tensor] = true;
  }
  return Status::ok();
}

ErrorOr<Plan> tessera::hipdnn::makePlan(const Graph &graph) {
  Planner planner(graph);
  const std::vector<Node> &nodes = graph.getNodes();
  for (size_t next = 0; next < nodes.size();) {
    const ErrorOr<size_t> count = planner.serve(next);
    if (graph.isDamaged())
      return invalidArgument("the table of " + nodes[next].describe() +
                             " is damaged");
    if (!count)
      return count.getStatus().withContext(nodes[next].describe());
    next += *count;
  }
  if (Status status = checkOrder(planner.plan); !status.isOk())
    return status;
  return std::move(planner.plan);
}

//===----------------------------------------------------------------------===//
// Row-wise steps
//===----------------------------------------------------------------------===//

RowStep::RowStep(Planner &planner, RowWiseKind op, uint32_t mode, int space)
    : planner(planner) {
  const Tensor &tensor = planner.getTensor(space);
  problem.op = op;
  problem.mode = mode;
  problem.rank = std::max(tensor.getRank(), 1);
  if (problem.rank > kMaxRowRank) {
    fail(notSupported(tensor.describe() + " has more than " +
                      std::to_string(kMaxRowRank) + " dimensions"));
    problem.rank = kMaxRowRank;
  }
  std::copy_n(tensor.lengths.begin(), std::min(tensor.getRank(), problem.rank),
              problem.lengths.begin());
}

void RowStep::fail(Status failure) {
  if (status.isOk())
    status = std::move(failure);
}

RowStep &RowStep::scalar(double value) {
  step.arguments.scalars[scalarCount++] = value;
  return *this;
}

RowStep &RowStep::scalars(const ActivationCall &call) {
  return scalar(call.a).scalar(call.b).scalar(call.c);
}

/// A number as memory: one element that a step of its own fills.
static ErrorOr<int> fill(Planner &planner, int number) {
  if (!planner.getTensor(number).value)
    return number;
  const int memory = planner.addTemporary(number);
  RowStep step(planner, RowWiseKind::SetTensor, 0, memory);
  step.output(memory).scalar(*planner.getTensor(number).value);
  if (Status status = step.finish(); !status.isOk())
    return status;
  return memory;
}

RowStep &RowStep::add(RowRole role, int tensor) {
  if (tensor < 0 || !status.isOk())
    return *this;
  if (role == RowRole::Input) {
    const ErrorOr<int> memory = fill(planner, tensor);
    if (!memory)
      return fail(memory.getStatus()), *this;
    tensor = *memory;
  }
  const Tensor &given = planner.getTensor(tensor);
  const ErrorOr<DataType> type = given.getType();
  if (!type)
    return fail(type.getStatus()), *this;
  RowTensor row = {.type = *type, .role = role};
  const int before = problem.rank - given.getRank();
  bool fits = before >= 0;
  for (int dim = 0; dim < problem.rank && fits; ++dim) {
    const int from = dim - before;
    const int64_t length = from < 0 ? 1 : given.lengths[from];
    const bool isRowOutput = role == RowRole::RowOutput && isReduced(dim);
    fits = length == (isRowOutput ? 1 : problem.lengths[dim]) ||
           (role == RowRole::Input && length == 1);
    row.strides[dim] = from < 0 || length == 1 ? 0 : given.strides[from];
  }
  if (!fits)
    return fail(invalidArgument("the lengths of " + given.describe() +
                                " do not fit")),
           *this;
  step.addTensor(problem.tensorCount, tensor);
  if (role != RowRole::Input)
    step.written.push_back(tensor);
  problem.tensors[problem.tensorCount++] = row;
  return *this;
}

Status RowStep::finish() {
  if (!status.isOk())
    return status;
  return planner.add(std::move(step), problem);
}
