//===- Measure.cpp - Run something on the device, often -------------------===//

#include "tools/dnn-driver/Measure.h"

#include <algorithm>
#include <chrono>

using namespace tessera;
using namespace tessera::driver;

/// Runs once and sets `times`.
static Status runOnce(const GpuApi &gpu, miopenHandle_t handle,
                      const std::function<Status()> &run, Times &times) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  Status status = run();
  if (status.isOk())
    status =
        gpu.check(gpu.hipStreamSynchronize(nullptr), "hipStreamSynchronize");
  const std::chrono::duration<double, std::milli> wall = Clock::now() - start;
  float kernelMs = 0;
  if (status.isOk())
    status = check(miopenGetKernelTime(handle, &kernelMs));
  times = {kernelMs, wall.count()};
  return status;
}

ErrorOr<Times> driver::measure(const GpuApi &gpu, miopenHandle_t handle,
                               int iterations,
                               const std::function<Status()> &prepare,
                               const std::function<Status()> &run) {
  Times sum;
  int counted = 0;
  const int runs = std::max(iterations, 1);
  for (int i = 0; i < runs; ++i) {
    Times times;
    Status status = prepare();
    if (status.isOk())
      status = runOnce(gpu, handle, run, times);
    if (!status.isOk())
      return status;
    if (i == 0 && runs > 1)
      continue;
    sum.kernelMs += times.kernelMs;
    sum.wallMs += times.wallMs;
    ++counted;
  }
  return Times{sum.kernelMs / counted, sum.wallMs / counted};
}

ErrorOr<DeviceBuffer> driver::upload(const GpuApi &gpu,
                                     const std::vector<char> &data) {
  ErrorOr<DeviceBuffer> buffer = DeviceBuffer::allocate(gpu, data.size());
  if (!buffer)
    return buffer;
  if (Status status = buffer->copyFromHost(data.data(), data.size());
      !status.isOk())
    return status;
  return buffer;
}
