//===- Solution.h - A kernel that a client keeps ---------------*- C++ -*--===//

#ifndef TESSERA_CAPI_LIB_FIND_SOLUTION_H
#define TESSERA_CAPI_LIB_FIND_SOLUTION_H

#include "capi/lib/Common/ErrorGuard.h"
#include "capi/lib/Tensor/TensorDescriptor.h"
#include "runtime/Engine/Engine.h"

#include <miopen/find2.h>

#include <array>
#include <memory>
#include <mutex>
#include <span>
#include <string>

namespace tessera::capi {

/// A tensor of the client that the kernel of a solution takes as an argument.
struct SolutionTensor {
  int id = 0; ///< A miopenTensorArgumentId_t.
  KernelArg arg = KernelArg::X;
  miopenTensorDescriptor desc;
};

/// What is saved of a solution. Plain data.
struct SolutionData {
  std::string networkConfig; ///< Text of the problem.
  std::string target;        ///< The chip that the kernel is for.
  uint64_t id = 0;           ///< Its id in immediate mode.
  float timeMs = 0;
  /// A tensor that is read and written may be listed twice.
  std::vector<SolutionTensor> tensors;
  std::vector<double> scalars; ///< See LaunchArgs::scalars.
  Kernel kernel;
};

/// The name of a tensor in messages: "x".
const char *getTensorName(int id);

/// Makes the bytes of a saved solution: a magic number, a version, a checksum,
/// and the data. They do not depend on the byte order of the host.
std::string saveSolution(const SolutionData &data);

/// Reads bytes that saveSolution() wrote. InvalidValue if it did not write
/// them, VersionMismatch if another version of it did.
ApiResult loadSolution(std::string_view bytes, SolutionData &data);

} // namespace tessera::capi

/// A solution. Owned by the client; several threads may run it at the same
/// time.
struct miopenSolution {
  tessera::capi::ObjectTag tag = {};
  const tessera::capi::SolutionData data;

  explicit miopenSolution(tessera::capi::SolutionData data)
      : data(std::move(data)) {}

  /// The kernel on the current device. Loads it at the first call for that
  /// device.
  tessera::ErrorOr<const tessera::LoadedKernel *>
  getLoaded(tessera::Engine &engine);

private:
  struct Loaded {
    int device;
    std::unique_ptr<tessera::LoadedKernel> kernel;
  };
  std::mutex mutex; ///< Guards `loaded`.
  std::vector<Loaded> loaded;
};

#endif // TESSERA_CAPI_LIB_FIND_SOLUTION_H
