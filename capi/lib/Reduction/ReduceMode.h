//===- ReduceMode.h - Bits of a reduction's mode ---------------*- C++ -*--===//

#ifndef TESSERA_CAPI_LIB_REDUCTION_REDUCEMODE_H
#define TESSERA_CAPI_LIB_REDUCTION_REDUCEMODE_H

#include <cstdint>

namespace tessera::capi {

/// Bits of the mode of `reduce` in docs/spec/row-wise.md. Its operations have
/// the numbers of miopenReduceTensorOp_t.
enum ReduceMode : uint32_t {
  kReduceAdd = 0,
  kReduceMul = 1,
  kReduceMin = 2,
  kReduceMax = 3,
  kReduceKeepsNan = 8,
  kReduceHasIndices = 16,
  kReduceSkipsNan = 32,
  kReduceOnlyIndices = 64,
};

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_REDUCTION_REDUCEMODE_H
