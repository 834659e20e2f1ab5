//===- DefaultCompiler.cpp - The compiler that the library is shipped with ===//
//
// This file alone knows the revision of the compiler that the library must
// load. It is separate because the unit tests link all other files and bring
// their own compiler.
//
//===----------------------------------------------------------------------===//

#include "capi/lib/Common/Library.h"

#include "compiler/Driver/Revision.h"
#include "runtime/Worker/WorkerCompiler.h"

using namespace tessera;

std::shared_ptr<KernelCompiler> capi::makeCompiler() {
  return createCompiler(getCompilerRevision());
}
