//===- Cuda.h - What we say of NVIDIA's driver API -------------*- C++ -*--===//
//
// Our own declarations of the functions of libcuda.so.1 that are called here,
// so that no CUDA toolkit is needed. The numbers are from NVIDIA's
// documentation of the driver API; they are part of its binary interface and
// never change.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_HIPONCUDA_CUDA_H
#define TESSERA_RUNTIME_HIPONCUDA_CUDA_H

#include "runtime/Hip/Export.h"

#include <cstdint>

namespace tessera::cuda {

/// CUresult. Other numbers exist; they become hipErrorUnknown.
enum class CudaError : int {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  Deinitialized = 4,
  ProfilerDisabled = 5,
  ProfilerNotInitialized = 6,
  ProfilerAlreadyStarted = 7,
  ProfilerAlreadyStopped = 8,
  StubLibrary = 34,
  DeviceUnavailable = 46,
  NoDevice = 100,
  InvalidDevice = 101,
  DeviceNotLicensed = 102,
  InvalidImage = 200,
  InvalidContext = 201,
  ContextAlreadyCurrent = 202,
  MapFailed = 205,
  UnmapFailed = 206,
  ArrayIsMapped = 207,
  AlreadyMapped = 208,
  NoBinaryForGpu = 209,
  AlreadyAcquired = 210,
  NotMapped = 211,
  NotMappedAsArray = 212,
  NotMappedAsPointer = 213,
  EccUncorrectable = 214,
  UnsupportedLimit = 215,
  ContextAlreadyInUse = 216,
  PeerAccessUnsupported = 217,
  InvalidPtx = 218,
  InvalidGraphicsContext = 219,
  NvlinkUncorrectable = 220,
  JitCompilerNotFound = 221,
  UnsupportedPtxVersion = 222,
  JitCompilationDisabled = 223,
  InvalidSource = 300,
  FileNotFound = 301,
  SharedObjectSymbolNotFound = 302,
  SharedObjectInitFailed = 303,
  OperatingSystem = 304,
  InvalidHandle = 400,
  IllegalState = 401,
  NotFound = 500,
  NotReady = 600,
  IllegalAddress = 700,
  LaunchOutOfResources = 701,
  LaunchTimeout = 702,
  PeerAccessAlreadyEnabled = 704,
  PeerAccessNotEnabled = 705,
  PrimaryContextActive = 708,
  ContextIsDestroyed = 709,
  Assert = 710,
  HostMemoryAlreadyRegistered = 712,
  HostMemoryNotRegistered = 713,
  HardwareStackError = 714,
  IllegalInstruction = 715,
  MisalignedAddress = 716,
  InvalidAddressSpace = 717,
  InvalidPc = 718,
  LaunchFailed = 719,
  CooperativeLaunchTooLarge = 720,
  NotPermitted = 800,
  NotSupported = 801,
  SystemNotReady = 802,
  SystemDriverMismatch = 803,
  CompatNotSupportedOnDevice = 804,
  StreamCaptureUnsupported = 900,
  StreamCaptureInvalidated = 901,
  StreamCaptureMerge = 902,
  StreamCaptureUnmatched = 903,
  StreamCaptureUnjoined = 904,
  StreamCaptureIsolation = 905,
  StreamCaptureImplicit = 906,
  CapturedEvent = 907,
  StreamCaptureWrongThread = 908,
  Timeout = 909,
  GraphExecUpdateFailure = 910,
  ExternalDevice = 911,
  InvalidClusterSize = 912,
};

/// CUdevice_attribute: those without a HIP attribute of their own.
enum CudaDeviceAttribute : int {
  kAttributeSharedPerBlockOptin = 97,
};

/// CUpointer_attribute. HIP's numbers are the same.
enum CudaPointerAttribute : int {
  kPointerMemoryType = 2,
  kPointerDevicePointer = 3,
  kPointerHostPointer = 4,
  kPointerIsManaged = 8,
  kPointerDeviceOrdinal = 9,
};

/// CUfunction_attribute. HIP's numbers are the same.
enum CudaFunctionAttribute : int {
  kFunctionMaxThreads = 0,
  kFunctionSharedBytes = 1,
  kFunctionMaxDynamicShared = 8,
};

/// CUmemorytype.
enum CudaMemoryType : int {
  kMemoryHost = 1,
  kMemoryDevice = 2,
  kMemoryUnified = 4,
};

/// CUjit_option.
enum CudaJitOption : int {
  kJitErrorLog = 5,
  kJitErrorLogBytes = 6,
};

/// CUDA_MEMCPY2D.
struct CudaCopy2D {
  size_t fromX = 0, fromY = 0;
  CudaMemoryType fromType;
  const void *fromHost = nullptr;
  void *fromDevice = nullptr;
  void *fromArray = nullptr;
  size_t fromPitch;
  size_t toX = 0, toY = 0;
  CudaMemoryType toType;
  void *toHost = nullptr;
  void *toDevice = nullptr;
  void *toArray = nullptr;
  size_t toPitch;
  size_t width, height;
};

/// CUlaunchAttribute: 72 bytes, with the value at byte 8.
struct alignas(8) CudaLaunchAttribute {
  int id;
  int unused = 0;
  int value;
  char rest[60] = {};
};
static_assert(sizeof(CudaLaunchAttribute) == 72);

/// CUlaunchAttributeID of programmatic stream serialization: the launch does
/// not wait for the one in front, because its kernel waits by itself.
static constexpr int kLaunchIsDependent = 6;

/// CUlaunchConfig.
struct CudaLaunchConfig {
  unsigned grid[3], block[3];
  unsigned sharedBytes;
  hipStream_t stream;
  const CudaLaunchAttribute *attributes;
  unsigned attributeCount;
};
static_assert(sizeof(CudaLaunchConfig) == 56);

using CudaStreamCallback = void(hipStream_t stream, CudaError error,
                                void *data);
using CudaSharedOfBlock = size_t(int block);

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_HIPONCUDA_CUDA_H
