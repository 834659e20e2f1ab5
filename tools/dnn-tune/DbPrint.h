//===- DbPrint.h - Rows of a database for people ---------------*- C++ -*--===//

#ifndef TESSERA_TOOLS_DNN_TUNE_DBPRINT_H
#define TESSERA_TOOLS_DNN_TUNE_DBPRINT_H

#include "runtime/Base/Problem.h"
#include "runtime/Db/Merge.h"

namespace tessera::tune_tool {

/// Prints one line for each kernel and for each key of tunings.
Status printList(DatabaseFile &file, const RowFilter &filter);

/// Prints all rows of a problem; NotFound if there is none.
Status printProblem(DatabaseFile &file, const Problem &problem,
                    const RowFilter &filter);

} // namespace tessera::tune_tool

#endif // TESSERA_TOOLS_DNN_TUNE_DBPRINT_H
