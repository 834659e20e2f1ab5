//===- PoolingDescriptor.cpp - Setting and reading pooling descriptors ----===//

#include "capi/lib/Pooling/PoolingDescriptor.h"
#include "capi/lib/Tensor/VectorLayout.h"

#include "capi/lib/Common/Objects.h"

#include <algorithm>
#include <limits>
#include <string>

using namespace tessera;
using namespace tessera::capi;

static Status checkMinimum(const int *numbers, int count, int minimum,
                           const char *what) {
  for (int i = 0; i < count; ++i)
    if (numbers[i] < minimum)
      return invalidArgument(std::string(what) + " " +
                             std::to_string(numbers[i]) + " is below " +
                             std::to_string(minimum));
  return Status::ok();
}

/// Checks all numbers, then sets the descriptor to its defaults and to them.
static Status setPooling(miopenPoolingDescriptor &pool,
                         miopenPoolingMode_t mode, int spatialRank,
                         const int *window, const int *pads,
                         const int *strides) {
  if (spatialRank != 2 && spatialRank != 3)
    return invalidArgument(std::to_string(spatialRank) +
                           " spatial dimensions are neither 2 nor 3");
  if (mode < miopenPoolingMax || mode > miopenPoolingAverageInclusive)
    return invalidArgument("pooling mode " + std::to_string(mode) +
                           " is unknown");
  Status status = checkMinimum(window, spatialRank, 1, "window");
  if (status.isOk())
    status = checkMinimum(pads, spatialRank, 0, "padding");
  if (status.isOk())
    status = checkMinimum(strides, spatialRank, 1, "stride");
  if (!status.isOk())
    return status;
  pool = miopenPoolingDescriptor();
  pool.mode = mode;
  pool.spatialRank = spatialRank;
  std::copy_n(window, spatialRank, pool.window.begin());
  std::copy_n(pads, spatialRank, pool.pads.begin());
  std::copy_n(strides, spatialRank, pool.strides.begin());
  if (spatialRank == 3)
    pool.indexMode = miopenPoolingWorkspaceIndexImage;
  return Status::ok();
}

ErrorOr<PoolingOutput>
capi::getPoolingOutput(const miopenPoolingDescriptor &pool,
                       const miopenTensorDescriptor &x) {
  if (x.getRank() != pool.spatialRank + 2)
    return invalidArgument("x has " + std::to_string(x.getRank()) +
                           " dimensions, but a pooling over " +
                           std::to_string(pool.spatialRank) + " needs " +
                           std::to_string(pool.spatialRank + 2));
  PoolingOutput output;
  output.rank = x.getRank();
  std::copy_n(x.lengths.begin(), 2, output.lengths.begin());
  for (int i = 0; i < pool.spatialRank; ++i) {
    const int64_t length = x.lengths[2 + i];
    // This also keeps the sum below within 64 bits.
    if (length > std::numeric_limits<int32_t>::max())
      return notSupported("a length beyond 2^31 is not implemented");
    const int64_t lastStart =
        length + 2 * int64_t(pool.pads[i]) - pool.window[i];
    output.lengths[2 + i] = lastStart < 0 ? 1 : lastStart / pool.strides[i] + 1;
  }
  return output;
}

int64_t capi::countElements(const miopenTensorDescriptor &tensor) {
  int64_t count = tensor.vectorLength;
  for (int64_t length : tensor.lengths)
    count *= length;
  return count;
}

ErrorOr<size_t> capi::getIndicesBytes(const miopenPoolingDescriptor &pool,
                                      const miopenTensorDescriptor &y) {
  const size_t indexBytes = size_t(1) << pool.indexType;
  size_t bytes;
  if (__builtin_mul_overflow(countElements(y), indexBytes, &bytes))
    return invalidArgument("the indices are larger than 2^64 bytes");
  return bytes;
}

/// Computes the lengths of y as ints.
static Status copyOutput(const miopenPoolingDescriptor &pool,
                         const miopenTensorDescriptor &x, int *lengths) {
  const ErrorOr<PoolingOutput> output =
      getPoolingOutput(pool, OtherWords::asChannelsLast(x).get());
  if (!output)
    return output.getStatus();
  for (int i = 0; i < output->rank; ++i)
    if (output->lengths[i] > std::numeric_limits<int>::max())
      return invalidArgument("an output length does not fit in an int");
  std::copy_n(output->lengths.begin(), output->rank, lengths);
  return Status::ok();
}

static ApiResult notTwoDimensional() {
  return {miopenStatusUnknownError,
          "the pooling has 3 spatial dimensions, but this function is for 2"};
}

/// Copies `count` numbers to an array of the client, unless it is null.
static void copyWanted(const miopenPoolingDescriptor::PerDimension &numbers,
                       int count, int *wanted) {
  if (wanted)
    std::copy_n(numbers.begin(), count, wanted);
}

extern "C" {

miopenStatus_t
miopenCreatePoolingDescriptor(miopenPoolingDescriptor_t *poolDesc) {
  return createObject(__func__, REQUIRED(poolDesc), poolDesc);
}

miopenStatus_t
miopenDestroyPoolingDescriptor(miopenPoolingDescriptor_t poolDesc) {
  return destroyObject(__func__, REQUIRED(poolDesc), poolDesc);
}

miopenStatus_t miopenSetPoolingIndexType(miopenPoolingDescriptor_t poolDesc,
                                         miopenIndexType_t index_type) {
  return guard(__func__, REQUIRED(poolDesc), [&]() -> ApiResult {
    if (index_type < miopenIndexUint8 || index_type > miopenIndexUint64)
      return invalidArgument("index type " + std::to_string(index_type) +
                             " is unknown");
    poolDesc->indexType = index_type;
    return Status::ok();
  });
}

miopenStatus_t miopenGetPoolingIndexType(miopenPoolingDescriptor_t poolDesc,
                                         miopenIndexType_t *index_type) {
  return guard(__func__, REQUIRED(poolDesc, index_type), [&]() -> ApiResult {
    *index_type = poolDesc->indexType;
    return Status::ok();
  });
}

miopenStatus_t miopenSetPoolingWorkSpaceIndexMode(
    miopenPoolingDescriptor_t poolDesc,
    miopenPoolingWorkspaceIndexMode_t workspace_index) {
  return guard(__func__, REQUIRED(poolDesc), [&]() -> ApiResult {
    if (workspace_index != miopenPoolingWorkspaceIndexMask &&
        workspace_index != miopenPoolingWorkspaceIndexImage)
      return invalidArgument("index mode " + std::to_string(workspace_index) +
                             " is unknown");
    poolDesc->indexMode = workspace_index;
    return Status::ok();
  });
}

miopenStatus_t miopenGetPoolingWorkSpaceIndexMode(
    miopenPoolingDescriptor_t poolDesc,
    miopenPoolingWorkspaceIndexMode_t *workspace_index) {
  return guard(__func__, REQUIRED(poolDesc, workspace_index),
               [&]() -> ApiResult {
                 *workspace_index = poolDesc->indexMode;
                 return Status::ok();
               });
}

miopenStatus_t miopenSet2dPoolingDescriptor(miopenPoolingDescriptor_t poolDesc,
                                            miopenPoolingMode_t mode,
                                            int windowHeight, int windowWidth,
                                            int pad_h, int pad_w, int stride_h,
                                            int stride_w) {
  return guard(__func__, REQUIRED(poolDesc), [&]() -> ApiResult {
    const int window[] = {windowHeight, windowWidth};
    const int pads[] = {pad_h, pad_w};
    const int strides[] = {stride_h, stride_w};
    return setPooling(*poolDesc, mode, 2, window, pads, strides);
  });
}

miopenStatus_t
miopenGet2dPoolingDescriptor(const miopenPoolingDescriptor_t poolDesc,
                             miopenPoolingMode_t *mode, int *windowHeight,
                             int *windowWidth, int *pad_h, int *pad_w,
                             int *stride_h, int *stride_w) {
  return guard(__func__,
               REQUIRED(poolDesc, mode, windowHeight, windowWidth, pad_h, pad_w,
                        stride_h, stride_w),
               [&]() -> ApiResult {
                 if (poolDesc->spatialRank != 2)
                   return notTwoDimensional();
                 *mode = poolDesc->mode;
                 *windowHeight = poolDesc->window[0];
                 *windowWidth = poolDesc->window[1];
                 *pad_h = poolDesc->pads[0];
                 *pad_w = poolDesc->pads[1];
                 *stride_h = poolDesc->strides[0];
                 *stride_w = poolDesc->strides[1];
                 return Status::ok();
               });
}

miopenStatus_t
miopenGetPoolingForwardOutputDim(const miopenPoolingDescriptor_t poolDesc,
                                 const miopenTensorDescriptor_t tensorDesc,
                                 int *n, int *c, int *h, int *w) {
  return guard(__func__, REQUIRED(poolDesc, anyLayout(tensorDesc), n, c, h, w),
               [&]() -> ApiResult {
                 if (poolDesc->spatialRank != 2)
                   return notTwoDimensional();
                 std::array<int, 4> lengths;
                 if (Status status =
                         copyOutput(*poolDesc, *tensorDesc, lengths.data());
                     !status.isOk())
                   return status;
                 *n = lengths[0];
                 *c = lengths[1];
                 *h = lengths[2];
                 *w = lengths[3];
                 return Status::ok();
               });
}

miopenStatus_t miopenSetNdPoolingDescriptor(miopenPoolingDescriptor_t poolDesc,
                                            const miopenPoolingMode_t mode,
                                            int nbDims, const int *windowDimA,
                                            const int *padA,
                                            const int *stridesA) {
  return guard(__func__, REQUIRED(poolDesc, windowDimA, padA, stridesA),
               [&]() -> ApiResult {
                 return setPooling(*poolDesc, mode, nbDims, windowDimA, padA,
                                   stridesA);
               });
}

miopenStatus_t
miopenGetNdPoolingDescriptor(const miopenPoolingDescriptor_t poolDesc,
                             int nbDimsRequested, miopenPoolingMode_t *mode,
                             int *nbDims, int *windowDimA, int *padA,
                             int *stridesA) {
  return guard(__func__, REQUIRED(poolDesc), [&]() -> ApiResult {
    if (nbDimsRequested < 0)
      return invalidArgument("nbDimsRequested is negative");
    if (nbDimsRequested > poolDesc->spatialRank)
      return {miopenStatusUnknownError,
              "the pooling has " + std::to_string(poolDesc->spatialRank) +
                  " spatial dimensions, not " +
                  std::to_string(nbDimsRequested)};
    if (mode)
      *mode = poolDesc->mode;
    if (nbDims)
      *nbDims = poolDesc->spatialRank;
    copyWanted(poolDesc->window, nbDimsRequested, windowDimA);
    copyWanted(poolDesc->pads, nbDimsRequested, padA);
    copyWanted(poolDesc->strides, nbDimsRequested, stridesA);
    return Status::ok();
  });
}

miopenStatus_t
miopenGetPoolingNdForwardOutputDim(const miopenPoolingDescriptor_t poolDesc,
                                   const miopenTensorDescriptor_t tensorDesc,
                                   int dims, int *tensorDimArr) {
  return guard(__func__,
               REQUIRED(poolDesc, anyLayout(tensorDesc), tensorDimArr),
               [&]() -> ApiResult {
                 if (dims != tensorDesc->getRank())
                   return invalidArgument(
                       "dims is " + std::to_string(dims) + ", but x has " +
                       std::to_string(tensorDesc->getRank()) + " dimensions");
                 return copyOutput(*poolDesc, *tensorDesc, tensorDimArr);
               });
}

miopenStatus_t
miopenPoolingGetWorkSpaceSize(const miopenTensorDescriptor_t yDesc,
                              size_t *workSpaceSize) {
  return guard(__func__, REQUIRED(anyLayout(yDesc), workSpaceSize),
               [&]() -> ApiResult {
                 *workSpaceSize = countElements(*yDesc);
                 return Status::ok();
               });
}

miopenStatus_t
miopenPoolingGetWorkSpaceSizeV2(const miopenPoolingDescriptor_t poolDesc,
                                const miopenTensorDescriptor_t yDesc,
                                size_t *workSpaceSize) {
  return guard(__func__, REQUIRED(poolDesc, anyLayout(yDesc), workSpaceSize),
               [&]() -> ApiResult {
                 const ErrorOr<size_t> bytes =
                     getIndicesBytes(*poolDesc, *yDesc);
                 if (!bytes)
                   return bytes.getStatus();
                 *workSpaceSize =
                     poolDesc->mode == miopenPoolingMax ? *bytes : 0;
                 return Status::ok();
               });
}

} // extern "C"
