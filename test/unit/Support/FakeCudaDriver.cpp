//===- FakeCudaDriver.cpp - The inside of the fake libcuda.so.1 -----------===//
//
// Built several times with FAKE_CUDA_* definitions; see CMakeLists.txt.
//
//===----------------------------------------------------------------------===//

#include "test/unit/Support/FakeCudaState.h"

#include <cstdlib>
#include <cstring>
#include <sstream>

using namespace tessera::cuda;
using namespace tessera::test;

#define EXPORT extern "C" __attribute__((visibility("default")))
#define COUNT(name)                                                            \
  if (CudaError error = recordCall(#name); error != CudaError::Success)        \
  return error

// With these declarations, definitions below that do not have the types that
// the library expects are errors.
#define CUDA_SYMBOL(name, exported, parameters)                                \
  EXPORT CudaError exported parameters;
#include "runtime/HipOnCuda/CudaSymbols.def"

struct ihipCtx_t {
  int device;
};
struct ihipModule_t {
  std::map<std::string, unsigned> kernels; ///< Numbers of arguments.
  std::map<std::string, hipFunction_t> functions;
};
struct ihipModuleSymbol_t {
  std::string name;
  unsigned arguments;
  int maxDynamicShared = 48 << 10;
};
struct ihipStream_t {
  unsigned flags;
  int priority;
};
struct ihipEvent_t {
  unsigned flags;
  float timeMs = -1;
};

static constexpr int kDevices = FAKE_CUDA_DEVICES;
static constexpr int kStaticShared = 1024;
static constexpr int kSharedOptin = 227 << 10;
static constexpr int kMaxThreads = 512;

static ihipCtx_t primaries[2] = {{0}, {1}};
static thread_local std::vector<hipCtx_t> contexts;

namespace {
struct Block {
  char *begin;
  size_t bytes;
  CudaMemoryType type;
  bool isManaged;
};
} // namespace
static std::vector<Block> blocks; // Guarded by the mutex of the state.

static FakeCuda &getState() {
  static FakeCuda state;
  return state;
}
EXPORT FakeCuda *fakeCudaState() { return &getState(); }

CudaError tessera::test::recordCall(const char *function) {
  FakeCuda &state = getState();
  std::lock_guard lock(state.mutex);
  ++state.calls[function];
  if (state.failingFunction != function)
    return CudaError::Success;
  state.failingFunction.clear();
  return state.failure;
}

//===----------------------------------------------------------------------===//
// Devices and contexts
//===----------------------------------------------------------------------===//

CudaError cuDriverGetVersion(int *version) {
  *version = FAKE_CUDA_VERSION;
  return CudaError::Success;
}
CudaError cuInit(unsigned) {
  return kDevices ? CudaError::Success : CudaError::NoDevice;
}
CudaError cuGetErrorName(CudaError error, const char **name) {
  *name = error == CudaError::IllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                                             : "CUDA_ERROR_OF_THE_FAKE";
  return CudaError::Success;
}
CudaError cuGetErrorString(CudaError error, const char **text) {
  *text = error == CudaError::NoDevice ? "no CUDA-capable device is detected"
                                       : "the fake says so";
  return CudaError::Success;
}
CudaError cuDeviceGetCount(int *count) {
  *count = kDevices;
  return CudaError::Success;
}
CudaError cuDeviceGet(hipDevice_t *device, int ordinal) {
  *device = ordinal;
  return CudaError::Success;
}
CudaError cuDeviceGetName(char *name, int length, hipDevice_t device) {
  COUNT(cuDeviceGetName);
  std::snprintf(name, static_cast<size_t>(length), "Fake GPU %d", device);
  return CudaError::Success;
}
CudaError cuDeviceTotalMem_v2(size_t *bytes, hipDevice_t) {
  *bytes = size_t(80) << 30;
  return CudaError::Success;
}
CudaError cuDeviceGetAttribute(int *value, int attribute, hipDevice_t) {
  COUNT(cuDeviceGetAttribute);
  static const std::map<int, int> values = {
      {1, 1024},   {10, 32}, {16, 132},       {39, 2048},
      {75, 9},     {76, 0},  {81, 228 << 10}, {97, kSharedOptin},
      {82, 65536}, {95, 1},  {86, 0}};
  auto found = values.find(attribute);
  *value = found == values.end() ? 7000 + attribute : found->second;
  return CudaError::Success;
}
CudaError cuDevicePrimaryCtxRetain(hipCtx_t *context, hipDevice_t device) {
  COUNT(cuDevicePrimaryCtxRetain);
  *context = &primaries[device];
  return CudaError::Success;
}
CudaError cuCtxGetCurrent(hipCtx_t *context) {
  *context = contexts.empty() ? nullptr : contexts.back();
  return CudaError::Success;
}
CudaError cuCtxSetCurrent(hipCtx_t context) {
  COUNT(cuCtxSetCurrent);
  if (!contexts.empty())
    contexts.pop_back();
  if (context)
    contexts.push_back(context);
  return CudaError::Success;
}
CudaError cuCtxPushCurrent_v2(hipCtx_t context) {
  contexts.push_back(context);
  return CudaError::Success;
}
CudaError cuCtxPopCurrent_v2(hipCtx_t *context) {
  *context = contexts.back();
  contexts.pop_back();
  return CudaError::Success;
}
static int getDevice() {
  return contexts.empty() ? -1 : contexts.back()->device;
}
CudaError cuCtxGetDevice(hipDevice_t *device) {
  *device = getDevice();
  return *device < 0 ? CudaError::InvalidContext : CudaError::Success;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Returns the block that contains `pointer`. The caller holds the lock.
static Block *findBlock(const void *pointer) {
  const auto *byte = static_cast<const char *>(pointer);
  for (Block &block : blocks)
    if (byte >= block.begin && byte < block.begin + block.bytes)
      return &block;
  return nullptr;
}

/// Returns whether the bytes are in one block. Memory that is in no block is
/// taken for plain host memory, which is legal unless `mustBeDevice`.
static bool isLegal(const void *pointer, size_t bytes, bool mustBeDevice) {
  std::lock_guard lock(getState().mutex);
  Block *block = findBlock(pointer);
  if (!block)
    return !mustBeDevice;
  return static_cast<size_t>(block->begin + block->bytes -
                             static_cast<const char *>(pointer)) >= bytes;
}

static CudaError allocate(void **pointer, size_t bytes, CudaMemoryType type,
                          bool isManaged = false) {
  // Like the driver, refuse empty blocks and those larger than the memory.
  if (bytes == 0)
    return CudaError::InvalidValue;
  if (bytes > size_t(1) << 30)
    return CudaError::OutOfMemory;
  *pointer = std::malloc(bytes);
  std::lock_guard lock(getState().mutex);
  blocks.push_back({static_cast<char *>(*pointer), bytes, type, isManaged});
  return CudaError::Success;
}
static CudaError release(void *pointer, CudaMemoryType type) {
  std::lock_guard lock(getState().mutex);
  for (size_t i = 0; i < blocks.size(); ++i)
    if (blocks[i].begin == pointer && blocks[i].type == type) {
      std::free(pointer);
      blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(i));
      return CudaError::Success;
    }
  return CudaError::InvalidValue;
}

CudaError cuMemAlloc_v2(void **pointer, size_t bytes) {
  COUNT(cuMemAlloc);
  return allocate(pointer, bytes, kMemoryDevice);
}
CudaError cuMemAllocAsync(void **pointer, size_t bytes, hipStream_t) {
  COUNT(cuMemAllocAsync);
  return allocate(pointer, bytes, kMemoryDevice);
}
CudaError cuMemAllocManaged(void **pointer, size_t bytes, unsigned) {
  COUNT(cuMemAllocManaged);
  return allocate(pointer, bytes, kMemoryDevice, true);
}
CudaError cuMemHostAlloc(void **pointer, size_t bytes, unsigned) {
  COUNT(cuMemHostAlloc);
  return allocate(pointer, bytes, kMemoryHost);
}
CudaError cuMemAllocPitch_v2(void **pointer, size_t *pitch, size_t width,
                             size_t height, unsigned) {
  COUNT(cuMemAllocPitch);
  *pitch = (width + 511) / 512 * 512;
  return allocate(pointer, *pitch * height, kMemoryDevice);
}
CudaError cuMemFree_v2(void *pointer) {
  COUNT(cuMemFree);
  return release(pointer, kMemoryDevice);
}
CudaError cuMemFreeAsync(void *pointer, hipStream_t) {
  COUNT(cuMemFreeAsync);
  return release(pointer, kMemoryDevice);
}
CudaError cuMemFreeHost(void *pointer) {
  COUNT(cuMemFreeHost);
  return release(pointer, kMemoryHost);
}
CudaError cuMemGetAddressRange_v2(void **begin, size_t *bytes, void *pointer) {
  std::lock_guard lock(getState().mutex);
  Block *block = findBlock(pointer);
  if (!block)
    return CudaError::NotFound;
  if (begin)
    *begin = block->begin;
  if (bytes)
    *bytes = block->bytes;
  return CudaError::Success;
}
CudaError cuPointerGetAttribute(void *value, int attribute, void *pointer) {
  std::lock_guard lock(getState().mutex);
  Block *block = findBlock(pointer);
  if (!block)
    return CudaError::InvalidValue;
  switch (attribute) {
  case kPointerMemoryType:
    *static_cast<int *>(value) = block->type;
    return CudaError::Success;
  case kPointerIsManaged:
    *static_cast<unsigned *>(value) = block->isManaged;
    return CudaError::Success;
  case kPointerDeviceOrdinal:
    *static_cast<int *>(value) = 0;
    return CudaError::Success;
  case kPointerHostPointer:
    if (block->type == kMemoryDevice && !block->isManaged)
      return CudaError::InvalidValue;
    [[fallthrough]];
  case kPointerDevicePointer:
    *static_cast<void **>(value) = pointer;
    return CudaError::Success;
  default:
    return CudaError::InvalidValue;
  }
}

static CudaError copy(void *to, bool toDevice, const void *from,
                      bool fromDevice, size_t bytes) {
  if (!isLegal(to, bytes, toDevice) || !isLegal(from, bytes, fromDevice))
    return CudaError::InvalidValue;
  std::memmove(to, from, bytes);
  return CudaError::Success;
}
CudaError cuMemcpy(void *to, const void *from, size_t bytes) {
  COUNT(cuMemcpy);
  return copy(to, false, from, false, bytes);
}
CudaError cuMemcpyHtoD_v2(void *to, const void *from, size_t bytes) {
  COUNT(cuMemcpyHtoD);
  return copy(to, true, from, false, bytes);
}
CudaError cuMemcpyDtoH_v2(void *to, const void *from, size_t bytes) {
  COUNT(cuMemcpyDtoH);
  return copy(to, false, from, true, bytes);
}
CudaError cuMemcpyDtoD_v2(void *to, const void *from, size_t bytes) {
  COUNT(cuMemcpyDtoD);
  return copy(to, true, from, true, bytes);
}
CudaError cuMemcpyDtoHAsync_v2(void *to, const void *from, size_t bytes,
                               hipStream_t) {
  COUNT(cuMemcpyDtoHAsync);
  return copy(to, false, from, true, bytes);
}
CudaError cuMemcpy2DUnaligned_v2(const CudaCopy2D *p) {
  COUNT(cuMemcpy2DUnaligned);
  bool fromHost = p->fromType == kMemoryHost, toHost = p->toType == kMemoryHost;
  const auto *from =
      static_cast<const char *>(fromHost ? p->fromHost : p->fromDevice);
  auto *to = static_cast<char *>(toHost ? p->toHost : p->toDevice);
  for (size_t y = 0; y < p->height; ++y)
    if (CudaError error = copy(to + y * p->toPitch, p->toType == kMemoryDevice,
                               from + y * p->fromPitch,
                               p->fromType == kMemoryDevice, p->width);
        error != CudaError::Success)
      return error;
  return CudaError::Success;
}
CudaError cuMemsetD8_v2(void *to, unsigned char value, size_t count) {
  COUNT(cuMemsetD8);
  if (!isLegal(to, count, true))
    return CudaError::InvalidValue;
  std::memset(to, value, count);
  return CudaError::Success;
}
CudaError cuMemsetD2D8_v2(void *to, size_t pitch, unsigned char value,
                          size_t width, size_t height) {
  COUNT(cuMemsetD2D8);
  for (size_t y = 0; y < height; ++y)
    std::memset(static_cast<char *>(to) + y * pitch, value, width);
  return CudaError::Success;
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

CudaError cuStreamCreate(hipStream_t *stream, unsigned flags) {
  COUNT(cuStreamCreate);
  *stream = new ihipStream_t{flags, 0};
  return CudaError::Success;
}
CudaError cuStreamCreateWithPriority(hipStream_t *stream, unsigned flags,
                                     int priority) {
  COUNT(cuStreamCreateWithPriority);
  *stream = new ihipStream_t{flags, priority};
  return CudaError::Success;
}
CudaError cuStreamDestroy_v2(hipStream_t stream) {
  COUNT(cuStreamDestroy);
  delete stream;
  return CudaError::Success;
}
CudaError cuStreamGetPriority(hipStream_t stream, int *priority) {
  *priority = stream->priority;
  return CudaError::Success;
}
CudaError cuStreamAddCallback(hipStream_t stream, CudaStreamCallback *callback,
                              void *data, unsigned) {
  COUNT(cuStreamAddCallback);
  callback(stream, CudaError::LaunchFailed, data);
  return CudaError::Success;
}
CudaError cuLaunchHostFunc(hipStream_t, hipHostFn_t function, void *data) {
  COUNT(cuLaunchHostFunc);
  function(data);
  return CudaError::Success;
}
CudaError cuEventCreate(hipEvent_t *event, unsigned flags) {
  COUNT(cuEventCreate);
  *event = new ihipEvent_t{flags};
  return CudaError::Success;
}
CudaError cuEventDestroy_v2(hipEvent_t event) {
  delete event;
  return CudaError::Success;
}
CudaError cuEventRecord(hipEvent_t event, hipStream_t) {
  static float now = 0;
  event->timeMs = now += 0.5f;
  return CudaError::Success;
}
CudaError cuEventElapsedTime(float *timeMs, hipEvent_t begin, hipEvent_t end) {
  if (begin->timeMs < 0 || end->timeMs < 0)
    return CudaError::InvalidHandle;
  *timeMs = end->timeMs - begin->timeMs;
  return CudaError::Success;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

CudaError cuModuleLoadDataEx(hipModule_t *module, const void *image,
                             unsigned count, int *options, void **values) {
  COUNT(cuModuleLoadDataEx);
  std::istringstream text(static_cast<const char *>(image));
  std::string word;
  text >> word;
  if (word != "FAKE-PTX") {
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == kJitErrorLog)
        std::strcpy(static_cast<char *>(values[i]), "line 1: no PTX at all");
    return CudaError::InvalidPtx;
  }
  auto *made = new ihipModule_t;
  unsigned arguments;
  while (text >> word >> arguments)
    made->kernels[word] = arguments;
  *module = made;
  return CudaError::Success;
}
CudaError cuModuleUnload(hipModule_t module) {
  COUNT(cuModuleUnload);
  for (auto &[name, function] : module->functions)
    delete function;
  delete module;
  return CudaError::Success;
}
CudaError cuModuleGetFunction(hipFunction_t *function, hipModule_t module,
                              const char *name) {
  COUNT(cuModuleGetFunction);
  auto found = module->kernels.find(name);
  if (found == module->kernels.end())
    return CudaError::NotFound;
  std::lock_guard lock(getState().mutex);
  hipFunction_t &known = module->functions[name];
  if (!known)
    known = new ihipModuleSymbol_t{name, found->second};
  *function = known;
  return CudaError::Success;
}
CudaError cuFuncGetAttribute(int *value, int attribute,
                             hipFunction_t function) {
  COUNT(cuFuncGetAttribute);
  *value = attribute == kFunctionSharedBytes        ? kStaticShared
           : attribute == kFunctionMaxThreads       ? kMaxThreads
           : attribute == kFunctionMaxDynamicShared ? function->maxDynamicShared
                                                    : attribute;
  return CudaError::Success;
}
CudaError cuFuncSetAttribute(hipFunction_t function, int attribute, int value) {
  COUNT(cuFuncSetAttribute);
  if (attribute == kFunctionMaxDynamicShared)
    function->maxDynamicShared = value;
  return CudaError::Success;
}

static CudaError launch(FakeCudaLaunch launch, hipFunction_t function,
                        void **params, void **extra) {
  auto [x, y, z] = launch.block;
  if (x * y * z == 0 || x * y * z > unsigned(kMaxThreads) ||
      launch.sharedBytes > static_cast<unsigned>(function->maxDynamicShared))
    return CudaError::InvalidValue;
  launch.kernel = function->name;
  launch.device = getDevice();
  launch.arguments.resize(function->arguments);
  if (params)
    for (size_t i = 0; i < launch.arguments.size(); ++i)
      launch.arguments[i] = *static_cast<uint64_t *>(params[i]);
  // CUDA's list has keys and values: 1 and the buffer's address, 2 and the
  // address of its size, and null at the end.
  if (extra) {
    if (reinterpret_cast<uintptr_t>(extra[0]) != 1 ||
        reinterpret_cast<uintptr_t>(extra[2]) != 2 || extra[4])
      return CudaError::InvalidValue;
    size_t bytes = *static_cast<size_t *>(extra[3]);
    if (bytes != launch.arguments.size() * sizeof(uint64_t))
      return CudaError::InvalidValue;
    std::memcpy(launch.arguments.data(), extra[1], bytes);
  }
  std::lock_guard lock(getState().mutex);
  getState().launches.push_back(std::move(launch));
  return CudaError::Success;
}
CudaError cuLaunchKernel(hipFunction_t function, unsigned gridX, unsigned gridY,
                         unsigned gridZ, unsigned blockX, unsigned blockY,
                         unsigned blockZ, unsigned sharedBytes,
                         hipStream_t stream, void **params, void **extra) {
  COUNT(cuLaunchKernel);
  return launch({"",
                 {gridX, gridY, gridZ},
                 {blockX, blockY, blockZ},
                 sharedBytes,
                 stream,
                 {},
                 0,
                 false},
                function, params, extra);
}
CudaError cuLaunchKernelEx(const CudaLaunchConfig *config,
                           hipFunction_t function, void **params,
                           void **extra) {
  COUNT(cuLaunchKernelEx);
  const bool isDependent = config->attributeCount == 1 &&
                           config->attributes->id == kLaunchIsDependent &&
                           config->attributes->value == 1;
  return launch({"",
                 std::to_array(config->grid),
                 std::to_array(config->block),
                 config->sharedBytes,
                 config->stream,
                 {},
                 0,
                 false,
                 isDependent},
                function, params, extra);
}
/// Stores the swizzle as the descriptor, so that tests can check it.
CudaError cuTensorMapEncodeTiled(void *map, int, uint32_t, void *,
                                 const uint64_t *, const uint64_t *,
                                 const uint32_t *, const uint32_t *, int,
                                 int swizzle, int, int) {
  COUNT(cuTensorMapEncodeTiled);
  std::memcpy(map, &swizzle, sizeof swizzle);
  return CudaError::Success;
}
CudaError cuLaunchCooperativeKernel(hipFunction_t function, unsigned gridX,
                                    unsigned gridY, unsigned gridZ,
                                    unsigned blockX, unsigned blockY,
                                    unsigned blockZ, unsigned sharedBytes,
                                    hipStream_t stream, void **params) {
  COUNT(cuLaunchCooperativeKernel);
  return launch({"",
                 {gridX, gridY, gridZ},
                 {blockX, blockY, blockZ},
                 sharedBytes,
                 stream,
                 {},
                 0,
                 true},
                function, params, nullptr);
}
