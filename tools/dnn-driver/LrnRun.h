//===- LrnRun.h - One local response normalisation on the device *- C++ -*-===//
//
// Like ConvRun.h, this uses only the public API.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_DNN_DRIVER_LRNRUN_H
#define TESSERA_TOOLS_DNN_DRIVER_LRNRUN_H

#include "tools/dnn-driver/LrnCommand.h"
#include "tools/dnn-driver/Measure.h"

#include <map>

namespace tessera::driver {

using LrnDesc =
    std::unique_ptr<miopenLRNDescriptor, Destroyer<miopenDestroyLRNDescriptor>>;

/// A command, its descriptors and its data on the device. Used by one thread.
class LrnRun {
public:
  /// Borrows everything.
  static ErrorOr<LrnRun> create(const GpuApi &gpu, const LrnCommand &command,
                                uint64_t seed);

  /// The least number of bytes of host memory that a command needs.
  static uint64_t getBytes(const LrnCommand &command, const GpuApi &gpu);

  /// Compute y and scale from x, and then dx from them and dy.
  ErrorOr<Times> runForward();
  ErrorOr<Times> runBackward();

  /// Says what is wrong with the results, or nothing. The gradient is compared
  /// with that of the y and the scale that the device has computed.
  ErrorOr<std::string> verifyForward() const;
  ErrorOr<std::string> verifyBackward() const;

private:
  enum Name { X, Y, Scale, Dy, Dx };

  LrnRun(const GpuApi &gpu, const LrnCommand &command)
      : gpu(gpu), command(command) {}

  Status upload(uint64_t seed);
  Status setDescriptors();
  ErrorOr<std::vector<double>> read(Name name) const;
  /// Describes the first value of `found` that is too far from `wanted`.
  std::string compare(const std::vector<double> &wanted,
                      const std::vector<double> &found) const;

  const GpuApi &gpu;
  const LrnCommand &command;
  Handle handle;
  LrnDesc lrn;
  TensorDesc desc;
  std::map<Name, DeviceBuffer> buffers;
};

} // namespace tessera::driver

#endif // TESSERA_TOOLS_DNN_DRIVER_LRNRUN_H
