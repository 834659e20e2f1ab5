//===- GpuApi.h - A HIP runtime, found at run time -------------*- C++ -*--===//
//
// The library calls HIP only, through a table of function pointers, so that one
// build runs on AMD's runtime, on our emulated device and on others.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_GPU_GPUAPI_H
#define TESSERA_RUNTIME_GPU_GPUAPI_H

#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/GpuTarget.h"
#include "runtime/Base/TensorMap.h"

#include <optional>
#include <string>
#include <string_view>

#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__
#endif
// Without it hipMalloc is overloaded and has no single type. The build defines
// it too, for files that include HIP's header before this one.
#ifndef __HIP_DISABLE_CPP_FUNCTIONS__
#define __HIP_DISABLE_CPP_FUNCTIONS__
#endif
#include <hip/hip_runtime_api.h>

namespace tessera {

/// The kind of the HIP runtime.
enum class DeviceKind { Amd, Nvidia, Emulated };

/// The table. Immutable after load(); shared by all threads; never unloaded,
/// because a stream of the application may outlive us.
class GpuApi {
public:
#define HIP_SYMBOL(name) decltype(&::name) name = nullptr;
#include "runtime/Gpu/HipSymbols.def"

  /// The process-wide table. The first call chooses: TESSERA_DEVICE
  /// (amd | nvidia | emulated[:gfx942]) if set; else a HIP runtime that is
  /// already loaded in the process; else the first of amd, nvidia, emulated
  /// that has a device. Later calls return the same answer.
  static ErrorOr<const GpuApi *> get();

  DeviceKind getKind() const { return kind; }
  /// Encodes a descriptor of 128 bytes for the chip's tensor memory
  /// accelerator; null where there is none. See
  /// runtime/HipOnCuda/TensorMaps.cpp.
  hipError_t (*encodeTensorMap)(void *descriptor, const TensorMap *map,
                                const void *address) = nullptr;

  /// hipModuleLaunchKernel for a kernel that waits by itself for the launch in
  /// front, so that the runtime need not wait for it; null where every launch
  /// waits. See runtime/HipOnCuda/Launch.cpp.
  decltype(&::hipModuleLaunchKernel) launchDependent = nullptr;

  /// Returns the estimated issue cycles of this thread's launches since the
  /// last call; the argument says whether further launches are counted. Null
  /// where the device has a clock instead. See
  /// runtime/Emulator/Hip/HipMeasure.cpp.
  hipError_t (*takeIssueCycles)(int countFurther, uint64_t *cycles) = nullptr;

  /// The functions that OtherRuntime.h needs; null where a runtime lacks them.
  decltype(&::hipPointerGetAttributes) hipPointerGetAttributes = nullptr;
  decltype(&::hipStreamGetFlags) hipStreamGetFlags = nullptr;
  /// The functions that isCapturing() and allocations while a client captures
  /// a graph need; null where a runtime lacks them.
  decltype(&::hipStreamIsCapturing) hipStreamIsCapturing = nullptr;
  decltype(&::hipThreadExchangeStreamCaptureMode)
      hipThreadExchangeStreamCaptureMode = nullptr;

  /// Whether the runtime has allocated or registered the memory at `pointer`.
  /// False if it cannot tell.
  bool knowsMemory(const void *pointer) const;
  /// Whether the memory at `pointer` is the device's, so that the host should
  /// copy it. False if the runtime cannot tell.
  bool isDeviceMemory(const void *pointer) const;
  /// Whether the runtime has created the stream. False if it cannot tell.
  bool knowsStream(hipStream_t stream) const;

  /// Whether the stream's calls become part of a graph. False if the runtime
  /// cannot tell.
  bool isCapturing(hipStream_t stream) const;

  /// File that the symbols came from, for messages.
  const std::string &getPath() const { return path; }

  /// The chip of the current device, by its architecture name.
  ErrorOr<const GpuTarget *> getTarget() const;
  /// The architecture name that the runtime reports ("gfx942:sramecc+:xnack-").
  ErrorOr<std::string> getArchitecture() const;

  /// The runtime's name of the current device: "NVIDIA H100 80GB HBM3". The
  /// architecture's name where it has no other.
  ErrorOr<std::string> getDeviceName() const;
  /// Compute units (multiprocessors) of the current device.
  ErrorOr<uint32_t> getComputeUnits() const;

  /// Returns ok for hipSuccess, else the runtime's text for `error` with the
  /// context `what`.
  Status check(hipError_t error, const char *what) const;
  /// Like check(), for a call whose arguments are all our own: what the runtime
  /// calls invalid there, the caller cannot correct.
  Status checkOwn(hipError_t error, const char *what) const;

private:
  friend class GpuApiLoader;
  /// The number in front of the attributes of memory; nothing where the runtime
  /// does not know the memory.
  std::optional<int> getMemoryType(const void *pointer) const;
  /// Whether memory types are numbered as of HIP 6, where 0 means unregistered.
  bool hasUnregisteredType() const;
  /// A text in the current device's properties, of at most 256 bytes.
  ErrorOr<std::string> readProperty(size_t offset) const;

  DeviceKind kind = DeviceKind::Amd;
  std::string path;
  /// This is not in the table, because the struct behind the pointer differs
  /// between HIP 5 and 6: only the architecture name is read, at an offset.
  decltype(&::hipGetDeviceProperties) getProperties = nullptr;
  size_t architectureOffset = 0;
};

/// The spelling of TESSERA_DEVICE: "amd", "nvidia", "emulated".
std::string_view getName(DeviceKind kind);

} // namespace tessera

#endif // TESSERA_RUNTIME_GPU_GPUAPI_H
