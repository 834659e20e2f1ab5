//===- AheadOfTime.h - dnn-opt as a compiler of kernels --------*- C++ -*--===//

#ifndef TESSERA_TOOLS_DNN_OPT_AHEADOFTIME_H
#define TESSERA_TOOLS_DNN_OPT_AHEADOFTIME_H

namespace tessera {

/// True if the command line asks for a kernel, not for passes over IR.
bool isAheadOfTime(int argc, char **argv);

/// Runs the pipeline according to the command line; returns the exit status of
/// the process.
int runAheadOfTime(int argc, char **argv);

} // namespace tessera

#endif // TESSERA_TOOLS_DNN_OPT_AHEADOFTIME_H
