//===- DeviceTargets.h - The chips of the devices, asked once --*- C++ -*--===//

#ifndef TESSERA_RUNTIME_GPU_DEVICETARGETS_H
#define TESSERA_RUNTIME_GPU_DEVICETARGETS_H

#include "runtime/Gpu/GpuApi.h"

#include <map>
#include <mutex>

namespace tessera {

/// GpuApi::getTarget() for each device, remembered: a runtime may take a
/// millisecond to describe a device (CUDA's driver asks the board for its
/// clocks). Failures are not remembered.
class DeviceTargets {
public:
  explicit DeviceTargets(const GpuApi &gpu) : gpu(gpu) {}

  /// `device` is the current one.
  ErrorOr<const GpuTarget *> get(int device) {
    std::lock_guard lock(mutex);
    const GpuTarget *&known = targets[device];
    if (known)
      return known;
    const ErrorOr<const GpuTarget *> target = gpu.getTarget();
    if (target)
      known = *target;
    return target;
  }

private:
  const GpuApi &gpu;
  std::mutex mutex; ///< Guards what follows.
  std::map<int, const GpuTarget *> targets;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_GPU_DEVICETARGETS_H
