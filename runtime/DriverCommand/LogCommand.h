//===- LogCommand.h - The line that repeats a problem ----------*- C++ -*--===//
//
// Logs the driver line that MIOpen's users put into bug reports, for every
// problem that a call runs.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_DRIVERCOMMAND_LOGCOMMAND_H
#define TESSERA_RUNTIME_DRIVERCOMMAND_LOGCOMMAND_H

#include "runtime/Base/Problem.h"

namespace tessera {

/// Logs "MIOpen(HIP): Command [LogCmdSoftmax] ./bin/MIOpenDriver softmax ...",
/// the driver line that repeats `problem`, if MIOPEN_ENABLE_LOGGING_CMD asks
/// for it.
void logCommand(const Problem &problem);

} // namespace tessera

#endif // TESSERA_RUNTIME_DRIVERCOMMAND_LOGCOMMAND_H
