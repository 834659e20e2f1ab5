//===- BatchNorm.cpp - The shape of a normalisation's parameters ----------===//

#include <miopen/batchnorm.h>

#include "capi/lib/Objects.h"
#include "capi/lib/TensorDescriptor.h"

#include <algorithm>
#include <vector>

using namespace tessera;
using namespace tessera::capi;

extern "C" {

// Goes through the public setter, which checks the lengths.
miopenStatus_t
miopenDeriveBNTensorDescriptor(miopenTensorDescriptor_t derivedBnDesc,
                               const miopenTensorDescriptor_t xDesc,
                               miopenBatchNormMode_t bn_mode) {
  return guard(__func__, REQUIRED(derivedBnDesc, xDesc), [&]() -> ApiResult {
    if (Status status = checkEnum(bn_mode, miopenBNSpatial, "mode");
        !status.isOk())
      return status;
    if (xDesc->getRank() != 4 && xDesc->getRank() != 5)
      return invalidArgument("x has " + std::to_string(xDesc->getRank()) +
                             " dimensions, not 4 or 5");
    std::vector<size_t> lengths(xDesc->lengths.begin(), xDesc->lengths.end());
    lengths[0] = 1;
    if (bn_mode == miopenBNSpatial)
      std::fill(lengths.begin() + 2, lengths.end(), 1);
    const miopenStatus_t status = miopenSetTensorDescriptorV2(
        derivedBnDesc, miopenFloat, xDesc->getRank(), lengths.data(), nullptr);
    return {status, getLastErrorMessage()};
  });
}

} // extern "C"
