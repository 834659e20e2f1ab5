//===- Measure.h - Run something on the device, often ----------*- C++ -*--===//

#ifndef TESSERA_TOOLS_DNN_DRIVER_MEASURE_H
#define TESSERA_TOOLS_DNN_DRIVER_MEASURE_H

#include "runtime/Gpu/DeviceBuffer.h"
#include "tools/dnn-driver/Descriptors.h"

#include <functional>

namespace tessera::driver {

/// Average milliseconds of one run, without the first one if there are others:
/// the first may have compiled.
struct Times {
  double kernelMs = 0; ///< By the device's events; 0 without timing.
  double wallMs = 0;   ///< By the host's clock, with a wait for the device.
};

/// Runs `prepare`, which is not timed, and `run`, which is, at least once.
ErrorOr<Times> measure(const GpuApi &gpu, miopenHandle_t handle, int iterations,
                       const std::function<Status()> &prepare,
                       const std::function<Status()> &run);

/// Copies `data` to a new buffer on the device.
ErrorOr<DeviceBuffer> upload(const GpuApi &gpu, const std::vector<char> &data);

} // namespace tessera::driver

#endif // TESSERA_TOOLS_DNN_DRIVER_MEASURE_H
