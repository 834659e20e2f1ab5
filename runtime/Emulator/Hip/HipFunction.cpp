//===- HipFunction.cpp - What a kernel says of itself ---------------------===//

#include "runtime/Emulator/Hip/Module.h"
#include "runtime/Hip/FatBinary.h"

using namespace tessera;
using namespace tessera::emulator;

static size_t getMaxDynamicLds(const KernelImage &kernel) {
  size_t available = Device::get()->chip.getTarget().ldsBytes;
  return available - std::min<size_t>(available, kernel.descriptor.ldsBytes);
}

TESSERA_HIP hipError_t hipFuncGetAttribute(int *value,
                                           hipFunction_attribute attribute,
                                           hipFunction_t function) {
  if (!value)
    return setError(hipErrorInvalidValue);
  *value = 0;
  if (!isFunction(function))
    return setError(hipErrorInvalidHandle);
  const KernelImage &kernel = *function->kernel;
  const Chip &chip = Device::get()->chip;
  switch (attribute) {
  case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    *value = static_cast<int>(kernel.maxWorkgroupSize);
    return hipSuccess;
  case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    *value = static_cast<int>(kernel.descriptor.ldsBytes);
    return hipSuccess;
  case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    *value = static_cast<int>(kernel.descriptor.scratchBytes);
    return hipSuccess;
  case HIP_FUNC_ATTRIBUTE_NUM_REGS:
    *value = static_cast<int>(kernel.vgprCount);
    return hipSuccess;
  case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    *value = static_cast<int>(getMaxDynamicLds(kernel));
    return hipSuccess;
  case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
  case HIP_FUNC_ATTRIBUTE_BINARY_VERSION:
    *value = getMajor(chip) * 10 + getMinor(chip);
    return hipSuccess;
  case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
  case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA:
  case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    return hipSuccess;
  default:
    return setError(hipErrorInvalidValue);
  }
}

// These are hints about caches, which are not emulated.
TESSERA_HIP hipError_t hipFuncSetAttribute(const void *stub, hipFuncAttribute,
                                           int) {
  hipFunction_t function;
  return hip::findRegistered(stub, &function);
}
TESSERA_HIP const char *hipKernelNameRef(const hipFunction_t function) {
  return isFunction(function) ? function->kernel->name.c_str() : nullptr;
}
