//===- Solution.h - A kernel that a client keeps ---------------*- C++ -*-===//

#ifndef TESSERA_CAPI_LIB_SOLUTION_H
#define TESSERA_CAPI_LIB_SOLUTION_H

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

/// An argument of a solution's kernel that is a tensor of the client's.
struct SolutionTensor {
  int id = 0; ///< A miopenTensorArgumentId_t.
  KernelArg arg = KernelArg::X;
  miopenTensorDescriptor desc;
};

/// Everything of a solution that is saved. Plain data.
struct SolutionData {
  std::string networkConfig; ///< Of the problem.
  std::string target;        ///< Chip that the kernel is for.
  uint64_t id = 0;           ///< In immediate mode.
  float timeMs = 0;
  /// A tensor that is read and written may be there twice.
  std::vector<SolutionTensor> tensors;
  std::vector<double> scalars; ///< See LaunchArgs::scalars.
  Kernel kernel;
};

/// What a tensor is called in sentences: "x".
const char *getTensorName(int id);

/// The bytes of a saved solution: a magic number, a version, and the rest with
/// its checksum. They do not depend on the host.
std::string saveSolution(const SolutionData &data);

/// Reads what saveSolution() wrote. InvalidValue for bytes that it did not
/// write, VersionMismatch for those of another version.
ApiResult loadSolution(std::string_view bytes, SolutionData &data);

} // namespace tessera::capi

/// Owned by the client. May be run by several threads at once.
struct miopenSolution {
  tessera::capi::ObjectTag tag = {};
  const tessera::capi::SolutionData data;

  explicit miopenSolution(tessera::capi::SolutionData data)
      : data(std::move(data)) {}

  /// The kernel on the current device, loaded when it is first wanted there.
  tessera::ErrorOr<const tessera::LoadedKernel *>
  getLoaded(tessera::Engine &engine);

private:
  struct Loaded {
    int device;
    std::unique_ptr<tessera::LoadedKernel> kernel;
  };
  std::mutex mutex; ///< Guards what follows.
  std::vector<Loaded> loaded;
};

#endif // TESSERA_CAPI_LIB_SOLUTION_H
