//===- Launch.h - One launch, however it was asked for ---------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_HIP_LAUNCH_H
#define TESSERA_RUNTIME_HIP_LAUNCH_H

#include "runtime/Hip/Export.h"

namespace tessera::hip {

struct LaunchRequest {
  hipFunction_t function;
  uint64_t items[3]; ///< Work-items of the grid.
  uint32_t block[3];
  size_t dynamicLds;
  hipStream_t stream;
  void **params;
  void **extra = nullptr;
  /// Workgroups may wait for each other.
  bool isCooperative = false;
};

/// Enqueues a kernel on a stream. Defined by the device.
hipError_t launchKernel(const LaunchRequest &request);

} // namespace tessera::hip

#endif // TESSERA_RUNTIME_HIP_LAUNCH_H
