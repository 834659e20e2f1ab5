//===- Revision.cpp - The revision of the compiler ------------------------===//

#include "compiler/Driver/Revision.h"

/// The build generates this file from the sources of the compiler.
static constexpr char kRevision[] =
#include "Revision.inc"
    ;

const char *tessera::getCompilerRevision() { return kRevision; }
