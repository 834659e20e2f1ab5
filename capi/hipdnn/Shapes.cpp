//===- Shapes.cpp - Lengths that come with an execution -------------------===//

#include "capi/hipdnn/Shapes.h"
#include "capi/hipdnn/Planner.h"

#include <algorithm>
#include <array>
#include <numeric>

using namespace tessera;
using namespace tessera::hipdnn;

/// A uid of 0 is left out, so that a field that is not there may name a tensor.
static std::vector<TensorField> getWrittenFields(NodeKind kind) {
  switch (kind) {
  case NodeKind::BatchNormInference:
  case NodeKind::BatchNormInferenceVariance:
    return {{5}};
  case NodeKind::BatchNorm:
    return {{8}, {9, true}, {10, true}, {11, true}, {12, true}};
  case NodeKind::BatchNormBackward:
  case NodeKind::LayerNormBackward:
    return {{6}, {7}, {8}};
  case NodeKind::Pointwise:
    return {{8}};
  case NodeKind::ConvolutionForward:
  case NodeKind::ConvolutionBackward:
  case NodeKind::ConvolutionWeights:
  case NodeKind::Reduction:
    return {{2}};
  case NodeKind::RmsNorm:
    return {{3}, {5, true}};
  case NodeKind::LayerNorm:
    return {{4}, {6, true}, {7, true}};
  case NodeKind::RmsNormBackward:
    return {{4}, {5}, {6, true}};
  case NodeKind::ResampleForward:
    return {{1}, {2, true}};
  case NodeKind::ResampleBackward:
  case NodeKind::Softmax:
    return {{1}};
  }
  return {};
}

/// The tensor of a field, or -1.
static int find(const Graph &graph, const Node &node, TensorField field) {
  if (field.isOptional && !node.attributes.has(field.number))
    return -1;
  return graph.find(node.attributes.get<int64_t>(field.number));
}

/// The lengths of what a window that slides over x gives. The fields of the
/// window's pads, strides and dilations or lengths are those of both kinds.
static ErrorOr<std::vector<int64_t>> slide(const Graph &graph,
                                           const Node &node) {
  const bool isConvolution = node.kind == NodeKind::ConvolutionForward;
  const int x = find(graph, node, {0});
  const int w = isConvolution ? find(graph, node, {1}) : x;
  if (x < 0 || w < 0)
    return invalidArgument("the graph lacks a tensor of " + node.describe());
  const std::vector<int64_t> &in = graph.getTensors()[x].lengths;
  const std::vector<int64_t> &filter = graph.getTensors()[w].lengths;
  std::vector<int64_t> out = in;
  if (in.size() < 3 || filter.size() != in.size())
    return notSupported(node.describe() + " has no images");
  if (isConvolution)
    out[1] = filter[0];
  std::vector<int64_t> lists[4];
  for (int list = 0; list < 4; ++list) {
    lists[list] = node.attributes.getNumbers(3 + list);
    if (lists[list].size() + 2 != in.size())
      return invalidArgument(node.describe() + " has a window of another rank");
  }
  for (size_t dim = 2; dim < in.size(); ++dim) {
    const auto [before, after, stride, last] =
        std::array{lists[0][dim - 2], lists[1][dim - 2], lists[2][dim - 2],
                   lists[3][dim - 2]};
    for (int64_t number : {before, after, stride, last, in[dim], filter[dim]})
      if (number < 0 || number > INT32_MAX)
        return invalidArgument(node.describe() + " has the number " +
                               std::to_string(number));
    const int64_t window = isConvolution ? last * (filter[dim] - 1) + 1 : last;
    const int64_t space = in[dim] + before + after - window;
    if (stride == 0 || space < 0)
      return invalidArgument(node.describe() + " has a window that does not "
                                               "fit its input");
    out[dim] = space / stride + 1;
  }
  return out;
}

/// The lengths of a result each of which is that of an operand in the same
/// dimension, or 1: so it is where the graph says its largest lengths, `most`.
static ErrorOr<std::vector<int64_t>> follow(const Graph &graph,
                                            const std::vector<Tensor> &most,
                                            const Node &node, int result) {
  std::vector<int64_t> lengths = most[result].lengths;
  for (size_t back = 1; back <= lengths.size(); ++back) {
    int64_t &length = lengths[lengths.size() - back];
    bool isKnown = length == 1;
    for (const TensorField &field : getReadFields(node.kind)) {
      const int operand = isKnown ? -1 : find(graph, node, field);
      if (operand < 0)
        continue;
      const std::vector<int64_t> &whole = most[operand].lengths;
      if (back > whole.size() || whole[whole.size() - back] != length)
        continue;
      const std::vector<int64_t> &now = graph.getTensors()[operand].lengths;
      length = now[now.size() - back];
      isKnown = true;
    }
    if (!isKnown)
      return notSupported("the lengths of virtual " + most[result].describe() +
                          " do not follow from those of its operands");
  }
  return lengths;
}

static ErrorOr<std::vector<int64_t>> infer(const Graph &graph,
                                           const std::vector<Tensor> &most,
                                           const Node &node, int result) {
  switch (node.kind) {
  case NodeKind::ConvolutionForward:
  case NodeKind::ResampleForward:
    return slide(graph, node);
  case NodeKind::ConvolutionBackward:
  case NodeKind::ConvolutionWeights:
  case NodeKind::ResampleBackward:
    // Several lengths of an input have the same length of the output.
    return notSupported("the lengths of virtual " + most[result].describe() +
                        " do not follow from those of its operands");
  default:
    return follow(graph, most, node, result);
  }
}

/// Strides without gaps, in the order of other ones.
static std::vector<int64_t> pack(const std::vector<int64_t> &lengths,
                                 const std::vector<int64_t> &like) {
  std::vector<size_t> dims(lengths.size());
  std::iota(dims.begin(), dims.end(), 0);
  std::ranges::sort(dims, [&](size_t a, size_t b) {
    return like[a] != like[b] ? like[a] > like[b] : a < b;
  });
  std::vector<int64_t> strides(lengths.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[dims[i]] = stride;
    // A span that does not fit 64 bits is refused with the shape.
    if (__builtin_mul_overflow(stride, lengths[dims[i]], &stride))
      stride = INT64_MAX;
  }
  return strides;
}

Status tessera::hipdnn::setShapes(Graph &graph, std::span<const Shape> shapes) {
  const std::vector<Tensor> most = graph.getTensors();
  std::vector<bool> isGiven(most.size());
  for (const auto &[uid, lengths, strides] : shapes) {
    const int tensor = graph.find(uid);
    if (tensor < 0 || isGiven[tensor])
      return invalidArgument(
          "the execution gives lengths to tensor " + std::to_string(uid) +
          (tensor < 0 ? ", which the graph does not have" : " twice"));
    isGiven[tensor] = true;
    if (Status status = graph.setShape(tensor, lengths, strides);
        !status.isOk())
      return status;
  }
  for (const Node &node : graph.getNodes())
    for (const TensorField &field : getWrittenFields(node.kind)) {
      const int result = find(graph, node, field);
      if (result < 0 || isGiven[result] || !most[result].isVirtual)
        continue;
      const auto lengths = infer(graph, most, node, result);
      if (graph.isDamaged())
        return invalidArgument("the table of " + node.describe() +
                               " is damaged");
      if (!lengths)
        return lengths.getStatus();
      if (*lengths == most[result].lengths)
        continue;
      if (Status status = graph.setShape(result, *lengths,
                                         pack(*lengths, most[result].strides));
          !status.isOk())
        return status;
    }
  return Status::ok();
}
