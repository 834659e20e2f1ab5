//===- Source.h - The text of the reference's kernels ----------*- C++ -*-===//

#ifndef TESSERA_RUNTIME_REFERENCE_SOURCE_H
#define TESSERA_RUNTIME_REFERENCE_SOURCE_H

namespace tessera {

/// Arguments.h and Reference.hip, one after the other.
const char *getReferenceSource();

} // namespace tessera

#endif // TESSERA_RUNTIME_REFERENCE_SOURCE_H
