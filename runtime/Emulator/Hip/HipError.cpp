//===- HipError.cpp - Errors of the emulated HIP --------------------------===//

#include "runtime/Emulator/Hip/Device.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>

using namespace tessera::emulator;

static thread_local hipError_t lastError = hipSuccess;

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

hipError_t tessera::emulator::setError(hipError_t error) {
  if (error != hipSuccess)
    lastError = error;
  return error;
}

hipError_t tessera::emulator::setError(hipError_t error, std::string text) {
  // Not through Device: it may be what failed.
  static const bool logs = readSettings().logErrors;
  if (logs)
    std::fprintf(stderr, "tessera emulator: %s\n", text.c_str());
  LastText &last = getLastText();
  std::lock_guard lock(last.mutex);
  last.text = std::move(text);
  return setError(error);
}

/// Copies the text of the last failed call of any thread, cut to `size` bytes
/// with its final 0. Returns the size it needs.
TESSERA_HIP size_t tesseraEmulatorGetLastError(char *text, size_t size) {
  LastText &last = getLastText();
  std::lock_guard lock(last.mutex);
  if (text && size) {
    size_t count = std::min(size - 1, last.text.size());
    std::memcpy(text, last.text.data(), count);
    text[count] = 0;
  }
  return last.text.size() + 1;
}

/// For the library's loader, which asks what kind of HIP this is.
TESSERA_HIP const char *tesseraDeviceKind() { return "emulated"; }

TESSERA_HIP hipError_t hipGetLastError() {
  hipError_t error = lastError;
  lastError = hipSuccess;
  return error;
}
TESSERA_HIP hipError_t hipPeekAtLastError() { return lastError; }

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
