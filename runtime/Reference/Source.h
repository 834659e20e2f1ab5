//===- Source.h - The text of the reference's kernels ----------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_REFERENCE_SOURCE_H
#define TESSERA_RUNTIME_REFERENCE_SOURCE_H

namespace tessera {

/// Returns the text of Arguments.h followed by that of Reference.hip.
const char *getReferenceSource();

} // namespace tessera

#endif // TESSERA_RUNTIME_REFERENCE_SOURCE_H
