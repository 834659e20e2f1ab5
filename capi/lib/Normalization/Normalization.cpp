//===- Normalization.cpp - miopen/normalization.h -------------------------===//
//
// Normalisation of layers, of groups and of T5 are one row-wise operation. A
// tensor that the client leaves out is not in the problem.
//
//===----------------------------------------------------------------------===//

#define MIOPEN_BETA_API 1
#include <miopen/normalization.h>

#include "capi/lib/RowWise/RowWiseCall.h"

#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::capi;

namespace {
/// Bits of the mode of norm_fwd (docs/spec/row-wise.md).
enum : uint32_t {
  kAdds = 1,
  kHasWeight = 2,
  kHasBias = 4,
  kSavesMean = 8,
  kSavesInverse = 16,
  kIsT5 = 32,
};

/// A tensor that a client may leave out. Borrowed.
struct Optional {
  const char *name;
  const miopenTensorDescriptor *desc;
  const void *memory;

  bool isThere() const { return desc && memory; }
};

/// A forward call of any normalisation.
struct NormCall {
  miopenHandle &handle;
  Optional x, other, weight, bias, y, mean, inverse;
  float epsilon;
  bool isT5 = false;
};
} // namespace

/// The strides of a tensor that has the dimensions of x from `first` to `last`
/// - 1, in their order, and no others. Lengths of 1 are ignored.
static ErrorOr<std::vector<int64_t>>
getSubsetStrides(const Optional &tensor, const std::vector<int64_t> &lengths,
                 int first, int last) {
  std::vector<int64_t> strides(lengths.size());
  const int rank = tensor.desc->getRank();
  int from = 0;
  auto skip = [&] {
    while (from < rank && tensor.desc->lengths[from] == 1)
      ++from;
    return from < rank;
  };
  bool fits = true;
  for (int dim = first; dim < last && fits; ++dim) {
    if (lengths[dim] == 1)
      continue;
    fits = skip() && tensor.desc->lengths[from] == lengths[dim];
    if (fits)
      strides[dim] = tensor.desc->strides[from++];
  }
  if (!fits || skip())
    return invalidArgument("the lengths of " + std::string(tensor.name) +
                           " do not fit those of x");
  return strides;
}

/// Adds a tensor that has the dimensions of x from `first` to `last` - 1, if
/// the client gave it.
static Status addSubset(RowWiseCall &rows, RowRole role, const Optional &tensor,
                        const std::vector<int64_t> &lengths, int first,
                        int last) {
  if (!tensor.isThere())
    return Status::ok();
  if (Status status = checkFloat(*tensor.desc); !status.isOk())
    return status.withContext(tensor.name);
  const ErrorOr<DataType> type = getRowType(tensor.desc->dataType);
  const auto strides = getSubsetStrides(tensor, lengths, first, last);
  if (!strides)
    return strides.getStatus();
  rows.add(role, tensor.name, *type, *strides, tensor.memory);
  return Status::ok();
}

static uint32_t getMode(const NormCall &call) {
  uint32_t mode = call.isT5 ? kIsT5 : 0;
  for (auto [tensor, bit] :
       {std::pair(&call.other, kAdds), std::pair(&call.weight, kHasWeight),
        std::pair(&call.bias, kHasBias), std::pair(&call.mean, kSavesMean),
        std::pair(&call.inverse, kSavesInverse)})
    mode |= tensor->isThere() ? bit : 0;
  return mode;
}

static Status checkElements(const NormCall &call) {
  for (const Optional *tensor : {&call.y, &call.other}) {
    if (!tensor->isThere())
      continue;
    Status status =
        checkSameLengths(tensor->name, *tensor->desc, "x", *call.x.desc);
    if (status.isOk())
      status = checkSameType(tensor->name, *tensor->desc, "x", *call.x.desc);
    if (!status.isOk())
      return status;
  }
  return Status::ok();
}

/// Runs a normalisation whose rows are the dimensions from `first` on.
static ApiResult runLayer(const NormCall &call, int first) {
  const std::vector<int64_t> &lengths = call.x.desc->lengths;
  const auto rank = static_cast<int>(lengths.size());
  if (first < 0 || first >= rank)
    return invalidArgument("normalized_dim is " + std::to_string(first) +
                           ", but x has " + std::to_string(rank) +
                           " dimensions");
  if (Status status = checkElements(call); !status.isOk())
    return status;
  RowWiseCall rows(call.handle, RowWiseKind::NormForward, getMode(call),
                   lengths);
  for (int dim = first; dim < rank; ++dim)
    rows.reduce(dim);
  rows.add(RowRole::Input, "x", *call.x.desc, call.x.memory);
  if (call.other.isThere())
    rows.add(RowRole::Input, call.other.name, *call.other.desc,
             call.other.memory);
  for (const Optional *parameter : {&call.weight, &call.bias})
    if (Status status =
            addSubset(rows, RowRole::Input, *parameter, lengths, first, rank);
        !status.isOk())
      return status;
  for (const Optional *result : {&call.mean, &call.inverse})
    if (Status status =
            addSubset(rows, RowRole::RowOutput, *result, lengths, 0, first);
        !status.isOk())
      return status;
  rows.add(RowRole::Output, "y", *call.y.desc, call.y.memory);
  return rows.scalar(call.epsilon).run();
}

/// InvalidArgument unless a tensor is missing or has `count` elements. It is
/// read as packed, whatever its dimensions.
static Status checkCount(const Optional &tensor, int64_t count) {
  if (!tensor.isThere())
    return Status::ok();
  int64_t elements = 1;
  for (int64_t length : tensor.desc->lengths)
    elements *= length;
  if (elements == count)
    return Status::ok();
  return invalidArgument(std::string(tensor.name) + " has " +
                         std::to_string(elements) +
                         " elements, but must have " + std::to_string(count));
}

static Status checkGroups(const NormCall &call, uint64_t groups) {
  const miopenTensorDescriptor &x = *call.x.desc;
  if (x.getRank() < 2 || groups < 1 ||
      groups > static_cast<uint64_t>(x.lengths[1]) ||
      x.lengths[1] % static_cast<int64_t>(groups) != 0)
    return invalidArgument(
        "the channels of x are not a multiple of num_groups");
  const int64_t rows = x.lengths[0] * static_cast<int64_t>(groups);
  Status status = checkElements(call);
  for (auto [tensor, count] :
       {std::pair(&call.weight, x.lengths[1]),
        std::pair(&call.bias, x.lengths[1]), std::pair(&call.mean, rows),
        std::pair(&call.inverse, rows)})
    if (status.isOk())
      status = checkCount(*tensor, count);
  return status;
}

/// Runs a normalisation whose rows are the channels of a group, with their
/// pixels. The groups become a dimension of their own.
static ApiResult runGroups(const NormCall &call, uint64_t groups) {
  if (Status status = checkGroups(call, groups); !status.isOk())
    return status;
  const miopenTensorDescriptor &x = *call.x.desc;
  const auto count = static_cast<int64_t>(groups);
  const int64_t channels = x.lengths[1] / count;
  std::vector<int64_t> lengths = x.lengths;
  lengths[1] = channels;
  lengths.insert(lengths.begin() + 1, count);
  RowWiseCall rows(call.handle, RowWiseKind::NormForward, getMode(call),
                   lengths);
  for (int dim = 2; dim <= x.getRank(); ++dim)
    rows.reduce(dim);
  Status status = Status::ok();
  auto add = [&](RowRole role, const Optional &tensor,
                 std::vector<int64_t> strides) {
    const ErrorOr<DataType> type = getRowType(tensor.desc->dataType);
    if (status.isOk())
      status = checkFloat(*tensor.desc).withContext(tensor.name);
    if (type)
      rows.add(role, tensor.name, *type, strides, tensor.memory);
  };
  auto addElements = [&](RowRole role, const Optional &tensor) {
    std::vector<int64_t> strides = tensor.desc->strides;
    // With one group the stride is not used, and the product may overflow.
    strides.insert(strides.begin() + 1, count == 1 ? 0 : strides[1] * channels);
    add(role, tensor, strides);
  };
  auto makeStrides = [&](int64_t image, int64_t group, int64_t channel) {
    std::vector<int64_t> strides(lengths.size());
    strides[0] = image;
    strides[1] = group;
    strides[2] = channel;
    return strides;
  };
  addElements(RowRole::Input, call.x);
  for (const Optional *parameter : {&call.weight, &call.bias})
    if (parameter->isThere())
      add(RowRole::Input, *parameter, makeStrides(0, channels, 1));
  for (const Optional *result : {&call.mean, &call.inverse})
    if (result->isThere())
      add(RowRole::RowOutput, *result, makeStrides(count, 1, 0));
  addElements(RowRole::Output, call.y);
  if (!status.isOk())
    return status;
  return rows.scalar(call.epsilon).run();
}

/// Whether weight and bias are used: in the mode after `plain`, the mode of a
/// function without weights. InvalidArgument for modes of other functions.
static ErrorOr<bool> takesWeights(miopenNormMode_t mode,
                                  miopenNormMode_t plain) {
  if (mode != plain && mode != plain + 1)
    return invalidArgument("mode " + std::to_string(mode) +
                           " is not a mode of this function");
  return mode != plain;
}

/// Removes weight and bias from the call if the mode does not use them.
static ApiResult applyMode(NormCall &call, miopenNormMode_t mode,
                           miopenNormMode_t plain) {
  const ErrorOr<bool> weights = takesWeights(mode, plain);
  if (!weights)
    return weights.getStatus();
  if (!*weights)
    call.weight.memory = call.bias.memory = nullptr;
  else if (!call.weight.isThere() || !(call.isT5 || call.bias.isThere()))
    return invalidArgument("the mode needs weight and bias");
  return Status::ok();
}

/// Runs a layer normalisation of a function whose mode without weights is
/// `plain`.
static ApiResult runLayer(NormCall call, miopenNormMode_t mode,
                          miopenNormMode_t plain, int first) {
  ApiResult result = applyMode(call, mode, plain);
  if (result.getStatus() != miopenStatusSuccess)
    return result;
  return runLayer(call, first);
}

/// Computes the gradient of x, then that of the weight. The rows of the second
/// are the columns of x.
static ApiResult runT5Backward(miopenHandle &handle, bool hasWeight,
                               const Optional &dy, const Optional &x,
                               const Optional &weight, const Optional &inverse,
                               const Optional &dx, const Optional &dw) {
  const std::vector<int64_t> &lengths = x.desc->lengths;
  const auto rank = static_cast<int>(lengths.size());
  if (rank == 0)
    return invalidArgument("x was never set");
  RowWiseCall data(handle, RowWiseKind::T5Backward, hasWeight, lengths);
  RowWiseCall weights(handle, RowWiseKind::T5BackwardWeight, 0, lengths);
  data.reduce(rank - 1);
  for (int dim = 0; dim + 1 < rank; ++dim)
    weights.reduce(dim);
  Status status = Status::ok();
  for (RowWiseCall *call : {&data, &weights}) {
    call->add(RowRole::Input, "x", *x.desc, x.memory);
    call->add(RowRole::Input, "dy", *dy.desc, dy.memory);
    if (status.isOk())
      status = addSubset(*call, RowRole::Input, inverse, lengths, 0, rank - 1);
  }
  if (hasWeight && status.isOk())
    status = addSubset(data, RowRole::Input, weight, lengths, rank - 1, rank);
  if (status.isOk())
    status =
        addSubset(weights, RowRole::RowOutput, dw, lengths, rank - 1, rank);
  if (!status.isOk())
    return status;
  data.add(RowRole::Output, "dx", *dx.desc, dx.memory);
  const KernelTimeSum sum(handle);
  ApiResult result = data.run();
  if (result.getStatus() != miopenStatusSuccess || !dw.isThere())
    return result;
  return weights.run();
}

extern "C" {

miopenStatus_t miopenLayerNormForward(
    miopenHandle_t handle, miopenNormMode_t mode,
    const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t weightDesc, const void *weight,
    const miopenTensorDescriptor_t biasDesc, const void *bias,
    const float epsilon, const int32_t normalized_dim,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t meanDesc, void *mean,
    const miopenTensorDescriptor_t rstdDesc, void *rstd) {
  return guard(__func__,
               REQUIRED(handle, xDesc, x, orNull(weightDesc), orNull(biasDesc),
                        yDesc, y, orNull(meanDesc), orNull(rstdDesc)),
               [&]() -> ApiResult {
                 return runLayer({*handle,
                                  {"x", xDesc, x},
                                  {},
                                  {"weight", weightDesc, weight},
                                  {"bias", biasDesc, bias},
                                  {"y", yDesc, y},
                                  {"mean", meanDesc, mean},
                                  {"rstd", rstdDesc, rstd},
                                  epsilon},
                                 mode, MIOPEN_ELEMENTWISE_AFFINE,
                                 normalized_dim);
               });
}

miopenStatus_t miopenAddLayerNormForward(
    miopenHandle_t handle, miopenNormMode_t mode,
    const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t x2Desc, const void *x2,
    const miopenTensorDescriptor_t weightDesc, const void *weight,
    const miopenTensorDescriptor_t biasDesc, const void *bias,
    const float epsilon, const int32_t normalized_dim,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t meanDesc, void *mean,
    const miopenTensorDescriptor_t rstdDesc, void *rstd) {
  return guard(__func__,
               REQUIRED(handle, xDesc, x, x2Desc, x2, orNull(weightDesc),
                        orNull(biasDesc), yDesc, y, orNull(meanDesc),
                        orNull(rstdDesc)),
               [&]() -> ApiResult {
                 return runLayer({*handle,
                                  {"x", xDesc, x},
                                  {"x2", x2Desc, x2},
                                  {"weight", weightDesc, weight},
                                  {"bias", biasDesc, bias},
                                  {"y", yDesc, y},
                                  {"mean", meanDesc, mean},
                                  {"rstd", rstdDesc, rstd},
                                  epsilon},
                                 mode, MIOPEN_ELEMENTWISE_AFFINE_FUSED_ADD,
                                 normalized_dim);
               });
}

miopenStatus_t
miopenT5LayerNormForward(miopenHandle_t handle, miopenNormMode_t mode,
                         const miopenTensorDescriptor_t xDesc, const void *x,
                         const miopenTensorDescriptor_t weightDesc,
                         const void *weight, const float epsilon,
                         const miopenTensorDescriptor_t yDesc, void *y,
                         const miopenTensorDescriptor_t rstdDesc, void *rstd) {
  return guard(__func__,
               REQUIRED(handle, xDesc, x, orNull(weightDesc), yDesc, y,
                        orNull(rstdDesc)),
               [&]() -> ApiResult {
                 return runLayer({*handle,
                                  {"x", xDesc, x},
                                  {},
                                  {"weight", weightDesc, weight},
                                  {},
                                  {"y", yDesc, y},
                                  {},
                                  {"rstd", rstdDesc, rstd},
                                  epsilon,
                                  true},
                                 mode, MIOPEN_ELEMENTWISE_AFFINE_T5,
                                 xDesc->getRank() - 1);
               });
}

miopenStatus_t miopenGetT5LayerNormBackwardWorkspaceSize(
    miopenHandle_t handle, miopenNormMode_t mode,
    const miopenTensorDescriptor_t dyDesc, const miopenTensorDescriptor_t xDesc,
    const miopenTensorDescriptor_t weightDesc,
    const miopenTensorDescriptor_t rstdDesc,
    const miopenTensorDescriptor_t dxDesc,
    const miopenTensorDescriptor_t dwDesc, size_t *sizeInBytes) {
  return guard(__func__,
               REQUIRED(handle, dyDesc, xDesc, orNull(weightDesc), rstdDesc,
                        dxDesc, orNull(dwDesc), sizeInBytes),
               [&]() -> ApiResult {
                 // Kernels use scratch memory of the handle.
                 *sizeInBytes = 0;
                 return Status::ok();
               });
}

miopenStatus_t miopenT5LayerNormBackward(
    miopenHandle_t handle, miopenNormMode_t mode, void *workspace,
    size_t workspaceSizeInBytes, const miopenTensorDescriptor_t dyDesc,
    const void *dy, const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t weightDesc, const void *weight,
    const miopenTensorDescriptor_t rstdDesc, const void *rstd,
    const miopenTensorDescriptor_t dxDesc, void *dx,
    const miopenTensorDescriptor_t dwDesc, void *dw) {
  return guard(__func__,
               REQUIRED(handle, dyDesc, dy, xDesc, x, orNull(weightDesc),
                        rstdDesc, rstd, dxDesc, dx, orNull(dwDesc)),
               [&]() -> ApiResult {
                 const ErrorOr<bool> hasWeight =
                     takesWeights(mode, MIOPEN_ELEMENTWISE_AFFINE_T5);
                 if (!hasWeight)
                   return hasWeight.getStatus();
                 const Optional weights{"weight", weightDesc, weight};
                 if (*hasWeight && !weights.isThere())
                   return invalidArgument("the mode needs a weight");
                 return runT5Backward(*handle, *hasWeight, {"dy", dyDesc, dy},
                                      {"x", xDesc, x}, weights,
                                      {"rstd", rstdDesc, rstd},
                                      {"dx", dxDesc, dx}, {"dw", dwDesc, dw});
               });
}

miopenStatus_t miopenGroupNormForward(
    miopenHandle_t handle, miopenNormMode_t mode,
    const miopenTensorDescriptor_t xDesc, const void *x,
    const miopenTensorDescriptor_t weightDesc, const void *weight,
    const miopenTensorDescriptor_t biasDesc, const void *bias,
    const uint64_t num_groups, const float epsilon,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t meanDesc, void *mean,
    const miopenTensorDescriptor_t rstdDesc, void *rstd) {
  return guard(__func__,
               REQUIRED(handle, xDesc, x, orNull(weightDesc), orNull(biasDesc),
                        yDesc, y, orNull(meanDesc), orNull(rstdDesc)),
               [&]() -> ApiResult {
                 NormCall call{*handle,
                               {"x", xDesc, x},
                               {},
                               {"weight", weightDesc, weight},
                               {"bias", biasDesc, bias},
                               {"y", yDesc, y},
                               {"mean", meanDesc, mean},
                               {"rstd", rstdDesc, rstd},
                               epsilon};
                 ApiResult result =
                     applyMode(call, mode, MIOPEN_ELEMENTWISE_AFFINE);
                 if (result.getStatus() != miopenStatusSuccess)
                   return result;
                 return runGroups(call, num_groups);
               });
}

} // extern "C"
