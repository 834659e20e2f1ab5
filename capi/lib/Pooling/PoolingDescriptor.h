//===- PoolingDescriptor.h - A pooling descriptor --------------*- C++ -*--===//

#ifndef TESSERA_CAPI_LIB_POOLING_POOLINGDESCRIPTOR_H
#define TESSERA_CAPI_LIB_POOLING_POOLINGDESCRIPTOR_H

#include "capi/lib/Common/ErrorGuard.h"
#include "capi/lib/Tensor/TensorDescriptor.h"
#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/Problem.h"

#include <miopen/pooling.h>

#include <array>
#include <cstdint>

/// Mode, window and indices. Owned by the client through its handle; any number
/// of threads may read it at once.
struct miopenPoolingDescriptor {
  tessera::capi::ObjectTag tag = {};
  static constexpr int kMaxSpatialRank = 3;
  /// One number for each spatial dimension; the rest is unused.
  using PerDimension = std::array<int, kMaxSpatialRank>;

  miopenPoolingMode_t mode = miopenPoolingMax;
  int spatialRank = 2;
  PerDimension window{1, 1, 1};
  PerDimension pads{0, 0, 0};
  PerDimension strides{1, 1, 1};
  miopenIndexType_t indexType = miopenIndexUint8;
  miopenPoolingWorkspaceIndexMode_t indexMode = miopenPoolingWorkspaceIndexMask;
};

namespace tessera::capi {

/// Lengths of y, in the order N, C, [D,] H, W.
struct PoolingOutput {
  std::array<int64_t, miopenPoolingDescriptor::kMaxSpatialRank + 2> lengths;
  int rank;
};

/// The lengths of y. InvalidArgument if x has another number of dimensions than
/// the pooling.
ErrorOr<PoolingOutput> getPoolingOutput(const miopenPoolingDescriptor &pool,
                                        const miopenTensorDescriptor &x);

/// The number of elements of a tensor.
int64_t countElements(const miopenTensorDescriptor &tensor);

/// Size of one index for each element of y, in bytes; InvalidArgument if it
/// does not fit in 64 bits.
ErrorOr<size_t> getIndicesBytes(const miopenPoolingDescriptor &pool,
                                const miopenTensorDescriptor &y);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_POOLING_POOLINGDESCRIPTOR_H
