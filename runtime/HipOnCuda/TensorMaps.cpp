//===- TensorMaps.cpp - Descriptors of the tensor memory accelerator ------===//
//
// This function is not part of HIP: the engine looks it up by its name on chips
// with a tensor memory accelerator. The numbers are from NVIDIA's documentation
// of the driver's functions.
//
//===----------------------------------------------------------------------===//

#include "runtime/Base/TensorMap.h"
#include "runtime/Hip/Export.h"
#include "runtime/HipOnCuda/Driver.h"

using namespace tessera;
using namespace tessera::cuda;

static int getElementType(const TensorMap &map) {
  constexpr int kBytes = 0, kF16 = 6, kF32 = 7, kBF16 = 9, kTf32 = 11;
  if (map.roundsToTf32)
    return kTf32;
  return isFloat8(map.dataType)           ? kBytes
         : map.dataType == DataType::F16  ? kF16
         : map.dataType == DataType::BF16 ? kBF16
                                          : kF32;
}

static constexpr int kNoInterleave = 0, kPromoteTo256 = 3, kFillZeros = 0;

/// The swizzle mode: as many bytes as the innermost dimension of a box has, if
/// that is a swizzle at all.
static int getSwizzle(const TensorMap &map) {
  constexpr int kNone = 0, kBy32 = 1, kBy64 = 2, kBy128 = 3;
  const uint64_t bytes = map.box[0] * getByteSize(map.dataType);
  return bytes <= 16 || map.mode == TensorMap::Mode::Plain ? kNone
         : bytes <= 32                                     ? kBy32
         : bytes <= 64                                     ? kBy64
                                                           : kBy128;
}

/// Encodes `map` with `address` into the 128 bytes at `descriptor`, which a
/// launch passes by value. hipErrorInvalidValue if the address is not aligned
/// to 16 bytes or the driver refuses the map.
TESSERA_HIP hipError_t tesseraEncodeTensorMap(void *descriptor,
                                              const TensorMap *map,
                                              const void *address) {
  const Driver *driver;
  if (hipError_t error = enter(driver))
    return error;
  constexpr uintptr_t kAlignment = 16;
  if (reinterpret_cast<uintptr_t>(address) % kAlignment != 0)
    return setError(hipErrorInvalidValue,
                    "a tensor that tiles are copied of must begin at a "
                    "multiple of 16 bytes");
  auto *begin = const_cast<void *>(address);
  CudaError error;
  if (map->mode != TensorMap::Mode::Im2col)
    error = driver->cuTensorMapEncodeTiled(
        descriptor, getElementType(*map), map->rank, begin, map->sizes.data(),
        map->strides.data() + 1, map->box.data(), map->steps.data(),
        kNoInterleave, getSwizzle(*map), kPromoteTo256, kFillZeros);
  else
    error = driver->cuTensorMapEncodeIm2col(
        descriptor, getElementType(*map), map->rank, begin, map->sizes.data(),
        map->strides.data() + 1, map->lower.data(), map->upper.data(),
        map->box[0], map->box[1], map->steps.data(), kNoInterleave,
        getSwizzle(*map), kPromoteTo256, kFillZeros);
  if (error == CudaError::Success)
    return hipSuccess;
  return report(*driver, error, "cuTensorMapEncode");
}
