//===- TensorMapStrides.h - Which tensors TMA can describe -----*- C++ -*--===//

#ifndef TESSERA_COMPILER_ALGORITHMS_COMMON_TENSORMAPSTRIDES_H
#define TESSERA_COMPILER_ALGORITHMS_COMMON_TENSORMAPSTRIDES_H

#include "runtime/Base/ProblemTypes.h"

namespace tessera {

/// Whether a tensor map can describe a tensor of these strides with channels
/// innermost: strides are multiples of 16 bytes and grow from columns to rows
/// to images (dnn.box_load).
inline bool fitsTensorMap(const Strides &strides, int64_t elementBytes) {
  const int64_t elements = 16 / elementBytes;
  return strides.c == 1 && strides.w % elements == 0 &&
         strides.h % elements == 0 && strides.n % elements == 0 &&
         strides.w <= strides.h && strides.h <= strides.n;
}

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_COMMON_TENSORMAPSTRIDES_H
