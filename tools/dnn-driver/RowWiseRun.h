//===- RowWiseRun.h - One operation on rows on the device ------*- C++ -*--===//
//
// Like ConvRun.h, this uses only the public API.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_DNN_DRIVER_ROWWISERUN_H
#define TESSERA_TOOLS_DNN_DRIVER_ROWWISERUN_H

#include "runtime/Base/RowWiseKind.h"
#include "runtime/DriverCommand/DriverCommand.h"
#include "runtime/Reference/RowWiseCase.h"
#include "tools/dnn-driver/Measure.h"

#include <optional>

namespace tessera::driver {

using ActivationDesc =
    std::unique_ptr<miopenActivationDescriptor,
                    Destroyer<miopenDestroyActivationDescriptor>>;
using ReduceDesc =
    std::unique_ptr<miopenReduceTensorDescriptor,
                    Destroyer<miopenDestroyReduceTensorDescriptor>>;

/// A problem, its descriptors and its data on the device. Used by one thread.
class RowWiseRun {
public:
  /// Borrows everything. The scalars are the options', if these have some.
  static ErrorOr<RowWiseRun> create(const GpuApi &gpu,
                                    const DriverOptions &options,
                                    const RowWiseProblem &problem,
                                    uint64_t seed);

  ErrorOr<Times> run();
  /// Says what is wrong with the results, or nothing.
  ErrorOr<std::string> verify();
  ErrorOr<tesseraKernelInfo> getKernelInfo() const;

private:
  RowWiseRun(const GpuApi &gpu, const DriverOptions &options,
             const RowWiseProblem &problem, uint64_t seed)
      : gpu(gpu), options(options), problem(problem), seed(seed),
        data(problem, seed) {}

  Status upload();
  Status setDescriptors();
  /// Uploads the operands again: a result may have overwritten one.
  Status reset();
  Status runOnce();
  Status runActivation();
  Status runOpTensor();
  Status runOnOne();
  Status runSoftmax();
  Status runReduce();
  /// Runs what no MIOpen function is called for here by its network config.
  Status runByName();

  const GpuApi &gpu;
  const DriverOptions &options;
  const RowWiseProblem &problem;
  uint64_t seed;
  RowWiseCase data;
  Handle handle;
  ActivationDesc activation;
  std::vector<TensorDesc> descs;
  std::vector<DeviceBuffer> buffers;
  std::optional<DeviceBuffer> workspace; ///< Made by run().
};

} // namespace tessera::driver

#endif // TESSERA_TOOLS_DNN_DRIVER_ROWWISERUN_H
