//===- Error.cpp - The last error, and what errors are called -------------===//

#include "runtime/Hip/Export.h"
#include "runtime/Hip/Refuse.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>

using namespace tessera::hip;

static thread_local hipError_t lastError = hipSuccess;
static std::atomic<hipError_t> stickyError{hipSuccess};

namespace {
struct LastText {
  std::mutex mutex;
  std::string text;
};
} // namespace

static LastText &getLastText() {
  static LastText *text = new LastText;
  return *text;
}

hipError_t tessera::hip::setError(hipError_t error) {
  if (error != hipSuccess)
    lastError = error;
  return error;
}

hipError_t tessera::hip::setError(hipError_t error, std::string text) {
  if (areErrorsPrinted())
    std::fprintf(stderr, "tessera %s device: %s\n", getDeviceKind(),
                 text.c_str());
  LastText &last = getLastText();
  std::lock_guard lock(last.mutex);
  last.text = std::move(text);
  return setError(error);
}

void tessera::hip::setStickyError(hipError_t error) {
  stickyError.store(error);
}

int tessera::hip::refuseCall(const char *function) {
  return setError(hipErrorNotSupported,
                  std::string(function) + " is not supported");
}

/// Copies the text of the last failed call of any thread, cut to `size` bytes
/// with its final 0. Returns the size that the whole text needs.
TESSERA_HIP size_t tesseraDeviceGetLastError(char *text, size_t size) {
  LastText &last = getLastText();
  std::lock_guard lock(last.mutex);
  if (text && size) {
    size_t count = std::min(size - 1, last.text.size());
    std::memcpy(text, last.text.data(), count);
    text[count] = 0;
  }
  return last.text.size() + 1;
}

/// The library's loader calls this to find out what kind of HIP this is.
TESSERA_HIP const char *tesseraDeviceKind() { return getDeviceKind(); }

TESSERA_HIP hipError_t hipGetLastError() {
  hipError_t error = hipPeekAtLastError();
  lastError = hipSuccess;
  return error;
}
TESSERA_HIP hipError_t hipPeekAtLastError() {
  hipError_t sticky = stickyError;
  return sticky == hipSuccess ? lastError : sticky;
}

namespace {
struct ErrorText {
  hipError_t error;
  const char *name, *text;
};
} // namespace

#define TESSERA_ERROR(name, text) {name, #name, text}
static constexpr ErrorText kErrors[] = {
    TESSERA_ERROR(hipSuccess, "no error"),
    TESSERA_ERROR(hipErrorInvalidValue, "invalid argument"),
    TESSERA_ERROR(hipErrorOutOfMemory, "out of memory"),
    TESSERA_ERROR(hipErrorNotInitialized, "not initialized"),
    TESSERA_ERROR(hipErrorInvalidConfiguration, "invalid configuration"),
    TESSERA_ERROR(hipErrorInvalidDevicePointer, "invalid device pointer"),
    TESSERA_ERROR(hipErrorInvalidMemcpyDirection, "invalid copy direction"),
    TESSERA_ERROR(hipErrorInvalidDeviceFunction, "invalid device function"),
    TESSERA_ERROR(hipErrorNoDevice, "no device"),
    TESSERA_ERROR(hipErrorInvalidDevice, "invalid device"),
    TESSERA_ERROR(hipErrorInvalidImage, "invalid device image"),
    TESSERA_ERROR(hipErrorInvalidContext, "invalid context"),
    TESSERA_ERROR(hipErrorNoBinaryForGpu, "no code object for this device"),
    TESSERA_ERROR(hipErrorFileNotFound, "file not found"),
    TESSERA_ERROR(hipErrorInvalidHandle, "invalid handle"),
    TESSERA_ERROR(hipErrorNotFound, "not found"),
    TESSERA_ERROR(hipErrorNotReady, "not ready"),
    TESSERA_ERROR(hipErrorIllegalAddress, "illegal memory access"),
    TESSERA_ERROR(hipErrorLaunchOutOfResources, "out of launch resources"),
    TESSERA_ERROR(hipErrorLaunchTimeOut, "launch timed out"),
    TESSERA_ERROR(hipErrorLaunchFailure, "launch failure"),
    TESSERA_ERROR(hipErrorNotSupported, "not supported"),
    TESSERA_ERROR(hipErrorDeinitialized, "deinitialized"),
    TESSERA_ERROR(hipErrorProfilerDisabled, "profiler disabled"),
    TESSERA_ERROR(hipErrorProfilerNotInitialized, "profiler not initialized"),
    TESSERA_ERROR(hipErrorProfilerAlreadyStarted, "profiler already started"),
    TESSERA_ERROR(hipErrorProfilerAlreadyStopped, "profiler already stopped"),
    TESSERA_ERROR(hipErrorInvalidPitchValue, "invalid pitch"),
    TESSERA_ERROR(hipErrorInvalidSymbol, "invalid device symbol"),
    TESSERA_ERROR(hipErrorInsufficientDriver, "insufficient driver"),
    TESSERA_ERROR(hipErrorMissingConfiguration, "missing launch configuration"),
    TESSERA_ERROR(hipErrorPriorLaunchFailure, "an earlier launch failed"),
    TESSERA_ERROR(hipErrorContextAlreadyCurrent, "context is already current"),
    TESSERA_ERROR(hipErrorMapFailed, "mapping failed"),
    TESSERA_ERROR(hipErrorUnmapFailed, "unmapping failed"),
    TESSERA_ERROR(hipErrorArrayIsMapped, "array is mapped"),
    TESSERA_ERROR(hipErrorAlreadyMapped, "already mapped"),
    TESSERA_ERROR(hipErrorAlreadyAcquired, "already acquired"),
    TESSERA_ERROR(hipErrorNotMapped, "not mapped"),
    TESSERA_ERROR(hipErrorNotMappedAsArray, "not mapped as array"),
    TESSERA_ERROR(hipErrorNotMappedAsPointer, "not mapped as pointer"),
    TESSERA_ERROR(hipErrorECCNotCorrectable, "uncorrectable ECC error"),
    TESSERA_ERROR(hipErrorUnsupportedLimit, "unsupported limit"),
    TESSERA_ERROR(hipErrorContextAlreadyInUse, "context is already in use"),
    TESSERA_ERROR(hipErrorPeerAccessUnsupported,
                  "peer access is not supported"),
    TESSERA_ERROR(hipErrorInvalidKernelFile, "invalid kernel file"),
    TESSERA_ERROR(hipErrorInvalidGraphicsContext, "invalid graphics context"),
    TESSERA_ERROR(hipErrorInvalidSource, "invalid source"),
    TESSERA_ERROR(hipErrorSharedObjectSymbolNotFound,
                  "symbol of a shared object not found"),
    TESSERA_ERROR(hipErrorSharedObjectInitFailed,
                  "initialization of a shared object failed"),
    TESSERA_ERROR(hipErrorOperatingSystem, "operating system error"),
    TESSERA_ERROR(hipErrorIllegalState, "illegal state"),
    TESSERA_ERROR(hipErrorPeerAccessAlreadyEnabled,
                  "peer access is already enabled"),
    TESSERA_ERROR(hipErrorPeerAccessNotEnabled, "peer access is not enabled"),
    TESSERA_ERROR(hipErrorSetOnActiveProcess,
                  "device is already active in this process"),
    TESSERA_ERROR(hipErrorContextIsDestroyed, "context is destroyed"),
    TESSERA_ERROR(hipErrorAssert, "device-side assertion"),
    TESSERA_ERROR(hipErrorHostMemoryAlreadyRegistered,
                  "host memory is already registered"),
    TESSERA_ERROR(hipErrorHostMemoryNotRegistered,
                  "host memory is not registered"),
    TESSERA_ERROR(hipErrorCooperativeLaunchTooLarge,
                  "too many groups for a cooperative launch"),
    TESSERA_ERROR(hipErrorStreamCaptureUnsupported,
                  "not permitted while a stream is captured"),
    TESSERA_ERROR(hipErrorStreamCaptureInvalidated,
                  "stream capture was invalidated"),
    TESSERA_ERROR(hipErrorStreamCaptureMerge, "stream captures would merge"),
    TESSERA_ERROR(hipErrorStreamCaptureUnmatched,
                  "stream capture began on another stream"),
    TESSERA_ERROR(hipErrorStreamCaptureUnjoined,
                  "stream capture has an unjoined fork"),
    TESSERA_ERROR(hipErrorStreamCaptureIsolation,
                  "dependency would cross a stream capture"),
    TESSERA_ERROR(hipErrorStreamCaptureImplicit,
                  "implicit dependency on a stream capture"),
    TESSERA_ERROR(hipErrorCapturedEvent,
                  "event was recorded in a stream capture"),
    TESSERA_ERROR(hipErrorStreamCaptureWrongThread,
                  "stream capture began in another thread"),
    TESSERA_ERROR(hipErrorGraphExecUpdateFailure, "graph could not be updated"),
    TESSERA_ERROR(hipErrorRuntimeMemory, "runtime memory error"),
    TESSERA_ERROR(hipErrorRuntimeOther, "runtime error"),
    TESSERA_ERROR(hipErrorUnknown, "unknown error"),
};
#undef TESSERA_ERROR

static const ErrorText &find(hipError_t error) {
  const auto *found =
      std::find_if(std::begin(kErrors), std::end(kErrors),
                   [&](const ErrorText &row) { return row.error == error; });
  return found == std::end(kErrors) ? *std::prev(std::end(kErrors)) : *found;
}

TESSERA_HIP const char *hipGetErrorName(hipError_t error) {
  return find(error).name;
}
TESSERA_HIP const char *hipGetErrorString(hipError_t error) {
  return find(error).text;
}
