//===- Export.h - What every exported function needs -----------*- C++ -*--===//
//
// Two of our shared objects are a HIP runtime: the emulated device and HIP over
// CUDA. This folder is what they share; functions that are declared here
// without a definition in this folder are defined by each of them.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_HIP_EXPORT_H
#define TESSERA_RUNTIME_HIP_EXPORT_H

#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__
#endif
#ifndef __HIP_DISABLE_CPP_FUNCTIONS__
#define __HIP_DISABLE_CPP_FUNCTIONS__
#endif
#include <hip/hip_runtime_api.h>

#include <string>

/// Precedes every exported function.
#define TESSERA_HIP extern "C" __attribute__((visibility("default")))
/// Defines a second name of a function of the same file.
#define TESSERA_HIP_ALIAS(name, target, parameters)                            \
  TESSERA_HIP hipError_t name parameters __attribute__((alias(#target)))

namespace tessera::hip {

/// Remembers `error` for hipGetLastError() of this thread, and returns it.
hipError_t setError(hipError_t error);
/// The same with a text for tesseraDeviceGetLastError(), which also goes to
/// stderr if the device asks for it.
hipError_t setError(hipError_t error, std::string text);

/// Makes hipGetLastError() of every thread return `error` from then on: the
/// device can do nothing more in this process.
void setStickyError(hipError_t error);

/// Loads the content of a file as a module. Defined by the device.
hipError_t loadModuleFile(hipModule_t *module, const std::string &bytes);

/// "emulated" or "nvidia". Defined by the device.
const char *getDeviceKind();
/// Whether texts of errors go to stderr. Defined by the device.
bool areErrorsPrinted();

} // namespace tessera::hip

#endif // TESSERA_RUNTIME_HIP_EXPORT_H
