//===- Library.h - The one engine of the process ---------------*- C++ -*--===//
//
// This component joins runtime and compiler. All handles share the engine, so
// that each finds what another one compiled.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_LIB_COMMON_LIBRARY_H
#define TESSERA_CAPI_LIB_COMMON_LIBRARY_H

#include "runtime/Engine/Engine.h"

#include <memory>

namespace tessera::capi {

/// The compiler for the process's engine; null if only kernels from databases
/// shall run.
std::shared_ptr<KernelCompiler> makeCompiler();

/// The engine of the process, made by the first call that succeeds. It is never
/// destroyed, because a client may use a handle while static destructors run,
/// in an order that is not known. Any thread may call this.
ErrorOr<Engine *> getEngine();

/// The engine if it was made already, else null. Any thread may call this.
Engine *getEngineIfCreated();

/// Makes `engine` the engine of the process, for tests. After null, the next
/// getEngine() makes one. No handle of the previous engine may be in use.
void replaceEngineForTesting(std::unique_ptr<Engine> engine);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_COMMON_LIBRARY_H
