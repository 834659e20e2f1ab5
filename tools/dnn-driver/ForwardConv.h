//===- ForwardConv.h - One forward convolution on the device ---*- C++ -*-===//
//
// What a client of the library does, in the order in which it does it. Only
// the public API is used, so a driver that works shows a library that works.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_DNN_DRIVER_FORWARDCONV_H
#define TESSERA_TOOLS_DNN_DRIVER_FORWARDCONV_H

#include "runtime/Base/DriverCommand.h"
#include "runtime/Gpu/DeviceBuffer.h"
#include "tools/dnn-driver/Descriptors.h"
#include "tools/dnn-driver/Verification.h"

namespace tessera::driver {

/// What the library chose to run, and how to run it.
struct ChosenKernel {
  bool isImmediate = false;
  int algorithm = 0;
  uint64_t solution = 0;
  size_t workspaceBytes = 0;
};

/// Milliseconds of one run on average, the first one left out if there are
/// others: it may have compiled.
struct Times {
  double kernelMs = 0; ///< By the device's events; 0 unless timing was asked.
  double wallMs = 0;   ///< By the host's clock, the device waited for.
};

/// A problem, its descriptors and its data on the device. Used by one thread.
class ForwardConv {
public:
  static ErrorOr<ForwardConv> create(const GpuApi &gpu,
                                     const DriverOptions &options,
                                     const HostTensors &tensors);

  /// Find, or immediate mode, as the options say.
  ErrorOr<ChosenKernel> choose();
  /// Runs what was chosen, as many times as the options say.
  ErrorOr<Times> run(const ChosenKernel &kernel);
  /// Copies y to the host.
  Status readOutput(std::vector<char> &y) const;
  ErrorOr<tesseraKernelInfo> getKernelInfo() const;

private:
  ForwardConv(const GpuApi &gpu, const DriverOptions &options, DeviceBuffer x,
              DeviceBuffer w, DeviceBuffer y)
      : gpu(gpu), options(options), x(std::move(x)), w(std::move(w)),
        y(std::move(y)) {}

  Status createDescriptors();
  Status setDescriptors();
  Status checkOutputLengths() const;
  Status allocateWorkspace(size_t bytes);
  ErrorOr<ChosenKernel> find();
  ErrorOr<ChosenKernel> chooseImmediate();
  ErrorOr<miopenConvSolution_t> getBestSolution() const;
  Status runOnce(const ChosenKernel &kernel);

  const GpuApi &gpu;
  const DriverOptions &options;
  Handle handle;
  TensorDesc xDesc, wDesc, yDesc;
  ConvDesc convDesc;
  DeviceBuffer x, w, y;
  std::optional<DeviceBuffer> workspace;
};

} // namespace tessera::driver

#endif // TESSERA_TOOLS_DNN_DRIVER_FORWARDCONV_H
