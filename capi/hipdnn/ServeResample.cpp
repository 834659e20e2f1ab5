//===- ServeResample.cpp - Poolings of graphs -----------------------------===//

#include "capi/hipdnn/Planner.h"

#include <optional>

using namespace tessera;
using namespace tessera::hipdnn;

namespace {
/// Where the fields of the window begin: before, after, strides, window, mode,
/// padding mode.
constexpr int kWindow = 3;
constexpr int kGenerateIndex = 9;
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
static Status checkMode(const Node &node, bool isForward) {
  const std::optional<PoolMode> mode = getMode(node);
  if (!mode)
    return notSupported("it is neither a maximum nor an average");
  if (*mode != PoolMode::Max)
    return Status::ok();
  if (!isForward || node.attributes.get<uint8_t>(kGenerateIndex) ||
      node.attributes.has(2))
    return notSupported("it writes or reads the indices of maxima");
  const bool hasPads =
      node.attributes.get<uint8_t>(kWindow + 5) == kZeroPadding;
  if (hasPads)
    return notSupported("zeros take part in its maximum");
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
  if (Status status = checkMode(node, isForward); !status.isOk())
    return status;
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
  if (Status status = setWindow(p, node, in); !status.isOk())
    return status;
  if (Status status = p.verify(); !status.isOk())
    return status;
  Spatial lengths;
  setSpatial(lengths, getSpatial(out.lengths));
  if (out.lengths[0] != p.batch || out.lengths[1] != p.channels ||
      lengths != p.getOutput())
    return invalidArgument("the lengths of " + out.describe() +
                           " are not those of its output");
  Step step;
  step.add(Slot::X, *x);
  step.add(Slot::Y, *y);
  step.written = {isForward ? *y : *x};
  if (Status status = planner.add(std::move(step), p); !status.isOk())
    return status;
  return size_t(1);
}
