//===- Getitem.cpp - The gradient of indexing -----------------------------===//
//
// Where y = x[..., i1, i2, ...], each element of dx adds up those of dy that
// its indices lead to it: a reduction over the positions in the index tensors,
// in a fixed order and without atomics (docs/spec/row-wise.md).
//
//===----------------------------------------------------------------------===//

#define MIOPEN_BETA_API 1
#include <miopen/tensor_operations.h>

#include "capi/lib/Common/ErrorGuard.h"
#include "capi/lib/RowWise/RowWiseCall.h"

#include <algorithm>
#include <string>

using namespace tessera;
using namespace tessera::capi;

namespace {
using Numbers = std::vector<int64_t>;

/// The arguments of a call. Refers to the client's objects.
struct GetitemCall {
  miopenHandle &handle;
  const miopenTensorDescriptor &dy, &dx, &error;
  const void *dyData;
  void *dxData, *errorData;
  std::span<const miopenTensorDescriptor_t> indices;
  const void *const *indexData;
  std::span<const int32_t> dims;
  std::span<const int32_t> slices; ///< Dimension, begin, end, step of each.
  uint32_t offset;

  int getFirst() const { return dims.empty() ? 0 : dims[0]; }
  int countIndices() const { return static_cast<int>(indices.size()); }
};

/// The space of the sums: the dimensions of dx, of which those that are not
/// indexed may be shorter, and the positions in the index tensors.
struct Space {
  Numbers lengths;
  Numbers dyStrides; ///< 0 along indexed dimensions.
  Numbers dxStrides; ///< 0 along positions.
};
} // namespace

static std::string str(int64_t number) { return std::to_string(number); }

/// What a client says about its array is judged before the array is read.
static Status checkCount(size_t indexCount) {
  constexpr size_t kMostDims = 5;
  if (indexCount <= kMostDims)
    return Status::ok();
  return invalidArgument("there are " + std::to_string(indexCount) +
                         " index tensors, but a tensor has at most 5 "
                         "dimensions");
}

static Status checkIndices(const GetitemCall &call) {
  constexpr int kMost = 3;
  if (call.indices.empty())
    return invalidArgument("there are no index tensors");
  if (Status status = checkCount(call.indices.size()); !status.isOk())
    return status;
  for (const miopenTensorDescriptor_t desc : call.indices) {
    if (Status status = checkPointers("indexDescs", {desc}); !status.isOk())
      return status;
    if (desc->dataType != miopenInt32 && desc->dataType != miopenInt64)
      return invalidArgument("an index tensor is not of int32 or int64");
    if (desc->lengths != call.indices[0]->lengths)
      return invalidArgument("the index tensors have different lengths");
    if (desc->getRank() != 1)
      return notSupported("index tensors of " + str(desc->getRank()) +
                          " dimensions are not implemented");
  }
  for (int i = 0; i < call.countIndices(); ++i)
    if (!call.indexData[i])
      return invalidArgument("an index tensor has no memory");
  if (call.indices.size() != call.dims.size())
    return invalidArgument("there are " + str(call.countIndices()) +
                           " index tensors for " + str(call.dims.size()) +
                           " dimensions");
  if (call.countIndices() > kMost)
    return notSupported("more than 3 index tensors are not implemented");
  return Status::ok();
}

static Status checkDims(const GetitemCall &call) {
  const int rank = call.dx.getRank();
  for (size_t i = 0; i < call.dims.size(); ++i) {
    if (call.dims[i] < 0 || call.dims[i] >= rank)
      return invalidArgument("dimension " + str(call.dims[i]) +
                             " is none of dx");
    if (call.dims[i] != call.dims[0] + static_cast<int>(i))
      return notSupported("indexed dimensions that do not follow one another "
                          "are not implemented");
    // Kernels compare positions as floats.
    if (call.dx.lengths[call.dims[i]] > int64_t(1) << 24)
      return notSupported("indexed dimensions of more than 2^24 elements are "
                          "not implemented");
  }
  return Status::ok();
}

static Status checkTensors(const GetitemCall &call) {
  if (call.dx.getRank() == 0 || call.dy.getRank() == 0)
    return invalidArgument("dx or dy was never set");
  if (Status status = checkSameType("dy", call.dy, "dx", call.dx);
      !status.isOk())
    return status;
  if (Status status = checkFloat(call.dx); !status.isOk())
    return status;
  if (call.error.dataType != miopenInt32 || call.error.getRank() != 1 ||
      call.error.lengths[0] < call.countIndices())
    return invalidArgument("error is no vector of int32 with an element for "
                           "each index tensor");
  if (call.offset != 0)
    return notSupported("an offset is not implemented");
  return Status::ok();
}

/// dx with its slices: fewer elements, further apart.
static ErrorOr<miopenTensorDescriptor> slice(const GetitemCall &call) {
  miopenTensorDescriptor view = call.dx;
  for (size_t i = 0; i + 3 < call.slices.size(); i += 4) {
    const int64_t dim = call.slices[i], begin = call.slices[i + 1],
                  step = call.slices[i + 3];
    if (dim < 0 || dim >= view.getRank())
      return invalidArgument("dimension " + str(dim) + " is none of dx");
    const int64_t end =
        std::min<int64_t>(call.slices[i + 2], view.lengths[dim]);
    if (step < 1 || begin < 0 || end <= begin)
      return invalidArgument("a slice of dimension " + str(dim) +
                             " has no elements");
    if (begin != 0)
      return notSupported("slices that do not begin at 0 are not implemented");
    if (std::ranges::count(call.dims, dim) != 0)
      return notSupported("slices of indexed dimensions are not implemented");
    view.lengths[dim] = (end + step - 1) / step;
    view.strides[dim] *= step;
  }
  return view;
}

/// dy has the dimensions of dx, with one for the positions in the index tensors
/// in place of those that are indexed.
static ErrorOr<Space> makeSpace(const GetitemCall &call,
                                const miopenTensorDescriptor &view) {
  const int rank = view.getRank(), first = call.getFirst(),
            count = call.countIndices();
  if (call.dy.getRank() != rank - count + 1)
    return invalidArgument("dy has " + str(call.dy.getRank()) +
                           " dimensions, not " + str(rank - count + 1));
  Space space{view.lengths, Numbers(rank), view.strides};
  for (int dim = 0; dim < rank; ++dim) {
    if (dim >= first && dim < first + count)
      continue;
    const int from = dim < first ? dim : dim - count + 1;
    if (call.dy.lengths[from] > view.lengths[dim])
      return invalidArgument("length " + str(from) + " of dy is " +
                             str(call.dy.lengths[from]) + ", but dx has " +
                             str(view.lengths[dim]));
    space.lengths[dim] = call.dy.lengths[from];
    space.dyStrides[dim] = call.dy.strides[from];
  }
  const int64_t positions = call.dy.lengths[first];
  if (positions > call.indices[0]->lengths[0])
    return invalidArgument("dy has " + str(positions) +
                           " elements along its indexed dimension, but there "
                           "are " +
                           str(call.indices[0]->lengths[0]) + " indices");
  space.lengths.push_back(positions);
  space.dyStrides.push_back(call.dy.strides[first]);
  space.dxStrides.push_back(0);
  return space;
}

/// Numbers 0, 1, 2, ... of int32 in device memory.
static ApiResult makeNumbers(miopenHandle &handle, int64_t count,
                             void *numbers) {
  return RowWiseCall(handle, RowWiseKind::Number, 0, Numbers{count})
      .add(RowRole::Output, "numbers", DataType::I32, Numbers{1}, numbers)
      .run(nullptr);
}

static RowWiseCall makeSums(const GetitemCall &call, const Space &space,
                            const void *numbers) {
  const DataType type = *findDataType(call.dx.dataType);
  RowWiseCall sums(call.handle, RowWiseKind::GetitemBackward,
                   static_cast<uint32_t>(call.indices.size()), space.lengths);
  sums.reduce(static_cast<int>(space.lengths.size()) - 1);
  sums.add(RowRole::Input, "dy", type, space.dyStrides, call.dyData);
  for (int i = 0; i < call.countIndices(); ++i) {
    Numbers index(space.lengths.size()), number = index;
    index.back() = call.indices[i]->strides[0];
    number[call.dims[i]] = 1;
    sums.add(RowRole::Input, "indexs", *findDataType(call.indices[i]->dataType),
             index, call.indexData[i])
        .add(RowRole::Input, "numbers", DataType::I32, number, numbers);
  }
  sums.add(RowRole::Input, "dx", type, space.dxStrides, call.dxData)
      .add(RowRole::RowOutput, "dx", type, space.dxStrides, call.dxData);
  for (int32_t dim : call.dims)
    sums.scalar(static_cast<double>(call.dx.lengths[dim]));
  return sums;
}

/// Writes -1 where an index is outside its dimension.
static ApiResult markErrors(const GetitemCall &call) {
  const Numbers lengths = call.indices[0]->lengths, row = {0};
  for (int i = 0; i < call.countIndices(); ++i) {
    auto *error =
        static_cast<int32_t *>(call.errorData) + i * call.error.strides[0];
    RowWiseCall mark(call.handle, RowWiseKind::GetitemError, 0, lengths);
    mark.reduce(0)
        .add(RowRole::Input, "indexs", *findDataType(call.indices[i]->dataType),
             call.indices[i]->strides, call.indexData[i])
        .add(RowRole::Input, "error", DataType::I32, row, error)
        .add(RowRole::RowOutput, "error", DataType::I32, row, error)
        .scalar(static_cast<double>(call.dx.lengths[call.dims[i]]));
    if (ApiResult result = mark.run();
        result.getStatus() != miopenStatusSuccess)
      return result;
  }
  return Status::ok();
}

static ApiResult runBackward(const GetitemCall &call) {
  Status status = checkIndices(call);
  if (status.isOk())
    status = checkDims(call);
  if (status.isOk())
    status = checkTensors(call);
  if (!status.isOk())
    return status;
  const ErrorOr<miopenTensorDescriptor> view = slice(call);
  if (!view)
    return view.getStatus();
  const ErrorOr<Space> space = makeSpace(call, *view);
  if (!space)
    return space.getStatus();

  if (ApiResult result = markErrors(call);
      result.getStatus() != miopenStatusSuccess)
    return result;
  // The scratch memory of the handle: the numbers, and what the sums need.
  constexpr size_t kAlignment = 256;
  int64_t most = 1;
  for (int32_t dim : call.dims)
    most = std::max(most, call.dx.lengths[dim]);
  const size_t numberBytes =
      (most * sizeof(int32_t) + kAlignment - 1) / kAlignment * kAlignment;
  const ErrorOr<size_t> workspace =
      makeSums(call, *space, nullptr).getWorkspaceBytes();
  if (!workspace)
    return workspace.getStatus();
  const ErrorOr<void *> scratch =
      call.handle.getScratch(numberBytes + *workspace);
  if (!scratch)
    return scratch.getStatus();
  if (ApiResult result = makeNumbers(call.handle, most, *scratch);
      result.getStatus() != miopenStatusSuccess)
    return result;
  return makeSums(call, *space, *scratch)
      .run(static_cast<char *>(*scratch) + numberBytes);
}

extern "C" {

miopenStatus_t
miopenGetGetitemWorkspaceSize(miopenHandle_t handle, uint32_t indexCount,
                              const miopenTensorDescriptor_t *indexDescs,
                              size_t *sizeInBytes) {
  return guard(
      __func__, REQUIRED(handle, indexDescs, sizeInBytes), [&]() -> ApiResult {
        if (Status status = checkCount(indexCount); !status.isOk())
          return status;
        for (uint32_t i = 0; i < indexCount; ++i)
          if (Status status = checkPointers("indexDescs", {indexDescs[i]});
              !status.isOk())
            return status;
        *sizeInBytes = 0;
        return Status::ok();
      });
}

miopenStatus_t miopenGetitemBackward(
    miopenHandle_t handle, void *, size_t,
    const miopenTensorDescriptor_t dyDesc, const void *dy, uint32_t indexCount,
    const miopenTensorDescriptor_t *indexDescs, const void *const *indexs,
    const miopenTensorDescriptor_t dxDesc, void *dx,
    const miopenTensorDescriptor_t errorDesc, void *error, uint32_t dimCount,
    const int32_t *dims, uint32_t sliceCount, const int32_t *slices,
    uint32_t offset) {
  return guard(__func__,
               REQUIRED(handle, dyDesc, dy, indexDescs, indexs, dxDesc, dx,
                        errorDesc, error, dims),
               [&]() -> ApiResult {
                 if (sliceCount > 0 && !slices)
                   return invalidArgument("slices is NULL");
                 return runBackward({*handle,
                                     *dyDesc,
                                     *dxDesc,
                                     *errorDesc,
                                     dy,
                                     dx,
                                     error,
                                     {indexDescs, indexCount},
                                     indexs,
                                     {dims, dimCount},
                                     {slices, size_t(4) * sliceCount},
                                     offset});
               });
}

} // extern "C"
