//===- Judge.h - Which reference verifies ----------------------*- C++ -*--===//
//
// The host's reference needs no other compiler and takes long for a layer with
// a large batch; the device's takes a second, if there is a compiler for it.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_DNN_DRIVER_JUDGE_H
#define TESSERA_TOOLS_DNN_DRIVER_JUDGE_H

#include "runtime/Reference/DeviceReference.h"
#include "runtime/Reference/PoolCase.h"
#include "tools/dnn-driver/Verification.h"

#include <optional>

namespace tessera::driver {

enum class ReferenceChoice {
  /// The device's reference for work that would take the host more than about
  /// two seconds, unless the device is emulated on the host.
  Auto,
  Host,
  Device,
};

/// Parses "auto", "cpu" or "gpu".
ErrorOr<ReferenceChoice> parseReferenceChoice(const std::string &word);

/// Judges results of one device. Used by one thread.
class Judge {
public:
  Judge(const GpuApi &gpu, ReferenceChoice choice) : gpu(gpu), choice(choice) {}

  ErrorOr<Verification> verify(const ConvProblem &problem,
                               const ConvCase &data);
  /// Says what is wrong with the result; empty if nothing is.
  ErrorOr<std::string> verify(const PoolProblem &problem, const PoolCase &data);

  /// The source of the reference for the last verdict: "CPU" or "GPU".
  const char *getName() const { return usedDevice ? "GPU" : "CPU"; }

private:
  /// The device's reference, if it exists and should be used for this number of
  /// multiply-adds. Prints that, or the reason why not.
  DeviceReference *chooseDevice(double terms, double termsPerSecond);

  const GpuApi &gpu;
  ReferenceChoice choice;
  std::optional<DeviceReference> device;
  bool usedDevice = false;
};

} // namespace tessera::driver

#endif // TESSERA_TOOLS_DNN_DRIVER_JUDGE_H
