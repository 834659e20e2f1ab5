//===- DefaultCompiler.cpp - The compiler that the library is shipped with ===//
//
// In a file of its own because it alone knows of which build the compiler has
// to be: the unit tests link all the rest and bring a compiler of theirs.
//
//===----------------------------------------------------------------------===//

#include "capi/lib/Common/Library.h"

#include "compiler/Driver/Revision.h"
#include "runtime/Worker/WorkerCompiler.h"

using namespace tessera;

std::shared_ptr<KernelCompiler> capi::makeCompiler() {
  return createCompiler(getCompilerRevision());
}
