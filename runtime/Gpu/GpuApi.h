//===- GpuApi.h - A HIP runtime, found at run time -------------*- C++ -*-===//
//
// The library speaks only HIP, through a table of function pointers, so that
// one build runs on AMD's runtime, on our emulated device and on others.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_GPU_GPUAPI_H
#define TESSERA_RUNTIME_GPU_GPUAPI_H

#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/GpuTarget.h"
#include "runtime/Base/TensorMap.h"

#include <string>
#include <string_view>

#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__
#endif
// Without it hipMalloc is overloaded and has no one type. The build defines it
// too, for files that include HIP's header before this one.
#ifndef __HIP_DISABLE_CPP_FUNCTIONS__
#define __HIP_DISABLE_CPP_FUNCTIONS__
#endif
#include <hip/hip_runtime_api.h>

namespace tessera {

/// Which kind of HIP runtime answers.
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
  /// front, so that this one need not; null where every launch waits. See
  /// runtime/HipOnCuda/Launch.cpp.
  decltype(&::hipModuleLaunchKernel) launchDependent = nullptr;

  /// Gives the estimated issue cycles of this thread's launches since the last
  /// call, and says whether further ones are counted; null where the device
  /// has a clock instead. See runtime/Emulator/Hip/HipMeasure.cpp.
  hipError_t (*takeIssueCycles)(int countFurther, uint64_t *cycles) = nullptr;

  /// Questions of OtherRuntime.h; null where a runtime lacks them.
  decltype(&::hipPointerGetAttributes) hipPointerGetAttributes = nullptr;
  decltype(&::hipStreamGetFlags) hipStreamGetFlags = nullptr;

  /// Whether the pointer is to memory that the runtime has made or taken in.
  /// False if it cannot tell.
  bool knowsMemory(const void *pointer) const;
  /// The same of a stream.
  bool knowsStream(hipStream_t stream) const;

  /// File that the symbols came from, for messages.
  const std::string &getPath() const { return path; }

  /// The chip of the current device, by its architecture name.
  ErrorOr<const GpuTarget *> getTarget() const;
  /// The architecture name as the runtime gives it ("gfx942:sramecc+:xnack-").
  ErrorOr<std::string> getArchitecture() const;

  /// What the runtime calls the current device: "NVIDIA H100 80GB HBM3". The
  /// architecture's name where it has no other.
  ErrorOr<std::string> getDeviceName() const;
  /// Compute units (multiprocessors) of the current device.
  ErrorOr<uint32_t> getComputeUnits() const;

  /// Ok for hipSuccess, else what the runtime says of `error`, after `what`.
  Status check(hipError_t error, const char *what) const;
  /// The same for a call to which no caller of ours gave anything: what the
  /// runtime calls invalid there is not the caller's to mend.
  Status checkOwn(hipError_t error, const char *what) const;

private:
  friend class GpuApiLoader;
  /// Text of the current device's properties, of at most 256 bytes.
  ErrorOr<std::string> readProperty(size_t offset) const;

  DeviceKind kind = DeviceKind::Amd;
  std::string path;
  /// Not in the table, because the struct behind the pointer differs between
  /// HIP 5 and 6: only the architecture name is read, at an offset.
  decltype(&::hipGetDeviceProperties) getProperties = nullptr;
  size_t architectureOffset = 0;
};

/// "amd", "nvidia", "emulated": as TESSERA_DEVICE spells them.
std::string_view getName(DeviceKind kind);

} // namespace tessera

#endif // TESSERA_RUNTIME_GPU_GPUAPI_H
