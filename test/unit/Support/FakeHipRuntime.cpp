//===- FakeHipRuntime.cpp - The inside of the fake HIP runtime ------------===//
//
// Built several times with FAKE_HIP_* definitions; see CMakeLists.txt.
//
//===----------------------------------------------------------------------===//

#include "runtime/Base/TensorMap.h"
#include "test/unit/Support/FakeHip.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

using namespace tessera::test;

#define EXPORT extern "C" __attribute__((visibility("default")))

/// The size of the device's memory.
static constexpr size_t kMemoryBytes = size_t(1) << 30;

static constexpr std::string_view kMagic = "FAKE-CODE-OBJECT:";

static FakeHip &getState() {
  static FakeHip state;
  return state;
}

EXPORT FakeHip *fakeHipState() { return &getState(); }

/// Counts the call and returns the failure that a test has asked for, or
/// success.
static hipError_t recordCall(const char *function) {
  FakeHip &state = getState();
  std::lock_guard lock(state.mutex);
  ++state.calls[function];
  if (state.failingFunction != function)
    return hipSuccess;
  state.failingFunction.clear();
  return state.failure;
}

#define COUNT()                                                                \
  if (hipError_t error = recordCall(__func__); error != hipSuccess)            \
  return error

static void track(const char *function, int change) {
  FakeHip &state = getState();
  std::lock_guard lock(state.mutex);
  state.alive[function] += change;
}

static void setKnown(const void *block, bool isAlive) {
  FakeHip &state = getState();
  std::lock_guard lock(state.mutex);
  if (isAlive)
    state.blocks.insert(block);
  else
    state.blocks.erase(block);
}

static bool isKnown(const void *block) {
  FakeHip &state = getState();
  std::lock_guard lock(state.mutex);
  return state.blocks.count(block) != 0;
}

/// Creates a handle that is a copy of `text`. It is counted first, because
/// counting may throw in tests that let memory run out and must not leak then.
template <typename Handle>
static void makeHandle(Handle *handle, const char *text, const char *function) {
  track(function, 1);
  *handle = reinterpret_cast<Handle>(strdup(text));
}

template <typename Handle>
static hipError_t dropHandle(Handle handle, const char *function) {
  free(handle);
  track(function, -1);
  return hipSuccess;
}

#ifdef FAKE_HIP_KIND
EXPORT const char *tesseraDeviceKind() { return FAKE_HIP_KIND; }
#endif

EXPORT hipError_t hipGetDeviceCount(int *count) {
  COUNT();
  *count = FAKE_HIP_DEVICES;
  return FAKE_HIP_DEVICES == 0 ? hipErrorNoDevice : hipSuccess;
}
EXPORT hipError_t hipGetDevice(int *device) {
  COUNT();
  FakeHip &state = getState();
  std::lock_guard lock(state.mutex);
  *device = state.currentDevice;
  return hipSuccess;
}
EXPORT hipError_t hipSetDevice(int device) {
  COUNT();
  FakeHip &state = getState();
  std::lock_guard lock(state.mutex);
  state.currentDevice = device;
  return hipSuccess;
}

#ifdef FAKE_HIP_R0600
EXPORT hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_t *properties,
                                              int device) {
  COUNT();
  char *bytes = reinterpret_cast<char *>(properties);
  memset(bytes, '?', 1472);
  strcpy(bytes + 1160, FAKE_HIP_CHIP);
  return hipSuccess;
}
#endif
EXPORT hipError_t hipGetDeviceProperties(hipDeviceProp_t *properties,
                                         int device) {
  COUNT();
  memset(static_cast<void *>(properties), '?', sizeof(*properties));
  strcpy(properties->gcnArchName, FAKE_HIP_CHIP);
  return hipSuccess;
}

EXPORT const char *hipGetErrorString(hipError_t error) {
  return error == hipErrorOutOfMemory ? "out of memory" : "fake failure";
}
EXPORT hipError_t hipGetLastError() { return hipSuccess; }
EXPORT hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t, int) {
  COUNT();
  *value = 1;
  return hipSuccess;
}
EXPORT hipError_t hipDeviceSynchronize() {
  COUNT();
  return hipSuccess;
}

EXPORT hipError_t hipMemGetInfo(size_t *free, size_t *total) {
  COUNT();
  *free = *total = kMemoryBytes;
  return hipSuccess;
}
EXPORT hipError_t hipMalloc(void **pointer, size_t size) {
  COUNT();
  if (size > kMemoryBytes)
    return hipErrorOutOfMemory;
  *pointer = malloc(size);
  track("hipMalloc", 1);
  setKnown(*pointer, true);
  return hipSuccess;
}
EXPORT hipError_t hipPointerGetAttributes(hipPointerAttribute_t *attributes,
                                          const void *pointer) {
  COUNT();
  attributes->memoryType = hipMemoryTypeHost;
#ifdef FAKE_HIP_R0600
  // In HIP 6, type 0 is memory that is not registered and 2 is the device's.
  if (isKnown(pointer))
    attributes->memoryType = static_cast<hipMemoryType>(2);
  return hipSuccess;
#else
  return isKnown(pointer) ? hipSuccess : hipErrorInvalidValue;
#endif
}
EXPORT hipError_t hipFree(void *pointer) {
  COUNT();
  setKnown(pointer, false);
  return dropHandle(pointer, "hipMalloc");
}
EXPORT hipError_t hipMemcpy(void *target, const void *source, size_t size,
                            hipMemcpyKind) {
  COUNT();
  memcpy(target, source, size);
  return hipSuccess;
}
EXPORT hipError_t hipMemcpyAsync(void *target, const void *source, size_t size,
                                 hipMemcpyKind, hipStream_t) {
  COUNT();
  memcpy(target, source, size);
  return hipSuccess;
}
EXPORT hipError_t hipMemset(void *target, int value, size_t size) {
  COUNT();
  memset(target, value, size);
  return hipSuccess;
}
EXPORT hipError_t hipMemsetAsync(void *target, int value, size_t size,
                                 hipStream_t) {
  COUNT();
  memset(target, value, size);
  return hipSuccess;
}

EXPORT hipError_t hipStreamCreate(hipStream_t *stream) {
  COUNT();
  makeHandle(stream, "stream", __func__);
  setKnown(*stream, true);
  return hipSuccess;
}
EXPORT hipError_t hipStreamGetFlags(hipStream_t stream, unsigned *flags) {
  COUNT();
  *flags = 0;
  return isKnown(stream) ? hipSuccess : hipErrorInvalidHandle;
}
EXPORT hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned,
                                              int) {
  COUNT();
  makeHandle(stream, "stream", "hipStreamCreate");
  setKnown(*stream, true);
  return hipSuccess;
}
EXPORT hipError_t hipStreamDestroy(hipStream_t stream) {
  COUNT();
  setKnown(stream, false);
  return dropHandle(stream, "hipStreamCreate");
}
EXPORT hipError_t hipStreamSynchronize(hipStream_t) {
  COUNT();
  return hipSuccess;
}

EXPORT hipError_t hipEventCreate(hipEvent_t *event) {
  COUNT();
  makeHandle(event, "event", __func__);
  return hipSuccess;
}
EXPORT hipError_t hipEventDestroy(hipEvent_t event) {
  COUNT();
  return dropHandle(event, "hipEventCreate");
}
EXPORT hipError_t hipEventRecord(hipEvent_t, hipStream_t) {
  COUNT();
  return hipSuccess;
}
EXPORT hipError_t hipEventSynchronize(hipEvent_t) {
  COUNT();
  return hipSuccess;
}
EXPORT hipError_t hipEventElapsedTime(float *timeMs, hipEvent_t, hipEvent_t) {
  COUNT();
  *timeMs = 1.5f;
  return hipSuccess;
}

EXPORT hipError_t hipModuleLoadData(hipModule_t *module, const void *image) {
  COUNT();
  if (strncmp(static_cast<const char *>(image), kMagic.data(), kMagic.size()))
    return hipErrorInvalidImage;
  makeHandle(module, static_cast<const char *>(image) + kMagic.size(),
             __func__);
  return hipSuccess;
}
#ifndef FAKE_HIP_INCOMPLETE
EXPORT hipError_t hipModuleUnload(hipModule_t module) {
  COUNT();
  return dropHandle(module, "hipModuleLoadData");
}
#endif
/// A function is its module, which is the name of its only kernel.
EXPORT hipError_t hipModuleGetFunction(hipFunction_t *function,
                                       hipModule_t module, const char *name) {
  COUNT();
  if (strcmp(reinterpret_cast<const char *>(module), name))
    return hipErrorNotFound;
  *function = reinterpret_cast<hipFunction_t>(module);
  return hipSuccess;
}

/// Stores address plus rank as the descriptor, so that tests can check both.
EXPORT hipError_t tesseraEncodeTensorMap(void *descriptor,
                                         const tessera::TensorMap *map,
                                         const void *address) {
  COUNT();
  auto *words = static_cast<uint64_t *>(descriptor);
  std::fill_n(words, 128 / sizeof(uint64_t), 0);
  words[0] = reinterpret_cast<uint64_t>(address) + map->rank;
  return hipSuccess;
}

static hipError_t launch(FakeLaunch launch, void **params, void **extra) {
  // Arguments come one by one, of which the first eight bytes are recorded, or
  // in one buffer.
  std::vector<char> kernarg;
  if (params) {
    for (; *params; ++params) {
      auto *begin = static_cast<const char *>(*params);
      kernarg.insert(kernarg.end(), begin, begin + 8);
    }
  } else if (!extra || extra[0] != HIP_LAUNCH_PARAM_BUFFER_POINTER ||
             extra[2] != HIP_LAUNCH_PARAM_BUFFER_SIZE ||
             extra[4] != HIP_LAUNCH_PARAM_END) {
    return hipErrorInvalidValue;
  } else {
    auto *begin = static_cast<const char *>(extra[1]);
    kernarg.assign(begin, begin + *static_cast<const size_t *>(extra[3]));
  }
  FakeHip &state = getState();
  std::lock_guard lock(state.mutex);
  launch.kernarg = std::move(kernarg);
  state.launches.push_back(std::move(launch));
  return hipSuccess;
}

EXPORT hipError_t hipModuleLaunchKernel(hipFunction_t function, uint32_t gridX,
                                        uint32_t gridY, uint32_t gridZ,
                                        uint32_t blockX, uint32_t blockY,
                                        uint32_t blockZ, uint32_t ldsBytes,
                                        hipStream_t stream, void **params,
                                        void **extra) {
  COUNT();
  return launch({reinterpret_cast<const char *>(function),
                 {gridX, gridY, gridZ},
                 {blockX, blockY, blockZ},
                 ldsBytes,
                 stream,
                 {},
                 false},
                params, extra);
}
EXPORT hipError_t tesseraLaunchDependent(hipFunction_t function, uint32_t gridX,
                                         uint32_t gridY, uint32_t gridZ,
                                         uint32_t blockX, uint32_t blockY,
                                         uint32_t blockZ, uint32_t ldsBytes,
                                         hipStream_t stream, void **params,
                                         void **extra) {
  COUNT();
  return launch({reinterpret_cast<const char *>(function),
                 {gridX, gridY, gridZ},
                 {blockX, blockY, blockZ},
                 ldsBytes,
                 stream,
                 {},
                 true},
                params, extra);
}
