//===- DbCommand.h - dnn-tune db: look after the databases -----*- C++ -*-===//

#ifndef TESSERA_TOOLS_DNN_TUNE_DBCOMMAND_H
#define TESSERA_TOOLS_DNN_TUNE_DBCOMMAND_H

#include <string>
#include <vector>

namespace tessera::tune_tool {

/// Runs `words`, what follows "dnn-tune db", and prints what it finds on
/// stdout. `revision` is that of the compiler. The exit status: 0 well, 1 what
/// was looked for is not there or damaged, 2 a wrong command line or a file
/// that cannot be used.
int runDatabaseCommand(const std::vector<std::string> &words,
                       const std::string &revision);

} // namespace tessera::tune_tool

#endif // TESSERA_TOOLS_DNN_TUNE_DBCOMMAND_H
