//===- DeviceReference.h - The oracle on the device ------------*- C++ -*--===//
//
// The reference on the host (dialect/Reference) takes long for a layer with a
// large batch. A GPU that computes the same sums, one thread per element, needs
// a second. The kernels are in Reference.hip. They are compiled by another
// compiler, so that a bug of our compiler cannot be in the reference as well.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_REFERENCE_DEVICEREFERENCE_H
#define TESSERA_RUNTIME_REFERENCE_DEVICEREFERENCE_H

#include "runtime/Base/Problem.h"
#include "runtime/Gpu/Module.h"
#include "runtime/Gpu/RuntimeCompiler.h"

#include <cstdint>
#include <map>
#include <vector>

namespace tessera {

/// What every element of the result should be before epilogue and rounding, and
/// the sum of the absolute values of its terms, in the order channel, column,
/// row, depth, outer dimension (the channel varies fastest).
struct ReferenceSums {
  std::vector<double> values;
  std::vector<double> magnitudes;
  /// For a forward maximum pooling; otherwise empty.
  std::vector<uint64_t> indices;
};

/// Evaluates problems on the current device of `gpu`. Owns the kernels that it
/// has compiled, one set for each type. Used by one thread.
class DeviceReference {
public:
  /// Fails with NotFound if there is no compiler for the kernels.
  static ErrorOr<DeviceReference> create(const GpuApi &gpu);
  /// The same with a compiler of the caller's choice.
  static ErrorOr<DeviceReference> create(const GpuApi &gpu,
                                         RuntimeCompilerPtr compiler);

  /// The tensors are in host memory with the problem's type and strides, gaps
  /// included. The one that is computed is not read and may be empty.
  ErrorOr<ReferenceSums> evaluate(const ConvProblem &problem,
                                  const std::vector<char> &x,
                                  const std::vector<char> &w,
                                  const std::vector<char> &y);
  /// `indices` is only read by a backward maximum.
  ErrorOr<ReferenceSums> evaluate(const PoolProblem &problem,
                                  const std::vector<char> &x,
                                  const std::vector<char> &y,
                                  const std::vector<char> &indices);

  const RuntimeCompiler &getCompiler() const { return *compiler; }

private:
  DeviceReference(const GpuApi &gpu, RuntimeCompilerPtr compiler,
                  std::string architecture)
      : gpu(gpu), compiler(std::move(compiler)),
        architecture(std::move(architecture)) {}

  ErrorOr<hipFunction_t> getKernel(DataType type, const char *name);
  template <typename Arguments>
  ErrorOr<ReferenceSums> run(DataType type, const char *name, int64_t elements,
                             bool hasIndices, Arguments &arguments);

  const GpuApi &gpu;
  RuntimeCompilerPtr compiler;
  std::string architecture;
  std::map<DataType, Module> modules;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_REFERENCE_DEVICEREFERENCE_H
