//===- Planner.h - From nodes to steps -------------------------*- C++ -*--===//
//
// What all kinds of nodes share while a plan is made: looking tensors up, and
// building a row-wise step from tensors whose lengths fit a space or are 1.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_HIPDNN_PLANNER_H
#define TESSERA_CAPI_HIPDNN_PLANNER_H

#include "capi/hipdnn/Plan.h"
#include "runtime/Base/RowWiseKind.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tessera::hipdnn {

/// An activation with its parameters.
struct ActivationCall {
  Activation activation = Activation::None;
  double a = 0, b = 0, c = 0;
};

/// A field of a node's table that names a tensor.
struct TensorField {
  int number;
  bool isOptional = false;
};
/// Those of the tensors that a node reads.
std::vector<TensorField> getReadFields(NodeKind kind);

class Planner {
public:
  explicit Planner(const Graph &graph);

  const Graph &graph;
  Plan plan;

  const Tensor &getTensor(int number) const { return tensors[number]; }

  /// The tensor that a field of a node's table names. InvalidArgument if the
  /// graph has no such tensor or the field is not there.
  ErrorOr<int> find(const Node &node, int field) const;
  /// The same, or -1 if the field is not there.
  ErrorOr<int> findOptional(const Node &node, int field) const;
  /// A number that a field names; NotSupported if it is in device memory.
  ErrorOr<double> findValue(const Node &node, int field) const;

  /// Whether a kernel may keep a tensor to itself: it is virtual, and one node
  /// reads it.
  bool isInternal(int tensor) const;

  /// A tensor of ours, like `tensor` and of f32.
  int addTemporary(int tensor);
  /// The same, packed, with other lengths.
  int addTemporary(int tensor, const std::vector<int64_t> &lengths);

  /// Adds a step, after its problem has been verified.
  Status add(Step step, const Problem &problem);

  /// Serves nodes from `first` on, as many as one step or a fixed chain can:
  /// returns their count.
  ErrorOr<size_t> serve(size_t first);

private:
  Status checkComputeType(const Step &step) const;

  std::vector<Tensor> tensors; ///< Of the graph, then ours.
  std::vector<int> readers;    ///< How many nodes read a tensor of the graph.
  uint8_t computeTypeCode = 0; ///< That of the node that is being served.
};

/// A row-wise step that is being built. The first mistake is kept.
class RowStep {
public:
  /// The space is that of `space`.
  RowStep(Planner &planner, RowWiseKind op, uint32_t mode, int space);

  /// Reduces a dimension.
  void reduce(int dim) { problem.reduced |= 1u << dim; }
  bool isReduced(int dim) const { return problem.isReduced(dim); }
  int getRank() const { return problem.rank; }

  /// Adds a tensor; -1 is none. Its last dimensions are those of the space.
  RowStep &input(int tensor) { return add(RowRole::Input, tensor); }
  RowStep &rowOutput(int tensor) { return add(RowRole::RowOutput, tensor); }
  RowStep &output(int tensor) { return add(RowRole::Output, tensor); }
  RowStep &scalar(double value);
  RowStep &scalars(const ActivationCall &call);

  /// Adds the step to the plan.
  Status finish();

private:
  RowStep &add(RowRole role, int tensor);
  void fail(Status failure);

  Planner &planner;
  RowWiseProblem problem;
  Step step;
  int scalarCount = 0;
  Status status;
};

/// The part of a list of lengths or strides behind images and channels.
inline std::span<const int64_t> getSpatial(const std::vector<int64_t> &list) {
  return std::span(list).subspan(2);
}

/// Sets a number for each spatial dimension from a list of 1 to 3.
template <typename T>
void setSpatial(T &spatial, std::span<const int64_t> values) {
  const size_t count = values.size();
  spatial.w = values[count - 1];
  if (count > 1)
    spatial.h = values[count - 2];
  if (count > 2)
    spatial.d = values[count - 3];
}

/// Reads such a list of a node: one number for each dimension of the images of
/// `tensor`, none longer than what a problem can hold.
template <typename T>
Status readSpatial(const Node &node, int field, const Tensor &tensor,
                   T &spatial) {
  const std::vector<int64_t> values = node.attributes.getNumbers(field);
  if (values.size() + 2 != tensor.lengths.size())
    return invalidArgument("a list of its window has not one number for each "
                           "spatial dimension");
  for (int64_t value : values)
    if (value < 0 || value > INT32_MAX)
      return invalidArgument("a list of its window has the number " +
                             std::to_string(value));
  setSpatial(spatial, values);
  return Status::ok();
}

/// The strides of a tensor of images or filters.
inline Strides getStrides(const Tensor &tensor) {
  Strides strides = {1, 1, 1, 1, 1};
  strides.n = tensor.strides[0];
  strides.c = tensor.strides[1];
  setSpatial(strides, getSpatial(tensor.strides));
  return strides;
}

// The kinds of nodes, each with those nodes behind it that it can fuse. They
// return how many nodes they have served.
ErrorOr<size_t> serveConvolution(Planner &planner, size_t first);
ErrorOr<size_t> serveBatchNorm(Planner &planner, size_t first);
ErrorOr<size_t> serveNorm(Planner &planner, size_t first);
ErrorOr<size_t> servePointwise(Planner &planner, size_t first);
ErrorOr<size_t> serveReduction(Planner &planner, size_t first);
ErrorOr<size_t> serveResample(Planner &planner, size_t first);
ErrorOr<size_t> serveSoftmax(Planner &planner, size_t first);

/// The result of node `number` if it is an activation of `input` that the
/// kernel which computes `input` can apply itself, else -1.
int findActivation(const Planner &planner, size_t number, int input,
                   ActivationCall &call);

/// The same of a node that adds something, `other`, to `input`.
int findSum(const Planner &planner, size_t number, int input, int &other);

/// The same of a gradient that an activation of `input` passes on; `gradient`
/// is what it receives. Graphs that may be of before May 2026 may have the two
/// in either order.
int findActivationGradient(const Planner &planner, size_t number, int input,
                           int &gradient, ActivationCall &call);

} // namespace tessera::hipdnn

#endif // TESSERA_CAPI_HIPDNN_PLANNER_H
