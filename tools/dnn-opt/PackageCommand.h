//===- PackageCommand.h - dnn-opt --aot ------------------------*- C++ -*--===//

#ifndef TESSERA_TOOLS_DNN_OPT_PACKAGECOMMAND_H
#define TESSERA_TOOLS_DNN_OPT_PACKAGECOMMAND_H

namespace tessera {

/// True if the command line asks for a package of kernels.
bool isPackageCommand(int argc, char **argv);

/// Builds the package; returns the exit status of the process.
int runPackageCommand(int argc, char **argv);

} // namespace tessera

#endif // TESSERA_TOOLS_DNN_OPT_PACKAGECOMMAND_H
