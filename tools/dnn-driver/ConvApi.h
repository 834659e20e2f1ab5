//===- ConvApi.h - MIOpen's functions of three directions ------*- C++ -*--===//
//
// The same eight functions exist for each direction, with their tensors in
// another order. This makes them one set that takes the direction.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_DNN_DRIVER_CONVAPI_H
#define TESSERA_TOOLS_DNN_DRIVER_CONVAPI_H

#include "runtime/Base/ProblemTypes.h"
#include "tools/dnn-driver/Descriptors.h"

namespace tessera::driver {

/// A descriptor and its data on the device, both borrowed.
struct Operand {
  miopenTensorDescriptor_t desc = nullptr;
  void *data = nullptr;
};

/// The tensors x, w and y, or their gradients.
struct Operands {
  Operand x, w, y;
};

/// Device memory that a kernel may use as its workspace.
struct Workspace {
  void *data = nullptr;
  size_t bytes = 0;
};

/// The functions of one direction, for one convolution. Borrows everything.
class ConvApi {
public:
  ConvApi(Direction direction, miopenHandle_t handle,
          miopenConvolutionDescriptor_t conv, const Operands &operands)
      : direction(direction), handle(handle), conv(conv), operands(operands) {}

  Status getWorkspaceSize(size_t &bytes) const;
  Status find(Workspace workspace, bool exhaustive,
              miopenConvAlgoPerf_t &result) const;
  Status execute(int algorithm, const void *alpha, const void *beta,
                 Workspace workspace) const;

  Status getBestSolution(miopenConvSolution_t &solution) const;
  Status getSolutionWorkspaceSize(uint64_t solution, size_t &bytes) const;
  Status compileSolution(uint64_t solution) const;
  Status runSolution(uint64_t solution, Workspace workspace) const;

private:
  Direction direction;
  miopenHandle_t handle;
  miopenConvolutionDescriptor_t conv;
  const Operands &operands;
};

} // namespace tessera::driver

#endif // TESSERA_TOOLS_DNN_DRIVER_CONVAPI_H
