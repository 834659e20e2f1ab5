//===- ServeResample.cpp - Poolings of graphs -----------------------------===//

#include "capi/hipdnn/Planner.h"

#include <optional>

using namespace tessera;
using namespace tessera::hipdnn;

namespace {
/// Where the fields of the window begin: before, after, strides, window, mode,
/// padding mode.
constexpr int kWindow = 3;
/// The tensor of the indices of maxima, and whether forward writes it.
constexpr int kIndices = 2, kGenerateIndex = 9;
/// What the schema calls the padding that is zeros.
constexpr uint8_t kZeroPadding = 2;
} // namespace

static std::optional<PoolMode> getMode(const Node &node) {
  switch (node.attributes.get<uint8_t>(kWindow + 4)) {
  case 1:
    return PoolMode::Max;
  case 2:
    return PoolMode::Average;
  case 3:
    return PoolMode::AverageInclusive;
  default:
    return std::nullopt;
  }
}

/// Refuses what the numbers of the window do not say.
static Status checkMode(const Node &node, const PoolProblem &p) {
  if (p.mode != PoolMode::Max ||
      node.attributes.get<uint8_t>(kWindow + 5) != kZeroPadding)
    return Status::ok();
  if (p.pad != Pads() || p.getPadAfter() != Pads())
    return notSupported("zeros take part in its maximum");
  return Status::ok();
}

/// Whether a tensor has no gaps, with channels last or in the order of its
/// lengths.
static bool isPacked(const Tensor &tensor, bool isChannelsLast) {
  const int rank = tensor.getRank();
  int64_t stride = 1;
  for (int number = 0; number < rank; ++number) {
    const int dim = !isChannelsLast     ? rank - 1 - number
                    : number == 0       ? 1
                    : number < rank - 1 ? rank - number
                                        : 0;
    if (tensor.lengths[dim] != 1 && tensor.strides[dim] != stride)
      return false;
    stride *= tensor.lengths[dim];
  }
  return true;
}

/// The indices of maxima count the elements of an image. Kernels have them
/// without gaps and in the order of y; in that of the lengths if y has any
/// other.
static Status addIndices(Planner &planner, const Node &node, int y,
                         PoolProblem &p, Step &step) {
  const bool isForward = p.direction == Direction::Forward;
  const bool has = node.attributes.has(kIndices);
  if (p.mode != PoolMode::Max || (isForward && !has)) {
    if (has || node.attributes.get<uint8_t>(kGenerateIndex))
      return notSupported("it has indices without a tensor or of no maximum");
    return Status::ok();
  }
  const ErrorOr<int> found = planner.find(node, kIndices);
  if (!found)
    return found.getStatus();
  const Tensor &indices = planner.getTensor(*found);
  const Tensor &out = planner.getTensor(y);
  if (indices.typeCode != kInt32Code || indices.lengths != out.lengths)
    return notSupported("the indices of maxima are not i32, one for each");
  if (isPacked(out, true) && !isPacked(out, false)) {
    p.yLayout = Layout::NHWC;
    p.yStrides = {};
  }
  if (!isPacked(indices, p.yLayout == Layout::NHWC))
    return notSupported("the indices of maxima are not in the order of the "
                        "maxima");
  p.indexType = IndexType::U32;
  p.indexMode = IndexMode::Image;
  step.add(Slot::Indices, *found);
  if (isForward)
    step.written.push_back(*found);
  return Status::ok();
}

static Status setWindow(PoolProblem &p, const Node &node, const Tensor &x) {
  Pads after;
  Status status = readSpatial(node, kWindow, x, p.pad);
  if (status.isOk())
    status = readSpatial(node, kWindow + 1, x, after);
  if (status.isOk())
    status = readSpatial(node, kWindow + 2, x, p.stride);
  if (status.isOk())
    status = readSpatial(node, kWindow + 3, x, p.window);
  p.setPadAfter(after);
  return status;
}

ErrorOr<size_t> tessera::hipdnn::serveResample(Planner &planner,
                                               size_t number) {
  const Node &node = planner.graph.getNodes()[number];
  const bool isForward = node.kind == NodeKind::ResampleForward;
  const ErrorOr<int> x = planner.find(node, isForward ? 0 : 1);
  const ErrorOr<int> y = planner.find(node, isForward ? 1 : 0);
  for (const ErrorOr<int> *tensor : {&x, &y})
    if (!*tensor)
      return tensor->getStatus();
  if (!getMode(node))
    return notSupported("it is neither a maximum nor an average");
  PoolProblem p;
  p.direction = isForward ? Direction::Forward : Direction::BackwardData;
  p.mode = *getMode(node);
  const Tensor &in = planner.getTensor(*x), &out = planner.getTensor(*y);
  const ErrorOr<DataType> type = in.getType();
  if (!type)
    return type.getStatus();
  p.dataType = *type;
  if (in.getRank() < 3 || in.getRank() > 5 || out.getRank() != in.getRank() ||
      in.typeCode != out.typeCode)
    return notSupported("its tensors have not both 3, 4 or 5 dimensions and "
                        "one type");
  p.batch = in.lengths[0];
  p.channels = in.lengths[1];
  setSpatial(p.in, getSpatial(in.lengths));
  p.xLayout = p.yLayout = Layout::Strided;
  p.xStrides = getStrides(in);
  p.yStrides = getStrides(out);
  Step step;
  Status status = setWindow(p, node, in);
  if (status.isOk())
    status = checkMode(node, p);
  if (status.isOk())
    status = addIndices(planner, node, *y, p, step);
  if (status.isOk())
    status = p.verify();
  if (!status.isOk())
    return status;
  Spatial lengths;
  setSpatial(lengths, getSpatial(out.lengths));
  if (out.lengths[0] != p.batch || out.lengths[1] != p.channels ||
      lengths != p.getOutput())
    return invalidArgument("the lengths of " + out.describe() +
                           " are not those of its output");
  step.add(Slot::X, *x);
  step.add(Slot::Y, *y);
  step.written.push_back(isForward ? *y : *x);
  if (status = planner.add(std::move(step), p); !status.isOk())
    return status;
  return size_t(1);
}
