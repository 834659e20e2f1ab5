//===- Properties.cpp - What the device says of itself --------------------===//

#include "runtime/HipOnCuda/Driver.h"

#include <algorithm>
#include <cstdio>
#include <optional>

using namespace tessera::cuda;

/// The driver's number for an attribute.
static std::optional<int> findAttribute(hipDeviceAttribute_t attribute) {
  switch (attribute) {
#define CUDA_ATTRIBUTE(name, number)                                           \
  case hipDeviceAttribute##name:                                               \
    return number;
#include "runtime/HipOnCuda/Attributes.def"
  default:
    return std::nullopt;
  }
}

/// The value of an attribute that AMD's interface has and CUDA's lacks, or that
/// is refused here.
static std::optional<int> findConstant(hipDeviceAttribute_t attribute) {
  switch (attribute) {
  case hipDeviceAttributeCanUseStreamWaitValue:
    return 1;
  case hipDeviceAttributeCooperativeMultiDeviceLaunch:
  case hipDeviceAttributeCooperativeMultiDeviceUnmatchedFunc:
  case hipDeviceAttributeCooperativeMultiDeviceUnmatchedGridDim:
  case hipDeviceAttributeCooperativeMultiDeviceUnmatchedBlockDim:
  case hipDeviceAttributeCooperativeMultiDeviceUnmatchedSharedMem:
  case hipDeviceAttributeMemoryPoolsSupported:
  case hipDeviceAttributeImageSupport:
  case hipDeviceAttributeFineGrainSupport:
  case hipDeviceAttributeIsLargeBar:
  case hipDeviceAttributeAsicRevision:
  case hipDeviceAttributeGcnArch:
    return 0;
  default:
    return std::nullopt;
  }
}

TESSERA_HIP hipError_t hipDeviceGetAttribute(int *value,
                                             hipDeviceAttribute_t attribute,
                                             int id) {
  if (!value)
    return setError(hipErrorInvalidValue);
  *value = 0;
  if (hipError_t error = checkDevice(id))
    return error;
  if (std::optional<int> constant = findConstant(attribute)) {
    *value = *constant;
    return hipSuccess;
  }
  std::optional<int> number = findAttribute(attribute);
  if (!number)
    return setError(hipErrorInvalidValue);
  const Driver &driver = *Driver::get();
  CudaError error = driver.cuDeviceGetAttribute(value, *number, id);
  return error == CudaError::Success
             ? hipSuccess
             : report(driver, error, "cuDeviceGetAttribute");
}

static hipDeviceArch_t getArchFeatures() {
  hipDeviceArch_t arch{};
  arch.hasGlobalInt32Atomics = arch.hasGlobalFloatAtomicExch = 1;
  arch.hasSharedInt32Atomics = arch.hasSharedFloatAtomicExch = 1;
  arch.hasFloatAtomicAdd = 1;
  arch.hasGlobalInt64Atomics = arch.hasSharedInt64Atomics = 1;
  arch.hasDoubles = 1;
  arch.hasWarpVote = arch.hasWarpBallot = arch.hasWarpShuffle = 1;
  arch.hasFunnelShift = arch.hasSyncThreadsExt = 1;
  arch.hasThreadFenceSystem = arch.has3dGrid = 1;
  return arch;
}

namespace {
/// Queries one attribute after another, and remembers a failure.
class AttributeReader {
public:
  explicit AttributeReader(int id) : id(id) {}
  int operator()(hipDeviceAttribute_t attribute) {
    int value = 0;
    if (hipError_t answer = hipDeviceGetAttribute(&value, attribute, id))
      error = answer;
    return value;
  }
  size_t getSize(hipDeviceAttribute_t attribute) {
    return static_cast<size_t>((*this)(attribute));
  }
  hipError_t getError() const { return error; }

private:
  int id;
  hipError_t error = hipSuccess;
};
} // namespace

static void fillLimits(AttributeReader &get, hipDeviceProp_t &p) {
  p.sharedMemPerBlock = get.getSize(hipDeviceAttributeMaxSharedMemoryPerBlock);
  p.maxSharedMemoryPerMultiProcessor =
      get.getSize(hipDeviceAttributeMaxSharedMemoryPerMultiprocessor);
  p.regsPerBlock = get(hipDeviceAttributeMaxRegistersPerBlock);
  p.warpSize = get(hipDeviceAttributeWarpSize);
  p.maxThreadsPerBlock = get(hipDeviceAttributeMaxThreadsPerBlock);
  p.maxThreadsDim[0] = get(hipDeviceAttributeMaxBlockDimX);
  p.maxThreadsDim[1] = get(hipDeviceAttributeMaxBlockDimY);
  p.maxThreadsDim[2] = get(hipDeviceAttributeMaxBlockDimZ);
  p.maxGridSize[0] = get(hipDeviceAttributeMaxGridDimX);
  p.maxGridSize[1] = get(hipDeviceAttributeMaxGridDimY);
  p.maxGridSize[2] = get(hipDeviceAttributeMaxGridDimZ);
  p.maxThreadsPerMultiProcessor =
      get(hipDeviceAttributeMaxThreadsPerMultiProcessor);
  p.totalConstMem = get.getSize(hipDeviceAttributeTotalConstantMemory);
  p.memPitch = get.getSize(hipDeviceAttributeMaxPitch);
  p.textureAlignment = get.getSize(hipDeviceAttributeTextureAlignment);
  p.texturePitchAlignment =
      get.getSize(hipDeviceAttributeTexturePitchAlignment);
}

static void fillBoard(AttributeReader &get, hipDeviceProp_t &p) {
  p.clockRate = get(hipDeviceAttributeClockRate);
  p.clockInstructionRate = get(hipDeviceAttributeClockInstructionRate);
  p.memoryClockRate = get(hipDeviceAttributeMemoryClockRate);
  p.memoryBusWidth = get(hipDeviceAttributeMemoryBusWidth);
  p.major = get(hipDeviceAttributeComputeCapabilityMajor);
  p.minor = get(hipDeviceAttributeComputeCapabilityMinor);
  p.multiProcessorCount = get(hipDeviceAttributeMultiprocessorCount);
  p.l2CacheSize = get(hipDeviceAttributeL2CacheSize);
  p.computeMode = get(hipDeviceAttributeComputeMode);
  p.pciDomainID = get(hipDeviceAttributePciDomainID);
  p.pciBusID = get(hipDeviceAttributePciBusId);
  p.pciDeviceID = get(hipDeviceAttributePciDeviceId);
  p.isMultiGpuBoard = get(hipDeviceAttributeIsMultiGpuBoard);
  p.integrated = get(hipDeviceAttributeIntegrated);
  p.ECCEnabled = get(hipDeviceAttributeEccEnabled);
  p.tccDriver = get(hipDeviceAttributeTccDriver);
  p.kernelExecTimeoutEnabled = get(hipDeviceAttributeKernelExecTimeout);
}

static void fillFeatures(AttributeReader &get, hipDeviceProp_t &p) {
  p.arch = getArchFeatures();
  p.concurrentKernels = get(hipDeviceAttributeConcurrentKernels);
  p.canMapHostMemory = get(hipDeviceAttributeCanMapHostMemory);
  p.cooperativeLaunch = get(hipDeviceAttributeCooperativeLaunch);
  p.managedMemory = get(hipDeviceAttributeManagedMemory);
  p.directManagedMemAccessFromHost =
      get(hipDeviceAttributeDirectManagedMemAccessFromHost);
  p.concurrentManagedAccess = get(hipDeviceAttributeConcurrentManagedAccess);
  p.pageableMemoryAccess = get(hipDeviceAttributePageableMemoryAccess);
  p.pageableMemoryAccessUsesHostPageTables =
      get(hipDeviceAttributePageableMemoryAccessUsesHostPageTables);
}

TESSERA_HIP hipError_t hipGetDeviceProperties(hipDeviceProp_t *properties,
                                              int id) {
  if (!properties)
    return setError(hipErrorInvalidValue);
  if (hipError_t error = checkDevice(id))
    return error;
  *properties = {};
  hipDeviceProp_t &p = *properties;
  if (hipError_t error = hipDeviceGetName(p.name, sizeof p.name, id))
    return error;
  if (hipError_t error = hipDeviceTotalMem(&p.totalGlobalMem, id))
    return error;
  AttributeReader get(id);
  fillLimits(get, p);
  fillBoard(get, p);
  fillFeatures(get, p);
  // LLVM's -mcpu spells the chip this way.
  std::snprintf(p.gcnArchName, sizeof p.gcnArchName, "sm_%d%d", p.major,
                p.minor);
  return get.getError();
}

TESSERA_HIP hipError_t hipDeviceGetName(char *name, int length,
                                        hipDevice_t id) {
  if (!name || length <= 0)
    return setError(hipErrorInvalidValue);
  if (hipError_t error = checkDevice(id))
    return error;
  return CALL_CUDA(cuDeviceGetName, name, length, id);
}
TESSERA_HIP hipError_t hipDeviceTotalMem(size_t *bytes, hipDevice_t id) {
  if (!bytes)
    return setError(hipErrorInvalidValue);
  if (hipError_t error = checkDevice(id))
    return error;
  return CALL_CUDA(cuDeviceTotalMem, bytes, id);
}
TESSERA_HIP hipError_t hipDeviceComputeCapability(int *major, int *minor,
                                                  hipDevice_t id) {
  if (!major || !minor)
    return setError(hipErrorInvalidValue);
  if (hipError_t error = hipDeviceGetAttribute(
          major, hipDeviceAttributeComputeCapabilityMajor, id))
    return error;
  return hipDeviceGetAttribute(minor, hipDeviceAttributeComputeCapabilityMinor,
                               id);
}

/// Chooses the device that meets most of the requirements; a field of zero is a
/// requirement that every device meets.
TESSERA_HIP hipError_t hipChooseDevice(int *id, const hipDeviceProp_t *wanted) {
  if (!id || !wanted)
    return setError(hipErrorInvalidValue);
  int count = 0;
  if (hipError_t error = hipGetDeviceCount(&count))
    return error;
  int best = -1;
  for (int device = 0; device < count; ++device) {
    hipDeviceProp_t p;
    if (hipError_t error = hipGetDeviceProperties(&p, device))
      return error;
    int fits = (p.major >= wanted->major) +
               (p.totalGlobalMem >= wanted->totalGlobalMem) +
               (p.multiProcessorCount >= wanted->multiProcessorCount) +
               (p.sharedMemPerBlock >= wanted->sharedMemPerBlock);
    if (fits > best) {
      best = fits;
      *id = device;
    }
  }
  return hipSuccess;
}
