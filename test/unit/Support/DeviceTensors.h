//===- DeviceTensors.h - A test's tensors on the device --------*- C++ -*-===//

#ifndef TESSERA_TEST_UNIT_SUPPORT_DEVICETENSORS_H
#define TESSERA_TEST_UNIT_SUPPORT_DEVICETENSORS_H

#include "runtime/Gpu/DeviceBuffer.h"

#include <deque>
#include <vector>

namespace tessera::test {

/// Where the tensors of a test begin.
enum class Placement {
  Aligned,
  OneElementOn, ///< In their memory, as part of a client's tensor may.
};

/// The device's copies of a case's tensors, each of exactly its own size, so
/// that an access behind it is a fault.
class DeviceTensors {
public:
  explicit DeviceTensors(const GpuApi &gpu,
                         Placement placement = Placement::Aligned)
      : gpu(gpu), placement(placement) {}

  /// Allocates `bytes` and copies them from `data` unless that is null; an
  /// error is kept until getStatus() is asked. Aligned if `elementBytes` is 0.
  void *add(const char *data, size_t bytes, size_t elementBytes = 0) {
    const size_t before =
        placement == Placement::OneElementOn ? elementBytes : 0;
    auto buffer = DeviceBuffer::allocate(gpu, before + bytes);
    keep(buffer.getStatus());
    if (!buffer)
      return nullptr;
    char *begin = static_cast<char *>(buffer->get()) + before;
    buffers.push_back(std::move(*buffer));
    if (data)
      keep(gpu.check(gpu.hipMemcpy(begin, data, bytes, hipMemcpyHostToDevice),
                     "hipMemcpy of a tensor"));
    return begin;
  }
  void *add(const std::vector<char> &data, size_t elementBytes = 0) {
    return add(data.data(), data.size(), elementBytes);
  }

  const Status &getStatus() const { return status; }

private:
  void keep(Status next) {
    if (status.isOk())
      status = std::move(next);
  }

  const GpuApi &gpu;
  const Placement placement;
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
