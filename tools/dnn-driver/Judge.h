//===- Judge.h - Which reference verifies ----------------------*- C++ -*-===//
//
// The host's reference needs no other compiler and takes long for a layer with
// a large batch; the device's takes a second, where there is something to
// compile it with.
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
  /// The device's for what would keep the host busy for more than about two
  /// seconds, unless the device is the host's emulation.
  Auto,
  Host,
  Device,
};

/// "auto", "cpu" or "gpu".
ErrorOr<ReferenceChoice> parseReferenceChoice(const std::string &word);

/// Judges results of one device. Used by one thread.
class Judge {
public:
  Judge(const GpuApi &gpu, ReferenceChoice choice) : gpu(gpu), choice(choice) {}

  ErrorOr<Verification> verify(const ConvProblem &problem,
                               const ConvCase &data);
  /// What is wrong; empty if nothing is.
  ErrorOr<std::string> verify(const PoolProblem &problem, const PoolCase &data);

  /// "CPU" or "GPU": whose reference the last verdict comes from.
  const char *getName() const { return usedDevice ? "GPU" : "CPU"; }

private:
  /// The device's reference, if it is to be used for so many multiply-adds and
  /// exists. Says so, or why not, on the output.
  DeviceReference *chooseDevice(double terms, double termsPerSecond);

  const GpuApi &gpu;
  ReferenceChoice choice;
  std::optional<DeviceReference> device;
  bool usedDevice = false;
};

} // namespace tessera::driver

#endif // TESSERA_TOOLS_DNN_DRIVER_JUDGE_H
