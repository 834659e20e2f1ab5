//===- ReduceDimension.cpp - Reductions along one dimension ---------------===//
//
// These are sums, products and extremes whose results lack the reduced
// dimension, and the gradient of a bias, which is a sum along all dimensions
// but one.
//
//===----------------------------------------------------------------------===//

#ifndef MIOPEN_BETA_API
#define MIOPEN_BETA_API
#endif
#include <miopen/convolution_bias.h>
#include <miopen/reduce.h>

#include "capi/lib/Common/Objects.h"
#include "capi/lib/Reduction/ReduceMode.h"
#include "capi/lib/RowWise/RowWiseCall.h"

using namespace tessera;
using namespace tessera::capi;

/// The strides of a result in the dimensions of `x`, with 0 for the dimension
/// that it lacks; InvalidArgument if it does not fit.
static ErrorOr<std::vector<int64_t>>
getResultStrides(const miopenTensorDescriptor &x, int32_t dim, const char *name,
                 const miopenTensorDescriptor &result) {
  if (dim < 0 || dim >= x.getRank())
    return invalidArgument("x has no dimension " + std::to_string(dim));
  std::vector<int64_t> lengths = x.lengths;
  lengths.erase(lengths.begin() + dim);
  std::vector<int64_t> strides = result.strides;
  // A descriptor has at least one dimension, so that the sum of a vector has
  // one of length 1.
  if (lengths.empty() && result.lengths == std::vector<int64_t>{1})
    return std::vector<int64_t>{0};
  if (result.lengths != lengths)
    return invalidArgument("the lengths of " + std::string(name) +
                           " are not those of x without dimension " +
                           std::to_string(dim));
  for (size_t i = 0; i < lengths.size(); ++i)
    if (lengths[i] == 1)
      strides[i] = 0;
  strides.insert(strides.begin() + dim, 0);
  return strides;
}

namespace {
/// A tensor that a call writes.
struct Result {
  const char *name;
  const miopenTensorDescriptor &desc;
  void *data;
};
} // namespace

static ApiResult runAlong(miopenHandle &handle, uint32_t mode,
                          const miopenTensorDescriptor &x, const void *data,
                          int32_t dim, std::initializer_list<Result> results) {
  RowWiseCall call(handle, RowWiseKind::Reduce, mode, x.lengths);
  if (dim >= 0 && dim < x.getRank())
    call.reduce(dim);
  call.add(RowRole::Input, "x", x, data);
  for (const Result &result : results) {
    const ErrorOr<std::vector<int64_t>> strides =
        getResultStrides(x, dim, result.name, result.desc);
    if (!strides)
      return strides.getStatus();
    const ErrorOr<DataType> type = getRowType(result.desc.dataType);
    if (!type)
      return type.getStatus();
    call.add(RowRole::RowOutput, result.name, *type, *strides, result.data);
  }
  return call.scalar(1).scalar(0).run();
}

extern "C" {

// Gives 0, because kernels use scratch memory of the handle.
miopenStatus_t miopenGetReduceCalculationWorkspaceSize(
    miopenHandle_t handle, const miopenTensorDescriptor_t xDesc,
    const int32_t dim, const miopenReduceCalculationOp_t reduceCalculationOp,
    const miopenTensorDescriptor_t reduceDesc, size_t *sizeInBytes) {
  return guard(__func__, REQUIRED(handle, xDesc, reduceDesc, sizeInBytes),
               [&]() -> ApiResult {
                 if (reduceCalculationOp != MIOPEN_REDUCE_CALCULATION_PROD &&
                     reduceCalculationOp != MIOPEN_REDUCE_CALCULATION_SUM)
                   return invalidArgument("the operation is unknown");
                 const auto strides =
                     getResultStrides(*xDesc, dim, "y", *reduceDesc);
                 if (!strides)
                   return strides.getStatus();
                 *sizeInBytes = 0;
                 return Status::ok();
               });
}

miopenStatus_t miopenReduceCalculationForward(
    miopenHandle_t handle,
    miopenReduceCalculationNanPropagation_t nanPropagation,
    void * /*workspace*/, size_t /*workspaceSizeInBytes*/,
    const miopenTensorDescriptor_t xDesc, const void *x, const int32_t dim,
    const miopenReduceCalculationOp_t reduceCalculationOp,
    const miopenTensorDescriptor_t reduceDesc, void *y) {
  return guard(
      __func__, REQUIRED(handle, xDesc, x, reduceDesc, y), [&]() -> ApiResult {
        if (reduceCalculationOp != MIOPEN_REDUCE_CALCULATION_PROD &&
            reduceCalculationOp != MIOPEN_REDUCE_CALCULATION_SUM)
          return invalidArgument("the operation is unknown");
        if (Status status = checkEnum(nanPropagation,
                                      MIOPEN_REDUCE_CALCULATION_PROPAGATE_NAN,
                                      "NaN propagation");
            !status.isOk())
          return status;
        if (Status status = checkSameType("x", *xDesc, "y", *reduceDesc);
            !status.isOk())
          return status;
        uint32_t mode = reduceCalculationOp == MIOPEN_REDUCE_CALCULATION_PROD
                            ? kReduceMul
                            : kReduceAdd;
        if (nanPropagation == MIOPEN_REDUCE_CALCULATION_NOT_PROPAGATE_NAN)
          mode |= kReduceSkipsNan;
        return runAlong(*handle, mode, *xDesc, x, dim, {{"y", *reduceDesc, y}});
      });
}

miopenStatus_t miopenReduceExtremeForward(
    miopenHandle_t handle, const miopenTensorDescriptor_t xDesc, const void *x,
    const int32_t dim, const miopenReduceExtremeOp_t reduceExtremeOp,
    const miopenTensorDescriptor_t yDesc, void *y,
    const miopenTensorDescriptor_t indiceDesc, void *indice) {
  return guard(
      __func__, REQUIRED(handle, xDesc, x, orNull(yDesc), indiceDesc, indice),
      [&]() -> ApiResult {
        if (reduceExtremeOp < MIOPEN_REDUCE_EXTREME_ARGMIN ||
            reduceExtremeOp > MIOPEN_REDUCE_EXTREME_MAX)
          return invalidArgument("the operation is unknown");
        if (indiceDesc->dataType != miopenInt32)
          return invalidArgument("the indices must be of miopenInt32");
        const bool isMin = reduceExtremeOp == MIOPEN_REDUCE_EXTREME_MIN ||
                           reduceExtremeOp == MIOPEN_REDUCE_EXTREME_ARGMIN;
        const uint32_t mode = isMin ? kReduceMin : kReduceMax;
        const Result indices{"indice", *indiceDesc, indice};
        if (reduceExtremeOp < MIOPEN_REDUCE_EXTREME_MIN)
          return runAlong(*handle, mode | kReduceOnlyIndices, *xDesc, x, dim,
                          {indices});
        if (!yDesc || !y)
          return invalidArgument("y is NULL, but the operation is an extreme");
        if (Status status = checkSameType("x", *xDesc, "y", *yDesc);
            !status.isOk())
          return status;
        return runAlong(*handle, mode | kReduceHasIndices, *xDesc, x, dim,
                        {{"y", *yDesc, y}, indices});
      });
}

// The gradient of a bias is the sum along all dimensions but that of the
// channels.
miopenStatus_t
miopenConvolutionBackwardBias(miopenHandle_t handle, const void *alpha,
                              const miopenTensorDescriptor_t dyDesc,
                              const void *dy, const void *beta,
                              const miopenTensorDescriptor_t dbDesc, void *db) {
  return guard(
      __func__, REQUIRED(handle, alpha, dyDesc, dy, beta, dbDesc, db),
      [&]() -> ApiResult {
        ApiResult scaling = checkFactors(dyDesc->dataType, alpha, beta);
        if (scaling.getStatus() != miopenStatusSuccess)
          return scaling;
        if (dyDesc->getRank() < 2 || dbDesc->getRank() != dyDesc->getRank() ||
            dbDesc->lengths[1] != dyDesc->lengths[1])
          return invalidArgument(
              "db must have one element for each channel of dy");
        RowWiseCall call(*handle, RowWiseKind::Reduce, kReduceAdd,
                         dyDesc->lengths);
        for (int dim = 0; dim < dyDesc->getRank(); ++dim)
          if (dim != 1)
            call.reduce(dim);
        return call.add(RowRole::Input, "dy", *dyDesc, dy)
            .add(RowRole::RowOutput, "db", *dbDesc, db)
            .scalar(1)
            .scalar(0)
            .run();
      });
}

} // extern "C"
