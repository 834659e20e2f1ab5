//===- ReduceTensor.cpp - Reductions over any dimensions ------------------===//

#include <miopen/reduce.h>

#include "capi/lib/Common/Objects.h"
#include "capi/lib/Reduction/ReduceMode.h"
#include "capi/lib/RowWise/RowWiseCall.h"

using namespace tessera;
using namespace tessera::capi;

/// A reduction. Owned by the client; any number of threads may read it at once.
struct miopenReduceTensorDescriptor {
  tessera::capi::ObjectTag tag = {};
  miopenReduceTensorOp_t op = MIOPEN_REDUCE_TENSOR_ADD;
  miopenDataType_t type = miopenFloat;
  miopenNanPropagation_t nan = MIOPEN_NOT_PROPAGATE_NAN;
  miopenReduceTensorIndices_t indices = MIOPEN_REDUCE_TENSOR_NO_INDICES;
  miopenIndicesType_t indicesType = MIOPEN_32BIT_INDICES;
};

static Status setReduction(miopenReduceTensorDescriptor &desc,
                           const miopenReduceTensorDescriptor &values) {
  Status status = checkEnum(values.op, MIOPEN_REDUCE_TENSOR_NORM2, "reduction");
  if (status.isOk())
    status = checkDataType(values.type);
  if (status.isOk())
    status = checkEnum(values.nan, MIOPEN_PROPAGATE_NAN, "NaN propagation");
  if (status.isOk())
    status = checkEnum(values.indices, MIOPEN_REDUCE_TENSOR_FLATTENED_INDICES,
                       "kind of indices");
  if (status.isOk())
    status =
        checkEnum(values.indicesType, MIOPEN_8BIT_INDICES, "type of indices");
  if (status.isOk())
    desc = values;
  return status;
}

static bool isExtreme(const miopenReduceTensorDescriptor &desc) {
  return desc.op == MIOPEN_REDUCE_TENSOR_MIN ||
         desc.op == MIOPEN_REDUCE_TENSOR_MAX ||
         desc.op == MIOPEN_REDUCE_TENSOR_AMAX;
}

static bool hasIndices(const miopenReduceTensorDescriptor &desc) {
  return desc.indices == MIOPEN_REDUCE_TENSOR_FLATTENED_INDICES &&
         isExtreme(desc);
}

/// The operations have the same numbers in ReduceMode.h.
static uint32_t getMode(const miopenReduceTensorDescriptor &desc) {
  const bool keepsNan = isExtreme(desc) && desc.nan == MIOPEN_PROPAGATE_NAN;
  return static_cast<uint32_t>(desc.op) | (keepsNan ? kReduceKeepsNan : 0) |
         (hasIndices(desc) ? kReduceHasIndices : 0);
}

/// UnknownError, as in MIOpen, if the lengths do not fit each other.
static ApiResult checkReduced(const miopenTensorDescriptor &a,
                              const miopenTensorDescriptor &c) {
  if (a.lengths.size() != c.lengths.size())
    return {miopenStatusUnknownError,
            "A and C have different numbers of dimensions"};
  for (size_t dim = 0; dim < a.lengths.size(); ++dim)
    if (c.lengths[dim] != 1 && c.lengths[dim] != a.lengths[dim])
      return {miopenStatusUnknownError,
              "length " + std::to_string(dim) + " of C is " +
                  std::to_string(c.lengths[dim]) + ", but must be 1 or " +
                  std::to_string(a.lengths[dim]) + ", that of A"};
  return Status::ok();
}

/// The size of packed indices, one for each element of C; 0 if there are none.
static size_t getIndicesBytes(const miopenReduceTensorDescriptor &desc,
                              const miopenTensorDescriptor &c) {
  size_t elements = 1;
  for (int64_t length : c.lengths)
    elements *= static_cast<size_t>(length);
  return hasIndices(desc) ? elements * sizeof(int32_t) : 0;
}

/// Sets `answer` to `bytes`, unless C cannot be a reduction of A.
static ApiResult answerBytes(const miopenTensorDescriptor &a,
                             const miopenTensorDescriptor &c, size_t bytes,
                             size_t &answer) {
  ApiResult result = checkReduced(a, c);
  if (result.getStatus() == miopenStatusSuccess)
    answer = bytes;
  return result;
}

static ApiResult runReduction(miopenHandle &handle,
                              const miopenReduceTensorDescriptor &desc,
                              void *indices, const void *alpha,
                              const miopenTensorDescriptor &a, const void *A,
                              const void *beta, const miopenTensorDescriptor &c,
                              void *C) {
  RowWiseCall call(handle, RowWiseKind::Reduce, getMode(desc), a.lengths);
  bool reduces = false;
  for (int dim = 0; dim < a.getRank(); ++dim)
    if (c.lengths[dim] == 1) {
      call.reduce(dim);
      reduces = true;
    }
  if (!reduces)
    return {miopenStatusUnknownError, "C is as large as A in each dimension"};
  const double before = readFactor(a.dataType, beta);
  call.add(RowRole::Input, "A", a, A);
  if (before != 0)
    call.add(RowRole::Input, "C", c, C);
  call.add(RowRole::RowOutput, "C", c, C);
  if (hasIndices(desc)) {
    std::vector<int64_t> strides(c.lengths.size());
    int64_t next = 1;
    for (size_t dim = strides.size(); dim-- > 0;) {
      strides[dim] = c.lengths[dim] == 1 ? 0 : next;
      next *= c.lengths[dim];
    }
    call.add(RowRole::RowOutput, "indices", DataType::I32, strides, indices);
  }
  return call.scalar(readFactor(a.dataType, alpha)).scalar(before).run();
}

extern "C" {

miopenStatus_t miopenCreateReduceTensorDescriptor(
    miopenReduceTensorDescriptor_t *reduceTensorDesc) {
  return createObject(__func__, REQUIRED(reduceTensorDesc), reduceTensorDesc);
}

miopenStatus_t miopenDestroyReduceTensorDescriptor(
    miopenReduceTensorDescriptor_t reduceTensorDesc) {
  return destroyObject(__func__, REQUIRED(reduceTensorDesc), reduceTensorDesc);
}

miopenStatus_t
miopenSetReduceTensorDescriptor(miopenReduceTensorDescriptor_t reduceTensorDesc,
                                miopenReduceTensorOp_t reduceTensorOp,
                                miopenDataType_t reduceTensorCompType,
                                miopenNanPropagation_t reduceTensorNanOpt,
                                miopenReduceTensorIndices_t reduceTensorIndices,
                                miopenIndicesType_t reduceTensorIndicesType) {
  return guard(__func__, REQUIRED(reduceTensorDesc), [&]() -> ApiResult {
    return setReduction(*reduceTensorDesc, {{},
                                            reduceTensorOp,
                                            reduceTensorCompType,
                                            reduceTensorNanOpt,
                                            reduceTensorIndices,
                                            reduceTensorIndicesType});
  });
}

miopenStatus_t miopenGetReduceTensorDescriptor(
    const miopenReduceTensorDescriptor_t reduceTensorDesc,
    miopenReduceTensorOp_t *reduceTensorOp,
    miopenDataType_t *reduceTensorCompType,
    miopenNanPropagation_t *reduceTensorNanOpt,
    miopenReduceTensorIndices_t *reduceTensorIndices,
    miopenIndicesType_t *reduceTensorIndicesType) {
  return guard(__func__, REQUIRED(reduceTensorDesc), [&]() -> ApiResult {
    setIfWanted(reduceTensorOp, reduceTensorDesc->op);
    setIfWanted(reduceTensorCompType, reduceTensorDesc->type);
    setIfWanted(reduceTensorNanOpt, reduceTensorDesc->nan);
    setIfWanted(reduceTensorIndices, reduceTensorDesc->indices);
    setIfWanted(reduceTensorIndicesType, reduceTensorDesc->indicesType);
    return Status::ok();
  });
}

miopenStatus_t miopenGetReductionIndicesSize(
    miopenHandle_t handle,
    const miopenReduceTensorDescriptor_t reduceTensorDesc,
    const miopenTensorDescriptor_t aDesc, const miopenTensorDescriptor_t cDesc,
    size_t *sizeInBytes) {
  return guard(__func__,
               REQUIRED(handle, reduceTensorDesc, aDesc, cDesc, sizeInBytes),
               [&]() -> ApiResult {
                 return answerBytes(*aDesc, *cDesc,
                                    getIndicesBytes(*reduceTensorDesc, *cDesc),
                                    *sizeInBytes);
               });
}

// Gives 0, because kernels use scratch memory of the handle.
miopenStatus_t miopenGetReductionWorkspaceSize(
    miopenHandle_t handle,
    const miopenReduceTensorDescriptor_t reduceTensorDesc,
    const miopenTensorDescriptor_t aDesc, const miopenTensorDescriptor_t cDesc,
    size_t *sizeInBytes) {
  return guard(__func__,
               REQUIRED(handle, reduceTensorDesc, aDesc, cDesc, sizeInBytes),
               [&]() -> ApiResult {
                 return answerBytes(*aDesc, *cDesc, 0, *sizeInBytes);
               });
}

miopenStatus_t
miopenReduceTensor(miopenHandle_t handle,
                   const miopenReduceTensorDescriptor_t reduceTensorDesc,
                   void *indices, size_t indicesSizeInBytes,
                   void * /*workspace*/, size_t /*workspaceSizeInBytes*/,
                   const void *alpha, const miopenTensorDescriptor_t aDesc,
                   const void *A, const void *beta,
                   const miopenTensorDescriptor_t cDesc, void *C) {
  return guard(
      __func__,
      REQUIRED(handle, reduceTensorDesc, alpha, aDesc, A, beta, cDesc, C),
      [&]() -> ApiResult {
        const miopenReduceTensorDescriptor &desc = *reduceTensorDesc;
        ApiResult result = checkReduced(*aDesc, *cDesc);
        if (result.getStatus() != miopenStatusSuccess)
          return result;
        if (hasIndices(desc) && desc.indicesType != MIOPEN_32BIT_INDICES)
          return {miopenStatusUnknownError, "indices have 32 bits"};
        if (indicesSizeInBytes < getIndicesBytes(desc, *cDesc))
          return {miopenStatusUnknownError,
                  "the indices need " +
                      std::to_string(getIndicesBytes(desc, *cDesc)) +
                      " bytes, but have " + std::to_string(indicesSizeInBytes)};
        if (hasIndices(desc) && !indices)
          return invalidArgument("indices is NULL");
        return runReduction(*handle, desc, indices, alpha, *aDesc, A, beta,
                            *cDesc, C);
      });
}

} // extern "C"
