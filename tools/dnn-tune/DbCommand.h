//===- DbCommand.h - dnn-tune db: look after the databases -----*- C++ -*--===//

#ifndef TESSERA_TOOLS_DNN_TUNE_DBCOMMAND_H
#define TESSERA_TOOLS_DNN_TUNE_DBCOMMAND_H

#include <string>
#include <vector>

namespace tessera::tune_tool {

/// Runs `words`, the command line after "dnn-tune db", and prints its results
/// on stdout. `revision` is that of the compiler. Returns the exit status: 0
/// for success, 1 if what was looked for is missing or damaged, 2 for a wrong
/// command line or a file that cannot be used.
int runDatabaseCommand(const std::vector<std::string> &words,
                       const std::string &revision);

} // namespace tessera::tune_tool

#endif // TESSERA_TOOLS_DNN_TUNE_DBCOMMAND_H
