//===- DeviceTensors.h - Tensors of a test on the device -------*- C++ -*--===//

#ifndef TESSERA_TEST_UNIT_SUPPORT_DEVICETENSORS_H
#define TESSERA_TEST_UNIT_SUPPORT_DEVICETENSORS_H

#include "runtime/Gpu/DeviceBuffer.h"

#include <deque>
#include <vector>

namespace tessera::test {

/// Where the tensors of a test begin.
enum class Placement {
  Aligned,
  OneElementOn, ///< One element behind their memory's begin, like a slice.
};

/// Copies of a case's tensors on the device. Each has memory of exactly its own
/// size, so that an access behind its end is a fault.
class DeviceTensors {
public:
  explicit DeviceTensors(const GpuApi &gpu,
                         Placement placement = Placement::Aligned)
      : gpu(gpu), placement(placement) {}

  /// Allocates `bytes` and copies them from `data` unless that is null.
  /// getStatus() returns the first error of all calls. The memory is aligned
  /// whatever the placement if `elementBytes` is 0.
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

/// Copies from the device as many bytes as `into` has.
inline Status readBack(const GpuApi &gpu, const void *from,
                       std::vector<char> &into) {
  return gpu.check(
      gpu.hipMemcpy(into.data(), from, into.size(), hipMemcpyDeviceToHost),
      "hipMemcpy of a result");
}

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_SUPPORT_DEVICETENSORS_H
