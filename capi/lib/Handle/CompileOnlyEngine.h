//===- CompileOnlyEngine.h - An engine that launches nothing ---*- C++ -*-===//
//
// MIOPEN_DEBUG_COMPILE_ONLY: a program runs as far as its kernels need to be
// found or compiled, which fills caches, and the device's memory stays as it is.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_LIB_COMPILEONLYENGINE_H
#define TESSERA_CAPI_LIB_COMPILEONLYENGINE_H

#include "runtime/Engine/Engine.h"

namespace tessera::capi {

/// `engine` in all but that every launch fails; the public function that asked
/// for it then answers miopenStatusGpuOperationsSkipped.
std::unique_ptr<Engine> makeCompileOnly(std::unique_ptr<Engine> engine);

/// Whether this thread's last failure may be a launch of such an engine; false
/// the next time.
bool takeSkippedLaunch();

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_COMPILEONLYENGINE_H
