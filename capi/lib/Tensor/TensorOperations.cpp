//===- TensorOperations.cpp - miopen/tensor_operations.h ------------------===//
//
// The bias of a convolution is here as well, because it is a sum of tensors.
//
//===----------------------------------------------------------------------===//

#define MIOPEN_BETA_API 1
#include <miopen/convolution_bias.h>
#include <miopen/tensor_operations.h>

#include "capi/lib/Common/Objects.h"
#include "capi/lib/RowWise/RowWiseCall.h"

#include <algorithm>

using namespace tessera;
using namespace tessera::capi;

namespace {
/// C = op(alpha1 A, alpha2 B) + beta C. Refers to the client's objects.
struct OpTensorCall {
  miopenHandle &handle;
  miopenTensorOp_t op;
  const miopenTensorDescriptor &a, &b, &c;
  const void *dataA, *dataB, *dataC;
  double alpha1, alpha2, beta;
};
} // namespace

static ApiResult runOpTensor(const OpTensorCall &call) {
  Status status = checkEnum(call.op, miopenTensorOpMax, "operation");
  if (status.isOk())
    status = checkSameLengths("A", call.a, "C", call.c);
  if (status.isOk())
    status = checkSameType("A", call.a, "C", call.c);
  if (status.isOk())
    status = checkSameType("B", call.b, "C", call.c);
  if (!status.isOk())
    return status;
  RowWiseCall rowCall(call.handle, RowWiseKind::OpTensor, call.op,
                      call.c.lengths);
  rowCall.add(RowRole::Input, "A", call.a, call.dataA)
      .add(RowRole::Input, "B", call.b, call.dataB)
      .scalar(call.alpha1)
      .scalar(call.alpha2);
  // With beta = 0 the old C is not read, because it may contain NaNs.
  if (call.beta != 0)
    rowCall.add(RowRole::Input, "C", call.c, call.dataC).scalar(call.beta);
  return rowCall.add(RowRole::Output, "C", call.c, call.dataC).run();
}

/// Adds the scalars of RowWiseKind::SetTensor: a float, or an integer as three
/// scalars.
static void addNumber(RowWiseCall &call, miopenDataType_t type,
                      const void *number) {
  int64_t value;
  switch (type) {
  case miopenInt8:
    value = *static_cast<const int8_t *>(number);
    break;
  case miopenInt32:
    value = *static_cast<const int32_t *>(number);
    break;
  case miopenInt64:
    value = *static_cast<const int64_t *>(number);
    break;
  default: {
    const ErrorOr<DataType> known = getRowType(type);
    call.scalar(known ? readElement(*known, number) : 0);
    return;
  }
  }
  call.integer(value);
}

/// Computes y = alpha x + beta y between any two data types and layouts.
static ApiResult runTransform(miopenHandle &handle,
                              const miopenTensorDescriptor &x,
                              const void *dataX, double alpha,
                              const miopenTensorDescriptor &y, void *dataY,
                              double beta) {
  if (Status status = checkSameLengths("x", x, "y", y); !status.isOk())
    return status;
  const bool hasFactor = alpha != 1 || beta != 0;
  RowWiseCall call(handle, RowWiseKind::TransformTensor, hasFactor, y.lengths);
  call.add(RowRole::Input, "x", x, dataX);
  if (hasFactor)
    call.scalar(alpha);
  if (beta != 0)
    call.add(RowRole::Input, "y", y, dataY).scalar(beta);
  return call.add(RowRole::Output, "y", y, dataY).run();
}

/// Whether x and y are bytes of three or more dimensions that differ in their
/// channels alone, which MIOpen pads or cuts.
static bool haveOtherChannels(const miopenTensorDescriptor &x,
                              const miopenTensorDescriptor &y) {
  if (x.dataType != miopenInt8 || y.dataType != miopenInt8 || x.getRank() < 3 ||
      x.getRank() != y.getRank())
    return false;
  std::vector<int64_t> lengths = x.lengths;
  lengths[1] = y.lengths[1];
  return lengths == y.lengths && x.lengths[1] != y.lengths[1];
}

/// Copies the channels that x and y have in common. y has those of x filled up
/// with zeros to a multiple of four, or the first ones of an x whose channels
/// are such a multiple.
static ApiResult runPadChannels(miopenHandle &handle,
                                const miopenTensorDescriptor &x,
                                const void *dataX, double alpha,
                                const miopenTensorDescriptor &y, void *dataY,
                                double beta) {
  constexpr int64_t kMultiple = 4;
  const int64_t from = x.lengths[1], to = y.lengths[1];
  const int64_t padded = (from + kMultiple - 1) / kMultiple * kMultiple;
  if (from < to && to != padded)
    return invalidArgument(
        "y has " + std::to_string(to) + " channels, but must have the " +
        std::to_string(from) + " of x filled up to a multiple of 4, or fewer");
  if (from > to && from != padded)
    return invalidArgument("x has " + std::to_string(from) +
                           " channels, which are no multiple of 4, and y "
                           "fewer");
  if (alpha != 1 || beta != 0)
    return notSupported("x and y have other channels: that is implemented with "
                        "alpha = 1 and beta = 0 only");
  const KernelTimeSum sum(handle);
  if (from < to) {
    const ApiResult result =
        RowWiseCall(handle, RowWiseKind::SetTensor, 0, y.lengths)
            .add(RowRole::Output, "y", y, dataY)
            .integer(0)
            .run();
    if (result.getStatus() != miopenStatusSuccess)
      return result;
  }
  miopenTensorDescriptor common = x, target = y;
  common.lengths[1] = target.lengths[1] = std::min(from, to);
  return runTransform(handle, common, dataX, 1, target, dataY, 0);
}

//===----------------------------------------------------------------------===//
// Concatenation
//===----------------------------------------------------------------------===//

/// Ok if the lengths of the inputs along `dim` add up to that of y, and all
/// other lengths are equal.
static Status checkInputs(std::span<const miopenTensorDescriptor_t> inputs,
                          const miopenTensorDescriptor &y, int dim) {
  if (dim < 0 || dim >= y.getRank())
    return invalidArgument("dimension " + std::to_string(dim) +
                           " is none of y's");
  int64_t sum = 0;
  for (const miopenTensorDescriptor_t input : inputs) {
    if (Status status = checkPointers("a descriptor of xDescs", {input});
        !status.isOk())
      return status;
    if (Status status = checkSameType("x", *input, "y", y); !status.isOk())
      return status;
    std::vector<int64_t> lengths = input->lengths;
    if (lengths.size() == y.lengths.size())
      lengths[dim] = y.lengths[dim];
    if (lengths != y.lengths)
      return invalidArgument("a tensor of xs and y differ in another dimension "
                             "than dim");
    if (input->lengths[dim] > y.lengths[dim] - sum)
      return invalidArgument("the lengths of xs add up to more than the " +
                             std::to_string(y.lengths[dim]) + " of y");
    sum += input->lengths[dim];
  }
  if (sum != y.lengths[dim])
    return invalidArgument("the lengths of xs add up to " +
                           std::to_string(sum) + ", but y has " +
                           std::to_string(y.lengths[dim]));
  return Status::ok();
}

/// Copies each x to its slice of y.
static ApiResult runCat(miopenHandle &handle,
                        std::span<const miopenTensorDescriptor_t> inputs,
                        const void *const *xs, const miopenTensorDescriptor &y,
                        void *dataY, int dim) {
  if (Status status = checkInputs(inputs, y, dim); !status.isOk())
    return status;
  const KernelTimeSum sum(handle);
  int64_t first = 0; // Index of the slice along the dimension.
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!xs[i])
      return invalidArgument("a pointer of xs is NULL");
    miopenTensorDescriptor slice = y;
    slice.lengths[dim] = inputs[i]->lengths[dim];
    void *to = static_cast<char *>(dataY) +
               first * y.strides[dim] * getElementBytes(y.dataType);
    const ApiResult result =
        runTransform(handle, *inputs[i], xs[i], 1, slice, to, 0);
    if (result.getStatus() != miopenStatusSuccess)
      return result;
    first += slice.lengths[dim];
  }
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// The API
//===----------------------------------------------------------------------===//

extern "C" {

miopenStatus_t miopenOpTensor(miopenHandle_t handle, miopenTensorOp_t tensorOp,
                              const void *alpha1,
                              const miopenTensorDescriptor_t aDesc,
                              const void *A, const void *alpha2,
                              const miopenTensorDescriptor_t bDesc,
                              const void *B, const void *beta,
                              const miopenTensorDescriptor_t cDesc, void *C) {
  return guard(
      __func__,
      REQUIRED(handle, alpha1, aDesc, A, alpha2, bDesc, B, beta, cDesc, C),
      [&]() -> ApiResult {
        auto read = [&](const void *factor) {
          return readFactor(cDesc->dataType, factor);
        };
        return runOpTensor({*handle, tensorOp, *aDesc, *bDesc, *cDesc, A, B, C,
                            read(alpha1), read(alpha2), read(beta)});
      });
}

miopenStatus_t miopenSetTensor(miopenHandle_t handle,
                               const miopenTensorDescriptor_t yDesc, void *y,
                               const void *alpha) {
  return guard(__func__, REQUIRED(handle, yDesc, y, alpha), [&]() -> ApiResult {
    RowWiseCall call(*handle, RowWiseKind::SetTensor, 0, yDesc->lengths);
    addNumber(call, yDesc->dataType, alpha);
    return call.add(RowRole::Output, "y", *yDesc, y).run();
  });
}

miopenStatus_t miopenScaleTensor(miopenHandle_t handle,
                                 const miopenTensorDescriptor_t yDesc, void *y,
                                 const void *alpha) {
  return guard(__func__, REQUIRED(handle, yDesc, y, alpha), [&]() -> ApiResult {
    const ErrorOr<DataType> type = getRowType(yDesc->dataType);
    if (!type || *type == DataType::I8 || *type == DataType::I64)
      return invalidArgument("data type " + std::to_string(yDesc->dataType) +
                             " cannot be scaled");
    return RowWiseCall(*handle, RowWiseKind::ScaleTensor, 0, yDesc->lengths)
        .add(RowRole::Input, "y", *yDesc, y)
        .add(RowRole::Output, "y", *yDesc, y)
        .scalar(readElement(*type, alpha))
        .run();
  });
}

miopenStatus_t miopenTransformTensor(miopenHandle_t handle, const void *alpha,
                                     const miopenTensorDescriptor_t xDesc,
                                     const void *x, const void *beta,
                                     const miopenTensorDescriptor_t yDesc,
                                     void *y) {
  return guard(__func__, REQUIRED(handle, alpha, xDesc, x, beta, yDesc, y),
               [&]() -> ApiResult {
                 const auto run = haveOtherChannels(*xDesc, *yDesc)
                                      ? runPadChannels
                                      : runTransform;
                 return run(*handle, *xDesc, x,
                            readFactor(xDesc->dataType, alpha), *yDesc, y,
                            readFactor(xDesc->dataType, beta));
               });
}

miopenStatus_t miopenCatForward(miopenHandle_t handle, const int32_t xCount,
                                const miopenTensorDescriptor_t *xDescs,
                                const void *const *xs,
                                const miopenTensorDescriptor_t yDesc, void *y,
                                const int32_t dim) {
  return guard(__func__, REQUIRED(handle, xDescs, xs, yDesc, y),
               [&]() -> ApiResult {
                 if (xCount < 1)
                   return invalidArgument("xCount is below 1");
                 return runCat(*handle, {xDescs, static_cast<size_t>(xCount)},
                               xs, *yDesc, y, dim);
               });
}

miopenStatus_t
miopenConvolutionForwardBias(miopenHandle_t handle, const void *alpha,
                             const miopenTensorDescriptor_t bDesc,
                             const void *b, const void *beta,
                             const miopenTensorDescriptor_t yDesc, void *y) {
  return guard(__func__, REQUIRED(handle, alpha, bDesc, b, beta, yDesc, y),
               [&]() -> ApiResult {
                 const double factor = readFactor(yDesc->dataType, alpha);
                 return runOpTensor({*handle, miopenTensorOpAdd, *yDesc, *bDesc,
                                     *yDesc, y, b, y, factor, factor,
                                     readFactor(yDesc->dataType, beta)});
               });
}

} // extern "C"
