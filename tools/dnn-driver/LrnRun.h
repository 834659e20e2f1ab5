//===- LrnRun.h - One local response normalisation on the device *- C++ -*-===//
//
// As ConvRun.h: only the public API is used.
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

  /// Bytes of the host's memory that a command takes at least.
  static uint64_t getBytes(const LrnCommand &command, const GpuApi &gpu);

  /// y and scale from x; and then, from them and dy, dx.
  ErrorOr<Times> runForward();
  ErrorOr<Times> runBackward();

  /// What is wrong with the results, or nothing. The gradient is compared with
  /// that of the y and the scale that the device has computed.
  ErrorOr<std::string> verifyForward() const;
  ErrorOr<std::string> verifyBackward() const;

private:
  enum Name { X, Y, Scale, Dy, Dx };

  LrnRun(const GpuApi &gpu, const LrnCommand &command)
      : gpu(gpu), command(command) {}

  Status upload(uint64_t seed);
  Status setDescriptors();
  ErrorOr<std::vector<double>> read(Name name) const;
  /// Of the first of `found` that is not near enough to `wanted`.
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
