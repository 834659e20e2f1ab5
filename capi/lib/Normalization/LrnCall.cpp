//===- LrnCall.cpp - A local response normalisation as launches -----------===//
//
// A window is an extra dimension, with the stride of the dimension that the
// window moves along. A window that is clipped at a border has another length,
// which makes it another problem. Therefore there is one launch for the windows
// inside and one for each position near a border. A window in a plane is
// computed as a pass over columns and then a pass over rows, which reads the
// sums of the first pass from scratch memory of the handle.
//
//===----------------------------------------------------------------------===//

#include "capi/lib/Normalization/LrnCall.h"

#include "capi/lib/RowWise/RowWiseCall.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::capi;

namespace {
enum : uint32_t { kHasSums = 1, kSaves = 2 };

/// Neighbouring positions whose windows have the same length and offset.
struct Segment {
  int64_t first; ///< The first position.
  int64_t count;
  int64_t begin;  ///< Where the window of `first` begins.
  int64_t length; ///< Length of each window.
};

/// A tensor of 4 dimensions, with its memory.
struct Tensor {
  const char *name;
  DataType type;
  std::vector<int64_t> strides;
  const void *data;
};

/// The launches of a pass along one dimension.
class Pass {
public:
  /// A window has `before` elements before its own element and `after` elements
  /// after it.
  Pass(miopenHandle &handle, RowWiseKind op, uint32_t mode,
       const miopenTensorDescriptor &x, int dim, int64_t before, int64_t after)
      : handle(handle), op(op), mode(mode), lengths(x.lengths), dim(dim) {
    // The windows inside are one segment; each window that is clipped is its
    // own.
    const int64_t length = lengths[dim], insideEnd = length - after;
    for (int64_t at = 0, count; at < length; at += count) {
      const int64_t begin = std::max<int64_t>(at - before, 0);
      const int64_t end = std::min(at + after + 1, length);
      count = at >= before && at < insideEnd ? insideEnd - at : 1;
      segments.push_back({at, count, begin, end - begin});
    }
  }

  std::vector<Tensor> windows;
  std::vector<Tensor> elements;
  std::vector<Tensor> results;
  std::vector<double> scalars;

  /// The largest workspace that a kernel of the pass needs.
  ErrorOr<size_t> getWorkspaceBytes() const {
    size_t most = 0;
    for (const Segment &segment : segments) {
      const ErrorOr<size_t> bytes = makeCall(segment).getWorkspaceBytes();
      if (!bytes)
        return bytes;
      most = std::max(most, *bytes);
    }
    return most;
  }

  ApiResult run(void *workspace) const {
    for (const Segment &segment : segments) {
      ApiResult result = makeCall(segment).run(workspace);
      if (result.getStatus() != miopenStatusSuccess)
        return result;
    }
    return Status::ok();
  }

private:
  RowWiseCall makeCall(const Segment &segment) const {
    std::vector<int64_t> space = lengths;
    space[dim] = segment.count;
    space.push_back(segment.length);
    RowWiseCall call(handle, op, mode, space);
    call.reduce(static_cast<int>(lengths.size()));
    for (const Tensor &tensor : windows)
      add(call, RowRole::Input, tensor, segment.begin, tensor.strides[dim]);
    for (const Tensor &tensor : elements)
      add(call, RowRole::Input, tensor, segment.first, 0);
    for (const Tensor &tensor : results)
      add(call, RowRole::RowOutput, tensor, segment.first, 0);
    for (double scalar : scalars)
      call.scalar(scalar);
    return call;
  }

  void add(RowWiseCall &call, RowRole role, const Tensor &tensor, int64_t first,
           int64_t windowStride) const {
    std::vector<int64_t> strides = tensor.strides;
    const auto *data = static_cast<const char *>(tensor.data);
    if (data) // The memory of the sums is set later.
      data += first * strides[dim] * getByteSize(tensor.type);
    strides.push_back(windowStride);
    call.add(role, tensor.name, tensor.type, strides, data);
  }

  miopenHandle &handle;
  RowWiseKind op;
  uint32_t mode;
  std::vector<int64_t> lengths;
  int dim;
  std::vector<Segment> segments;
};
} // namespace

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static bool isPacked(const miopenTensorDescriptor &tensor) {
  int64_t span = 1, elements = 1;
  for (int dim = 0; dim < tensor.getRank(); ++dim) {
    span += (tensor.lengths[dim] - 1) * tensor.strides[dim];
    elements *= tensor.lengths[dim];
  }
  return span == elements;
}

static constexpr int kChannel = 1, kRow = 2, kColumn = 3;

static bool isWithin(const miopenLRNDescriptor &lrn) {
  return lrn.mode == miopenLRNWithinChannel;
}

static ApiResult checkLrn(const miopenLRNDescriptor &lrn) {
  if (lrn.k == 0)
    return {miopenStatusUnknownError, "K of the descriptor is 0"};
  if (lrn.window < 1)
    return invalidArgument("the window of the descriptor is empty");
  return Status::ok();
}

/// NotSupported if too many positions are near a border, each of which needs a
/// kernel of its own.
static Status checkWindow(const miopenLRNDescriptor &lrn,
                          const miopenTensorDescriptor &x) {
  constexpr int64_t kMaxWindow = 64;
  const int64_t length = isWithin(lrn)
                             ? std::max(x.lengths[kRow], x.lengths[kColumn])
                             : x.lengths[kChannel];
  if (std::min<int64_t>(lrn.window, length) > kMaxWindow)
    return notSupported("a window over more than " +
                        std::to_string(kMaxWindow) +
                        " elements is not implemented");
  return Status::ok();
}

/// Ok if all tensors have 4 dimensions, are packed, and have the same lengths
/// and type, and the window is supported.
static Status
checkTensors(const miopenLRNDescriptor &lrn,
             std::initializer_list<
                 std::pair<const char *, const miopenTensorDescriptor *>>
                 tensors) {
  const auto [firstName, first] = *tensors.begin();
  for (auto [name, tensor] : tensors) {
    if (tensor->getRank() != 4)
      return invalidArgument(std::string(name) + " has " +
                             std::to_string(tensor->getRank()) +
                             " dimensions, not 4");
    if (!isPacked(*tensor))
      return invalidArgument(std::string(name) + " is not packed");
    Status status = checkSameLengths(name, *tensor, firstName, *first);
    if (status.isOk())
      status = checkSameType(name, *tensor, firstName, *first);
    if (!status.isOk())
      return status;
  }
  return checkWindow(lrn, *first);
}

static ErrorOr<Tensor> makeTensor(const char *name,
                                  const miopenTensorDescriptor &desc,
                                  const void *data) {
  if (Status status = checkFloat(desc); !status.isOk())
    return status.withContext(name);
  const ErrorOr<DataType> type = getRowType(desc.dataType);
  Tensor tensor{name, *type, desc.strides, data};
  for (int dim = 0; dim < desc.getRank(); ++dim)
    if (desc.lengths[dim] == 1)
      tensor.strides[dim] = 0;
  return tensor;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

namespace {
/// The number of elements of the window before and after its element.
struct Halves {
  explicit Halves(const miopenLRNDescriptor &lrn)
      : before((int64_t(lrn.window) - 1) / 2),
        after(int64_t(lrn.window) - 1 - before) {}
  int64_t before;
  int64_t after;
};
} // namespace

/// alpha divided by the number of elements of the window.
static double getFactor(const miopenLRNDescriptor &lrn) {
  const double window = lrn.window;
  return lrn.alpha / (isWithin(lrn) ? window * window : window);
}

/// Runs `last`, after `first` if the sums need two passes. The sums between the
/// passes are in scratch memory of the handle.
static ApiResult runPasses(miopenHandle &handle, Pass *first, Pass &last,
                           int64_t elements) {
  size_t most = 0;
  for (const Pass *pass :
       {static_cast<const Pass *>(first), static_cast<const Pass *>(&last)}) {
    if (!pass)
      continue;
    const ErrorOr<size_t> bytes = pass->getWorkspaceBytes();
    if (!bytes)
      return bytes.getStatus();
    most = std::max(most, *bytes);
  }
  constexpr size_t kAlignment = 256;
  size_t sumBytes = first ? static_cast<size_t>(elements) * sizeof(float) : 0;
  sumBytes = (sumBytes + kAlignment - 1) / kAlignment * kAlignment;
  const ErrorOr<void *> scratch = handle.getScratch(sumBytes + most);
  if (!scratch)
    return scratch.getStatus();
  void *workspace = static_cast<char *>(*scratch) + sumBytes;
  const KernelTimeSum sum(handle);
  if (first) {
    first->results[0].data = last.windows[0].data = *scratch;
    ApiResult result = first->run(workspace);
    if (result.getStatus() != miopenStatusSuccess)
      return result;
  }
  return last.run(workspace);
}

/// The tensor of the sums between two passes: f32, with the layout of `like`.
/// runPasses() sets its memory.
static Tensor makeSums(const Tensor &like) {
  return {"the sums", DataType::F32, like.strides, nullptr};
}

static int64_t countElements(const miopenTensorDescriptor &desc) {
  int64_t elements = 1;
  for (int64_t length : desc.lengths)
    elements *= length;
  return elements;
}

ApiResult capi::runLrnForward(miopenHandle &handle,
                              const miopenLRNDescriptor &lrn,
                              const LrnForwardData &d) {
  if (ApiResult result = checkLrn(lrn);
      result.getStatus() != miopenStatusSuccess)
    return result;
  if (Status status = checkTensors(lrn, {{"x", &d.xDesc}, {"y", &d.yDesc}});
      !status.isOk())
    return status;
  const ErrorOr<Tensor> x = makeTensor("x", d.xDesc, d.x);
  const ErrorOr<Tensor> y = makeTensor("y", d.yDesc, d.y);
  if (!x || !y)
    return x ? y.getStatus() : x.getStatus();
  const Halves halves(lrn);
  const bool within = isWithin(lrn);
  Pass columns(handle, RowWiseKind::LrnSum, 0, d.xDesc, kColumn, halves.before,
               halves.after);
  columns.windows = {*x};
  columns.results = {makeSums(*x)};
  Pass last(handle, RowWiseKind::LrnForward,
            (within ? kHasSums : 0) | (d.scale ? kSaves : 0), d.xDesc,
            within ? kRow : kChannel, halves.before, halves.after);
  last.windows = {within ? makeSums(*x) : *x};
  last.elements = {*x};
  if (d.scale)
    last.results = {{"workSpace", y->type, y->strides, d.scale}};
  last.results.push_back(*y);
  last.scalars = {getFactor(lrn), lrn.beta, lrn.k};
  return runPasses(handle, within ? &columns : nullptr, last,
                   countElements(d.xDesc));
}

ApiResult capi::runLrnBackward(miopenHandle &handle,
                               const miopenLRNDescriptor &lrn,
                               const LrnBackwardData &d) {
  if (ApiResult result = checkLrn(lrn);
      result.getStatus() != miopenStatusSuccess)
    return result;
  if (Status status = checkTensors(lrn, {{"x", &d.xDesc},
                                         {"y", &d.yDesc},
                                         {"dy", &d.dyDesc},
                                         {"dx", &d.dxDesc}});
      !status.isOk())
    return status;
  const ErrorOr<Tensor> x = makeTensor("x", d.xDesc, d.x);
  const ErrorOr<Tensor> y = makeTensor("y", d.yDesc, d.y);
  const ErrorOr<Tensor> dy = makeTensor("dy", d.dyDesc, d.dy);
  const ErrorOr<Tensor> dx = makeTensor("dx", d.dxDesc, d.dx);
  const ErrorOr<Tensor> scale = makeTensor("workSpace", d.yDesc, d.scale);
  if (!x)
    return x.getStatus();
  const Halves halves(lrn);
  const bool within = isWithin(lrn);
  // An element gets a gradient from each element whose window contains it, so
  // that the window is mirrored: `after` comes before `before`.
  Pass columns(handle, RowWiseKind::LrnBackwardSum, 0, d.xDesc, kColumn,
               halves.after, halves.before);
  columns.windows = {*dy, *y, *scale};
  columns.results = {makeSums(*x)};
  Pass last(handle, RowWiseKind::LrnBackward, within ? kHasSums : 0, d.xDesc,
            within ? kRow : kChannel, halves.after, halves.before);
  if (within)
    last.windows = {makeSums(*x)};
  else
    last.windows = {*dy, *y, *scale};
  last.elements = {*dy, *x, *scale};
  last.results = {*dx};
  last.scalars = {2 * getFactor(lrn) * lrn.beta, lrn.beta};
  return runPasses(handle, within ? &columns : nullptr, last,
                   countElements(d.xDesc));
}
