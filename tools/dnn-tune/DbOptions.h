//===- DbOptions.h - The command line of dnn-tune db -----------*- C++ -*--===//

#ifndef TESSERA_TOOLS_DNN_TUNE_DBOPTIONS_H
#define TESSERA_TOOLS_DNN_TUNE_DBOPTIONS_H

#include "runtime/Db/Merge.h"
#include "runtime/Db/Upkeep.h"

#include <string>
#include <vector>

namespace tessera::tune_tool {

struct DbOptions {
  std::string command;
  std::vector<std::string> operands; ///< Files, or a problem.
  std::string folder;                ///< --db; empty: the library's.
  std::string file;                  ///< --file; empty: that of the folder.
  RowFilter filter;
  std::vector<std::string> revisions;
  int64_t maxBytes = INT64_MAX;
  bool help = false;
};

ErrorOr<DbOptions> parseDbOptions(const std::vector<std::string> &words);

const char *getDbHelp();

/// Says what is wrong with the folder of --db, here and in dnn-tune: a file
/// cannot contain kernels.db. A folder that does not exist yet is created, and
/// an empty path is the library's folder.
Status checkDatabaseFolder(const std::string &folder);

} // namespace tessera::tune_tool

#endif // TESSERA_TOOLS_DNN_TUNE_DBOPTIONS_H
