//===- Driver.h - NVIDIA's driver, found at run time -----------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_HIPONCUDA_DRIVER_H
#define TESSERA_RUNTIME_HIPONCUDA_DRIVER_H

#include "runtime/HipOnCuda/Cuda.h"

#include <type_traits>

namespace tessera::cuda {

using hip::setError;

/// The table of libcuda.so.1. It is opened at the first use, never closed, and
/// immutable; all threads share it.
class Driver {
public:
#define CUDA_SYMBOL(name, exported, parameters)                                \
  CudaError(*name) parameters = nullptr;
#include "runtime/HipOnCuda/CudaSymbols.def"

  /// Null, with the reason as the thread's error, if there is no driver, if it
  /// is too old, or if it has no GPU.
  static const Driver *get();

  int getDeviceCount() const { return deviceCount; }
  /// The CUDA version of the driver, 12040 for 12.4.
  int getVersion() const { return version; }

private:
  friend class DriverLoader;
  int deviceCount = 0;
  int version = 0;
};

hipError_t toHipError(CudaError error);

/// HIP's error for the result of the driver's `function`. It is remembered
/// together with the driver's text.
hipError_t report(const Driver &driver, CudaError error, const char *function);

/// Returns hipSuccess if there is a device with the number `id`.
hipError_t checkDevice(int id);

/// The primary context of a device, which stays alive from the first call on.
hipError_t getPrimary(int id, hipCtx_t *context);

/// Finds the driver, and makes sure that the thread has a context: its own, or
/// the primary one of device 0.
hipError_t enter(const Driver *&driver);

/// The device of the thread's context; 0 if it has none yet.
hipError_t getCurrentDevice(int *id);

/// Calls a function of the driver in the thread's context.
template <typename... Parameters>
hipError_t callDriver(CudaError (*Driver::*function)(Parameters...),
                      const char *name,
                      std::type_identity_t<Parameters>... arguments) {
  const Driver *driver;
  if (hipError_t error = enter(driver))
    return error;
  CudaError error = (driver->*function)(arguments...);
  return error == CudaError::Success ? hipSuccess
                                     : report(*driver, error, name);
}

/// CALL_CUDA(cuStreamQuery, stream)
#define CALL_CUDA(function, ...)                                               \
  ::tessera::cuda::callDriver(&::tessera::cuda::Driver::function,              \
                              #function __VA_OPT__(, ) __VA_ARGS__)

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_HIPONCUDA_DRIVER_H
