//===- DeviceTensors.h - A test's tensors on the device --------*- C++ -*-===//

#ifndef TESSERA_TEST_UNIT_SUPPORT_DEVICETENSORS_H
#define TESSERA_TEST_UNIT_SUPPORT_DEVICETENSORS_H

#include "runtime/Gpu/DeviceBuffer.h"

#include <deque>
#include <vector>

namespace tessera::test {

/// The device's copies of a case's tensors, each of exactly its own size, so
/// that an access beside it is a fault.
class DeviceTensors {
public:
  explicit DeviceTensors(const GpuApi &gpu) : gpu(gpu) {}

  /// Allocates `bytes` and copies them from `data` unless that is null; an
  /// error is kept until getStatus() is asked.
  void *add(const char *data, size_t bytes) {
    auto buffer = DeviceBuffer::allocate(gpu, bytes);
    keep(buffer.getStatus());
    if (!buffer)
      return nullptr;
    if (data)
      keep(buffer->copyFromHost(data, bytes));
    return buffers.emplace_back(std::move(*buffer)).get();
  }
  void *add(const std::vector<char> &data) {
    return add(data.data(), data.size());
  }

  const Status &getStatus() const { return status; }

private:
  void keep(Status next) {
    if (status.isOk())
      status = std::move(next);
  }

  const GpuApi &gpu;
  std::deque<DeviceBuffer> buffers;
  Status status = Status::ok();
};

/// Copies as much as `into` holds from the device.
inline Status readBack(const GpuApi &gpu, const void *from,
                       std::vector<char> &into) {
  return gpu.check(
      gpu.hipMemcpy(into.data(), from, into.size(), hipMemcpyDeviceToHost),
      "hipMemcpy of a result");
}

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_SUPPORT_DEVICETENSORS_H
