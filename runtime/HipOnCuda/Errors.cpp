//===- Errors.cpp - The driver's errors as HIP's --------------------------===//

#include "runtime/HipOnCuda/Driver.h"

using namespace tessera;
using namespace tessera::cuda;

hipError_t tessera::cuda::toHipError(CudaError error) {
  switch (error) {
  case CudaError::Success:
    return hipSuccess;
  case CudaError::InvalidValue:
    return hipErrorInvalidValue;
  case CudaError::OutOfMemory:
    return hipErrorOutOfMemory;
  case CudaError::NotInitialized:
    return hipErrorNotInitialized;
  case CudaError::Deinitialized:
    return hipErrorDeinitialized;
  case CudaError::ProfilerDisabled:
    return hipErrorProfilerDisabled;
  case CudaError::ProfilerNotInitialized:
    return hipErrorProfilerNotInitialized;
  case CudaError::ProfilerAlreadyStarted:
    return hipErrorProfilerAlreadyStarted;
  case CudaError::ProfilerAlreadyStopped:
    return hipErrorProfilerAlreadyStopped;
  case CudaError::StubLibrary:
  case CudaError::DeviceUnavailable:
  case CudaError::NoDevice:
  case CudaError::DeviceNotLicensed:
    return hipErrorNoDevice;
  case CudaError::InvalidDevice:
    return hipErrorInvalidDevice;
  case CudaError::InvalidImage:
    return hipErrorInvalidImage;
  case CudaError::InvalidContext:
    return hipErrorInvalidContext;
  case CudaError::ContextAlreadyCurrent:
    return hipErrorContextAlreadyCurrent;
  case CudaError::MapFailed:
    return hipErrorMapFailed;
  case CudaError::UnmapFailed:
    return hipErrorUnmapFailed;
  case CudaError::ArrayIsMapped:
    return hipErrorArrayIsMapped;
  case CudaError::AlreadyMapped:
    return hipErrorAlreadyMapped;
  // A kernel for another chip, or in PTX that this driver cannot compile.
  case CudaError::NoBinaryForGpu:
  case CudaError::JitCompilerNotFound:
  case CudaError::UnsupportedPtxVersion:
  case CudaError::JitCompilationDisabled:
    return hipErrorNoBinaryForGpu;
  case CudaError::AlreadyAcquired:
    return hipErrorAlreadyAcquired;
  case CudaError::NotMapped:
    return hipErrorNotMapped;
  case CudaError::NotMappedAsArray:
    return hipErrorNotMappedAsArray;
  case CudaError::NotMappedAsPointer:
    return hipErrorNotMappedAsPointer;
  case CudaError::EccUncorrectable:
  case CudaError::NvlinkUncorrectable:
    return hipErrorECCNotCorrectable;
  case CudaError::UnsupportedLimit:
    return hipErrorUnsupportedLimit;
  case CudaError::ContextAlreadyInUse:
    return hipErrorContextAlreadyInUse;
  case CudaError::PeerAccessUnsupported:
    return hipErrorPeerAccessUnsupported;
  case CudaError::InvalidPtx:
    return hipErrorInvalidKernelFile;
  case CudaError::InvalidGraphicsContext:
    return hipErrorInvalidGraphicsContext;
  case CudaError::InvalidSource:
    return hipErrorInvalidSource;
  case CudaError::FileNotFound:
    return hipErrorFileNotFound;
  case CudaError::SharedObjectSymbolNotFound:
    return hipErrorSharedObjectSymbolNotFound;
  case CudaError::SharedObjectInitFailed:
    return hipErrorSharedObjectInitFailed;
  case CudaError::OperatingSystem:
    return hipErrorOperatingSystem;
  case CudaError::InvalidHandle:
    return hipErrorInvalidHandle;
  case CudaError::IllegalState:
    return hipErrorIllegalState;
  case CudaError::NotFound:
    return hipErrorNotFound;
  case CudaError::NotReady:
    return hipErrorNotReady;
  case CudaError::IllegalAddress:
    return hipErrorIllegalAddress;
  case CudaError::LaunchOutOfResources:
    return hipErrorLaunchOutOfResources;
  case CudaError::LaunchTimeout:
  case CudaError::Timeout:
    return hipErrorLaunchTimeOut;
  case CudaError::PeerAccessAlreadyEnabled:
    return hipErrorPeerAccessAlreadyEnabled;
  case CudaError::PeerAccessNotEnabled:
    return hipErrorPeerAccessNotEnabled;
  case CudaError::PrimaryContextActive:
    return hipErrorSetOnActiveProcess;
  case CudaError::ContextIsDestroyed:
    return hipErrorContextIsDestroyed;
  case CudaError::Assert:
    return hipErrorAssert;
  case CudaError::HostMemoryAlreadyRegistered:
    return hipErrorHostMemoryAlreadyRegistered;
  case CudaError::HostMemoryNotRegistered:
    return hipErrorHostMemoryNotRegistered;
  // Errors of a kernel other than its addresses are one code, as on the
  // emulated device.
  case CudaError::HardwareStackError:
  case CudaError::MisalignedAddress:
  case CudaError::InvalidAddressSpace:
  case CudaError::InvalidPc:
  case CudaError::LaunchFailed:
    return hipErrorLaunchFailure;
  case CudaError::IllegalInstruction:
    return hipErrorInvalidDeviceFunction;
  case CudaError::CooperativeLaunchTooLarge:
    return hipErrorCooperativeLaunchTooLarge;
  case CudaError::InvalidClusterSize:
    return hipErrorInvalidConfiguration;
  case CudaError::NotPermitted:
  case CudaError::NotSupported:
    return hipErrorNotSupported;
  case CudaError::SystemNotReady:
  case CudaError::SystemDriverMismatch:
  case CudaError::CompatNotSupportedOnDevice:
    return hipErrorInsufficientDriver;
  case CudaError::StreamCaptureUnsupported:
    return hipErrorStreamCaptureUnsupported;
  case CudaError::StreamCaptureInvalidated:
    return hipErrorStreamCaptureInvalidated;
  case CudaError::StreamCaptureMerge:
    return hipErrorStreamCaptureMerge;
  case CudaError::StreamCaptureUnmatched:
    return hipErrorStreamCaptureUnmatched;
  case CudaError::StreamCaptureUnjoined:
    return hipErrorStreamCaptureUnjoined;
  case CudaError::StreamCaptureIsolation:
    return hipErrorStreamCaptureIsolation;
  case CudaError::StreamCaptureImplicit:
    return hipErrorStreamCaptureImplicit;
  case CudaError::CapturedEvent:
    return hipErrorCapturedEvent;
  case CudaError::StreamCaptureWrongThread:
    return hipErrorStreamCaptureWrongThread;
  case CudaError::GraphExecUpdateFailure:
    return hipErrorGraphExecUpdateFailure;
  case CudaError::ExternalDevice:
    return hipErrorUnknown;
  }
  return hipErrorUnknown;
}

/// Whether the context is unusable from then on: the process must end.
static bool isSticky(CudaError error) {
  switch (error) {
  case CudaError::EccUncorrectable:
  case CudaError::NvlinkUncorrectable:
  case CudaError::IllegalAddress:
  case CudaError::LaunchTimeout:
  case CudaError::Assert:
  case CudaError::HardwareStackError:
  case CudaError::IllegalInstruction:
  case CudaError::MisalignedAddress:
  case CudaError::InvalidAddressSpace:
  case CudaError::InvalidPc:
  case CudaError::LaunchFailed:
  case CudaError::ExternalDevice:
    return true;
  default:
    return false;
  }
}

hipError_t tessera::cuda::report(const Driver &driver, CudaError error,
                                 const char *function) {
  hipError_t translated = toHipError(error);
  // NotReady is an answer and no failure, so it is not remembered.
  if (error == CudaError::NotReady)
    return translated;
  if (isSticky(error))
    hip::setStickyError(translated);
  const char *name = nullptr, *text = nullptr;
  (void)driver.cuGetErrorName(error, &name);
  (void)driver.cuGetErrorString(error, &text);
  return setError(translated,
                  std::string(function) + ": " + (text ? text : "no text") +
                      " (" + (name ? name : "unknown") + ", " +
                      std::to_string(static_cast<int>(error)) + ")");
}
