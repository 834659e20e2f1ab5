//===- Merge.h - Rows from one file into another ---------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_DB_MERGE_H
#define TESSERA_RUNTIME_DB_MERGE_H

#include "runtime/Db/DatabaseFile.h"

#include <string>
#include <vector>

namespace tessera {

/// Selects rows.
struct RowFilter {
  std::string target;  ///< Empty: any chip.
  std::string problem; ///< Part of the network config; empty: any.
  bool hasKernels = true;
  bool hasTunings = true;

  bool matches(const std::string &networkConfig,
               const std::string &ofTarget) const {
    return (target.empty() || target == ofTarget) &&
           networkConfig.find(problem) != std::string::npos;
  }
};

/// Rows of each kind.
struct MergeCount {
  int64_t kernels = 0;
  int64_t tunings = 0;
};

struct MergeResult {
  MergeCount added;
  MergeCount replaced; ///< Rows that were older than those of the other file.
  MergeCount kept;     ///< Rows that were as good.
};

/// Merges the rows of `from` into `into`. Of two kernels of one key and tile
/// the one stored later wins, of two tunings the one measured later, and, if
/// both are of the same second, the verified one. InvalidArgument, and nothing
/// is changed, if a row of `from` is damaged.
ErrorOr<MergeResult> mergeFile(DatabaseFile &into, DatabaseFile &from,
                               const RowFilter &filter = {});

/// Writes a package with the rows of all `inputs`, completely or not at all: a
/// failure names the input.
ErrorOr<MergeResult> mergeIntoPackage(const std::vector<std::string> &inputs,
                                      const std::string &output,
                                      const RowFilter &filter = {});

} // namespace tessera

#endif // TESSERA_RUNTIME_DB_MERGE_H
