//===- ConvRun.h - One convolution on the device ---------------*- C++ -*--===//
//
// A run does what a client of the library does, in the same order. It uses only
// the public API, so a driver that works shows that the library works.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_DNN_DRIVER_CONVRUN_H
#define TESSERA_TOOLS_DNN_DRIVER_CONVRUN_H

#include "runtime/DriverCommand/DriverCommand.h"
#include "runtime/Reference/ConvCase.h"
#include "tools/dnn-driver/ConvApi.h"
#include "tools/dnn-driver/Measure.h"

namespace tessera::driver {

/// The library's choice of a kernel, and the function that runs it.
struct ChosenKernel {
  enum class Way {
    Find,
    Immediate,
    /// By its network config: no function of MIOpen computes this problem.
    Problem,
  };
  Way way = Way::Find;
  int algorithm = 0;
  uint64_t solution = 0;
  size_t workspaceBytes = 0;
};

/// The direction of the API's function that computes `problem`: forward of a
/// transposed convolution is backward data of the equivalent problem.
Direction getApiDirection(const ConvProblem &problem, bool isTransposed);

/// A problem, its descriptors and its data on the device. Used by one thread.
class ConvRun {
public:
  /// Borrows everything.
  static ErrorOr<ConvRun> create(const GpuApi &gpu,
                                 const DriverOptions &options,
                                 const ConvProblem &problem,
                                 const ConvCase &data);

  /// Chooses by Find or by immediate mode, according to the options.
  ErrorOr<ChosenKernel> choose();
  /// Runs the chosen kernel as often as the options say.
  ErrorOr<Times> run(const ChosenKernel &kernel);
  /// Copies the computed tensors to the host.
  Status readResults(ConvCase &results) const;
  ErrorOr<tesseraKernelInfo> getKernelInfo() const;

private:
  /// The tensors of the problem on the device.
  struct Buffers {
    DeviceBuffer x, w, y, bias, residual, mean, variance;
    std::vector<DeviceBuffer> norm; ///< As ConvCase::normTensors.
  };

  ConvRun(const GpuApi &gpu, const DriverOptions &options,
          const ConvProblem &problem, const ConvCase &data, Buffers buffers)
      : gpu(gpu), options(options), problem(problem), data(data),
        direction(getApiDirection(problem, options.isTransposed)),
        buffers(std::move(buffers)) {}

  Status setDescriptors();
  Status setOutputPads();
  Status checkOutputLengths() const;
  Status allocateWorkspace(size_t bytes);
  ErrorOr<ChosenKernel> find();
  ErrorOr<ChosenKernel> chooseImmediate();
  ErrorOr<ChosenKernel> chooseProblem();
  ErrorOr<miopenConvSolution_t> getBestSolution() const;
  Status runOnce(const ChosenKernel &kernel);
  Status runProblem(const ChosenKernel &kernel);
  const DeviceBuffer &getResultBuffer() const;

  const GpuApi &gpu;
  const DriverOptions &options;
  const ConvProblem &problem;
  const ConvCase &data;
  Direction direction;
  Handle handle;
  ConvDesc convDesc;
  /// By their roles in the API, which a transposed convolution swaps.
  Operands operands;
  TensorDesc xDesc, wDesc, yDesc; ///< By the problem's roles.
  Buffers buffers;
  std::optional<DeviceBuffer> workspace;
};

} // namespace tessera::driver

#endif // TESSERA_TOOLS_DNN_DRIVER_CONVRUN_H
