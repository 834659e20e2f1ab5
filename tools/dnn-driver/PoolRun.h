//===- PoolRun.h - One pooling on the device -------------------*- C++ -*--===//
//
// Like ConvRun.h, this uses only the public API.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_DNN_DRIVER_POOLRUN_H
#define TESSERA_TOOLS_DNN_DRIVER_POOLRUN_H

#include "runtime/DriverCommand/DriverCommand.h"
#include "runtime/Reference/PoolCase.h"
#include "tools/dnn-driver/Measure.h"

#include <optional>

namespace tessera::driver {

using PoolDesc = std::unique_ptr<miopenPoolingDescriptor,
                                 Destroyer<miopenDestroyPoolingDescriptor>>;

/// A problem, its descriptors and its data on the device. Used by one thread.
class PoolRun {
public:
  /// Borrows everything.
  static ErrorOr<PoolRun> create(const GpuApi &gpu,
                                 const DriverOptions &options,
                                 const PoolProblem &problem,
                                 const PoolCase &data);

  /// Runs the problem as often as the options say.
  ErrorOr<Times> run();
  /// Copies the computed tensors to the host.
  Status readResults(PoolCase &data) const;
  ErrorOr<tesseraKernelInfo> getKernelInfo() const;

private:
  /// By their roles in the problem: x and y are gradients in a backward one.
  struct Buffers {
    DeviceBuffer x, y, indices;
  };

  PoolRun(const GpuApi &gpu, const DriverOptions &options,
          const PoolProblem &problem, Buffers buffers)
      : gpu(gpu), options(options), problem(problem),
        buffers(std::move(buffers)) {}

  Status setDescriptors();
  Status checkSizes() const;
  Status allocateWorkspace();
  Status runOnce();
  Status runProblem();

  const GpuApi &gpu;
  const DriverOptions &options;
  const PoolProblem &problem;
  Handle handle;
  TensorDesc xDesc, yDesc;
  PoolDesc poolDesc;
  Buffers buffers;
  /// Only of tesseraRunProblem(); MIOpen's functions have their own.
  std::optional<DeviceBuffer> workspace;
};

} // namespace tessera::driver

#endif // TESSERA_TOOLS_DNN_DRIVER_POOLRUN_H
