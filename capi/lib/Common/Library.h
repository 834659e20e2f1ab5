//===- Library.h - The one engine of the process ---------------*- C++ -*-===//
//
// Joins runtime and compiler. Handles share the engine, so what one compiled
// the others find.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_LIB_LIBRARY_H
#define TESSERA_CAPI_LIB_LIBRARY_H

#include "runtime/Engine/Engine.h"

#include <memory>

namespace tessera::capi {

/// The compiler for the process's engine; null: run what is in a database.
std::shared_ptr<KernelCompiler> makeCompiler();

/// The engine of the process, made by the first call that succeeds. It is
/// never destroyed: handles may be used until the very end of the process,
/// when nobody knows what static destructors have run. Any thread.
ErrorOr<Engine *> getEngine();

/// The engine if there is one yet, else null. Any thread.
Engine *getEngineIfCreated();

/// Makes `engine` that of the process, for tests. Null: the next getEngine()
/// makes its own. No handle of the engine before may be in use.
void replaceEngineForTesting(std::unique_ptr<Engine> engine);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_LIBRARY_H
