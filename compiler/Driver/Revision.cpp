//===- Revision.cpp - Which compiler a build has --------------------------===//

#include "compiler/Driver/Revision.h"

/// Made by the build from the sources of the compiler.
static constexpr char kRevision[] =
#include "Revision.inc"
    ;

const char *tessera::getCompilerRevision() { return kRevision; }
