//===- CompileOnlyEngine.h - An engine that launches nothing ---*- C++ -*--===//
//
// Implements MIOPEN_DEBUG_COMPILE_ONLY: the kernels of a program are found or
// compiled, which fills the caches, and nothing is launched, so that the memory
// of the device does not change.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_LIB_HANDLE_COMPILEONLYENGINE_H
#define TESSERA_CAPI_LIB_HANDLE_COMPILEONLYENGINE_H

#include "runtime/Engine/Engine.h"

namespace tessera::capi {

/// Wraps `engine` so that every launch fails. The public function that launched
/// then returns miopenStatusGpuOperationsSkipped.
std::unique_ptr<Engine> makeCompileOnly(std::unique_ptr<Engine> engine);

/// Whether this thread has tried a launch with such an engine since the last
/// call of this function.
bool takeSkippedLaunch();

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_HANDLE_COMPILEONLYENGINE_H
