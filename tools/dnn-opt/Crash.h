//===- Crash.h - When MLIR or LLVM does not survive an input ---*- C++ -*-===//
//
// Both take it that their input is what a compiler has written: parsers assert,
// and back ends end the process on what they cannot do. Somebody who wrote the
// text by hand is owed a sentence.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_DNN_OPT_CRASH_H
#define TESSERA_TOOLS_DNN_OPT_CRASH_H

namespace tessera {

/// From now on a fatal error of LLVM and a crash end the process with a
/// sentence and exit code 1. LLVM's list of what it was doing comes before it.
void catchCrashes();

} // namespace tessera

#endif // TESSERA_TOOLS_DNN_OPT_CRASH_H
