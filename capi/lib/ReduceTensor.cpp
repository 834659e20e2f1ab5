//===- ReduceTensor.cpp - The descriptor of miopen/reduce.h ---------------===//

#include <miopen/reduce.h>

#include "capi/lib/Objects.h"
#include "capi/lib/TensorDescriptor.h"

using namespace tessera;
using namespace tessera::capi;

/// What is reduced how. Owned by the client; any number of threads may read it
/// at once.
struct miopenReduceTensorDescriptor {
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
    return setReduction(*reduceTensorDesc,
                        {reduceTensorOp, reduceTensorCompType,
                         reduceTensorNanOpt, reduceTensorIndices,
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

} // extern "C"
