//===- Crash.h - When MLIR or LLVM does not survive an input ---*- C++ -*--===//
//
// Parsers and back ends assume that a compiler has written their input: parsers
// assert, and back ends end the process on what they cannot handle. A user who
// wrote the text by hand should get a sentence.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_DNN_OPT_CRASH_H
#define TESSERA_TOOLS_DNN_OPT_CRASH_H

namespace tessera {

/// Makes fatal errors of LLVM and crashes end the process with a sentence and
/// exit code 1, after LLVM's stack of what it was doing.
void catchCrashes();

} // namespace tessera

#endif // TESSERA_TOOLS_DNN_OPT_CRASH_H
