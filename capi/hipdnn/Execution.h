//===- Execution.h - Plans on a device -------------------------*- C++ -*--===//

#ifndef TESSERA_CAPI_HIPDNN_EXECUTION_H
#define TESSERA_CAPI_HIPDNN_EXECUTION_H

#include "capi/hipdnn/Library.h"
#include "capi/hipdnn/Plan.h"
#include "capi/hipdnn/PluginApi.h"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace tessera::hipdnn {

/// What hipDNN holds for a device and a stream. One thread at a time uses it.
/// The library's handle is made when the first kernel is wanted, so that graphs
/// can be judged without a device.
struct Handle {
  ~Handle();

  /// The library's handle, made on the stream that was set.
  ErrorOr<miopenHandle_t> get();
  Status setStream(void *newStream);

  void *stream = nullptr;
  miopenHandle_t handle = nullptr;
};

/// A plan whose kernels are compiled. Owns what it needs to be run.
struct Context {
  Plan plan;
  /// Where each virtual tensor begins in the workspace; scratch memory of the
  /// kernels is behind them.
  std::vector<size_t> offsets;
  size_t scratchOffset = 0;
  size_t workspaceBytes = 0;
  /// What each step needs of it.
  std::vector<uint64_t> scratchBytes;
  /// Whether an execution must give a workspace. Else the library takes the
  /// scratch memory of the kernels from its handle, if it gets none.
  bool needsWorkspace = false;

  Status run(Handle &handle, void *workspace,
             std::span<const DeviceBuffer> buffers) const;
};

/// A failure of the library as a status, with its sentence.
Status convert(const Library &library, miopenStatus_t status);

/// Compiles the kernels of a plan, or finds them in the database. The workspace
/// is as large as they need or, if that is fixed, as `workspaceBytes` says:
/// convolutions that need more get kernels that need none, and the library
/// takes memory of its handle for others. InvalidArgument if there is not even
/// space for the virtual tensors.
ErrorOr<std::unique_ptr<Context>>
prepare(Handle &handle, Plan plan,
        std::optional<size_t> workspaceBytes = std::nullopt);

} // namespace tessera::hipdnn

#endif // TESSERA_CAPI_HIPDNN_EXECUTION_H
